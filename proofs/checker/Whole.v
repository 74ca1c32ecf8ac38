(** An affine network in whole numbers: its matrices times D, and how far each token moves the initial state, times S. *)

From Tallystick.checker Require Import Networks Classes Boxes Affine Rows.

(** * Whole rows *)

Definition whole_row (S : positive) (v : list Q) : option (list Z) :=
  if forallb (is_exact S) v then Some (map (fun x => times_down x (Zpos S)) v) else None.

Lemma whole_row_is S v zs : whole_row S v = Some zs -> whole (inject_Z (Zpos S)) zs v.
Proof.
  unfold whole_row. destruct (forallb (is_exact S) v) eqn:all; [intros [= <-] | discriminate].
  induction v as [|x v IH]; cbn in *; [constructor|]. apply Bool.andb_true_iff in all. destruct all as [one rest].
  constructor; [now apply times_down_exact | now apply IH].
Qed.

Lemma whole_nth D m v j : whole D m v -> inject_Z (nth j m 0%Z) == nth j v 0 * D.
Proof.
  intros all. revert j. induction all as [|z x m v same _ IH]; intros [|j]; cbn [nth];
    [change (inject_Z 0) with 0; ring | change (inject_Z 0) with 0; ring | exact same | apply IH].
Qed.

Fixpoint whole_matrix (D : positive) (ls : list line) : option (list (list Z)) :=
  match ls with
  | [] => Some []
  | l :: ls =>
      match whole_row D (fst l), whole_matrix D ls with Some m, Some M => Some (m :: M) | _, _ => None end
  end.

Lemma whole_matrix_is D ls M : whole_matrix D ls = Some M -> is_matrix (inject_Z (Zpos D)) M ls.
Proof.
  revert M. induction ls as [|l ls IH]; cbn; intros M; [intros [= <-]; constructor|].
  destruct (whole_row D (fst l)) as [m|] eqn:one; [|discriminate].
  destruct (whole_matrix D ls) as [rest|]; [intros [= <-] | discriminate].
  constructor; [|now apply IH]. intros j. apply whole_nth, whole_row_is, one.
Qed.

(** Two rows are equal but for zeros at their ends. *)
Fixpoint same_row (u v : list Z) : bool :=
  match u, v with
  | x :: u, y :: v => (x =? y)%Z && same_row u v
  | [], v => forallb (Z.eqb 0) v
  | u, [] => forallb (Z.eqb 0) u
  end.

Lemma nth_of_zeros v j : forallb (Z.eqb 0) v = true -> nth j v 0%Z = 0%Z.
Proof.
  intros zeros. rewrite forallb_forall in zeros. destruct (nth_in_or_default j v 0%Z) as [member | ->]; [|reflexivity].
  apply zeros in member. now apply Z.eqb_eq in member.
Qed.

Lemma same_row_is u v j : same_row u v = true -> nth j u 0%Z = nth j v 0%Z.
Proof.
  revert v j. induction u as [|x u IH]; intros v j.
  - intros zeros. assert (forallb (Z.eqb 0) v = true) as all by now destruct v.
    rewrite (nth_of_zeros _ j all). now destruct j.
  - destruct v as [|y v]; cbn [same_row].
    + intros zeros. rewrite (nth_of_zeros _ j zeros). now destruct j.
    + rewrite Bool.andb_true_iff, Z.eqb_eq. intros [-> rest]. destruct j; cbn; auto.
Qed.

Fixpoint same_matrix (M N : list (list Z)) : bool :=
  match M, N with
  | [], [] => true
  | m :: M, n :: N => same_row m n && same_matrix M N
  | _, _ => false
  end.

Lemma same_matrix_is D M N ls : same_matrix M N = true -> is_matrix D N ls -> is_matrix D M ls.
Proof.
  revert N ls. induction M as [|m M IH]; intros [|k N] ls; cbn; try discriminate; auto.
  rewrite Bool.andb_true_iff. intros [one rest] all. inversion all; subst.
  constructor; [|eapply IH; eassumption]. intros j. rewrite (same_row_is _ _ j one). auto.
Qed.

(** * Whole networks *)

Lemma dot_comm u v : dot u v == dot v u.
Proof. revert v. induction u as [|x u IH]; intros [|y v]; cbn; try reflexivity. rewrite IH. ring. Qed.

(** How far a token moves the initial state. *)
Definition moved (n : network) (x : token) : list Q := row_minus (step n (initial n) x) (initial n).

Record whole_network := { M_open : list (list Z); M_close : list (list Z); v_open : list Z; v_close : list Z }.

Definition whole_network_of (D S : positive) (n : network) (a : affine) : option whole_network :=
  match whole_matrix D (opening a), whole_matrix D (closing a), whole_row S (moved n Open), whole_row S (moved n Close) with
  | Some A, Some B, Some v, Some w => Some {| M_open := A; M_close := B; v_open := v; v_close := w |}
  | _, _, _, _ => None
  end.

Definition matrix_after (w : whole_network) (x : token) := match x with Open => M_open w | Close => M_close w end.
Definition vector_of (w : whole_network) (x : token) := match x with Open => v_open w | Close => v_close w end.

Lemma whole_network_is D S n a w : whole_network_of D S n a = Some w ->
  forall x, is_matrix (inject_Z (Zpos D)) (matrix_after w x) (lines_after a x) /\
            whole (inject_Z (Zpos S)) (vector_of w x) (moved n x).
Proof.
  unfold whole_network_of. intros found.
  destruct (whole_matrix D (opening a)) as [A|] eqn:A_is; [|discriminate].
  destruct (whole_matrix D (closing a)) as [B|] eqn:B_is; [|discriminate].
  destruct (whole_row S (moved n Open)) as [v|] eqn:v_is; [|discriminate].
  destruct (whole_row S (moved n Close)) as [u|] eqn:u_is; [injection found as <- | discriminate].
  intros []; split; cbn; auto using whole_matrix_is, whole_row_is.
Qed.

(** * Lines pulled back along a string, from its end *)

Section Pulled.

Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.

Definition pulled (l : line) (rs : string) : line := fold_left (fun l x => pull (lines_after a x) l) rs l.

Lemma pulled_is l s : output l (state_after n s) == output (pulled l (rev s)) (initial n).
Proof.
  revert l. induction s as [|x s IH] using rev_ind; intros l; [reflexivity|].
  rewrite rev_unit, (pull_step n a is_affine), IH. reflexivity.
Qed.

Lemma pulled_snoc l rs x : pulled l (rs ++ [x]) = pull (lines_after a x) (pulled l rs).
Proof. unfold pulled. now rewrite fold_left_app. Qed.

(** One more token moves the value at the initial state. *)
Lemma pull_moves l x : output (pull (lines_after a x) l) (initial n) == output l (initial n) + dot (fst l) (moved n x).
Proof.
  rewrite (pull_is _ _ _ l (affine_step n a is_affine [] x)).
  change (state_after n ([] ++ [x])) with (step n (initial n) x). unfold moved, output.
  rewrite (dot_comm (fst l) (row_minus _ _)), dot_minus, (dot_comm _ (fst l)), (dot_comm (initial n) (fst l)). ring.
Qed.

End Pulled.
