(** Linear cells with any readout whose classes are intervals: U <= 0 fails by length 2, and only exact counters are right
    at every length. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Extremes Verdict Theorem1 Selective ExactCounters.

(** * U <= 0: `((` lies between `()` and `)(`, and so does `))` *)

Theorem no_weight_up_to_zero : forall (class : Type) (readout : R -> class) (right : Z -> class) (a b U : R),
  classes_are_intervals readout -> U <= 0 ->
  (forall s, length s = 2%nat -> is_right class (linear a b U) readout right s) ->
  right 2%Z = right 0%Z /\ right (-2)%Z = right 0%Z.
Proof.
  intros class readout right a b U intervals not_positive short. unfold is_right in short.
  pose proof (short [Open; Open] eq_refl : _ = right 2%Z) as both_open.
  pose proof (short [Close; Close] eq_refl : _ = right (-2)%Z) as both_close.
  pose proof (short [Open; Close] eq_refl : _ = right 0%Z) as open_close.
  pose proof (short [Close; Open] eq_refl : _ = right 0%Z) as close_open.
  assert (forall h, run (linear a b U) [Open; Close] <= h <= run (linear a b U) [Close; Open] \/
                    run (linear a b U) [Close; Open] <= h <= run (linear a b U) [Open; Close] ->
                    readout h = right 0%Z) as between.
  { intros h [order | order]; rewrite (intervals _ _ _ order); congruence. }
  rewrite <- both_open, <- both_close. cbv [run run_from fold_left linear] in between |- *.
  destruct (Rle_or_lt b a); split; apply between; [left | left | right | right]; split; nra.
Qed.

(** * Necessary at all lengths *)

Section Necessary.

Variables (class : Type) (readout : R -> class) (below zero above : class).
Hypothesis intervals : classes_are_intervals readout.
Hypothesis outer_classes_differ : below <> above.

Definition right_at_even_lengths (a b U : R) : Prop :=
  forall s, s <> [] -> Nat.Even (length s) -> is_right class (linear a b U) readout (by_sign below zero above) s.

Lemma weight_positive a b U : right_at_even_lengths a b U -> 0 < U.
Proof.
  intros right. apply Rnot_le_lt. intros not_positive. apply outer_classes_differ.
  destruct (no_weight_up_to_zero class readout (by_sign below zero above) a b U) as [up down]; try assumption.
  - intros s two. apply right; [now intros -> | rewrite two; now exists 1%nat].
  - cbn in up, down. congruence.
Qed.

(** Strings of two more closing and of two more opening brackets have different classes; intervals that hold them are apart. *)
Lemma read_below a b U s : right_at_even_lengths a b U ->
  count Close s = (count Open s + 2)%nat -> readout (run (linear a b U) s) = below.
Proof.
  intros right two_more. unfold is_right in right. rewrite right.
  - unfold difference. rewrite two_more. now replace (_ - _)%Z with (-2)%Z by lia.
  - intros ->. cbn in two_more. lia.
  - exists (count Open s + 1)%nat. rewrite length_is_both_counts. lia.
Qed.

Lemma read_above a b U s : right_at_even_lengths a b U ->
  count Open s = (count Close s + 2)%nat -> readout (run (linear a b U) s) = above.
Proof.
  intros right two_more. unfold is_right in right. rewrite right.
  - unfold difference. rewrite two_more. now replace (_ - _)%Z with 2%Z by lia.
  - intros ->. cbn in two_more. lia.
  - exists (count Close s + 1)%nat. rewrite length_is_both_counts. lia.
Qed.

Lemma steps_differ a b U : right_at_even_lengths a b U -> a <> b.
Proof.
  intros right ->. apply outer_classes_differ.
  rewrite <- (read_below b b U [Close; Close] right eq_refl). now rewrite <- (read_above b b U [Open; Open] right eq_refl).
Qed.

Lemma apart a b U s t : right_at_even_lengths a b U -> b < a ->
  count Close s = (count Open s + 2)%nat -> count Open t = (count Close t + 2)%nat ->
  run (linear a b U) s < run (linear a b U) t.
Proof.
  intros right order two_below two_above. apply Rnot_le_lt. intros wrong. apply outer_classes_differ.
  pose proof (weight_positive a b U right) as positive.
  pose proof (read_below a b U s right two_below) as below_s. pose proof (read_above a b U t right two_above) as above_t.
  pose proof (read_below a b U [Close; Close] right eq_refl) as below_2.
  pose proof (read_above a b U [Open; Open] right eq_refl) as above_2.
  assert (run (linear a b U) [Close; Close] < run (linear a b U) [Open; Open]) as order_2
    by (cbv [run run_from fold_left linear]; nra).
  set (low := run _ [Close; Close]) in *. set (high := run _ [Open; Open]) in *.
  set (x := run _ s) in *. set (y := run _ t) in *.
  destruct (Rle_or_lt low y).
  - (* y lies between two states of the class below. *)
    rewrite <- above_t. rewrite <- below_2. symmetry. apply (intervals _ _ x); [lra | congruence].
  - (* low lies between two states of the class above. *)
    rewrite <- above_t. rewrite <- below_2. apply (intervals _ _ high); [lra | congruence].
Qed.

Lemma only_exact_counters_rising a b U : right_at_even_lengths a b U -> b < a -> U = 1 /\ b = - a.
Proof.
  intros right order. pose proof (weight_positive a b U right) as positive.
  assert (forall x y n m, x <> y -> count x (repeat x n ++ repeat y m) = n /\ count y (repeat x n ++ repeat y m) = m)
    as counts by (intros; now apply count_blocks).
  assert (forall k, power_sum U k < U ^ k * power_sum U (k + 2)) as do_not_fade.
  { intros k. destruct (counts Open Close (k + 2)%nat k) as [o c]; [discriminate|].
    destruct (counts Close Open (k + 2)%nat k) as [c' o']; [discriminate|].
    assert (run (linear a b U) (repeat Close (k + 2) ++ repeat Open k)
            < run (linear a b U) (repeat Open (k + 2) ++ repeat Close k)) as less by (apply apart; assumption || lia).
    rewrite !run_blocks in less. nra. }
  assert (forall k, U ^ (k + 2) * power_sum U k < power_sum U (k + 2)) as do_not_grow.
  { intros k. destruct (counts Close Open k (k + 2)%nat) as [c o]; [discriminate|].
    destruct (counts Open Close k (k + 2)%nat) as [o' c']; [discriminate|].
    assert (run (linear a b U) (repeat Open k ++ repeat Close (k + 2))
            < run (linear a b U) (repeat Close k ++ repeat Open (k + 2))) as less by (apply apart; assumption || lia).
    rewrite !run_blocks in less. nra. }
  assert (U = 1) as one.
  { destruct (Rtotal_order U 1) as [less | [one | more]]; [exfalso | exact one | exfalso].
    - destruct (pow_lt_1_zero U) with (y := 1 - U) as [N small]; [rewrite Rabs_right; lra | lra |].
      specialize (small (S N) ltac:(lia)). rewrite Rabs_right in small by (apply Rle_ge, pow_le; lra).
      pose proof (do_not_fade (S N)) as fade. pose proof (power_sum_times U (S N + 2)) as bounded.
      assert (0 < U ^ (S N + 2)) by now apply pow_lt.
      assert (1 <= power_sum U (S N)) by (apply power_sum_at_least_one; lra).
      assert (0 <= power_sum U (S N + 2)) by (apply power_sum_nonneg; lra). nra.
    - destruct (archimedes 1 (U - 1)) as [k large]; [lra|].
      pose proof (do_not_grow k) as grow. pose proof (power_sum_times U (k + 2)) as last.
      assert (INR k <= power_sum U k) by (apply power_sum_grows; lra).
      assert (0 < U ^ (k + 2)) by now apply pow_lt.
      assert (1 <= (U - 1) * power_sum U k) by nra. nra. }
  split; [exact one|]. subst U.
  destruct (Rtotal_order b (- a)) as [less | [equal | more]]; [exfalso | exact equal | exfalso].
  - (* (ᵏ⁺²)ᵏ sinks below `))`. *)
    destruct (archimedes (2 * a - 2 * b) (- a - b)) as [k large]; [lra|].
    destruct (counts Open Close (k + 2)%nat k) as [o c]; [discriminate|].
    assert (run (linear a b 1) [Close; Close] < run (linear a b 1) (repeat Open (k + 2) ++ repeat Close k)) as wrong.
    { apply apart; try assumption; cbn; lia. }
    rewrite run_blocks, pow1, !power_sum_of_one, plus_INR in wrong.
    change (run _ [Close; Close]) with (1 * (1 * 0 + b) + b) in wrong.
    cbn [INR] in wrong. nra.
  - (* (ᵏ)ᵏ⁺² rises above `((`. *)
    destruct (archimedes (2 * a - 2 * b) (a + b)) as [k large]; [lra|].
    destruct (counts Open Close k (k + 2)%nat) as [o c]; [discriminate|].
    assert (run (linear a b 1) (repeat Open k ++ repeat Close (k + 2)) < run (linear a b 1) [Open; Open]) as wrong.
    { apply apart; try assumption; cbn; lia. }
    rewrite run_blocks, pow1, !power_sum_of_one, plus_INR in wrong.
    change (run _ [Open; Open]) with (1 * (1 * 0 + a) + a) in wrong.
    cbn [INR] in wrong. nra.
Qed.

End Necessary.

(** With a < b the mirror image of the cell, read by the mirror image of the readout, is as right. *)
Lemma mirrored a b U s : run (linear (- a) (- b) U) s = - run (linear a b U) s.
Proof.
  induction s as [|x s IH] using rev_ind; [change (0 = - 0); ring|].
  rewrite !run_snoc, IH. destruct x; unfold linear; ring.
Qed.

Theorem only_exact_counters : forall (class : Type) (readout : R -> class) (below zero above : class) (a b U : R),
  classes_are_intervals readout -> below <> above ->
  (forall s, s <> [] -> Nat.Even (length s) -> is_right class (linear a b U) readout (by_sign below zero above) s) ->
  U = 1 /\ b = - a.
Proof.
  intros class readout below zero above a b U intervals differ right.
  destruct (Rtotal_order a b) as [less | [equal | more]].
  - enough (U = 1 /\ - b = - - a) by lra.
    apply (only_exact_counters_rising class (fun h => readout (- h)) below zero above); try assumption; [| |lra].
    + intros x y z order same. rewrite same. apply (intervals _ _ (- x)); [lra | congruence].
    + intros s not_empty even. unfold is_right. rewrite mirrored, Ropp_involutive. now apply right.
  - exfalso. now apply (steps_differ class readout below zero above differ a b U).
  - now apply (only_exact_counters_rising class readout below zero above).
Qed.
