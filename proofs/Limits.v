(** Linear networks that are right at every length without computing the count: the terms delta_k tend to a level L, and what
    they and the drift are off by adds up to less than what separates two counts. *)

From Tallystick Require Import Brackets Sorting Networks.

(** * A bound for every level *)

(** What a token with k others after it takes from, or adds to, the least output, besides its part of the count; doubled. *)
Definition excess (d : nat) (N : network) (L : R) (k : nat) : R :=
  2 * gamma d N k + L - 2 * Rmax 0 (L - delta d N k).

Lemma doubled_output_at_least d N L s : is_linear N ->
  2 * output d N [] + (INR (count Open s) - INR (count Close s)) * L + sum (length s) (excess d N L) <= 2 * output d N s.
Proof.
  intros linear. rewrite (linear_networks_unrolled d N s linear), drift_is_a_sum.
  pose proof (opened_at_least (delta d N) L s) as bound.
  assert (forall T, sum T (excess d N L)
          = 2 * sum T (gamma d N) + INR T * L - 2 * sum T (fun k => Rmax 0 (L - delta d N k))) as parts.
  { induction T as [|T IH]; [cbn; lra|]. rewrite S_INR. cbn [sum]. rewrite IH. unfold excess. lra. }
  rewrite parts, length_is_both_counts in *. rewrite plus_INR. lra.
Qed.

(** If the terms from K on add up to at most R in size, whatever the length, then K terms bound all lengths from K on. *)
Theorem levels_bound_all_lengths : forall (d : nat) (N : network) (L : R) (K : nat) (tail : R) (s : string),
  is_linear N -> (forall n, sum n (fun i => Rabs (excess d N L (K + i))) <= tail) -> (K <= length s)%nat ->
  2 * output d N [] + (INR (count Open s) - INR (count Close s)) * L + sum K (excess d N L) - tail <= 2 * output d N s.
Proof.
  intros d N L K tail s linear small long. pose proof (doubled_output_at_least d N L s linear) as bound.
  replace (length s) with (K + (length s - K))%nat in bound by lia. rewrite sum_split in bound.
  specialize (small (length s - K)%nat).
  pose proof (sum_abs (length s - K) (fun i => excess d N L (K + i))) as size.
  pose proof (Rle_abs (- sum (length s - K) (fun i => excess d N L (K + i)))) as below. rewrite Rabs_Ropp in below. lra.
Qed.

(** * A bound on the tail: geometric, by a power of the matrix that shrinks *)

Lemma geometric_tail (a : nat -> R) (m n : nat) (theta : R) : 0 <= theta < 1 -> (forall k, 0 <= a k) ->
  (forall k, a (m + k)%nat <= theta * a k) -> sum n a <= sum m a / (1 - theta).
Proof.
  intros between positive shrinks.
  assert (sum (m + n) a <= sum m a + theta * sum n a) as more.
  { rewrite sum_split, <- sum_times. apply Rplus_le_compat_l, sum_le. intros i _. apply shrinks. }
  assert (sum n a <= sum (m + n) a) as fewer.
  { rewrite Nat.add_comm, sum_split. enough (0 <= sum m (fun i => a (n + i)%nat)) by lra.
    rewrite <- (sum_zero m). apply sum_le. auto. }
  apply (Rmult_le_reg_r (1 - theta)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** The sum of the sizes of a row's numbers. *)
Definition size1 (d : nat) (w : vector) : R := sum d (fun i => Rabs (w i)).

Lemma size1_nonneg d w : 0 <= size1 d w.
Proof. rewrite <- (sum_zero d). apply sum_le. intros. apply Rabs_pos. Qed.

Lemma dot_small d w x X : (forall i, (i < d)%nat -> Rabs (x i) <= X) -> Rabs (dot d w x) <= size1 d w * X.
Proof.
  intros small. eapply Rle_trans; [apply sum_abs|]. unfold size1. rewrite Rmult_comm, <- sum_times. apply sum_le.
  intros i inside. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos | auto].
Qed.

(** w M^k. *)
Definition row_power (d : nat) (M : square) (w : vector) (k : nat) : vector := Nat.iter k (fun w => row_times d w M) w.

(** M^k: its rows are those of the unit matrix times M^k. *)
Definition matrix_power (d : nat) (M : square) (k : nat) : square :=
  fun i => row_power d M (fun j => if Nat.eq_dec i j then 1 else 0) k.

Lemma sum_unit d f j : (j < d)%nat -> sum d (fun i => f i * (if Nat.eq_dec i j then 1 else 0)) = f j.
Proof.
  induction d as [|d IH]; intros small; [lia|]. cbn. destruct (Nat.eq_dec d j) as [-> | other].
  - rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [lra|]. intros i inside. destruct (Nat.eq_dec i j); [lia | ring].
  - rewrite IH by lia. ring.
Qed.

Lemma row_power_is_product d M w k j : (j < d)%nat ->
  row_power d M w k j = sum d (fun i => w i * matrix_power d M k i j).
Proof.
  revert j. induction k as [|k IH]; intros j small; [symmetry; apply (sum_unit d w j small)|].
  change (row_power d M w (S k) j) with (sum d (fun l => row_power d M w k l * M l j)).
  transitivity (sum d (fun l => sum d (fun i => w i * matrix_power d M k i l * M l j))).
  { apply sum_ext. intros l inside. rewrite IH by assumption. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros. ring. }
  rewrite sum_swap. apply sum_ext. intros i inside.
  change (matrix_power d M (S k) i j) with (sum d (fun l => matrix_power d M k i l * M l j)).
  rewrite <- sum_times. apply sum_ext. intros. ring.
Qed.

(** If the sizes in no row of M^m add up to more than theta, M^m shrinks every row by theta. *)
Lemma power_shrinks d M m theta w : (forall i, (i < d)%nat -> size1 d (matrix_power d M m i) <= theta) ->
  size1 d (row_power d M w m) <= theta * size1 d w.
Proof.
  intros rows. unfold size1 at 1.
  rewrite (sum_ext _ _ (fun j => Rabs (sum d (fun i => w i * matrix_power d M m i j))))
    by (intros; now rewrite row_power_is_product).
  apply Rle_trans with (sum d (fun j => sum d (fun i => Rabs (w i * matrix_power d M m i j)))).
  { apply sum_le. intros. apply sum_abs. }
  rewrite sum_swap. unfold size1. rewrite <- sum_times.
  apply sum_le. intros i inside.
  rewrite (sum_ext _ _ (fun j => Rabs (w i) * Rabs (matrix_power d M m i j))) by (intros; apply Rabs_mult).
  rewrite sum_times. specialize (rows i inside). unfold size1 in rows. pose proof (Rabs_pos (w i)). nra.
Qed.

Lemma row_power_plus d M w n k : row_power d M w (n + k) = row_power d M (row_power d M w k) n.
Proof. induction n as [|n IH]; [reflexivity|]. exact (f_equal (fun w => row_times d w M) IH). Qed.

(** So what the rows w M^K, w M^(K+1), ... make of a column adds up to a bounded sum. *)
Theorem powers_bound_the_tail : forall (d : nat) (M : square) (w x : vector) (K m n : nat) (theta X : R),
  0 <= theta < 1 -> (forall i, (i < d)%nat -> size1 d (matrix_power d M m i) <= theta) ->
  (forall i, (i < d)%nat -> Rabs (x i) <= X) -> 0 <= X ->
  sum n (fun i => Rabs (dot d (row_power d M w (K + i)) x))
  <= sum m (fun i => size1 d (row_power d M w (K + i))) * X / (1 - theta).
Proof.
  intros d M w x K m n theta X between rows small positive.
  apply Rle_trans with (sum n (fun i => X * size1 d (row_power d M w (K + i)))).
  { apply sum_le. intros i _. rewrite (Rmult_comm X). now apply dot_small. }
  rewrite sum_times.
  unfold Rdiv. rewrite (Rmult_comm _ X), Rmult_assoc. apply Rmult_le_compat_l; [assumption|].
  apply (geometric_tail (fun i => size1 d (row_power d M w (K + i)))); [assumption | intros; apply size1_nonneg |].
  intros k. replace (K + (m + k))%nat with (m + (K + k))%nat by lia. rewrite row_power_plus. now apply power_shrinks.
Qed.
