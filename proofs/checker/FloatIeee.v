(** What [Floats] defines is floating point as IEEE 754 has it: Flocq's multiplication, addition and fused multiply-add. *)

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

(** One operation as executed is Flocq's rounding of the exact one, or of the exact sum with the rounded product. *)
Lemma operation_is_flocqs w h c : is_finite (form n) c = true -> is_finite (form n) (multiply_add n w h c) = true ->
  value (multiply_add n w h c) =
    if fused n then rnd (value w * value h + value c) else rnd (rnd (value w * value h) + value c).
Proof.
  intros finite_c. pose proof (finer_nonneg n fine) as nonneg.
  assert (value w * value h = IZR (w * h) * power (- (places (form n) + places (form n)))) as product.
  { unfold real. rewrite mult_IZR, Z.opp_add_distr, bpow_plus. ring. }
  unfold multiply_add. destruct (fused n); intros finite.
  - rewrite finite_round, round_unbounded_is_flocqs by assumption. f_equal. rewrite product.
    rewrite Z.shiftl_mul_pow2, plus_IZR, !mult_IZR, IZR_power by exact nonneg. unfold real.
    rewrite Z.opp_add_distr, !bpow_plus. set (up := power (places (form n))). set (down := power (- places (form n))).
    assert (up * down = 1) as one by (unfold up, down; now rewrite <- bpow_plus, Z.add_opp_diag_r).
    transitivity (IZR w * IZR h * (down * down) + IZR c * down * (up * down)); [ring | rewrite one; ring].
  - pose proof (finite_sum n fine _ _ finite_c finite) as finite_product.
    rewrite finite_round, round_unbounded_is_flocqs by (assumption || lia). f_equal.
    rewrite (finite_round n fine (w * h)) by exact finite_product. rewrite product, <- round_unbounded_is_flocqs by assumption.
    rewrite plus_IZR, Z.add_0_r. unfold real. ring.
Qed.

Lemma loaded_weights x : is_finite (form n) (weight_of n x) = true /\ is_finite (form n) (step_of n x) = true.
Proof.
  revert loaded. unfold loads. rewrite forallb_forall. intros all. unfold weight_of, step_of.
  destruct x; split; apply all; cbn; tauto.
Qed.

(** ** The state in Flocq's rounding, of a cell that does not cut off below zero *)

Definition flocq_weight (x : token) : R := rnd (Q2R match x with Open => fst (weights (cell n)) | Close => snd (weights (cell n)) end).
Definition flocq_term (x : token) : R := rnd (Q2R match x with Open => fst (steps (cell n)) | Close => snd (steps (cell n)) end).

Definition flocq_step (h : R) (x : token) : R :=
  if fused n then rnd (flocq_weight x * h + flocq_term x) else rnd (rnd (flocq_weight x * h) + flocq_term x).

Hypothesis linear : relu (cell n) = false.

Lemma step_is_flocqs x h : is_finite (form n) (float_step n x h) = true -> value (float_step n x h) = flocq_step (value h) x.
Proof.
  destruct (loaded_weights x) as [finite_weight finite_step]. unfold flocq_step, flocq_weight, flocq_term.
  rewrite <- (weight_is_flocqs _ finite_weight), <- (weight_is_flocqs _ finite_step). fold (weight_of n x) (step_of n x).
  unfold float_step. rewrite linear. now apply operation_is_flocqs.
Qed.

Lemma float_after_cases state x h : float_after n state x = Some h ->
  exists before, state = Some before /\ h = float_step n x before /\ is_finite (form n) h = true.
Proof.
  destruct state as [before|]; [|discriminate]. cbn [float_after]. cbv zeta.
  destruct (is_finite (form n) (float_step n x before)) eqn:finite; [|discriminate]. intros [= <-]. now exists before.
Qed.

Lemma run_is_flocqs s h : float_state n s = Some h ->
  fold_left flocq_step s 0 = value h /\ Rabs (value h) < power (limit (form n)).
Proof.
  revert h. induction s as [|x s IH] using rev_ind; intros h.
  - intros [= <-]. unfold real. rewrite Rmult_0_l, Rabs_R0. split; [reflexivity | apply bpow_gt_0].
  - rewrite float_state_snoc, fold_left_app. intros after.
    apply float_after_cases in after as (before & state & -> & finite). destruct (IH before state) as [-> _].
    split; [symmetry; now apply step_is_flocqs | now apply finite_is_below].
Qed.

End Network.

(** * IEEE 754 *)

Section Binary.

Variables prec emax : Z.
Context (prec_positive : Prec_gt_0 prec) (prec_below : Prec_lt_emax prec emax).

Variable n : float_network.
Hypothesis same_format : form n = Format prec (emax + prec - 3) emax.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.
Hypothesis linear : relu (cell n) = false.

Variables weight_float term_float : token -> binary_float prec emax.
Hypothesis weights_loaded : forall x, BinarySingleNaN.is_finite (weight_float x) = true /\ B2R (weight_float x) = flocq_weight n x.
Hypothesis terms_loaded : forall x, BinarySingleNaN.is_finite (term_float x) = true /\ B2R (term_float x) = flocq_term n x.

(** Multiply, then add, each rounded to nearest even; or a fused multiply-add. *)
Definition ieee_step (h : binary_float prec emax) (x : token) : binary_float prec emax :=
  if fused n then Bfma mode_NE (weight_float x) h (term_float x) else Bplus mode_NE (Bmult mode_NE (weight_float x) h) (term_float x).

Lemma ieee_round x :
  Generic_fmt.round radix2 (SpecFloat.fexp prec emax) (round_mode mode_NE) x = flocq_round (form n) x.
Proof.
  unfold flocq_round. rewrite same_format. cbn [places digits round_mode]. unfold SpecFloat.fexp, SpecFloat.emin, FLT_exp.
  now replace (- (emax + prec - 3))%Z with (3 - emax - prec)%Z by lia.
Qed.

Lemma run_is_ieee s h : float_state n s = Some h ->
  BinarySingleNaN.is_finite (fold_left ieee_step s (B754_zero false)) = true /\
  B2R (fold_left ieee_step s (B754_zero false)) = real (form n) h.
Proof.
  revert h. induction s as [|x s IH] using rev_ind; intros h.
  - intros [= <-]. unfold real. now rewrite Rmult_0_l.
  - rewrite float_state_snoc, fold_left_app. intros after.
    apply float_after_cases in after as (before & state & -> & finite). destruct (IH before state) as [finite_before value_before].
    set (b := fold_left ieee_step s (B754_zero false)) in *. cbn [fold_left].
    pose proof (proj1 (finite_is_below n fine _) finite) as below.
    rewrite (step_is_flocqs n fine loaded linear x before finite) in below |- *. rewrite <- value_before in below |- *.
    destruct (weights_loaded x) as [weight_finite weight_value]. destruct (terms_loaded x) as [term_finite term_value].
    assert (limit (form n) = emax) as same_limit by now rewrite same_format. rewrite same_limit in below.
    revert below. unfold flocq_step, ieee_step. destruct (fused n) eqn:is_fused; intros below.
    + pose proof (Bfma_correct prec emax prec_positive prec_below mode_NE (weight_float x) b (term_float x) weight_finite
        finite_before term_finite) as correct. cbv zeta in correct.
      rewrite ieee_round, weight_value, term_value, Rlt_bool_true in correct by exact below. now destruct correct as (-> & -> & _).
    + assert (Rabs (flocq_round (form n) (flocq_weight n x * B2R b)) < power emax) as product_below.
      { destruct (loaded_weights n loaded x) as [finite_weight finite_term].
        assert (is_finite (form n) (round (form n) (weight_of n x * before) (places (form n))) = true) as finite_product.
        { revert finite. unfold float_step, multiply_add. rewrite linear, is_fused. now apply finite_sum. }
        apply (finite_is_below n fine) in finite_product as product. rewrite same_limit in product.
        rewrite finite_round, round_unbounded_is_flocqs in product by (assumption || now apply finer_nonneg).
        rewrite value_before. replace (flocq_weight n x) with (real (form n) (weight_of n x)) by now apply weight_is_flocqs.
        replace (real (form n) (weight_of n x) * real (form n) before) with
          (IZR (weight_of n x * before) * power (- (places (form n) + places (form n)))); [exact product|].
        unfold real. rewrite mult_IZR, Z.opp_add_distr, bpow_plus. ring. }
      pose proof (Bmult_correct prec emax prec_positive prec_below mode_NE (weight_float x) b) as product.
      rewrite ieee_round, weight_value, Rlt_bool_true in product by exact product_below.
      destruct product as (product_value & product_finite & _). rewrite weight_finite, finite_before in product_finite.
      pose proof (Bplus_correct prec emax prec_positive prec_below mode_NE (Bmult mode_NE (weight_float x) b) (term_float x)
        product_finite term_finite) as sum.
      rewrite ieee_round, product_value, term_value, Rlt_bool_true in sum by exact below. now destruct sum as (-> & -> & _).
Qed.

End Binary.

(** What [Floats] computes for a linear or selective cell is Flocq's run of it: the multiplications and additions of IEEE 754 in the
    binary format, whose result is finite and has this value. *)
Theorem floats_are_ieee : forall (prec emax : Z) (prec_positive : Prec_gt_0 prec) (prec_below : Prec_lt_emax prec emax)
  (n : float_network) (weight_float term_float : token -> binary_float prec emax),
  form n = Format prec (emax + prec - 3) emax -> is_format (form n) = true -> loads n = true -> relu (cell n) = false ->
  (forall x, BinarySingleNaN.is_finite (weight_float x) = true /\ B2R (weight_float x) = flocq_weight n x) ->
  (forall x, BinarySingleNaN.is_finite (term_float x) = true /\ B2R (term_float x) = flocq_term n x) ->
  forall s h, float_state n s = Some h ->
  let float := fold_left (ieee_step prec emax prec_positive prec_below n weight_float term_float) s (B754_zero false) in
  BinarySingleNaN.is_finite float = true /\ B2R float = real (form n) h.
Proof. intros. now apply run_is_ieee. Qed.

(** The four formats are such formats. *)
Theorem formats_are_flocqs :
  float16 = Format 11 (16 + 11 - 3) 16 /\ bfloat16 = Format 8 (128 + 8 - 3) 128 /\
  float32 = Format 24 (128 + 24 - 3) 128 /\ float64 = Format 53 (1024 + 53 - 3) 1024.
Proof. repeat split. Qed.
