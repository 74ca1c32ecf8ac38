(** Networks with a matrix for each token, where the two commute: a string is a path in a lattice, and the extremes of the output
    over all strings with n opening and m closing brackets follow by a recursion over n and m. *)

From Tallystick Require Import Brackets Extremes Sorting Networks.

(** * The least and the greatest path *)

(** A token adds what depends on how many brackets of each kind follow it. *)
Fixpoint along (phi : token -> nat -> nat -> R) (s : string) : R :=
  match s with
  | [] => 0
  | x :: s => phi x (count Open s) (count Close s) + along phi s
  end.

(** A string begins with `(`, before one with n - 1 and m, or with `)`, before one with n and m - 1. *)
Fixpoint least_path (phi : token -> nat -> nat -> R) (n : nat) : nat -> R :=
  fix with_closings (m : nat) : R :=
    match n, m with
    | O, O => 0
    | S n', O => phi Open n' O + least_path phi n' O
    | O, S m' => phi Close O m' + with_closings m'
    | S n', S m' => Rmin (phi Open n' m + least_path phi n' m) (phi Close n m' + with_closings m')
    end.

Definition greatest_path (phi : token -> nat -> nat -> R) (n m : nat) : R :=
  - least_path (fun x n m => - phi x n m) n m.

(** What strings with n opening and m closing brackets may add. *)
Definition reached_path (phi : token -> nat -> nat -> R) (n m : nat) (y : R) : Prop :=
  exists s, count Open s = n /\ count Close s = m /\ along phi s = y.

Lemma reached_path_open phi n m y : reached_path phi n m y -> reached_path phi (S n) m (phi Open n m + y).
Proof. intros (s & <- & <- & <-). now exists (Open :: s). Qed.

Lemma reached_path_close phi n m y : reached_path phi n m y -> reached_path phi n (S m) (phi Close n m + y).
Proof. intros (s & <- & <- & <-). now exists (Close :: s). Qed.

Lemma reached_path_min phi n m x y :
  reached_path phi n m x -> reached_path phi n m y -> reached_path phi n m (Rmin x y).
Proof. intros. now apply Rmin_case. Qed.

Lemma least_path_is_reached phi n m : reached_path phi n m (least_path phi n m).
Proof.
  revert m. induction n as [|n IHn]; intros m; induction m as [|m IHm].
  - now exists [].
  - cbn. now apply reached_path_close.
  - cbn. apply reached_path_open, IHn.
  - change (least_path phi (S n) (S m)) with
      (Rmin (phi Open n (S m) + least_path phi n (S m)) (phi Close (S n) m + least_path phi (S n) m)).
    auto using reached_path_min, reached_path_open, reached_path_close.
Qed.

Lemma along_at_least phi s : least_path phi (count Open s) (count Close s) <= along phi s.
Proof.
  induction s as [|x s IH]; [apply Rle_refl|]. cbn [along]. set (n := count Open s) in *. set (m := count Close s) in *.
  destruct x.
  - change (count Open (Open :: s)) with (S n). change (count Close (Open :: s)) with m.
    destruct m as [|m]; [cbn in *; lra|].
    change (least_path phi (S n) (S m)) with
      (Rmin (phi Open n (S m) + least_path phi n (S m)) (phi Close (S n) m + least_path phi (S n) m)).
    eapply Rle_trans; [apply Rmin_l | lra].
  - change (count Open (Close :: s)) with n. change (count Close (Close :: s)) with (S m).
    destruct n as [|n]; [cbn in *; lra|].
    change (least_path phi (S n) (S m)) with
      (Rmin (phi Open n (S m) + least_path phi n (S m)) (phi Close (S n) m + least_path phi (S n) m)).
    eapply Rle_trans; [apply Rmin_r | lra].
Qed.

Lemma along_opposite phi s : along (fun x n m => - phi x n m) s = - along phi s.
Proof. induction s as [|x s IH]; cbn; lra. Qed.

Theorem lattice_paths : forall (phi : token -> nat -> nat -> R) (n m : nat),
  is_least (reached_path phi n m) (least_path phi n m) /\
  is_greatest (reached_path phi n m) (greatest_path phi n m).
Proof.
  intros phi n m. split; split.
  - apply least_path_is_reached.
  - intros y (s & <- & <- & <-). apply along_at_least.
  - destruct (least_path_is_reached (fun x n m => - phi x n m) n m) as (s & opens & closes & adds).
    exists s. unfold greatest_path. rewrite <- adds, along_opposite. repeat split; try assumption. lra.
  - intros y (s & <- & <- & <-). pose proof (along_at_least (fun x n m => - phi x n m) s) as bound.
    rewrite along_opposite in bound. unfold greatest_path. lra.
Qed.

(** * Commuting matrices *)

(** A B = B A, at every place. *)
Definition commute (d : nat) (A B : square) : Prop :=
  forall i j, (i < d)%nat -> (j < d)%nat -> sum d (fun k => A i k * B k j) = sum d (fun k => B i k * A k j).

(** v A_open^n A_close^m. *)
Definition row_after (d : nat) (N : network) (n m : nat) : vector :=
  Nat.iter m (fun w => row_times d w (matrix N Close)) (Nat.iter n (fun w => row_times d w (matrix N Open)) (weight N)).

Definition same_row (d : nat) (w w' : vector) : Prop := forall i, (i < d)%nat -> w i = w' i.

Lemma rows_commute d A B w : commute d A B -> same_row d (row_times d (row_times d w A) B) (row_times d (row_times d w B) A).
Proof.
  intros commutes j small. unfold row_times.
  assert (forall C D : square, sum d (fun i => sum d (fun k => w k * C k i) * D i j)
          = sum d (fun k => w k * sum d (fun i => C k i * D i j))) as exchange.
  { intros C D. transitivity (sum d (fun i => sum d (fun k => w k * C k i * D i j))).
    - apply sum_ext. intros i _. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros. ring.
    - rewrite sum_swap. apply sum_ext. intros k _. rewrite <- sum_times. apply sum_ext. intros. ring. }
  rewrite !exchange. apply sum_ext. intros k small_k. f_equal. now apply commutes.
Qed.

Lemma row_after_open d N n m : commute d (matrix N Open) (matrix N Close) ->
  same_row d (row_times d (row_after d N n m) (matrix N Open)) (row_after d N (S n) m).
Proof.
  intros commutes. induction m as [|m IH]; [now intros i|]. intros j small.
  change (row_after d N (S n) (S m)) with (row_times d (row_after d N (S n) m) (matrix N Close)).
  rewrite <- (row_times_ext d _ _ _ IH). symmetry. now apply rows_commute.
Qed.

Lemma row_of_counts d N s : commute d (matrix N Open) (matrix N Close) ->
  same_row d (row_of d N s) (row_after d N (count Open s) (count Close s)).
Proof.
  intros commutes. induction s as [|x s IH]; [now intros i|]. intros j small. cbn [row_of].
  rewrite (row_times_ext d _ _ _ IH). destruct x; [now apply row_after_open | reflexivity].
Qed.

(** What a token adds to the output, where n `(` and m `)` follow it. *)
Definition path_term (d : nat) (N : network) (x : token) (n m : nat) : R := dot d (row_after d N n m) (step N x).

Lemma added_along d N s : commute d (matrix N Open) (matrix N Close) -> added d N s = along (path_term d N) s.
Proof.
  intros commutes. induction s as [|x s IH]; [reflexivity|]. cbn [added along]. rewrite IH. f_equal. unfold path_term.
  apply dot_ext, row_of_counts, commutes.
Qed.

Theorem commuting_networks_are_paths : forall (d : nat) (N : network) (s : string),
  commute d (matrix N Open) (matrix N Close) ->
  output d N s = dot d (row_after d N (count Open s) (count Close s)) (start N) + bias N + along (path_term d N) s.
Proof.
  intros d N s commutes.
  rewrite output_is_a_sum, (dot_ext d _ _ _ (row_of_counts d N s commutes)), added_along by assumption. lra.
Qed.

(** So the recursion gives the extremes of the output over all strings with n opening and m closing brackets. *)
Theorem paths_give_the_extremes : forall (d : nat) (N : network) (n m : nat),
  commute d (matrix N Open) (matrix N Close) ->
  let reached y := exists s, count Open s = n /\ count Close s = m /\ output d N s = y in
  let base := dot d (row_after d N n m) (start N) + bias N in
  is_least reached (base + least_path (path_term d N) n m) /\
  is_greatest reached (base + greatest_path (path_term d N) n m).
Proof.
  intros d N n m commutes reached base.
  destruct (lattice_paths (path_term d N) n m) as [[least_reached least] [greatest_reached greatest]].
  assert (forall y, reached_path (path_term d N) n m y -> reached (base + y)) as shift.
  { intros y (s & opens & closes & adds). exists s.
    rewrite (commuting_networks_are_paths d N s commutes), opens, closes, adds. auto. }
  assert (forall y, reached y -> exists z, reached_path (path_term d N) n m z /\ y = base + z) as unshift.
  { intros y (s & opens & closes & is_y). exists (along (path_term d N) s). split; [now exists s|].
    rewrite <- is_y, (commuting_networks_are_paths d N s commutes), opens, closes. reflexivity. }
  split; (split; [now apply shift|]); intros y is_reached; destruct (unshift y is_reached) as (z & is_path & ->).
  - apply Rplus_le_compat_l. now apply least.
  - apply Rplus_le_compat_l. now apply greatest.
Qed.
