(** A threshold readout is right at every length for the exact counters alone, with the threshold between the states
    of the counts 0 and 1; where only even lengths count, between those of 0 and 2. *)

From Tallystick Require Import Brackets Theorem1.

(** h > theta is to say that there are more opening than closing brackets. *)
Definition threshold_right (a b U theta : R) (s : string) : Prop :=
  run (linear a b U) s > theta <-> (count Open s > count Close s)%nat.

(** * Sufficient, for the empty string as well *)

Lemma exact_counter_is_right a theta s : 0 <= theta < a -> threshold_right a (- a) 1 theta s.
Proof.
  intros between. unfold threshold_right. rewrite part_2. split; intros above.
  - destruct (Nat.le_gt_cases (count Open s) (count Close s)) as [few | more]; [exfalso | exact more].
    apply le_INR in few. nra.
  - apply le_INR in above. rewrite S_INR in above. nra.
Qed.

Lemma exact_counter_is_right_on_even_lengths a theta s :
  0 <= theta < 2 * a -> Nat.Even (length s) -> threshold_right a (- a) 1 theta s.
Proof.
  intros between [half even]. rewrite length_is_both_counts in even.
  unfold threshold_right. rewrite part_2. split; intros above.
  - destruct (Nat.le_gt_cases (count Open s) (count Close s)) as [few | more]; [exfalso | exact more].
    apply le_INR in few. nra.
  - assert (count Close s + 2 <= count Open s)%nat as two_more by lia.
    apply le_INR in two_more. rewrite plus_INR in two_more. cbn in two_more. nra.
Qed.

(** * Necessary: even lengths, without the empty string, force all but the place of the threshold below a *)

Section Necessary.

Variables a b U theta : R.
Hypothesis right : forall s, s <> [] -> Nat.Even (length s) -> threshold_right a b U theta s.

Local Notation h := (run (linear a b U)).

Lemma above s : count Open s = (count Close s + 2)%nat -> theta < h s.
Proof.
  intros two_more. apply right; [intros -> | | lia]; [cbn in two_more; lia|].
  exists (count Close s + 1)%nat. rewrite length_is_both_counts. lia.
Qed.

Lemma below s : count Close s = (count Open s + 2)%nat \/ count Close s = count Open s /\ s <> [] -> h s <= theta.
Proof.
  intros not_more. apply Rnot_gt_le. intros more. apply right in more; [lia | |].
  - intros ->. cbn in not_more. destruct not_more as [|[_ not_empty]]; [lia | now apply not_empty].
  - rewrite length_is_both_counts.
    destruct not_more as [|[]]; [exists (count Open s + 1)%nat | exists (count Open s)]; lia.
Qed.

(** `((` against `()` and against `)(`. *)
Lemma steps_and_weight : b < a /\ 0 < U.
Proof.
  pose proof (above [Open; Open] eq_refl) as both_open.
  assert (h [Open; Close] <= theta) as open_close by (apply below; right; now split).
  assert (h [Close; Open] <= theta) as close_open by (apply below; right; now split).
  cbv in both_open, open_close, close_open. split; nra.
Qed.

(** (ᵏ⁺²)ᵏ lies above )ᵏ⁺²(ᵏ, whatever k: so powers of U must not fade ... *)
Lemma powers_do_not_fade k : power_sum U k < U ^ k * power_sum U (k + 2).
Proof.
  destruct (count_blocks Open Close (k + 2) k) as [o c]; [discriminate|].
  destruct (count_blocks Close Open (k + 2) k) as [c' o']; [discriminate|].
  assert (theta < h (repeat Open (k + 2) ++ repeat Close k)) as high by (apply above; lia).
  assert (h (repeat Close (k + 2) ++ repeat Open k) <= theta) as low by (apply below; lia).
  rewrite run_blocks in high, low. destruct steps_and_weight. nra.
Qed.

(** ... and )ᵏ(ᵏ⁺² lies above (ᵏ)ᵏ⁺²: nor may they grow. *)
Lemma powers_do_not_grow k : U ^ (k + 2) * power_sum U k < power_sum U (k + 2).
Proof.
  destruct (count_blocks Close Open k (k + 2)) as [c o]; [discriminate|].
  destruct (count_blocks Open Close k (k + 2)) as [o' c']; [discriminate|].
  assert (theta < h (repeat Close k ++ repeat Open (k + 2))) as high by (apply above; lia).
  assert (h (repeat Open k ++ repeat Close (k + 2)) <= theta) as low by (apply below; lia).
  rewrite run_blocks in high, low. destruct steps_and_weight. nra.
Qed.

Lemma recurrent_weight_one : U = 1.
Proof.
  destruct steps_and_weight as [_ positive].
  destruct (Rtotal_order U 1) as [less | [one | more]]; [exfalso | exact one | exfalso].
  - destruct (pow_lt_1_zero U) with (y := 1 - U) as [N small]; [rewrite Rabs_right; lra | lra |].
    specialize (small (S N) ltac:(lia)). rewrite Rabs_right in small by (apply Rle_ge, pow_le; lra).
    pose proof (powers_do_not_fade (S N)) as fade. pose proof (power_sum_times U (S N + 2)) as bounded.
    assert (0 < U ^ (S N + 2)) by now apply pow_lt.
    assert (1 <= power_sum U (S N)) by (apply power_sum_at_least_one; lra).
    assert (0 <= power_sum U (S N + 2)) by (apply power_sum_nonneg; lra). nra.
  - destruct (archimedes 1 (U - 1)) as [k large]; [lra|].
    pose proof (powers_do_not_grow k) as grow. pose proof (power_sum_times U (k + 2)) as last.
    assert (INR k <= power_sum U k) by (apply power_sum_grows; lra).
    assert (0 < U ^ (k + 2)) by now apply pow_lt.
    assert (1 <= (U - 1) * power_sum U k) by nra. nra.
Qed.

Lemma closing_undoes_opening : b = - a.
Proof.
  pose proof recurrent_weight_one as one.
  destruct (Rtotal_order b (- a)) as [less | [equal | more]]; [exfalso | exact equal | exfalso].
  - destruct (archimedes (2 * a - theta) (- a - b)) as [k large]; [lra|].
    destruct (count_blocks Open Close (k + 2) k) as [o c]; [discriminate|].
    assert (theta < h (repeat Open (k + 2) ++ repeat Close k)) as high by (apply above; lia).
    rewrite run_blocks, one, pow1, !power_sum_of_one, plus_INR in high. cbn in high. nra.
  - destruct (archimedes theta (a + b)) as [k large]; [lra|].
    destruct (count_blocks Open Close (S k) (S k)) as [o c]; [discriminate|].
    assert (h (repeat Open (S k) ++ repeat Close (S k)) <= theta) as low.
    { apply below. right. split; [lia | discriminate]. }
    rewrite run_blocks, one, pow1, !power_sum_of_one, S_INR in low. nra.
Qed.

Lemma threshold_between : 0 <= theta < 2 * a.
Proof.
  pose proof (above [Open; Open] eq_refl) as both_open.
  assert (h [Open; Close] <= theta) as open_close by (apply below; right; now split).
  rewrite recurrent_weight_one, closing_undoes_opening in *. cbv in both_open, open_close. lra.
Qed.

End Necessary.

(** * The criterion *)

(** That a > 0 follows from 0 <= theta < a. The empty string need not count; were it to, it would change nothing. *)
Theorem all_lengths : forall a b U theta : R,
  (forall s, s <> [] -> threshold_right a b U theta s) <-> U = 1 /\ b = - a /\ 0 <= theta < a.
Proof.
  intros a b U theta. split.
  - intros right. pose proof (fun s not_empty (_ : Nat.Even (length s)) => right s not_empty) as even.
    apply recurrent_weight_one in even as one. apply closing_undoes_opening in even as opposite.
    apply threshold_between in even as between. repeat split; [assumption | assumption | lra |].
    assert (theta < run (linear a b U) [Open]) as open by (apply right; [discriminate | cbn; lia]). cbv in open. lra.
  - intros (-> & -> & between) s _. apply exact_counter_is_right. lra.
Qed.

Theorem even_lengths : forall a b U theta : R,
  (forall s, s <> [] -> Nat.Even (length s) -> threshold_right a b U theta s)
  <-> U = 1 /\ b = - a /\ 0 <= theta < 2 * a.
Proof.
  intros a b U theta. split.
  - intros right. split; [|split].
    + now apply recurrent_weight_one in right.
    + now apply closing_undoes_opening in right.
    + apply threshold_between in right. lra.
  - intros (-> & -> & between) s _ even. apply exact_counter_is_right_on_even_lengths; [lra | exact even].
Qed.

(** ** The readout v h + c > 0 of a network: its threshold is -c on the scale of v h, whatever the sign of v *)

Lemma scaled v a b U s : run (linear (v * a) (v * b) U) s = v * run (linear a b U) s.
Proof.
  induction s as [|x s IH] using rev_ind; [change (0 = v * 0); ring|].
  rewrite !run_snoc, IH. destruct x; unfold linear; ring.
Qed.

Lemma scaled_threshold a b U v c s :
  v * run (linear a b U) s + c > 0 <-> run (linear (v * a) (v * b) U) s > - c.
Proof. rewrite scaled. lra. Qed.

Lemma scaled_steps a b U v bound c :
  U = 1 /\ v * b = - (v * a) /\ 0 <= - c < bound * (v * a) <-> U = 1 /\ b = - a /\ 0 <= - c < bound * (v * a).
Proof.
  split; intros (one & opposite & between); repeat split; try lra; [|rewrite opposite; ring].
  apply (Rmult_eq_reg_l v); [lra|]. intros ->. lra.
Qed.

Theorem all_lengths_binary_readout : forall a b U v c : R,
  (forall s, s <> [] -> (v * run (linear a b U) s + c > 0 <-> (count Open s > count Close s)%nat))
  <-> U = 1 /\ b = - a /\ 0 <= - c < v * a.
Proof.
  intros a b U v c. setoid_rewrite scaled_threshold. rewrite (all_lengths (v * a) (v * b) U (- c)).
  pose proof (scaled_steps a b U v 1 c). rewrite Rmult_1_l in *. assumption.
Qed.

Theorem even_lengths_binary_readout : forall a b U v c : R,
  (forall s, s <> [] -> Nat.Even (length s) ->
     (v * run (linear a b U) s + c > 0 <-> (count Open s > count Close s)%nat))
  <-> U = 1 /\ b = - a /\ 0 <= - c < 2 * (v * a).
Proof.
  intros a b U v c. setoid_rewrite scaled_threshold. rewrite (even_lengths (v * a) (v * b) U (- c)).
  apply scaled_steps.
Qed.
