(** Networks with factors of their own for each unit and token: units that add up their steps, and units that fade. What the last
    K tokens may do, and a bound on what is left of all others, decide every length. *)

From Tallystick Require Import Brackets Sorting Networks LatticePaths.

Section Fading.

Variables (d : nat) (N : network).

(** Both matrices are diagonal: `(` multiplies unit i by p Open i, and `)` by p Close i. *)
Variable p : token -> nat -> R.
Hypothesis diagonal : forall x i j, matrix N x i j = if Nat.eq_dec i j then p x i else 0.
Hypothesis starts_at_zero : forall i, start N i = 0.

(** A unit adds up its steps, or fades by its own theta, unless the output sees nothing of it. *)
Variables (adds : nat -> bool) (theta : nat -> R).
Hypothesis adding_units : forall x i, adds i = true -> p x i = 1.
Hypothesis theta_below_one : forall i, 0 <= theta i < 1.
Hypothesis fading_units : forall x i, (i < d)%nat -> adds i = false ->
  Rabs (p x i) <= theta i \/ weight N i * step N Open i = 0 /\ weight N i * step N Close i = 0.

(** The units that add up give L / 2 times the count. *)
Variable L : R.
Hypothesis opening_adds : 2 * sum d (fun i => if adds i then weight N i * step N Open i else 0) = L.
Hypothesis closing_takes : 2 * sum d (fun i => if adds i then weight N i * step N Close i else 0) = - L.

(** The most that a step of unit i adds to the output, and what is left of all that have K tokens after them. *)
Definition largest (i : nat) : R := Rmax (Rabs (weight N i * step N Open i)) (Rabs (weight N i * step N Close i)).
Definition left_over (K : nat) : R := sum d (fun i => if adds i then 0 else largest i * theta i ^ K / (1 - theta i)).

Lemma row_times_diagonal w x j : (j < d)%nat -> row_times d w (matrix N x) j = w j * p x j.
Proof.
  intros small. unfold row_times. clear adding_units fading_units opening_adds closing_takes.
  induction d as [|n IH]; [lia|]. cbn. rewrite diagonal. destruct (Nat.eq_dec n j) as [<- | other].
  - rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [ring|]. intros i inside. rewrite diagonal.
    destruct (Nat.eq_dec i n); [lia | ring].
  - rewrite IH by lia. ring.
Qed.

Lemma diagonal_matrices_commute : commute d (matrix N Open) (matrix N Close).
Proof.
  assert (forall A B, (forall i j, matrix N A i j = if Nat.eq_dec i j then p A i else 0) ->
    forall i j, (i < d)%nat -> (j < d)%nat ->
    sum d (fun k => matrix N A i k * matrix N B k j) = if Nat.eq_dec i j then p A i * p B i else 0) as products.
  { intros A B _ i j small_i small_j.
    change (sum d (fun k => matrix N A i k * matrix N B k j)) with (row_times d (matrix N A i) (matrix N B) j).
    rewrite row_times_diagonal, diagonal by assumption. destruct (Nat.eq_dec i j) as [-> |]; ring. }
  intros i j small_i small_j. rewrite !products by auto. destruct (Nat.eq_dec i j); ring.
Qed.

(** ** Unit by unit *)

Fixpoint factor (i : nat) (s : string) : R := match s with [] => 1 | x :: s => factor i s * p x i end.

Fixpoint by_unit (i : nat) (s : string) : R :=
  match s with [] => 0 | x :: s => factor i s * (weight N i * step N x i) + by_unit i s end.

Lemma added_by_units s : added d N s = sum d (fun i => by_unit i s).
Proof.
  assert (forall s i, (i < d)%nat -> row_of d N s i = weight N i * factor i s) as rows.
  { clear s. induction s as [|x s IH]; intros i inside; [cbn; ring|]. cbn [row_of factor].
    rewrite row_times_diagonal, IH by assumption. ring. }
  induction s as [|x s IH]; [cbn; now rewrite sum_zero|]. cbn [added by_unit]. rewrite IH, sum_plus. f_equal.
  apply sum_ext. intros i inside. rewrite rows by assumption. ring.
Qed.

Lemma adding_unit i u v : adds i = true ->
  by_unit i (u ++ v) = by_unit i v + INR (count Open u) * (weight N i * step N Open i)
                       + INR (count Close u) * (weight N i * step N Close i).
Proof.
  intros one. assert (forall s, factor i s = 1) as ones.
  { induction s as [|x s IH]; [reflexivity|]. cbn. rewrite IH, (adding_units x i one). ring. }
  induction u as [|x u IH]; [cbn; ring|]. cbn [app by_unit]. rewrite IH, ones.
  destruct x; unfold count in *; cbn [count_occ token_eq_dec]; cbn; rewrite ?S_INR; fold (count Open u) (count Close u).
  - change (match count Open u with 0%nat => 1 | S _ => INR (count Open u) + 1 end) with (INR (S (count Open u))).
    rewrite S_INR. ring.
  - change (match count Close u with 0%nat => 1 | S _ => INR (count Close u) + 1 end) with (INR (S (count Close u))).
    rewrite S_INR. ring.
Qed.

Lemma largest_nonneg i : 0 <= largest i.
Proof. unfold largest. eapply Rle_trans; [apply Rabs_pos | apply Rmax_l]. Qed.

Lemma fading_unit i u v : (i < d)%nat -> adds i = false ->
  by_unit i v - largest i * (theta i ^ length v - theta i ^ (length u + length v)) / (1 - theta i) <= by_unit i (u ++ v).
Proof.
  intros inside fades. specialize (theta_below_one i) as between.
  pose proof (largest_nonneg i) as nonneg.
  assert (forall x s, - (largest i * theta i ^ length s) <= factor i s * (weight N i * step N x i)) as small.
  { intros x s. pose proof (pow_le (theta i) (length s) ltac:(lra)) as power.
    assert (Rabs (weight N i * step N x i) <= largest i) as step_small
      by (destruct x; [apply Rmax_l | apply Rmax_r]).
    destruct (fading_units Open i inside fades) as [p_open | [o c]]; [|destruct x; rewrite ?o, ?c, Rmult_0_r; nra].
    destruct (fading_units Close i inside fades) as [p_close | [o c]]; [|destruct x; rewrite ?o, ?c, Rmult_0_r; nra].
    assert (Rabs (factor i s) <= theta i ^ length s) as factor_small.
    { clear power. induction s as [|y s IH]; [cbn; rewrite Rabs_R1; lra|]. cbn. rewrite Rabs_mult, Rmult_comm.
      apply Rmult_le_compat; try apply Rabs_pos; [destruct y; assumption | assumption]. }
    assert (Rabs (factor i s * (weight N i * step N x i)) <= theta i ^ length s * largest i)
      by (rewrite Rabs_mult; apply Rmult_le_compat; try apply Rabs_pos; assumption).
    pose proof (Rle_abs (- (factor i s * (weight N i * step N x i)))) as below. rewrite Rabs_Ropp in below. lra. }
  induction u as [|x u IH]; [cbn; lra|]. cbn [app by_unit length plus]. specialize (small x (u ++ v)).
  rewrite app_length in small. cbn [pow].
  replace (largest i * (theta i ^ length v - theta i * theta i ^ (length u + length v)) / (1 - theta i)) with
    (largest i * (theta i ^ length v - theta i ^ (length u + length v)) / (1 - theta i)
     + largest i * theta i ^ (length u + length v)) by (field; lra).
  lra.
Qed.

(** ** All units *)

Lemma all_but_the_last u v :
  2 * added d N v + (INR (count Open u) - INR (count Close u)) * L - 2 * left_over (length v) <= 2 * added d N (u ++ v).
Proof.
  rewrite !added_by_units.
  set (n := INR (count Open u)). set (m := INR (count Close u)).
  assert (sum d (fun i => by_unit i v
            + (n * (if adds i then weight N i * step N Open i else 0) + m * (if adds i then weight N i * step N Close i else 0)
            + -1 * (if adds i then 0 else largest i * theta i ^ length v / (1 - theta i))))
          <= sum d (fun i => by_unit i (u ++ v))) as bound.
  { apply sum_le. intros i inside. destruct (adds i) eqn:adding.
    - rewrite adding_unit by assumption. fold n m. lra.
    - pose proof (fading_unit i u v inside adding) as fades. pose proof (largest_nonneg i).
      specialize (theta_below_one i) as between.
      assert (0 <= largest i * theta i ^ (length u + length v) / (1 - theta i)).
      { apply Rmult_le_pos; [apply Rmult_le_pos; [assumption | apply pow_le; lra] |].
        apply Rlt_le, Rinv_0_lt_compat. lra. }
      unfold Rdiv in *. lra. }
  rewrite !sum_plus, !sum_times in bound. fold (left_over (length v)) in bound.
  set (opened := sum d (fun i => if adds i then weight N i * step N Open i else 0)) in *.
  set (closed := sum d (fun i => if adds i then weight N i * step N Close i else 0)) in *.
  assert (opened = L / 2) as -> by lra. assert (closed = - L / 2) as -> by lra. lra.
Qed.

(** The last K tokens of a string, with n and m brackets, give at least the least path. *)
Lemma fading_bound K s : (K <= length s)%nat ->
  exists n m, (n + m = K)%nat /\
  2 * bias N + (INR (count Open s) - INR (count Close s)) * L
    + (2 * least_path (path_term d N) n m - (INR n - INR m) * L) - 2 * left_over K <= 2 * output d N s.
Proof.
  intros long. assert (exists u v, s = u ++ v /\ length v = K) as (u & v & -> & last).
  { exists (firstn (length s - K) s), (skipn (length s - K) s). split; [symmetry; apply firstn_skipn|].
    rewrite skipn_length. lia. }
  exists (count Open v), (count Close v). split; [now rewrite <- length_is_both_counts|].
  pose proof (all_but_the_last u v) as bound. pose proof (along_at_least (path_term d N) v) as least.
  rewrite <- (added_along d N v diagonal_matrices_commute) in least.
  assert (output d N (u ++ v) = added d N (u ++ v) + bias N) as ->.
  { rewrite output_is_a_sum. unfold dot at 1. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [ring|].
    intros i _. rewrite starts_at_zero. ring. }
  rewrite !count_app, !plus_INR. rewrite last in bound. lra.
Qed.

End Fading.

Theorem fading_bounds_all_lengths :
  forall (d : nat) (N : network) (p : token -> nat -> R) (adds : nat -> bool) (theta : nat -> R) (L : R) (K : nat) (s : string),
  (forall x i j, matrix N x i j = if Nat.eq_dec i j then p x i else 0) -> (forall i, start N i = 0) ->
  (forall x i, adds i = true -> p x i = 1) -> (forall i, 0 <= theta i < 1) ->
  (forall x i, (i < d)%nat -> adds i = false ->
    Rabs (p x i) <= theta i \/ weight N i * step N Open i = 0 /\ weight N i * step N Close i = 0) ->
  2 * sum d (fun i => if adds i then weight N i * step N Open i else 0) = L ->
  2 * sum d (fun i => if adds i then weight N i * step N Close i else 0) = - L ->
  (K <= length s)%nat ->
  exists n m, (n + m = K)%nat /\
  2 * bias N + (INR (count Open s) - INR (count Close s)) * L
    + (2 * least_path (path_term d N) n m - (INR n - INR m) * L) - 2 * left_over d N adds theta K <= 2 * output d N s.
Proof. intros. now apply (fading_bound d N p). Qed.
