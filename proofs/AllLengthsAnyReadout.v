(** The criterion for all lengths, for every readout whose classes are intervals: U = 1, b = -a, and the states of the counts
    -1, 0 and 1 (at even lengths -2, 0 and 2) read rightly. The ternary readout, and the greatest of several outputs. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Extremes Verdict Selective ExactCounters AnyReadout.

Local Ltac compute_run := cbv [run run_from fold_left linear selective]; ring.

Lemma linear_is_selective class readout right a b U s :
  is_right class (linear a b U) readout right s <-> is_right class (selective a b U U) readout right s.
Proof. unfold is_right. now rewrite (run_ext (linear a b U) (selective a b U U)) by now intros []. Qed.

Theorem all_lengths_any_readout :
  forall (class : Type) (readout : R -> class) (below zero above : class) (a b U : R),
  classes_are_intervals readout -> all_asked_for below zero above -> below <> above ->
  (forall s, s <> [] -> is_right class (linear a b U) readout (by_sign below zero above) s)
  <-> U = 1 /\ b = - a /\ readout (- a) = below /\ readout 0 = zero /\ readout a = above.
Proof.
  intros class readout below zero above a b U intervals asked differ. split.
  - intros right. destruct (only_exact_counters class readout below zero above a b U) as [-> ->]; auto.
    repeat split.
    + etransitivity; [|exact (right [Close] ltac:(discriminate))]. f_equal. compute_run.
    + etransitivity; [|exact (right [Open; Close] ltac:(discriminate))]. f_equal. compute_run.
    + etransitivity; [|exact (right [Open] ltac:(discriminate))]. f_equal. compute_run.
  - intros (-> & -> & at_below & at_zero & at_above) s not_empty. unfold is_right.
    rewrite Theorem1.part_2.
    assert (INR (count Open s) - INR (count Close s) = IZR (difference s)) as ->
      by (unfold difference; now rewrite minus_IZR, <- !INR_IZR_INZ).
    apply (neighbours_of_zero_decide readout below zero above (fun d => IZR d * a)); try assumption.
    + destruct (Rle_or_lt 0 a); [left | right]; intros i j order; apply IZR_le in order; nra.
    + rewrite <- at_below. f_equal. ring.
    + rewrite <- at_zero. f_equal. ring.
    + rewrite <- at_above. f_equal. ring.
Qed.

Theorem even_lengths_any_readout :
  forall (class : Type) (readout : R -> class) (below zero above : class) (a b U : R),
  classes_are_intervals readout -> all_asked_for below zero above -> below <> above ->
  (forall s, s <> [] -> Nat.Even (length s) -> is_right class (linear a b U) readout (by_sign below zero above) s)
  <-> U = 1 /\ b = - a /\ readout (- (2 * a)) = below /\ readout 0 = zero /\ readout (2 * a) = above.
Proof.
  intros class readout below zero above a b U intervals asked differ. split.
  - intros right. destruct (only_exact_counters class readout below zero above a b U) as [-> ->]; auto.
    assert (Nat.Even 2) as even by now exists 1%nat. repeat split.
    + etransitivity; [|exact (right [Close; Close] ltac:(discriminate) even)]. f_equal. compute_run.
    + etransitivity; [|exact (right [Open; Close] ltac:(discriminate) even)]. f_equal. compute_run.
    + etransitivity; [|exact (right [Open; Open] ltac:(discriminate) even)]. f_equal. compute_run.
  - intros (-> & -> & at_below & at_zero & at_above) s not_empty even. rewrite linear_is_selective.
    apply (exact_counters_at_even_lengths class readout below zero above a (- a) 1 1); try assumption; [ring | ring |].
    intros t two. unfold is_right.
    destruct t as [|x [|y [|z t]]]; try discriminate.
    destruct x, y;
      [transitivity (readout (2 * a)) | transitivity (readout 0) | transitivity (readout 0)
      | transitivity (readout (- (2 * a)))]; try assumption; f_equal; compute_run.
Qed.

(** * Readouts *)

Theorem all_lengths_ternary_readout : forall a b U v_neg c_neg v_zero c_zero v_pos c_pos : R,
  let readout := ternary v_neg c_neg v_zero c_zero v_pos c_pos in
  (forall s, s <> [] -> readout (run (linear a b U) s) = by_sign Negative Zero Positive (difference s))
  <-> U = 1 /\ b = - a /\ readout (- a) = Negative /\ readout 0 = Zero /\ readout a = Positive.
Proof.
  intros. apply (all_lengths_any_readout ternary_class readout Negative Zero Positive); [|now intros []; auto | discriminate].
  apply ternary_classes_are_intervals.
Qed.

Theorem even_lengths_ternary_readout : forall a b U v_neg c_neg v_zero c_zero v_pos c_pos : R,
  let readout := ternary v_neg c_neg v_zero c_zero v_pos c_pos in
  (forall s, s <> [] -> Nat.Even (length s) ->
     readout (run (linear a b U) s) = by_sign Negative Zero Positive (difference s))
  <-> U = 1 /\ b = - a /\ readout (- (2 * a)) = Negative /\ readout 0 = Zero /\ readout (2 * a) = Positive.
Proof.
  intros. apply (even_lengths_any_readout ternary_class readout Negative Zero Positive); [|now intros []; auto | discriminate].
  apply ternary_classes_are_intervals.
Qed.

(** The place of the greatest of several outputs v h + c, the first one where some are equal. *)
Fixpoint greatest (outputs : list (R * R)) (h : R) : nat :=
  match outputs with
  | [] => 0
  | (v, c) :: others =>
      match others with
      | [] => 0
      | _ => let (w, d) := nth (greatest others h) others (0, 0) in
             if Rlt_dec (v * h + c) (w * h + d) then S (greatest others h) else 0
      end
  end.

(** The outputs before it are less, and those after it are not greater. *)
Definition wins (outputs : list (R * R)) (h : R) (i : nat) : Prop :=
  forall j, (j < length outputs)%nat ->
  let output k := fst (nth k outputs (0, 0)) * h + snd (nth k outputs (0, 0)) in
  ((j < i)%nat -> output j < output i) /\ ((i < j)%nat -> output j <= output i).

Lemma greatest_wins outputs h : outputs <> [] ->
  (greatest outputs h < length outputs)%nat /\ wins outputs h (greatest outputs h).
Proof.
  intros some. induction outputs as [|[v c] others IH]; [contradiction|].
  destruct others as [|second others].
  { cbn. split; [lia|]. intros j small. cbn in small. split; lia. }
  destruct IH as [small IH]; [discriminate|]. set (rest := second :: others) in *.
  change (greatest ((v, c) :: rest) h) with
    (let (w, d) := nth (greatest rest h) rest (0, 0) in
     if Rlt_dec (v * h + c) (w * h + d) then S (greatest rest h) else 0%nat).
  destruct (nth (greatest rest h) rest (0, 0)) as [w d] eqn:at_rest.
  destruct (Rlt_dec (v * h + c) (w * h + d)) as [less | not_less]; (split; [cbn [length]; lia|]); intros j in_range;
    destruct j as [|j]; cbn [nth length] in *; rewrite ?at_rest; cbn [fst snd].
  - split; [intros _; exact less | lia].
  - specialize (IH j ltac:(cbn in *; lia)). cbn beta zeta in IH. rewrite at_rest in IH. cbn [fst snd] in IH.
    split; intros; apply IH; lia.
  - split; lia.
  - split; [lia|]. intros _. specialize (IH j ltac:(cbn in *; lia)). cbn beta zeta in IH. rewrite at_rest in IH.
    cbn [fst snd] in IH.
    destruct (Nat.lt_total j (greatest rest h)) as [before | [same | after]].
    + apply IH in before. lra.
    + rewrite same, at_rest. cbn [fst snd]. lra.
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

Theorem greatest_classes_are_intervals : forall outputs, outputs <> [] -> classes_are_intervals (greatest outputs).
Proof.
  intros outputs some x y z order same.
  destruct (greatest_wins outputs x some) as [small at_x]. destruct (greatest_wins outputs z some) as [_ at_z].
  destruct (greatest_wins outputs y some) as [small_y at_y]. rewrite <- same in at_z.
  apply (only_one_wins outputs y); try assumption. intros j in_range.
  specialize (at_x j in_range). specialize (at_z j in_range). cbn beta zeta in *.
  split; intros which; destruct at_x as [x_before x_after], at_z as [z_before z_after].
  - specialize (x_before which). specialize (z_before which). now apply (line_strictly_below _ _ _ _ x y z).
  - specialize (x_after which). specialize (z_after which). now apply (line_below _ _ _ _ x y z).
Qed.
