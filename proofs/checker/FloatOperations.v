(** One operation of [Floats] is that of IEEE 754, overflows and comparisons included: Flocq's multiplication, addition and fused
    multiply-add. *)

From Flocq Require Import Core.Core IEEE754.BinarySingleNaN.
From Tallystick.checker Require Import Floats FloatSteps FloatFlocq.
From Coq Require Import Reals Qreals Lra.
Open Scope R_scope.

(** * Networks *)

Section Network.

Variable n : float_network.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.

Local Notation value := (real (form n)).
Local Notation rnd := (flocq_round (form n)).

Lemma finite_is_below z : is_finite (form n) z = true <-> Rabs (value z) < power (limit (form n)).
Proof.
  destruct (digits_positive (form n) fine) as (some & nonneg & room). unfold is_finite, end_of_format, real.
  rewrite Z.ltb_lt, Z.shiftl_1_l, Rabs_mult, <- abs_IZR, (Rabs_right (power _)) by (apply Rle_ge, bpow_ge_0).
  replace (limit (form n)) with (limit (form n) + places (form n) + - places (form n))%Z at 2 by lia.
  rewrite bpow_plus. pose proof (bpow_gt_0 radix2 (- places (form n))) as positive. rewrite <- (IZR_power (limit (form n) + places (form n))) by lia. split.
  - intros below. apply Rmult_lt_compat_r; [exact positive | now apply IZR_lt].
  - intros below. apply Rmult_lt_reg_r in below; [now apply lt_IZR | exact positive].
Qed.

Lemma finite_overflow z : is_finite (form n) (overflow (form n) z) = true -> overflow (form n) z = z.
Proof.
  rewrite overflow_spec by exact fine. pose proof (end_positive (form n) fine).
  destruct (is_finite (form n) z); [reflexivity|]. unfold is_finite, infinity. destruct (0 <? z)%Z; rewrite Z.ltb_lt; lia.
Qed.

Lemma weight_is_flocqs q : is_finite (form n) (rounded n q) = true -> value (rounded n q) = rnd (Q2R q).
Proof.
  unfold rounded, round_ratio. intros finite. rewrite finite_overflow by exact finite.
  now rewrite round_ratio_unbounded.
Qed.

(** A product of two numbers, in its finer units. *)
Lemma product_of_values w h : value w * value h = IZR (w * h) * power (- (places (form n) + places (form n))).
Proof. unfold real. rewrite mult_IZR, Z.opp_add_distr, bpow_plus. ring. Qed.

Lemma sum_of_values w h c :
  value w * value h + value c = IZR (w * h + Z.shiftl c (places (form n))) * power (- (places (form n) + places (form n))).
Proof.
  pose proof (finer_nonneg n fine) as nonneg. rewrite product_of_values.
  rewrite Z.shiftl_mul_pow2, plus_IZR, !mult_IZR, IZR_power by exact nonneg. unfold real.
  rewrite Z.opp_add_distr, !bpow_plus. set (up := power (places (form n))). set (down := power (- places (form n))).
  assert (up * down = 1) as one by (unfold up, down; now rewrite <- bpow_plus, Z.add_opp_diag_r).
  transitivity (IZR w * IZR h * (down * down) + IZR c * down * (up * down)); [rewrite one; ring | ring].
Qed.

(** An overflow stays what it is, whatever finite number is added to it. *)
Lemma infinite_sum c : is_finite (form n) c = true ->
  round (form n) (infinity (form n) + c) 0 = infinity (form n) /\ round (form n) (- infinity (form n) + c) 0 = (- infinity (form n))%Z.
Proof.
  intros finite_c. pose proof (end_positive (form n) fine) as positive.
  assert (forall e, is_finite (form n) e = true -> round (form n) (infinity (form n) + e) 0 = infinity (form n)) as above.
  { intros e finite_e.
    assert (overflow (form n) (infinity (form n)) = infinity (form n)) as same.
    { rewrite overflow_spec by exact fine. unfold is_finite, infinity.
      replace (Z.abs (4 * end_of_format (form n)) <? end_of_format (form n))%Z with false by lia.
      now replace (0 <? 4 * end_of_format (form n))%Z with true by lia. }
    pose proof (finite_sum n fine (infinity (form n)) e finite_e) as not_finite. rewrite same in not_finite.
    assert (0 <= infinity (form n) + e)%Z as nonneg by (unfold is_finite, infinity in *; rewrite Z.ltb_lt in finite_e; lia).
    apply (round_unbounded_rises (form n) fine 0 _ 0 ltac:(lia)) in nonneg. rewrite round_unbounded_zero in nonneg.
    unfold round in *. rewrite overflow_spec in * by exact fine.
    destruct (is_finite (form n) (round_unbounded (form n) (infinity (form n) + e) 0)) eqn:finite.
    - rewrite finite in not_finite. specialize (not_finite eq_refl). unfold is_finite, infinity in not_finite. lia.
    - replace (0 <? _)%Z with true; [reflexivity|]. symmetry. unfold is_finite in finite. lia. }
  split; [now apply above|].
  assert (is_finite (form n) (- c) = true) as finite_opposite by (unfold is_finite in *; now rewrite Z.abs_opp).
  specialize (above _ finite_opposite). replace (- infinity (form n) + c)%Z with (- (infinity (form n) + - c))%Z by lia.
  revert above. unfold round. rewrite round_unbounded_opposite, !overflow_spec by exact fine. unfold is_finite, infinity. rewrite Z.abs_opp.
  set (r := round_unbounded _ _ _). destruct (Z.ltb_spec (Z.abs r) (end_of_format (form n))); [lia|].
  destruct (Z.ltb_spec 0 r), (Z.ltb_spec 0 (- r)); lia.
Qed.

End Network.

(** * IEEE 754 *)

Section Binary.

Variables prec emax : Z.
Context (prec_positive : Prec_gt_0 prec) (prec_below : Prec_lt_emax prec emax).

Variable n : float_network.
Hypothesis same_format : form n = Format prec (emax + prec - 3) emax.
Hypothesis fine : is_format (form n) = true.

Local Notation float := (binary_float prec emax).
Local Notation value := (real (form n)).
Local Notation rnd := (flocq_round (form n)).

(** A number of the format, or an overflow, as a float. *)
Definition stands_for (b : float) (z : Z) : Prop :=
  is_finite (form n) z = true /\ BinarySingleNaN.is_finite b = true /\ B2R b = value z \/
  z = infinity (form n) /\ b = B754_infinity false \/ z = (- infinity (form n))%Z /\ b = B754_infinity true.

(** Multiply, then add, each rounded to nearest even; or a fused multiply-add. *)
Definition ieee_multiply_add (w h c : float) : float :=
  if fused n then Bfma mode_NE w h c else Bplus mode_NE (Bmult mode_NE w h) c.

(** The greater of a float and 0, by the comparison of IEEE 754. *)
Definition ieee_relu (b : float) : float := match Bcompare b (B754_zero false) with Some Gt => b | _ => B754_zero false end.

Lemma ieee_round x :
  Generic_fmt.round radix2 (SpecFloat.fexp prec emax) (round_mode mode_NE) x = rnd x.
Proof.
  unfold flocq_round. rewrite same_format. cbn [places digits round_mode]. unfold SpecFloat.fexp, SpecFloat.emin, FLT_exp.
  now replace (- (emax + prec - 3))%Z with (3 - emax - prec)%Z by lia.
Qed.

Lemma same_limit : limit (form n) = emax.
Proof. now rewrite same_format. Qed.

Lemma round_keeps_sign x : (0 <= x -> 0 <= rnd x) /\ (x <= 0 -> rnd x <= 0).
Proof.
  rewrite <- ieee_round. assert (Valid_exp (SpecFloat.fexp prec emax)) by now apply fexp_correct.
  assert (Generic_fmt.round radix2 (SpecFloat.fexp prec emax) (round_mode mode_NE) 0 = 0) as zero by (apply round_0; apply valid_rnd_N).
  split; intros sign.
  - pose proof (round_le radix2 (SpecFloat.fexp prec emax) (round_mode mode_NE) 0 x sign) as moved. now rewrite zero in moved.
  - pose proof (round_le radix2 (SpecFloat.fexp prec emax) (round_mode mode_NE) x 0 sign) as moved. now rewrite zero in moved.
Qed.

(** What Flocq's theorems say of an operation, once for all. *)
Lemma rounded_stands_for (b : float) (x : R) (v finer : Z) (negative : bool) : (0 <= finer)%Z ->
  x = IZR v * power (- (places (form n) + finer)) ->
  (Rabs (rnd x) < power emax -> B2R b = rnd x /\ BinarySingleNaN.is_finite b = true) ->
  (~ Rabs (rnd x) < power emax -> B2SF b = SpecFloat.S754_infinity negative /\ if negative then x <= 0 else 0 <= x) ->
  stands_for b (round (form n) v finer).
Proof.
  intros nonneg exact below beyond. rewrite exact in below, beyond.
  pose proof (round_keeps_sign (IZR v * power (- (places (form n) + finer)))) as [up down].
  rewrite <- (round_unbounded_is_flocqs (form n) fine v finer nonneg) in below, beyond, up, down.
  set (r := round_unbounded (form n) v finer) in *.
  pose proof (finite_is_below n fine r) as finite_iff. rewrite same_limit in finite_iff. unfold round. fold r. rewrite overflow_spec by exact fine.
  unfold stands_for. destruct (is_finite (form n) r) eqn:finite.
  - left. destruct (below (proj1 finite_iff eq_refl)) as [found is_finite_]. auto.
  - right. assert (~ Rabs (value r) < power emax) as far by (intros small; apply finite_iff in small; discriminate).
    destruct (beyond far) as [infinite sign]. assert (b = B754_infinity negative) as -> by (destruct b; cbn in infinite; congruence).
    pose proof (end_positive (form n) fine). unfold is_finite in finite. assert (r <> 0%Z) as nonzero by (intros ->; cbn in finite; lia).
    pose proof (bpow_gt_0 radix2 (- places (form n))) as unit_. unfold real in up, down. destruct negative.
    + specialize (down sign). assert (r <= 0)%Z by (apply le_IZR; nra). replace (0 <? r)%Z with false by lia. auto.
    + specialize (up sign). assert (0 <= r)%Z by (apply le_IZR; nra). replace (0 <? r)%Z with true by lia. auto.
Qed.

(** The sign of a float is that of its value, but for zeros. *)
Lemma sign_is_value (b : float) : BinarySingleNaN.is_finite b = true -> if Bsign b then B2R b <= 0 else 0 <= B2R b.
Proof.
  destruct b as [s | | | s m e proper]; try discriminate; intros _; cbn [Bsign B2R].
  - destruct s; lra.
  - destruct s; [apply F2R_le_0 | apply F2R_ge_0]; cbn; lia.
Qed.

Lemma operation_is_ieee (W H C : float) w h c :
  BinarySingleNaN.is_finite W = true -> B2R W = value w -> BinarySingleNaN.is_finite H = true -> B2R H = value h ->
  BinarySingleNaN.is_finite C = true -> B2R C = value c -> is_finite (form n) c = true ->
  stands_for (ieee_multiply_add W H C) (multiply_add n w h c).
Proof.
  intros finite_W value_W finite_H value_H finite_C value_C finite_c. pose proof (finer_nonneg n fine) as nonneg.
  unfold ieee_multiply_add, multiply_add. destruct (fused n).
  - pose proof (Bfma_correct prec emax prec_positive prec_below mode_NE W H C finite_W finite_H finite_C) as correct. cbv zeta in correct.
    rewrite ieee_round in correct. set (x := B2R W * B2R H + B2R C) in *.
    apply (rounded_stands_for _ x _ _ (Rlt_bool x 0) nonneg).
    + unfold x. rewrite value_W, value_H, value_C. apply (sum_of_values n fine).
    + intros below. rewrite Rlt_bool_true in correct by exact below. tauto.
    + intros beyond. rewrite Rlt_bool_false in correct by now apply Rnot_lt_le. split; [exact correct|].
      destruct (Rlt_bool_spec x 0); lra.
  - assert (stands_for (Bmult mode_NE W H) (round (form n) (w * h) (places (form n)))) as product.
    { pose proof (Bmult_correct prec emax prec_positive prec_below mode_NE W H) as correct.
      rewrite ieee_round, finite_W, finite_H in correct. set (x := B2R W * B2R H) in *.
      apply (rounded_stands_for _ x _ _ (xorb (Bsign W) (Bsign H)) nonneg).
      - unfold x. rewrite value_W, value_H. apply product_of_values.
      - intros below. rewrite Rlt_bool_true in correct by exact below. tauto.
      - intros beyond. rewrite Rlt_bool_false in correct by now apply Rnot_lt_le. split; [exact correct|].
        pose proof (sign_is_value W finite_W). pose proof (sign_is_value H finite_H). unfold x.
        destruct (Bsign W), (Bsign H); cbn [xorb]; nra. }
    destruct product as [(finite_product & finite_P & value_P) | [[-> ->] | [-> ->]]].
    + set (P := Bmult mode_NE W H) in *. set (p := round (form n) (w * h) (places (form n))) in *.
      pose proof (Bplus_correct prec emax prec_positive prec_below mode_NE P C finite_P finite_C) as correct.
      rewrite ieee_round in correct. set (x := B2R P + B2R C) in *.
      apply (rounded_stands_for _ x _ _ (Bsign P) (Z.le_refl 0)).
      * unfold x. rewrite value_P, value_C, plus_IZR, Z.add_0_r. unfold real. ring.
      * intros below. rewrite Rlt_bool_true in correct by exact below. tauto.
      * intros beyond. rewrite Rlt_bool_false in correct by now apply Rnot_lt_le. destruct correct as [infinite same_sign].
        split; [exact infinite|]. pose proof (sign_is_value P finite_P). pose proof (sign_is_value C finite_C). unfold x.
        rewrite <- same_sign in *. destruct (Bsign P); lra.
    + right. left. split; [apply (infinite_sum n fine c finite_c)|]. now destruct C.
    + right. right. split; [apply (infinite_sum n fine c finite_c)|]. now destruct C.
Qed.

(** Comparisons, of overflows too. *)
Lemma compares_as_ieee (a b : float) y z : stands_for a y -> stands_for b z -> Bcompare a b = Some (y ?= z)%Z.
Proof.
  assert (0 < infinity (form n))%Z as positive by (pose proof (end_positive (form n) fine); unfold infinity; lia).
  assert (forall x, is_finite (form n) x = true -> (- infinity (form n) < x < infinity (form n))%Z) as within_.
  { intros x. pose proof (end_positive (form n) fine). unfold is_finite, infinity. rewrite Z.ltb_lt. lia. }
  intros [(finite_y & finite_a & value_a) | [[-> ->] | [-> ->]]] [(finite_z & finite_b & value_b) | [[-> ->] | [-> ->]]].
  - rewrite Bcompare_correct, value_a, value_b by assumption. f_equal. unfold real.
    rewrite Rcompare_mult_r by apply bpow_gt_0. apply Rcompare_IZR.
  - specialize (within_ _ finite_y). replace (y ?= infinity (form n))%Z with Lt by (symmetry; apply Z.compare_lt_iff; lia).
    now destruct a.
  - specialize (within_ _ finite_y). replace (y ?= - infinity (form n))%Z with Gt by (symmetry; apply Z.compare_gt_iff; lia).
    now destruct a.
  - specialize (within_ _ finite_z). replace (infinity (form n) ?= z)%Z with Gt by (symmetry; apply Z.compare_gt_iff; lia).
    now destruct b.
  - now rewrite Z.compare_refl.
  - now replace (infinity (form n) ?= - infinity (form n))%Z with Gt by (symmetry; apply Z.compare_gt_iff; lia).
  - specialize (within_ _ finite_z). replace (- infinity (form n) ?= z)%Z with Lt by (symmetry; apply Z.compare_lt_iff; lia).
    now destruct b.
  - now replace (- infinity (form n) ?= infinity (form n))%Z with Lt by (symmetry; apply Z.compare_lt_iff; lia).
  - now rewrite Z.compare_refl.
Qed.

Lemma zero_stands_for : stands_for (B754_zero false) 0.
Proof.
  left. pose proof (end_positive (form n) fine). unfold is_finite, real. cbn. repeat split; [lia | ring].
Qed.

Lemma relu_is_ieee b z : stands_for b z -> stands_for (ieee_relu b) (Z.max z 0).
Proof.
  intros stands. unfold ieee_relu. rewrite (compares_as_ieee _ _ _ _ stands zero_stands_for).
  destruct (Z.compare_spec z 0); [rewrite Z.max_r by lia | rewrite Z.max_r by lia | rewrite Z.max_l by lia];
    exact zero_stands_for || exact stands.
Qed.

End Binary.
