(** The verdict on a length: where every class is an interval of h, the two extremes of each count decide for all
    strings. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Extremes.

(** What a string asks for depends on its count alone. *)
Definition difference (s : string) : Z := (Z.of_nat (count Open s) - Z.of_nat (count Close s))%Z.

(** What lies between two states of one class is of that class. *)
Definition classes_are_intervals {class} (readout : R -> class) : Prop :=
  forall x y z, x <= y <= z -> readout x = readout z -> readout y = readout x.

(** * The two readouts of the paper's tasks have such classes *)

Inductive binary_class := ZeroNeg | Pos.

Definition binary (v c : R) (h : R) : binary_class := if Rlt_dec 0 (v * h + c) then Pos else ZeroNeg.

Inductive ternary_class := Negative | Zero | Positive.

(** The largest of three outputs; on a tie the class that comes first. *)
Definition ternary (v_neg c_neg v_zero c_zero v_pos c_pos : R) (h : R) : ternary_class :=
  if Rlt_dec (v_neg * h + c_neg) (v_zero * h + c_zero) then
    if Rlt_dec (v_zero * h + c_zero) (v_pos * h + c_pos) then Positive else Zero
  else if Rlt_dec (v_neg * h + c_neg) (v_pos * h + c_pos) then Positive else Negative.

Theorem binary_classes_are_intervals : forall v c, classes_are_intervals (binary v c).
Proof.
  intros v c x y z between. unfold binary.
  destruct (Rlt_dec 0 (v * x + c)), (Rlt_dec 0 (v * z + c)), (Rlt_dec 0 (v * y + c)); try congruence; exfalso;
    destruct (Rle_or_lt 0 v); nra.
Qed.

(** Which class it is, as comparisons of the outputs. *)
Lemma ternary_spec v1 c1 v2 c2 v3 c3 h class :
  ternary v1 c1 v2 c2 v3 c3 h = class <->
  match class with
  | Negative => v2 * h + c2 <= v1 * h + c1 /\ v3 * h + c3 <= v1 * h + c1
  | Zero => v1 * h + c1 < v2 * h + c2 /\ v3 * h + c3 <= v2 * h + c2
  | Positive => v1 * h + c1 < v3 * h + c3 /\ v2 * h + c2 < v3 * h + c3
  end.
Proof.
  unfold ternary. split.
  - intros <-. repeat destruct Rlt_dec; lra.
  - destruct class; intros; repeat destruct Rlt_dec; reflexivity || lra.
Qed.

(** A comparison of two lines that holds at both ends of an interval holds between them. *)
Lemma line_below v c v' c' x y z : x <= y <= z ->
  v * x + c <= v' * x + c' -> v * z + c <= v' * z + c' -> v * y + c <= v' * y + c'.
Proof. intros. destruct (Rle_or_lt v v'); nra. Qed.

Lemma line_strictly_below v c v' c' x y z : x <= y <= z ->
  v * x + c < v' * x + c' -> v * z + c < v' * z + c' -> v * y + c < v' * y + c'.
Proof. intros. destruct (Rle_or_lt v v'); nra. Qed.

Theorem ternary_classes_are_intervals : forall v_neg c_neg v_zero c_zero v_pos c_pos,
  classes_are_intervals (ternary v_neg c_neg v_zero c_zero v_pos c_pos).
Proof.
  intros v1 c1 v2 c2 v3 c3 x y z between same. symmetry in same.
  destruct (ternary v1 c1 v2 c2 v3 c3 x) eqn:at_x; rewrite ternary_spec in *;
    split; (apply (line_below _ _ _ _ x y z) || apply (line_strictly_below _ _ _ _ x y z)); tauto.
Qed.

(** * Soundness *)

Section Verdict.

Variable class : Type.
Variable f : cell.
Variable readout : R -> class.
Variable right : Z -> class.

(** Both extremes of the strings with n opening and m closing brackets get the right class. *)
Definition extremes_are_right (n m : nat) : Prop :=
  readout (fst (extremes f n m)) = right (Z.of_nat n - Z.of_nat m) /\
  readout (snd (extremes f n m)) = right (Z.of_nat n - Z.of_nat m).

Definition is_right (s : string) : Prop := readout (run f s) = right (difference s).

Lemma right_extremes_make_all_right s :
  monotone (f Open) -> monotone (f Close) -> classes_are_intervals readout ->
  extremes_are_right (count Open s) (count Close s) -> is_right s.
Proof.
  intros monotone_open monotone_close intervals [least greatest].
  unfold is_right, difference. rewrite <- least.
  apply (intervals _ _ (snd (extremes f (count Open s) (count Close s)))); [now apply run_is_within | congruence].
Qed.

Lemma right_strings_make_extremes_right n m :
  (forall s, count Open s = n -> count Close s = m -> is_right s) -> extremes_are_right n m.
Proof.
  intros right_strings. destruct (ends_are_reached f n m) as [(s & ns & ms & least) (t & nt & mt & greatest)].
  unfold extremes_are_right. rewrite <- least, <- greatest.
  split; [rewrite <- ns, <- ms | rewrite <- nt, <- mt]; now apply right_strings.
Qed.

End Verdict.

(** Any set of lengths may count: all from 1 on, or the even ones, as in the paper's data. *)
Theorem verdict_is_sound_and_complete :
  forall (class : Type) (f : cell) (readout : R -> class) (right : Z -> class),
  monotone (f Open) -> monotone (f Close) -> classes_are_intervals readout ->
  forall (counted : nat -> Prop) (N : nat),
    (forall n m, counted (n + m)%nat -> (n + m <= N)%nat -> extremes_are_right class f readout right n m)
    <-> (forall s, counted (length s) -> (length s <= N)%nat -> is_right class f readout right s).
Proof.
  intros class f readout right monotone_open monotone_close intervals counted N. split.
  - intros all s. rewrite length_is_both_counts. intros counts bounded.
    apply right_extremes_make_all_right; auto.
  - intros all n m counts bounded. apply right_strings_make_extremes_right.
    intros s <- <-. apply all; now rewrite length_is_both_counts.
Qed.

(** An extreme in a wrong class is no mere bound: a string fails. This needs neither monotone maps nor intervals. *)
Theorem wrong_extreme_gives_failing_string :
  forall (class : Type) (f : cell) (readout : R -> class) (right : Z -> class) (n m : nat),
  readout (fst (extremes f n m)) <> right (Z.of_nat n - Z.of_nat m)%Z \/
  readout (snd (extremes f n m)) <> right (Z.of_nat n - Z.of_nat m)%Z ->
  exists s, count Open s = n /\ count Close s = m /\ ~ is_right class f readout right s.
Proof.
  intros class f readout right n m wrong.
  destruct (ends_are_reached f n m) as [(s & ns & ms & least) (t & nt & mt & greatest)].
  destruct wrong; [exists s | exists t]; repeat split; try assumption;
    unfold is_right, difference; congruence.
Qed.
