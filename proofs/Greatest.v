(** The readout that takes the greatest of several outputs. Its classes are intervals of h if no two outputs change places more than
    once: lines, and rounded outputs whose slopes are not of one sign. *)

From Tallystick Require Import Brackets Verdict.

(** The place of the greatest output, the first one where some are equal. *)
Fixpoint greatest (outputs : list (R -> R)) (h : R) : nat :=
  match outputs with
  | [] => 0
  | first :: others =>
      match others with
      | [] => 0
      | _ => if Rlt_dec (first h) (nth (greatest others h) others first h) then S (greatest others h) else 0
      end
  end.

(** Once one output is less than another it stays so, in one direction of h. *)
Definition change_places_once (o o' : R -> R) : Prop :=
  (forall x y, x <= y -> o x < o' x -> o y < o' y) \/ (forall x y, x <= y -> o y < o' y -> o x < o' x).

(** The outputs before it are less, and those after it are not greater. *)
Definition wins (outputs : list (R -> R)) (h : R) (i : nat) : Prop :=
  forall j, (j < length outputs)%nat ->
  let output k := nth k outputs (fun _ => 0) h in
  ((j < i)%nat -> output j < output i) /\ ((i < j)%nat -> output j <= output i).

Lemma greatest_wins outputs h : outputs <> [] ->
  (greatest outputs h < length outputs)%nat /\ wins outputs h (greatest outputs h).
Proof.
  intros some. induction outputs as [|first others IH]; [contradiction|].
  destruct others as [|second others].
  { cbn. split; [lia|]. intros j small. cbn in small. split; lia. }
  destruct IH as [small IH]; [discriminate|]. set (rest := second :: others) in *.
  change (greatest (first :: rest) h) with
    (if Rlt_dec (first h) (nth (greatest rest h) rest first h) then S (greatest rest h) else 0%nat).
  rewrite (nth_indep rest first (fun _ => 0) small).
  destruct (Rlt_dec (first h) (nth (greatest rest h) rest (fun _ => 0) h)) as [less | not_less];
    (split; [cbn [length]; lia|]); intros j in_range; destruct j as [|j]; cbn [nth length] in *.
  - split; [intros _; exact less | lia].
  - specialize (IH j ltac:(lia)). cbn beta zeta in IH. split; intros; apply IH; lia.
  - split; lia.
  - split; [lia|]. intros _. specialize (IH j ltac:(lia)). cbn beta zeta in IH.
    destruct (Nat.lt_total j (greatest rest h)) as [before | [-> | after]].
    + apply IH in before. lra.
    + lra.
    + apply IH in after. lra.
Qed.

Lemma only_one_wins outputs h i j :
  (i < length outputs)%nat -> (j < length outputs)%nat -> wins outputs h i -> wins outputs h j -> i = j.
Proof.
  intros i_small j_small i_wins j_wins. specialize (i_wins j j_small). specialize (j_wins i i_small).
  cbn beta zeta in *. destruct (Nat.lt_total i j) as [less | [same | more]]; [exfalso | exact same | exfalso].
  - destruct i_wins as [_ i_wins], j_wins as [j_wins _]. specialize (i_wins less). specialize (j_wins less). lra.
  - destruct i_wins as [i_wins _], j_wins as [_ j_wins]. specialize (i_wins more). specialize (j_wins more). lra.
Qed.

Theorem greatest_classes_are_intervals : forall outputs, outputs <> [] ->
  (forall o o', In o outputs -> In o' outputs -> change_places_once o o') -> classes_are_intervals (greatest outputs).
Proof.
  intros outputs some once x y z order same.
  destruct (greatest_wins outputs x some) as [small at_x]. destruct (greatest_wins outputs z some) as [_ at_z].
  destruct (greatest_wins outputs y some) as [small_y at_y]. rewrite <- same in at_z.
  apply (only_one_wins outputs y); try assumption. intros j in_range.
  specialize (at_x j in_range). specialize (at_z j in_range). cbn beta zeta in *.
  set (i := greatest outputs x) in *. set (o := nth j outputs (fun _ => 0)) in *. set (o' := nth i outputs (fun _ => 0)) in *.
  assert (In o outputs) as o_listed by now apply nth_In. assert (In o' outputs) as o'_listed by now apply nth_In.
  split; intros which; destruct at_x as [x_before x_after], at_z as [z_before z_after].
  - specialize (x_before which). specialize (z_before which).
    destruct (once o o' o_listed o'_listed) as [up | down]; [apply (up x) | apply (down y z)]; lra.
  - specialize (x_after which). specialize (z_after which). apply Rnot_lt_le. intros wrong.
    destruct (once o' o o'_listed o_listed) as [up | down].
    + apply (up y z) in wrong; lra.
    + apply (down x y) in wrong; lra.
Qed.

(** Lines change places at most once. *)
Theorem lines_change_places_once : forall v c w d : R, change_places_once (fun h => v * h + c) (fun h => w * h + d).
Proof. intros v c w d. destruct (Rle_or_lt v w); [left | right]; intros x y order less; nra. Qed.

(** So do rounded outputs whose slopes are not of one sign: one rises and the other falls. *)
Theorem rounded_outputs_change_places_once : forall (round : R -> R) (v c w d : R),
  (forall x y, x <= y -> round x <= round y) -> v * w <= 0 ->
  change_places_once (fun h => round (round (v * h) + c)) (fun h => round (round (w * h) + d)) /\
  change_places_once (fun h => round (v * h + c)) (fun h => round (w * h + d)).
Proof.
  intros round v c w d rises signs.
  assert (forall u, 0 <= u -> forall e x y, x <= y ->
    round (round (u * x) + e) <= round (round (u * y) + e) /\ round (u * x + e) <= round (u * y + e)) as up.
  { intros u nonneg e x y order. split; apply rises; [apply Rplus_le_compat_r, rises|]; nra. }
  assert (forall u, u <= 0 -> forall e x y, x <= y ->
    round (round (u * y) + e) <= round (round (u * x) + e) /\ round (u * y + e) <= round (u * x + e)) as down.
  { intros u nonpos e x y order. split; apply rises; [apply Rplus_le_compat_r, rises|]; nra. }
  assert ((v <= 0 /\ 0 <= w) \/ (0 <= v /\ w <= 0)) as [[v_sign w_sign] | [v_sign w_sign]].
  { destruct (Rle_or_lt v 0), (Rle_or_lt w 0); [|left|right|exfalso]; try lra; [|nra].
    destruct (Req_dec v 0); [right; lra|]. left. split; [assumption|]. nra. }
  - split; left; intros x y order; destruct (down v v_sign c x y order), (up w w_sign d x y order); lra.
  - split; right; intros x y order; destruct (up v v_sign c x y order), (down w w_sign d x y order); lra.
Qed.
