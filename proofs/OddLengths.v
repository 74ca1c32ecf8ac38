(** The odd lengths of a zero check: a sequence that comes to rest, or to repeat itself, is never a whole number from some place on
    if its differences over a period follow a recurrence that shrinks. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Sorting Networks Limits.

(** The largest size among f 0, ..., f (m - 1). *)
Fixpoint largest (m : nat) (f : nat -> R) : R := match m with O => 0 | S m => Rmax (largest m f) (Rabs (f m)) end.

Lemma largest_nonneg m f : 0 <= largest m f.
Proof. destruct m; [cbn; lra|]. cbn. eapply Rle_trans; [apply Rabs_pos | apply Rmax_r]. Qed.

Lemma below_largest m f i : (i < m)%nat -> Rabs (f i) <= largest m f.
Proof.
  induction m as [|m IH]; intros small; [lia|]. cbn. destruct (Nat.eq_dec i m) as [-> | other]; [apply Rmax_r|].
  eapply Rle_trans; [apply IH; lia | apply Rmax_l].
Qed.

Lemma largest_at_most m f bound : 0 <= bound -> (forall i, (i < m)%nat -> Rabs (f i) <= bound) -> largest m f <= bound.
Proof. intros nonneg. induction m as [|m IH]; intros small; cbn; [assumption|]. apply Rmax_lub; auto. Qed.

Section Rest.

Variables (x : nat -> R) (p q m : nat) (c : nat -> R) (rows : nat -> nat -> R) (theta : R).
Hypothesis period : (1 <= p)%nat.

Let e (j : nat) : R := x (j + p)%nat - x j.

Hypothesis recurrence : forall j, e (j + m) = sum m (fun i => c i * e (j + i)%nat).
Hypothesis first_rows : forall n l, (n < m)%nat -> rows n l = if Nat.eq_dec n l then 1 else 0.
Hypothesis next_rows : forall n l, rows (n + m)%nat l = sum m (fun i => c i * rows (n + i)%nat l).
Hypothesis between : 0 <= theta < 1.
Hypothesis shrinks : forall i, (i < m)%nat -> sum m (fun l => Rabs (rows (q + i)%nat l)) <= theta.

(** Every difference follows from m of them in a row. *)
Lemma by_rows j n : e (j + n) = sum m (fun l => rows n l * e (j + l)%nat).
Proof.
  induction n as [n IH] using lt_wf_ind. destruct (Nat.lt_ge_cases n m) as [small | large].
  - rewrite (sum_ext _ _ (fun l => e (j + l)%nat * (if Nat.eq_dec l n then 1 else 0))).
    + now rewrite (sum_unit m (fun l => e (j + l)%nat)).
    + intros l _. rewrite first_rows by assumption. destruct (Nat.eq_dec n l), (Nat.eq_dec l n); try lia; ring.
  - destruct m as [|m'] eqn:order; [cbn; rewrite <- (Nat.add_0_r (j + n)), recurrence; reflexivity|]. rewrite <- order in *.
    replace n with (n - m + m)%nat by lia. rewrite Nat.add_assoc, recurrence.
    rewrite (sum_ext _ _ (fun i => sum m (fun l => c i * rows (n - m + i)%nat l * e (j + l)%nat))).
    + rewrite sum_swap. apply sum_ext. intros l _. rewrite next_rows, Rmult_comm, <- sum_times. apply sum_ext. intros. ring.
    + intros i small. rewrite <- Nat.add_assoc, IH by lia. rewrite <- sum_times. apply sum_ext. intros. ring.
Qed.

Lemma largest_shrinks j : largest m (fun l => e (q + j + l)) <= theta * largest m (fun l => e (j + l)).
Proof.
  pose proof (largest_nonneg m (fun l => e (j + l))) as nonneg.
  apply largest_at_most; [nra|]. intros i small. replace (q + j + i)%nat with (j + (q + i))%nat by lia. rewrite by_rows.
  eapply Rle_trans; [apply sum_abs|].
  apply Rle_trans with (sum m (fun l => largest m (fun l => e (j + l)) * Rabs (rows (q + i)%nat l))).
  - apply sum_le. intros l inside. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|].
    now apply (below_largest m (fun l => e (j + l))).
  - rewrite sum_times. specialize (shrinks i small). nra.
Qed.

Lemma difference_at_most j : Rabs (e j) <= largest m (fun l => e (j + l)).
Proof.
  destruct (Nat.eq_dec m 0) as [none | some].
  - pose proof (recurrence j) as zero. rewrite none in *. rewrite Nat.add_0_r in zero. rewrite zero. cbn. rewrite Rabs_R0. lra.
  - replace j with (j + 0)%nat at 1 by lia. apply (below_largest m (fun l => e (j + l))). lia.
Qed.

(** From K on no term is further than this from one of the p terms at K. *)
Lemma stays_near K j : (K <= j)%nat ->
  exists i, (i < p)%nat /\ Rabs (x j - x (K + i)%nat) <= sum q (fun i => largest m (fun l => e (K + i + l))) / (1 - theta).
Proof.
  intros large.
  assert (forall n, sum n (fun i => Rabs (e (K + i))) <= sum q (fun i => largest m (fun l => e (K + i + l))) / (1 - theta)) as tail.
  { intros n. eapply Rle_trans; [|apply (geometric_tail (fun i => largest m (fun l => e (K + i + l))) q n theta between)].
    - apply sum_le. intros i _. apply difference_at_most.
    - intros. apply largest_nonneg.
    - intros k. replace (K + (q + k))%nat with (q + (K + k))%nat by lia. apply largest_shrinks. }
  exists ((j - K) mod p)%nat. split; [apply Nat.mod_upper_bound; lia|].
  eapply Rle_trans; [|apply (tail (j - K)%nat)].
  assert (forall i t, (i < p)%nat ->
    Rabs (x (K + i + t * p)%nat - x (K + i)%nat) <= sum (i + t * p) (fun i => Rabs (e (K + i)))) as walks.
  { intros i t small. induction t as [|t IH].
    - rewrite !Nat.add_0_r, (Rminus_diag_eq _ _ eq_refl), Rabs_R0. rewrite <- (sum_zero i). apply sum_le. intros. apply Rabs_pos.
    - replace (i + S t * p)%nat with (i + t * p + p)%nat by (cbn; lia).
      replace (K + i + S t * p)%nat with (K + i + t * p + p)%nat by (cbn; lia). rewrite sum_split.
      assert (forall n f, (1 <= n)%nat -> (forall i, 0 <= f i) -> f 0%nat <= sum n f) as first_of.
      { intros n f some nonneg. replace n with (1 + (n - 1))%nat by lia. rewrite sum_split. cbn [sum].
        enough (0 <= sum (n - 1) (fun i => f (1 + i)%nat)) by lra. rewrite <- (sum_zero (n - 1)). apply sum_le. auto. }
      pose proof (first_of p (fun i0 => Rabs (e (K + (i + t * p + i0)))) period (fun _ => Rabs_pos _)) as one. cbn beta in one.
      replace (e (K + (i + t * p + 0))) with (x (K + i + t * p + p)%nat - x (K + i + t * p)%nat) in one
        by (unfold e; f_equal; f_equal; lia).
      pose proof (Rabs_triang (x (K + i + t * p + p)%nat - x (K + i + t * p)%nat) (x (K + i + t * p)%nat - x (K + i)%nat)) as both.
      replace (x (K + i + t * p + p)%nat - x (K + i + t * p)%nat + (x (K + i + t * p)%nat - x (K + i)%nat))
        with (x (K + i + t * p + p)%nat - x (K + i)%nat) in both by ring. lra. }
  pose proof (Nat.div_mod (j - K) p ltac:(lia)) as parts.
  specialize (walks ((j - K) mod p) ((j - K) / p) ltac:(apply Nat.mod_upper_bound; lia))%nat.
  replace (K + (j - K) mod p + (j - K) / p * p)%nat with j in walks by lia.
  replace ((j - K) mod p + (j - K) / p * p)%nat with (j - K)%nat in walks by lia. exact walks.
Qed.

End Rest.

(** [rows] are those of the powers of the recurrence's companion matrix, from the unit matrix on. *)
Theorem odd_lengths_stay_right :
  forall (x : nat -> R) (p q m K : nat) (c : nat -> R) (rows : nat -> nat -> R) (theta : R), (1 <= p)%nat ->
  let e j := x (j + p)%nat - x j in
  (forall j, e (j + m)%nat = sum m (fun i => c i * e (j + i)%nat)) ->
  (forall n l, (n < m)%nat -> rows n l = if Nat.eq_dec n l then 1 else 0) ->
  (forall n l, rows (n + m)%nat l = sum m (fun i => c i * rows (n + i)%nat l)) ->
  0 <= theta < 1 -> (forall i, (i < m)%nat -> sum m (fun l => Rabs (rows (q + i)%nat l)) <= theta) ->
  let reach := sum q (fun i => largest m (fun l => e (K + i + l)%nat)) / (1 - theta) in
  (forall (i : nat) (z : Z), (i < p)%nat -> reach < Rabs (x (K + i)%nat - IZR z)) ->
  forall (j : nat) (z : Z), (K <= j)%nat -> x j <> IZR z.
Proof.
  intros x p q m K c rows theta period e recurrence first next between shrinks reach far j z large whole.
  destruct (stays_near x p q m c rows theta period recurrence first next between shrinks K j large) as (i & small & near).
  change (Rabs (x j - x (K + i)%nat) <= reach) in near. specialize (far i z small).
  rewrite whole, Rabs_minus_sym in near. lra.
Qed.
