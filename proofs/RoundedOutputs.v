(** Rounded outputs of a readout: how far each may be from its line, and when one stays above another between two states. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Extremes Rounding.

(** v h + c as executed: the product is rounded and then the sum, or, fused, both at once. *)
Definition executed (round : R -> R) (v c h : R) : R := round (round (v * h) + c).
Definition executed_fused (round : R -> R) (v c h : R) : R := round (v * h + c).

(** A rounding that rises leaves every map of a cell monotone, of whatever token, and with ReLU's maximum after it. *)
Theorem executed_maps_are_monotone : forall (round : R -> R) (v c : R), (forall x y, x <= y -> round x <= round y) ->
  monotone (executed round v c) /\ monotone (executed_fused round v c) /\
  monotone (fun h => Rmax 0 (executed round v c h)) /\ monotone (fun h => Rmax 0 (executed_fused round v c h)).
Proof.
  intros round v c rises.
  assert (forall f, monotone f -> monotone (fun h => Rmax 0 (f h))) as cut_off.
  { intros f [up | down]; [left | right]; intros x y order; apply Rle_max_compat_l; auto. }
  assert (monotone (executed round v c)).
  { unfold executed. destruct (Rle_or_lt 0 v); [left | right]; intros x y order; apply rises, Rplus_le_compat_r, rises; nra. }
  assert (monotone (executed_fused round v c)) by now apply rising_after_affine_is_monotone.
  auto.
Qed.

Section Errors.

Variables (round : R -> R) (p emin : Z).
Hypothesis digits : (0 < p)%Z.
Hypothesis nearest : to_nearest round p emin.

Local Notation unit := (powerRZ 2 emin).
Local Notation u := (powerRZ 2 (- p)).

Lemma unit_round_off_small : 0 < u <= 1.
Proof.
  split; [apply power_positive|]. replace 1 with (powerRZ 2 p * u).
  - rewrite <- (Rmult_1_l u) at 1. apply Rmult_le_compat_r; [apply Rlt_le, power_positive|].
    rewrite power_whole by lia. apply (IZR_le 1). apply Z.lt_pred_le. pose proof (Z.pow_pos_nonneg 2 p). lia.
  - rewrite <- power_add. replace (p + - p)%Z with 0%Z by lia. reflexivity.
Qed.

Lemma executed_error v c h : is_float p emin c ->
  Rabs (executed round v c h - (v * h + c)) <= 3 * u * (Rabs (v * h) + Rabs c) + unit.
Proof.
  intros c_float. unfold executed. pose proof unit_round_off_small as small. pose proof (power_positive emin) as positive.
  pose proof (rounding_error round p emin digits nearest (v * h)) as first.
  pose proof (sum_error round p emin digits nearest (round (v * h)) c (proj1 (nearest (v * h))) c_float) as second.
  set (x := v * h) in *. set (q := round x) in *. set (y := round (q + c)) in *.
  pose proof (Rabs_triang (x - (x - q)) c) as size. replace (x - (x - q) + c) with (q + c) in size by ring.
  pose proof (Rabs_triang x (- (x - q))) as size'. rewrite Rabs_Ropp in size'. replace (x + - (x - q)) with (x - (x - q)) in size' by ring.
  pose proof (Rabs_triang (- (q + c - y)) (- (x - q))) as parts. rewrite !Rabs_Ropp in parts.
  replace (- (q + c - y) + - (x - q)) with (y - (x + c)) in parts by ring.
  pose proof (Rabs_pos x). pose proof (Rabs_pos c).
  assert (Rabs (q + c) <= Rabs x + (u * Rabs x + unit / 2) + Rabs c) as bounded by lra.
  apply (Rmult_le_compat_l u) in bounded; [|lra].
  assert (0 <= u * Rabs x) by nra. assert (0 <= u * Rabs c) by nra. assert (u * (u * Rabs x) <= u * Rabs x) by nra.
  assert (u * unit <= unit) by nra. nra.
Qed.

Lemma executed_fused_error v c h :
  Rabs (executed_fused round v c h - (v * h + c)) <= 3 * u * (Rabs (v * h) + Rabs c) + unit.
Proof.
  unfold executed_fused. pose proof unit_round_off_small as small. pose proof (power_positive emin) as positive.
  pose proof (rounding_error round p emin digits nearest (v * h + c)) as error.
  pose proof (Rabs_triang (v * h) c). pose proof (Rabs_pos (v * h)). pose proof (Rabs_pos c).
  rewrite <- Rabs_Ropp. replace (- (round (v * h + c) - (v * h + c))) with (v * h + c - round (v * h + c)) by ring. nra.
Qed.

(** The exact lines are further apart at both ends than rounding accounts for, and so they are between them. *)
Lemma apart_between v c w e x z h : x <= h <= z ->
  let most := Rmax (Rabs x) (Rabs z) in
  let needed := 3 * u * ((Rabs v + Rabs w) * most + (Rabs c + Rabs e)) + 2 * unit in
  needed < (v - w) * x + (c - e) -> needed < (v - w) * z + (c - e) ->
  forall y y', Rabs (y - (v * h + c)) <= 3 * u * (Rabs (v * h) + Rabs c) + unit ->
  Rabs (y' - (w * h + e)) <= 3 * u * (Rabs (w * h) + Rabs e) + unit -> y' < y.
Proof.
  intros between most needed at_x at_z y y' near near'. pose proof unit_round_off_small as small.
  assert (Rabs h <= most) as h_small.
  { unfold most, Rmax. unfold Rabs at 1. destruct (Rle_dec (Rabs x) (Rabs z)) as [order | order], (Rcase_abs h);
      pose proof (Rle_abs z); pose proof (Rle_abs (- x)) as below; rewrite Rabs_Ropp in below; lra. }
  assert (needed < (v - w) * h + (c - e)) as apart by (destruct (Rle_or_lt 0 (v - w)); nra).
  pose proof (Rabs_pos v). pose proof (Rabs_pos w). rewrite Rabs_mult in near, near'.
  assert (Rabs v * Rabs h <= Rabs v * most) by (apply Rmult_le_compat_l; assumption).
  assert (Rabs w * Rabs h <= Rabs w * most) by (apply Rmult_le_compat_l; assumption).
  assert (3 * u * (Rabs v * Rabs h + Rabs c) + 3 * u * (Rabs w * Rabs h + Rabs e) + 2 * unit <= needed) as enough.
  { unfold needed. rewrite <- Rmult_plus_distr_l. apply Rplus_le_compat_r, Rmult_le_compat_l; [lra|]. lra. }
  pose proof (Rle_abs (- (y - (v * h + c)))) as low. rewrite Rabs_Ropp in low. pose proof (Rle_abs (y' - (w * h + e))). lra.
Qed.

End Errors.

Theorem rounded_outputs_stay_apart :
  forall (round : R -> R) (p emin : Z) (v c w e x z h : R), (0 < p)%Z -> to_nearest round p emin ->
  is_float p emin c -> is_float p emin e -> x <= h <= z ->
  let most := Rmax (Rabs x) (Rabs z) in
  let needed := 3 * powerRZ 2 (- p) * ((Rabs v + Rabs w) * most + (Rabs c + Rabs e)) + 2 * powerRZ 2 emin in
  needed < (v - w) * x + (c - e) -> needed < (v - w) * z + (c - e) ->
  executed round w e h < executed round v c h /\ executed_fused round w e h < executed_fused round v c h.
Proof.
  intros round p emin v c w e x z h digits nearest c_float e_float between most needed at_x at_z. split.
  - apply (apart_between p emin digits v c w e x z h between at_x at_z);
      now apply executed_error.
  - apply (apart_between p emin digits v c w e x z h between at_x at_z);
      now apply executed_fused_error.
Qed.
