(** What rounding the terms of a network may do to its output: sums of rounded terms are off by no more than all errors together. *)

From Tallystick Require Import Brackets Sorting Networks LatticePaths Limits.

(** * Sums over a string *)

Theorem rounded_sums : forall (delta delta' err : nat -> R) (s : string),
  (forall k, (k < length s)%nat -> Rabs (delta k - delta' k) <= err k) ->
  Rabs (opened delta s - opened delta' s) <= sum (length s) err.
Proof.
  intros delta delta' err s. induction s as [|x s IH]; intros near; [cbn; rewrite Rminus_0_r, Rabs_R0; lra|].
  assert (Rabs (opened delta s - opened delta' s) <= sum (length s) err) as rest by (apply IH; intros; apply near; cbn; lia).
  specialize (near (length s) ltac:(cbn; lia)). pose proof (Rabs_pos (delta (length s) - delta' (length s))) as size.
  cbn [length sum]. destruct x; cbn [opened]; [|lra].
  pose proof (Rabs_triang (delta (length s) - delta' (length s)) (opened delta s - opened delta' s)) as both.
  replace (delta (length s) - delta' (length s) + (opened delta s - opened delta' s))
    with (delta (length s) + opened delta s - (delta' (length s) + opened delta' s)) in both by ring. lra.
Qed.

Theorem rounded_paths : forall (phi phi' : token -> nat -> nat -> R) (err : nat -> R) (s : string),
  (forall x n m, (n + m < length s)%nat -> Rabs (phi x n m - phi' x n m) <= err (n + m)%nat) ->
  Rabs (along phi s - along phi' s) <= sum (length s) err.
Proof.
  intros phi phi' err s. induction s as [|x s IH]; intros near; [cbn; rewrite Rminus_0_r, Rabs_R0; lra|].
  assert (Rabs (along phi s - along phi' s) <= sum (length s) err) as rest by (apply IH; intros; apply near; cbn; lia).
  pose proof (length_is_both_counts s) as size.
  specialize (near x (count Open s) (count Close s)). rewrite <- size in near. specialize (near ltac:(cbn; lia)).
  cbn [length sum along]. set (n := count Open s) in *. set (m := count Close s) in *.
  pose proof (Rabs_triang (phi x n m - phi' x n m) (along phi s - along phi' s)) as both.
  replace (phi x n m - phi' x n m + (along phi s - along phi' s))
    with (phi x n m + along phi s - (phi' x n m + along phi' s)) in both by ring. lra.
Qed.

(** * Rows times the powers of a matrix, each rounded by less than a unit *)

Theorem rounded_rows : forall (d : nat) (U : square) (w w' : nat -> vector) (growth : R) (err : nat -> R), 0 <= growth ->
  (forall j, (j < d)%nat -> sum d (fun i => Rabs (U i j)) <= growth) ->
  (forall k j, (j < d)%nat -> w (S k) j = row_times d (w k) U j) ->
  (forall k j, (j < d)%nat -> Rabs (w' (S k) j - row_times d (w' k) U j) <= 1) ->
  (forall j, (j < d)%nat -> Rabs (w' 0%nat j - w 0%nat j) <= err 0%nat) ->
  (forall k, err k * growth + 1 <= err (S k)) ->
  forall k j, (j < d)%nat -> Rabs (w' k j - w k j) <= err k.
Proof.
  intros d U w w' growth err nonneg columns exact rounds first grows k.
  induction k as [|k IH]; intros j inside; [now apply first|]. rewrite exact by assumption.
  specialize (rounds k j inside). specialize (grows k). specialize (columns j inside).
  assert (Rabs (row_times d (w' k) U j - row_times d (w k) U j) <= err k * growth) as carried.
  { assert (row_times d (w' k) U j - row_times d (w k) U j = sum d (fun i => (w' k i - w k i) * U i j)) as ->.
    { unfold row_times. clear. induction d as [|n IH]; cbn; [ring|]. rewrite <- IH. ring. }
    eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum d (fun i => err k * Rabs (U i j))).
    - apply sum_le. intros i small. rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos | now apply IH].
    - rewrite sum_times. apply Rmult_le_compat_l; [|assumption].
      eapply Rle_trans; [apply Rabs_pos | now apply (IH j)]. }
  pose proof (Rabs_triang (w' (S k) j - row_times d (w' k) U j) (row_times d (w' k) U j - row_times d (w k) U j)) as both.
  replace (w' (S k) j - row_times d (w' k) U j + (row_times d (w' k) U j - row_times d (w k) U j))
    with (w' (S k) j - row_times d (w k) U j) in both by ring. lra.
Qed.

(** A rounded row times a rounded column. *)
Theorem rounded_products : forall (d : nat) (w w' x x' : vector) (g h : R), 0 <= g -> 0 <= h ->
  (forall i, (i < d)%nat -> Rabs (w i - w' i) <= g) -> (forall i, (i < d)%nat -> Rabs (x i - x' i) <= h) ->
  Rabs (dot d w x - dot d w' x') <= g * size1 d x' + h * size1 d w' + INR d * g * h.
Proof.
  intros d w w' x x' g h g_pos h_pos rows columns. unfold dot, size1.
  induction d as [|d IH]; [cbn; rewrite Rminus_0_r, Rabs_R0; lra|].
  cbn [sum]. rewrite S_INR. specialize (IH ltac:(auto) ltac:(auto)).
  specialize (rows d ltac:(lia)). specialize (columns d ltac:(lia)).
  assert (Rabs (w d * x d - w' d * x' d) <= g * Rabs (x' d) + h * Rabs (w' d) + g * h) as last.
  { replace (w d * x d - w' d * x' d) with ((w d - w' d) * x' d + w' d * (x d - x' d) + (w d - w' d) * (x d - x' d)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. rewrite !Rabs_mult.
    pose proof (Rabs_pos (w d - w' d)). pose proof (Rabs_pos (x d - x' d)). pose proof (Rabs_pos (x' d)).
    pose proof (Rabs_pos (w' d)). nra. }
  set (A := sum d (fun i => w i * x i)) in *. set (B := sum d (fun i => w' i * x' i)) in *.
  pose proof (Rabs_triang (A - B) (w d * x d - w' d * x' d)) as both.
  replace (A - B + (w d * x d - w' d * x' d)) with (A + w d * x d - (B + w' d * x' d)) in both by ring. lra.
Qed.
