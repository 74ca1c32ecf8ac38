(** The criterion for all lengths, for every readout whose classes are intervals: U = 1, b = -a, and the states of the counts
    -1, 0 and 1 (at even lengths -2, 0 and 2) read rightly. *)

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

(** * The ternary readout *)

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
