(** From lines to classes: which comparisons make the right class of each sign of the count, each as one line in the state. *)

From Tallystick.checker Require Import Networks Classes Affine Sorting.

Definition same_place (p q : option place) : bool :=
  match p, q with
  | Some p, Some q => (p =? q)%Z
  | None, None => true
  | _, _ => false
  end.

Lemma same_place_is p q : same_place p q = true -> p = q.
Proof. destruct p, q; cbn; try discriminate; [rewrite Z.eqb_eq; congruence | reflexivity]. Qed.

Definition same_comparison (c d : comparison) : bool :=
  same_place (greater c) (greater d) && same_place (less c) (less d) && Bool.eqb (strict c) (strict d).

Lemma same_comparison_is c d : same_comparison c d = true -> c = d.
Proof.
  unfold same_comparison. rewrite !Bool.andb_true_iff, Bool.eqb_true_iff. intros [[g l] s].
  apply same_place_is in g, l. destruct c, d; cbn in *; congruence.
Qed.

(** x > y and y >= x, or the other way round. *)
Definition contradicts (c d : comparison) : bool :=
  same_place (greater c) (less d) && same_place (less c) (greater d) && (strict c || strict d).

Lemma contradicts_is outputs c d : contradicts c d = true -> compares outputs d = true -> compares outputs c = false.
Proof.
  unfold contradicts. rewrite !Bool.andb_true_iff. intros [[g l] s]. apply same_place_is in g, l.
  unfold compares. rewrite g, l. destruct (strict c), (strict d); try discriminate; cbn in s.
  - rewrite Bool.negb_true_iff. intros less. apply Bool.negb_false_iff, Qle_bool_iff.
    apply Qlt_le_weak, Qnot_le_lt. rewrite <- Qle_bool_iff, less. discriminate.
  - intros less. apply Bool.negb_false_iff. exact less.
  - rewrite Bool.negb_true_iff. auto.
Qed.

(** Some comparisons that hold are enough for a class: they are those of the class, and contradict every other class. *)
Definition enough (decision : list (list comparison)) (k : class) (needed : list comparison) : bool :=
  surely_given (fun c => existsb (same_comparison c) needed) (fun c => existsb (contradicts c) needed) decision k.

Lemma enough_sound outputs decision k needed : enough decision k needed = true ->
  Forall (fun c => compares outputs c = true) needed -> class_of_outputs decision outputs = Some k.
Proof.
  intros is_enough all. rewrite Forall_forall in all. revert is_enough. apply surely_given_sound; intros c;
    rewrite existsb_exists; intros (d & member & found).
  - apply same_comparison_is in found. subst. now apply all.
  - eapply contradicts_is; [exact found | now apply all].
Qed.

(** * Tracks *)

(** A comparison, and the signs of the count for which it is needed. *)
Definition track := (comparison * list Datatypes.comparison)%type.

Definition line_of_track (n : network) (a : affine) (c : comparison) : line :=
  pull (shown a) (difference (lines n) (greater c) (less c)).

Definition questions (t : track) : list ask := map (fun side => (side, strict (fst t))) (snd t).

Definition same_side (x y : Datatypes.comparison) : bool :=
  match x, y with Lt, Lt | Eq, Eq | Gt, Gt => true | _, _ => false end.

(** The comparisons that tracks need for a sign. *)
Definition needed_for (tracks : list track) (side : Datatypes.comparison) : list comparison :=
  map fst (filter (fun t => existsb (same_side side) (snd t)) tracks).

Definition class_of_side (t : task) (side : Datatypes.comparison) : class :=
  match side with Lt => below t | Eq => at_zero t | Gt => above t end.

Definition tracks_suffice (n : network) (t : task) (tracks : list track) : bool :=
  negb (floored t) &&
  forallb (fun side => enough (decision n) (class_of_side t side) (needed_for tracks side)) [Lt; Eq; Gt].

Section Sound.

Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.

Lemma track_line s c : output (line_of_track n a c) (state_after n s) ==
  output (difference (lines n) (greater c) (less c)) (run_program (hidden n) (state_after n s)).
Proof. apply pull_is, affine_shown, is_affine. Qed.

Lemma track_compares s c : above_zero (strict c) (output (line_of_track n a c) (state_after n s)) ->
  compares (outputs n s) c = true.
Proof.
  unfold above_zero, outputs. pose proof (track_line s c) as same.
  destruct (strict c) eqn:is_strict; rewrite same; [now apply compares_strict | now apply compares_weak].
Qed.

Lemma tracks_give t tracks s : tracks_suffice n t tracks = true ->
  Forall (fun tr => Forall (answers n (line_of_track n a (fst tr)) s) (questions tr)) tracks ->
  gives n s (right_class t s).
Proof.
  unfold tracks_suffice. rewrite Bool.andb_true_iff, Bool.negb_true_iff, forallb_forall. intros [plain sides] all.
  unfold gives, class_of, right_class, class_of_count. rewrite plain. set (side := (count false s ?= 0)%Z).
  assert (In side [Lt; Eq; Gt]) as one by (destruct side; cbn; auto).
  apply sides in one. change (match side with Eq => at_zero t | Lt => below t | Gt => above t end) with (class_of_side t side).
  eapply enough_sound; [exact one|]. unfold needed_for. apply Forall_forall. intros c member.
  apply in_map_iff in member. destruct member as (tr & <- & member). apply filter_In in member.
  destruct member as [member asked_for]. rewrite Forall_forall in all. specialize (all _ member).
  apply existsb_exists in asked_for. destruct asked_for as (side' & member' & same).
  apply track_compares. unfold questions in all. rewrite Forall_map, Forall_forall in all.
  apply (all _ member'). cbn [fst]. fold side. destruct side, side'; try discriminate; reflexivity.
Qed.

End Sound.
