(** The evidence that a linear network is right at every length: a matrix E that the powers of U tend to, and a power of U - E that
    shrinks. *)

From Tallystick Require Import Brackets Sorting Networks Limits.

(** * The limit of the powers of U *)

Definition product (d : nat) (A B : square) : square := fun i j => sum d (fun k => A i k * B k j).
Definition less (A B : square) : square := fun i j => A i j - B i j.

(** U E = E U = E E = E. *)
Definition is_limit (d : nat) (U E : square) : Prop :=
  forall i j, (i < d)%nat -> (j < d)%nat ->
  product d U E i j = E i j /\ product d E U i j = E i j /\ product d E E i j = E i j.

Lemma row_times_product d w A B j : row_times d (row_times d w A) B j = row_times d w (product d A B) j.
Proof.
  unfold row_times, product. transitivity (sum d (fun i => sum d (fun k => w k * A k i * B i j))).
  - apply sum_ext. intros i _. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros. ring.
  - rewrite sum_swap. apply sum_ext. intros k _. rewrite <- sum_times. apply sum_ext. intros. ring.
Qed.

Lemma row_times_plus d w w' A j : row_times d (fun i => w i + w' i) A j = row_times d w A j + row_times d w' A j.
Proof. unfold row_times. rewrite <- sum_plus. apply sum_ext. intros. ring. Qed.

Lemma row_times_less d w A B j : row_times d w A j = row_times d w B j + row_times d w (less A B) j.
Proof. unfold row_times, less. rewrite <- sum_plus. apply sum_ext. intros. ring. Qed.

Lemma row_times_same d w A B j : (forall i, (i < d)%nat -> A i j = B i j) -> row_times d w A j = row_times d w B j.
Proof. intros same. apply sum_ext. intros. now rewrite same. Qed.

(** w U^k = w E + w (U - E)^k from k = 1 on. *)
Lemma powers_tend d U E w k j : is_limit d U E -> (j < d)%nat ->
  row_power d U w (S k) j = row_times d w E j + row_power d (less U E) w (S k) j.
Proof.
  intros limit. revert j. induction k as [|k IH]; intros j small; [apply row_times_less|].
  change (row_power d U w (S (S k)) j) with (row_times d (row_power d U w (S k)) U j).
  rewrite (row_times_ext d _ (fun i => row_times d w E i + row_power d (less U E) w (S k) i)) by auto.
  rewrite row_times_plus, row_times_product. f_equal.
  - apply row_times_same. intros i inside. now apply limit.
  - rewrite (row_times_less d _ U E). change (row_power d (less U E) w (S (S k)) j) with
      (row_times d (row_power d (less U E) w (S k)) (less U E) j).
    enough (row_times d (row_power d (less U E) w (S k)) E j = 0) by lra.
    change (row_power d (less U E) w (S k)) with (row_times d (row_power d (less U E) w k) (less U E)).
    rewrite row_times_product, (row_times_same d _ _ (fun _ _ => 0)).
    + unfold row_times. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [reflexivity | intros; ring].
    + intros i inside. transitivity (product d U E i j - product d E E i j).
      * unfold product, less, Rminus. rewrite <- (Rmult_1_l (sum d (fun k0 => E i k0 * E k0 j))), Ropp_mult_distr_l,
          <- sum_times, <- sum_plus. apply sum_ext. intros. ring.
      * destruct (limit i j inside small) as (-> & _ & ->). ring.
Qed.

(** What one more `)` at the front adds, as a column. *)
Definition drift (d : nat) (N : network) : vector :=
  fun i => step N Close i + (applied d (matrix N Open) (start N) i - start N i).
Definition opening_step (N : network) : vector := fun i => step N Open i - step N Close i.

Theorem limits_bound_all_lengths :
  forall (d : nat) (N : network) (E : square) (K m : nat) (theta X Z : R) (s : string),
  is_linear N -> is_limit d (matrix N Open) E -> (1 <= K <= length s)%nat ->
  let L := dot d (row_times d (weight N) E) (opening_step N) in
  2 * dot d (row_times d (weight N) E) (drift d N) = - L ->
  0 <= theta < 1 -> (forall i, (i < d)%nat -> size1 d (matrix_power d (less (matrix N Open) E) m i) <= theta) ->
  0 <= X -> (forall i, (i < d)%nat -> Rabs (opening_step N i) <= X) ->
  0 <= Z -> (forall i, (i < d)%nat -> Rabs (drift d N i) <= Z) ->
  let sizes := sum m (fun i => size1 d (row_power d (less (matrix N Open) E) (weight N) (K + i))) in
  2 * output d N [] + (INR (count Open s) - INR (count Close s)) * L + sum K (excess d N L)
    - 2 * sizes * (X + Z) / (1 - theta) <= 2 * output d N s.
Proof.
  intros d N E K m theta X Z s linear limit long L no_drift between rows X_pos X_bound Z_pos Z_bound sizes.
  apply levels_bound_all_lengths; [assumption | | lia]. intros n.
  set (rest := fun k => row_power d (less (matrix N Open) E) (weight N) k).
  assert (forall k x, (1 <= k)%nat -> dot d (row d N k) x = dot d (row_times d (weight N) E) x + dot d (rest k) x) as parts.
  { intros [|k] x; [lia|]. intros _. unfold dot. rewrite <- sum_plus. apply sum_ext. intros j small.
    change (row d N (S k)) with (row_power d (matrix N Open) (weight N) (S k)). rewrite (powers_tend d _ E) by assumption.
    unfold rest. ring. }
  apply Rle_trans with (sum n (fun i => 2 * (Rabs (dot d (rest (K + i)%nat) (opening_step N))
                                          + Rabs (dot d (rest (K + i)%nat) (drift d N))))).
  - apply sum_le. intros i _. unfold excess.
    change (gamma d N (K + i)) with (dot d (row d N (K + i)) (drift d N)).
    change (delta d N (K + i)) with (dot d (row d N (K + i)) (opening_step N)).
    rewrite !parts by lia. fold L.
    set (x := dot d (rest _) (opening_step N)). set (z := dot d (rest _) (drift d N)).
    set (q := dot d (row_times d (weight N) E) (drift d N)) in *.
    unfold Rmax, Rabs. destruct (Rle_dec 0 (L - (L + x))); repeat destruct Rcase_abs; lra.
  - rewrite sum_times, sum_plus.
    pose proof (powers_bound_the_tail d _ (weight N) (opening_step N) K m n theta X between rows X_bound X_pos) as open.
    pose proof (powers_bound_the_tail d _ (weight N) (drift d N) K m n theta Z between rows Z_bound Z_pos) as close.
    fold sizes in open, close. unfold rest, Rdiv in *. nra.
Qed.

(** * The binary readout at every counted length: a stride of 1 counts all, of 2 the even ones *)

Definition opposite (N : network) : network := with_output N (fun i => - weight N i) (- bias N).

Lemma opposite_output d N s : output d (opposite N) s = - output d N s.
Proof.
  unfold output. change (final d (opposite N) s) with (final d N s). cbn [weight bias opposite with_output].
  enough (forall x, dot d (fun i => - weight N i) x = - dot d (weight N) x) as -> by lra.
  intros x. unfold dot. induction d as [|d IH]; cbn; [lra|]. rewrite IH. ring.
Qed.

Theorem right_at_every_length : forall (d : nat) (N : network) (L : R) (K stride : nat) (tail tail' : R),
  is_linear N -> 0 <= L -> stride = 1%nat \/ stride = 2%nat ->
  let right s := output d N s > 0 <-> (count Open s > count Close s)%nat in
  (forall n, sum n (fun i => Rabs (excess d N L (K + i))) <= tail) ->
  (forall n, sum n (fun i => Rabs (excess d (opposite N) (- L) (K + i))) <= tail') ->
  0 < 2 * output d N [] + INR stride * L + sum K (excess d N L) - tail ->
  0 <= - (2 * output d N []) + sum K (excess d (opposite N) (- L)) - tail' ->
  (forall s, s <> [] -> Nat.divide stride (length s) -> (length s < K)%nat -> right s) ->
  forall s, s <> [] -> Nat.divide stride (length s) -> right s.
Proof.
  intros d N L K stride tail tail' linear nonneg strides right small small' above below short s not_empty [k counted].
  destruct (Nat.lt_ge_cases (length s) K) as [less | long]; [now apply short; [|exists k|]|].
  pose proof (levels_bound_all_lengths d N L K tail s linear small long) as least.
  pose proof (levels_bound_all_lengths d (opposite N) (- L) K tail' s linear small' long) as greatest.
  rewrite !opposite_output in greatest. rewrite length_is_both_counts in counted. unfold right. split; intros more.
  - destruct (Nat.le_gt_cases (count Open s) (count Close s)) as [few|]; [exfalso | assumption].
    apply le_INR in few. nra.
  - assert (count Close s + stride <= count Open s)%nat as apart by (destruct strides; subst stride; lia).
    apply le_INR in apart. rewrite plus_INR in apart. nra.
Qed.
