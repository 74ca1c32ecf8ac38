(** Theorem 3: a ReLU cell accepts exactly semi-Dyck-1 just when a > 0, U = 1 and b = -a. *)

From Tallystick Require Import Brackets.

Definition relu (a b U : R) : cell := fun x h => Rmax 0 (linear a b U x h).

(** Semi-Dyck-1: the count that never falls below zero, kappa <- max(0, kappa +- 1), ends at zero. *)
Definition kappa (s : string) : nat :=
  fold_left (fun k x => match x with Open => S k | Close => pred k end) s 0%nat.

Definition SemiDyck1 (s : string) : Prop := kappa s = 0%nat.

Lemma kappa_snoc s x : kappa (s ++ [x]) = match x with Open => S (kappa s) | Close => pred (kappa s) end.
Proof. apply fold_left_app. Qed.

(** (ⁿ)ᵐ leaves n - m, or 0 if that is negative, as subtraction of natural numbers has it. *)
Lemma kappa_of_blocks n m : kappa (repeat Open n ++ repeat Close m) = (n - m)%nat.
Proof.
  induction m as [|m IH].
  - cbn [repeat]. rewrite app_nil_r, Nat.sub_0_r. induction n as [|n IH]; [reflexivity|].
    now rewrite repeat_snoc, kappa_snoc, IH.
  - rewrite repeat_snoc, app_assoc, kappa_snoc, IH. lia.
Qed.

Lemma relu_not_negative a b U s : 0 <= run (relu a b U) s.
Proof. destruct s as [|x s] using rev_ind; [apply Rle_refl | rewrite run_snoc; apply Rmax_l]. Qed.

(** * Sufficient: h = a kappa *)

Lemma relu_counts a s : 0 < a -> run (relu a (- a) 1) s = a * INR (kappa s).
Proof.
  intros positive. induction s as [|x s IH] using rev_ind; [change (0 = a * 0); ring|].
  rewrite run_snoc, IH, kappa_snoc. unfold relu, linear. pose proof (pos_INR (kappa s)).
  destruct x; [rewrite S_INR, Rmax_right by nra; ring|].
  destruct (kappa s) as [|k]; cbn [pred].
  - rewrite Rmax_left; cbn; lra.
  - rewrite S_INR in *. rewrite Rmax_right; [ring|]. pose proof (pos_INR k). nra.
Qed.

(** * Necessary *)

Section Necessary.

Variables a b U : R.
Hypothesis accepts : accepts_exactly (relu a b U) SemiDyck1.

Lemma Rmax_zero x : Rmax 0 x = 0 <-> x <= 0.
Proof. split; [intros <-; apply Rmax_r | apply Rmax_left]. Qed.

(** `(` is rejected. *)
Lemma open_step_positive : 0 < a.
Proof.
  destruct (Rle_or_lt a 0) as [|positive]; [exfalso | exact positive].
  enough (1 = 0)%nat by lia. apply (accepts [Open]), Rmax_zero. cbv. lra.
Qed.

(** `)` is accepted. *)
Lemma close_step_not_positive : b <= 0.
Proof.
  enough (linear a b U Close 0 <= 0) by (cbv in *; lra). apply Rmax_zero. now apply (accepts [Close]).
Qed.

(** `(()` is rejected. *)
Lemma recurrent_weight_positive : 0 < U.
Proof.
  destruct (Rle_or_lt U 0) as [|positive]; [exfalso | exact positive].
  enough (1 = 0)%nat by lia. apply (accepts [Open; Open; Close]), Rmax_zero. cbn [fold_left].
  unfold linear at 1. pose proof close_step_not_positive.
  assert (0 <= relu a b U Open (relu a b U Open 0)) by apply Rmax_l. nra.
Qed.

(** `()` is accepted. *)
Lemma close_undoes_open : U * a + b <= 0.
Proof.
  assert (Rmax 0 (U * relu a b U Open 0 + b) = 0) as accepted by now apply (accepts [Open; Close]).
  apply Rmax_zero in accepted. assert (a <= relu a b U Open 0).
  { unfold relu, linear. eapply Rle_trans; [|apply Rmax_r]. lra. }
  pose proof recurrent_weight_positive. nra.
Qed.

(** (ᵏ: nothing is cut off. *)
Lemma opened k : run (relu a b U) (repeat Open k) = a * power_sum U k.
Proof.
  pose proof open_step_positive. pose proof recurrent_weight_positive.
  induction k as [|k IH]; [change (0 = a * 0); ring|].
  rewrite repeat_snoc, run_snoc, IH. unfold relu, linear. cbn [power_sum]. rewrite Rmax_right; [ring|].
  assert (0 <= a * power_sum U k) by (apply Rmult_le_pos; [|apply power_sum_nonneg]; lra). nra.
Qed.

(** Were U > 1, then from a large enough h on no `)` would lower it, and some (ᵏ)ᵏ would be rejected. *)
Lemma recurrent_weight_at_most_one : U <= 1.
Proof.
  destruct (Rle_or_lt U 1) as [|above]; [assumption | exfalso].
  pose proof open_step_positive.
  assert (forall h k, 0 < h -> - b <= (U - 1) * h -> h <= run_from (relu a b U) h (repeat Close k)) as stays.
  { intros h k positive large. induction k as [|k IH]; [cbn; lra|].
    rewrite repeat_snoc, run_from_app. change (run_from ?f ?h [Close]) with (f Close h).
    eapply Rle_trans; [|apply Rmax_r]. unfold linear. nra. }
  destruct (archimedes (- b) ((U - 1) * a)) as [k large]; [nra|].
  destruct k as [|k]; [pose proof close_step_not_positive; cbn in large; lra|].
  assert ((U - 1) * a * INR (S k) <= (U - 1) * a * power_sum U (S k)).
  { apply Rmult_le_compat_l; [nra | apply power_sum_grows; lra]. }
  assert (1 <= power_sum U (S k)) by (apply power_sum_at_least_one; lra).
  assert (run (relu a b U) (repeat Open (S k) ++ repeat Close (S k)) = 0) as accepted.
  { apply accepts. unfold SemiDyck1. rewrite kappa_of_blocks. lia. }
  rewrite run_app, opened in accepted.
  assert (a * power_sum U (S k) <= 0) by (rewrite <- accepted; apply stays; nra). nra.
Qed.

(** With U <= 1 each `)` takes at least -b off h, or leaves 0. *)
Lemma closed h k : 0 <= h -> run_from (relu a b U) h (repeat Close k) <= Rmax 0 (h + INR k * b).
Proof.
  intros nonneg. pose proof close_step_not_positive. pose proof recurrent_weight_at_most_one.
  pose proof recurrent_weight_positive.
  induction k as [|k IH]; [cbn [repeat run_from fold_left INR]; rewrite Rmax_right; lra|].
  rewrite repeat_snoc, run_from_app, S_INR. change (run_from ?f ?h [Close]) with (f Close h).
  unfold relu at 1, linear. apply Rmax_lub; [apply Rmax_l|].
  set (before := run_from _ _ _) in *.
  destruct (Rle_or_lt (h + INR k * b) 0) as [low | high].
  - rewrite Rmax_left in IH by assumption. eapply Rle_trans; [|apply Rmax_l]. nra.
  - rewrite Rmax_right in IH by lra. eapply Rle_trans; [|apply Rmax_r]. nra.
Qed.

(** (ᵏ⁺¹)ᵏ is rejected, so opening k + 1 times outweighs closing k times, whatever k. *)
Lemma one_more_open k : 0 < a * power_sum U (S k) + INR k * b.
Proof.
  destruct (Rle_or_lt (a * power_sum U (S k) + INR k * b) 0) as [low|]; [exfalso | assumption].
  pose proof open_step_positive. pose proof recurrent_weight_positive.
  assert (1 <= power_sum U (S k)) by (apply power_sum_at_least_one; lra).
  assert (kappa (repeat Open (S k) ++ repeat Close k) = 0%nat) as zero.
  { apply accepts. apply Rle_antisym.
    - rewrite run_app, opened. eapply Rle_trans; [apply closed; nra|]. rewrite Rmax_left by assumption. lra.
    - apply relu_not_negative. }
  rewrite kappa_of_blocks in zero. lia.
Qed.

(** Below 1 the openings would stay bounded, while the closings add up. *)
Lemma recurrent_weight_one : U = 1.
Proof.
  destruct (Rle_lt_or_eq_dec U 1 recurrent_weight_at_most_one) as [below | one]; [exfalso | exact one].
  pose proof open_step_positive. pose proof recurrent_weight_positive. pose proof close_undoes_open.
  assert (b < 0) by nra. destruct (archimedes a ((1 - U) * - b)) as [k large]; [nra|].
  pose proof (one_more_open k). pose proof (power_sum_times U (S k)).
  assert (0 < U ^ S k) by now apply pow_lt. nra.
Qed.

Lemma close_step_opposite : b = - a.
Proof.
  pose proof close_undoes_open as undoes. rewrite recurrent_weight_one in undoes.
  destruct (Rle_lt_or_eq_dec b (- a)) as [below | equal]; [lra | exfalso | exact equal].
  pose proof open_step_positive. destruct (archimedes a (- a - b)) as [k large]; [lra|].
  pose proof (one_more_open k) as more. rewrite recurrent_weight_one, power_sum_of_one, S_INR in more. nra.
Qed.

End Necessary.

Theorem relu_cells : forall a b U : R,
  accepts_exactly (relu a b U) SemiDyck1 <-> a > 0 /\ U = 1 /\ b = - a.
Proof.
  intros a b U. split.
  - intros accepts. repeat split.
    + now apply open_step_positive in accepts.
    + now apply recurrent_weight_one in accepts.
    + now apply close_step_opposite in accepts.
  - intros (positive & -> & ->) s. unfold right_on, SemiDyck1. rewrite relu_counts by assumption. split.
    + intros zero. apply INR_eq. cbn. nra.
    + intros ->. cbn. ring.
Qed.
