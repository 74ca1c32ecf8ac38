(** All lengths of a network with one matrix whose powers converge: those to K by sorting, and all others at once. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Affine Whole Halves Sorting Counting Paths Monotone Limits.

(** * The checks *)

Definition one_matrix (a : affine) : bool :=
  same_length (opening a) (closing a) &&
  forallb (fun pair => no_row (row_minus (fst (fst pair)) (fst (snd pair)))) (combine (opening a) (closing a)).

(** Rows of the matrix E; the matrix leaves them as they are. *)
Definition is_limit (a : affine) (E : list line) : bool :=
  same_length (opening a) E &&
  forallb (fun pair => no_row (row_minus (row_before E (fst (fst pair))) (fst (snd pair)))) (combine (opening a) E).

Definition less_limit (P E : list line) : list line := map (fun pair => (row_minus (fst (fst pair)) (fst (snd pair)), 0)) (combine P E).

Definition greatest (xs : list Q) : Q := fold_right (fun x most => if Qle_bool x most then most else x) 0 xs.

Fixpoint head (A : list line) (v w : list Q) (k : nat) (d : list Q) : Q :=
  match k with
  | O => 0
  | S k => let x := dot d v in let y := dot d w in
           Qred ((if Qle_bool x y then x else y) + head A v w k (next A d))
  end.

(** The row that counts, and the rest. *)
Definition counting_row (E : list line) (l : line) : list Q := row_before E (fst l).
Definition rest_row (E : list line) (l : line) : list Q := row_minus (fst l) (counting_row E l).

Definition is_met_by_tail (n : network) (a : affine) (E : list line) (m : positive) (K : nat) (theta : Q) (which : lengths)
    (l : line) (questions : list ask) : bool :=
  let A := opening a in
  let rho := counting_row E l in
  let d := rest_row E l in
  let s := dot rho (moved n Open) in
  let V := greatest (map size_of (moved n Open ++ moved n Close)) in
  let kept := output l (initial n) + head A (moved n Open) (moved n Close) K d in
  let lost := norms A (Pos.to_nat m) (further A K d) * V in
  no_row (row_minus (row_before A rho) rho) && no_row (row_before E d) && Qeq_bool (dot rho (moved n Close)) (- s) &&
  forallb (fun question : ask =>
    leads_away s (fst question) &&
    is_above_zero (snd question) ((kept + s * inject_Z (nearest which (fst question))) * (1 - theta) - lost)) questions.

Definition tail_size (a : affine) (E : list line) (m : positive) : Q :=
  greatest (map (fun l => norm (fst l)) (less_limit (power (opening a) m) E)).

Definition tail_is_fine (a : affine) (E : list line) (m : positive) : bool :=
  one_matrix a && is_limit a E && same_length (power (opening a) m) E && negb (Qle_bool 1 (tail_size a E m)).

(** * Soundness *)

Lemma greatest_bounds xs x : In x xs -> x <= greatest xs.
Proof.
  induction xs as [|y xs IH]; [contradiction|]. cbn [greatest fold_right]. fold (greatest xs).
  destruct (Qle_bool y (greatest xs)) eqn:test; intros [-> | member].
  - now apply Qle_bool_iff in test.
  - now apply IH.
  - apply Qle_refl.
  - specialize (IH member). apply Bool.not_true_iff_false in test. rewrite Qle_bool_iff in test. apply Qnot_le_lt in test. lra.
Qed.

Lemma greatest_nonneg xs : 0 <= greatest xs.
Proof.
  induction xs as [|y xs IH]; [apply Qle_refl|]. cbn [greatest fold_right]. fold (greatest xs).
  destruct (Qle_bool y (greatest xs)) eqn:test; [exact IH|].
  apply Bool.not_true_iff_false in test. rewrite Qle_bool_iff in test. apply Qnot_le_lt in test. lra.
Qed.

Lemma images_of_pairs (M N : list line) (f : line -> list Q) u : same_length M N = true ->
  forallb (fun pair => no_row (row_minus (f (fst pair)) (fst (snd pair)))) (combine M N) = true ->
  same_vectors (map (fun l => dot (f l) u) M) (image N u).
Proof.
  revert N. induction M as [|k M IH]; intros [|l N]; cbn; try discriminate; [constructor|].
  intros same. rewrite Bool.andb_true_iff. intros [one all]. constructor; [|now apply IH].
  apply (no_row_is _ u) in one. rewrite dot_minus in one. lra.
Qed.

Lemma image_less P E u r : same_length P E = true -> dot r (image (less_limit P E) u) == dot r (image P u) - dot r (image E u).
Proof.
  revert E r. induction P as [|p P IH]; intros [|e E] r; cbn; try discriminate; intros same.
  - destruct r; cbn; ring.
  - destruct r as [|x r]; [cbn; ring|]. cbn [dot]. unfold less_limit, image in IH. rewrite IH by exact same. cbn [fst].
    rewrite dot_minus. ring.
Qed.

Section Sound.

Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.
Variable E : list line.
Variable m : positive.
Hypothesis fine : tail_is_fine a E m = true.

Local Notation A := (opening a).

Lemma facts : one_matrix a = true /\ is_limit a E = true /\ same_length (power A m) E = true /\ tail_size a E m < 1.
Proof.
  unfold tail_is_fine in fine. rewrite !Bool.andb_true_iff in fine. destruct fine as [[[one limit] same] small].
  repeat split; auto. apply Bool.negb_true_iff in small. apply Qnot_le_lt. rewrite <- Qle_bool_iff, small. discriminate.
Qed.

Lemma images_same x u : same_vectors (image (lines_after a x) u) (image A u).
Proof.
  destruct x; [apply same_refl|]. destruct facts as [one _]. unfold one_matrix in one. apply Bool.andb_true_iff in one.
  destruct one as [same all]. apply same_sym. exact (images_of_pairs A (closing a) fst u same all).
Qed.

Lemma limit_kept u : same_vectors (image A (image E u)) (image E u).
Proof.
  destruct facts as (_ & limit & _ & _). unfold is_limit in limit. apply Bool.andb_true_iff in limit. destruct limit as [same all].
  eapply same_trans; [|exact (images_of_pairs A E (fun l => row_before E (fst l)) u same all)].
  unfold image at 1. clear. induction A as [|l M IH]; cbn; constructor; auto. symmetry. apply dot_row_before_image.
Qed.

Lemma value_by_total l rs : output (pulled a l rs) (initial n) == output l (initial n) + total A (fst l) (map (moved n) rs).
Proof.
  revert l. induction rs as [|x rs IH]; intros l; cbn [map total]; [cbn; ring|].
  change (pulled a l (x :: rs)) with (pulled a (pull (lines_after a x) l) rs).
  rewrite IH, (pull_moves n a is_affine), (total_same A (fst (pull (lines_after a x) l)) (next A (fst l))); [ring|].
  intros u. rewrite dot_pull, dot_next. apply dot_same, images_same.
Qed.

Lemma counting_total rho rs : no_row (row_minus (row_before A rho) rho) = true ->
  dot rho (moved n Close) == - dot rho (moved n Open) ->
  total A rho (map (moved n) rs) == dot rho (moved n Open) * inject_Z (2 * opens rs - Z.of_nat (length rs)).
Proof.
  intros stays opposite. induction rs as [|x rs IH]; [cbn; change (inject_Z 0) with 0; ring|]. cbn [map total].
  rewrite (total_same A (next A rho) rho), IH.
  - replace (2 * opens (x :: rs) - Z.of_nat (length (x :: rs)))%Z
      with (2 * opens rs - Z.of_nat (length rs) + match x with Open => 1 | Close => - (1) end)%Z
      by (destruct x; cbn [opens length]; lia).
    rewrite inject_Z_plus. destruct x; [change (inject_Z 1) with 1; ring | rewrite opposite; change (inject_Z (- (1))) with (- (1)); ring].
  - intros u. pose proof (no_row_is _ u stays) as zero. rewrite dot_minus in zero. unfold next. lra.
Qed.

Lemma head_below k d rs : length rs = k -> head A (moved n Open) (moved n Close) k d <= total A d (map (moved n) rs).
Proof.
  revert d rs. induction k as [|k IH]; intros d [|x rs] long; try discriminate long; [apply Qle_refl|].
  injection long as long. cbn [head map total]. rewrite Qred_correct. pose proof (IH (next A d) rs long) as rest.
  destruct (Qle_bool (dot d (moved n Open)) (dot d (moved n Close))) eqn:test.
  - apply Qle_bool_iff in test. destruct x; lra.
  - apply Bool.not_true_iff_false in test. rewrite Qle_bool_iff in test. apply Qnot_le_lt in test. destruct x; lra.
Qed.

Lemma moved_bounded x : bounded (greatest (map size_of (moved n Open ++ moved n Close))) (moved n x).
Proof.
  apply Forall_forall. intros y member.
  assert (In (size_of y) (map size_of (moved n Open ++ moved n Close))) as inside.
  { apply in_map, in_or_app. destruct x; auto. }
  apply greatest_bounds in inside. pose proof (size_of_is y). lra.
Qed.

Lemma vanishes_further k d : vanishes E d -> vanishes E (further A k d).
Proof. intros none. induction k as [|k IH]; [exact none|]. apply vanishes_next; [apply limit_kept | exact IH]. Qed.

Lemma tail_bounded d rs : vanishes E d ->
  - (norms A (Pos.to_nat m) d * greatest (map size_of (moved n Open ++ moved n Close))) <=
  total A d (map (moved n) rs) * (1 - tail_size a E m).
Proof.
  destruct facts as (_ & _ & same & small). intros none.
  apply (total_bounded A E limit_kept m (less_limit (power A m) E)).
  - intros u r. now apply image_less.
  - split; [apply greatest_nonneg | exact small].
  - apply Forall_forall. intros l member. apply greatest_bounds, in_map_iff. now exists l.
  - exact none.
  - apply greatest_nonneg.
  - apply Forall_map, Forall_forall. intros x _. apply moved_bounded.
Qed.

Lemma tail_sound which l K asks s : is_met_by_tail n a E m K (tail_size a E m) which l asks = true ->
  counted which s -> (Z.of_nat K <= size s)%Z -> Forall (answers n l s) asks.
Proof.
  unfold is_met_by_tail. rewrite !Bool.andb_true_iff, forallb_forall. intros [[[stays none] opposite] met] is_counted long.
  apply Qeq_bool_iff in opposite. apply Forall_forall. intros [side strictly] member sign. cbn [fst snd] in *.
  apply met in member. cbv zeta in member. cbn [fst snd] in member. apply Bool.andb_true_iff in member. destruct member as [direction slack].
  set (rho := counting_row E l) in *. set (d := rest_row E l) in *. set (c := dot rho (moved n Open)) in *.
  set (V := greatest _) in *. set (H := head A _ _ K d) in *. set (C := output l (initial n)) in *.
  set (N := norms A (Pos.to_nat m) (further A K d)) in *.
  assert (vanishes E d) as vanishing.
  { intros u. rewrite <- dot_row_before_image. now apply no_row_is. }
  assert (output l (state_after n s) == C + c * inject_Z (count false s) + total A d (map (moved n) (rev s))) as value.
  { rewrite (pulled_is n a is_affine), value_by_total. fold C.
    unfold d, rest_row. fold rho. rewrite total_minus, (counting_total rho (rev s) stays opposite). fold c.
    rewrite rev_length. fold (size s). rewrite <- count_by_opens. ring. }
  assert (H * (1 - tail_size a E m) - N * V <= total A d (map (moved n) (rev s)) * (1 - tail_size a E m)) as low.
  { rewrite <- (firstn_skipn K (rev s)), map_app, total_app, map_length.
    assert (length (firstn K (rev s)) = K) as exactly by (rewrite firstn_length, rev_length; unfold size in long; lia).
    rewrite exactly. pose proof (head_below K d (firstn K (rev s)) exactly) as first_. fold H in first_.
    pose proof (tail_bounded (further A K d) (skipn K (rev s)) (vanishes_further K d vanishing)) as rest. fold N V in rest.
    destruct facts as (_ & _ & _ & small). nra. }
  destruct facts as (_ & _ & _ & small).
  pose proof (nearest_is_least which s side c is_counted sign direction) as least.
  set (y := output l (state_after n s)) in *. set (theta := tail_size a E m) in *. set (p := inject_Z (nearest which side)) in *.
  set (t := total A d (map (moved n) (rev s))) in *. set (q := inject_Z (count false s)) in *. clearbody y theta t c C H V N p q.
  apply above_test in slack. assert ((C + H + c * p) * (1 - theta) - N * V <= y * (1 - theta)) as scaled_.
  { assert ((C + c * p) * (1 - theta) <= (C + c * q) * (1 - theta)) by (apply Qmult_le_compat_r; lra). rewrite value. lra. }
  apply (above_more _ _ _ scaled_) in slack. unfold above_zero in *. destruct strictly.
  - destruct (Qlt_le_dec 0 y); [assumption | nra].
  - destruct (Qlt_le_dec y 0); [nra | assumption].
Qed.

End Sound.
