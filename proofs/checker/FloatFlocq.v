(** The rounding of [Rounding] in whole numbers is Flocq's rounding to nearest even in the format.

    What is proved here is not needed by the checker; it says of what [Floats] defines that it is what others mean by it. Flocq and
    the real numbers bring axioms with them. *)

From Flocq Require Import Core.Core.
From Tallystick.checker Require Import Rounding.
From Coq Require Import Reals Lra.
Open Scope R_scope.

Notation power := (bpow radix2).

(** * Rounding a quotient *)

Lemma nearest_quotient_is_nearest a b : (0 < b)%Z -> ZnearestE (IZR a / IZR b) = nearest_quotient a b.
Proof.
  intros positive. assert (0 < IZR b) as real_positive by now apply IZR_lt.
  unfold nearest_quotient, Znearest. rewrite Zfloor_div by lia.
  pose proof (Z.div_mod a b ltac:(lia)) as parts. pose proof (Z.mod_pos_bound a b positive) as small.
  set (q := (a / b)%Z) in *. set (r := (a mod b)%Z) in *. clearbody q r.
  assert (IZR a / IZR b = IZR q + IZR r / IZR b) as value.
  { rewrite parts, plus_IZR, mult_IZR. field. now apply Rgt_not_eq. }
  assert (IZR a / IZR b - IZR q = IZR r / IZR b) as rest by (rewrite value; ring). rewrite rest.
  assert (Rcompare (IZR r / IZR b) (/ 2) = (2 * r ?= b)%Z) as ->.
  { destruct (Z.compare_spec (2 * r) b) as [same | less | more].
    - apply Rcompare_Eq. apply (f_equal IZR) in same. rewrite mult_IZR in same. rewrite <- same. field. apply Rgt_not_eq. lra.
    - apply Rcompare_Lt. apply (Rmult_lt_reg_r (IZR b)); [exact real_positive|]. apply IZR_lt in less. rewrite mult_IZR in less.
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by now apply Rgt_not_eq. lra.
    - apply Rcompare_Gt. apply (Rmult_lt_reg_r (IZR b)); [exact real_positive|]. apply IZR_lt in more. rewrite mult_IZR in more.
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by now apply Rgt_not_eq. lra. }
  assert ((0 < r)%Z -> Zceil (IZR a / IZR b) = (q + 1)%Z) as above.
  { intros some. apply Zceil_imp. rewrite value, minus_IZR, plus_IZR. apply IZR_lt in some. destruct small as [_ small].
    apply IZR_lt in small. assert (0 < IZR r / IZR b < 1); [|lra].
    split; [now apply Rdiv_lt_0_compat|]. apply (Rmult_lt_reg_r (IZR b)); [exact real_positive|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by now apply Rgt_not_eq. lra. }
  destruct (Z.compare_spec (2 * r) b); [rewrite above by lia | reflexivity | apply above; lia].
  rewrite Z.negb_even. now destruct (Z.odd q).
Qed.

Lemma nearest_even_is_quotient v c : (0 <= c)%Z -> nearest_even v c = nearest_quotient v (2 ^ c).
Proof.
  intros nonneg. destruct (Z.eq_dec c 0) as [-> | some].
  - unfold nearest_quotient. rewrite Z.pow_0_r, Z.mod_1_r, Z.div_1_r. reflexivity.
  - rewrite nearest_even_division by lia. unfold nearest_quotient. rewrite <- Z.negb_even.
    destruct (_ ?= _)%Z; [now destruct (Z.even _) | reflexivity | reflexivity].
Qed.

(** * Rounding to a format *)

Section Format.

Variable form : format.
Hypothesis fine : is_format form = true.

Definition flocq_round (x : R) : R := Generic_fmt.round radix2 (FLT_exp (- places form) (digits form)) ZnearestE x.

(** The real number that so many units are. *)
Definition real (units : Z) : R := IZR units * power (- places form).

Lemma IZR_power k : (0 <= k)%Z -> IZR (2 ^ k) = power k.
Proof. intros nonneg. now rewrite <- (IZR_Zpower radix2). Qed.

Lemma round_at x c : x <> 0 -> cexp radix2 (FLT_exp (- places form) (digits form)) x = (c - places form)%Z ->
  flocq_round x = IZR (ZnearestE (x * power (places form - c))) * power (c - places form).
Proof.
  intros nonzero exponent. unfold flocq_round, Generic_fmt.round, scaled_mantissa, F2R. cbn [Fnum Fexp]. rewrite exponent.
  do 3 f_equal. f_equal. f_equal. lia.
Qed.

Lemma round_unbounded_is_flocqs value finer : (0 <= finer)%Z ->
  real (round_unbounded form value finer) = flocq_round (IZR value * power (- (places form + finer))).
Proof.
  intros nonneg. destruct (digits_positive form fine) as (some & positive & _).
  destruct (Z.eq_dec value 0) as [-> | nonzero].
  { rewrite round_unbounded_zero. unfold real, flocq_round. rewrite !Rmult_0_l, round_0; [reflexivity | apply valid_rnd_N]. }
  pose proof (round_unbounded_value form value finer nonneg) as found. cbv zeta in found. set (cut := cut_of form value finer) in *.
  assert (finer <= cut)%Z by apply Z.le_max_r.
  assert (IZR value * power (- (places form + finer)) <> 0) as real_nonzero.
  { apply Rmult_integral_contrapositive. split; [now apply not_0_IZR | apply Rgt_not_eq, bpow_gt_0]. }
  rewrite (round_at _ (cut - finer)); [| exact real_nonzero |].
  - rewrite Rmult_assoc, <- bpow_plus. replace (- (places form + finer) + (places form - (cut - finer)))%Z with (- cut)%Z by lia.
    rewrite bpow_opp, <- IZR_power by lia. fold (IZR value / IZR (2 ^ cut)).
    rewrite nearest_quotient_is_nearest by (apply Z.pow_pos_nonneg; lia). rewrite <- nearest_even_is_quotient by lia.
    apply (f_equal IZR) in found. rewrite !mult_IZR, !IZR_power in found by lia. unfold real.
    replace (cut - finer - places form)%Z with (cut + (- finer + - places form))%Z by lia.
    rewrite !bpow_plus, <- !Rmult_assoc, <- found, (Rmult_assoc (IZR _) (power finer)), <- bpow_plus.
    replace (finer + - finer)%Z with 0%Z by lia. cbn [bpow]. ring.
  - unfold cexp, FLT_exp. rewrite mag_mult_bpow by now apply not_0_IZR.
    rewrite (mag_unique radix2 (IZR value) (bits value)).
    + unfold cut, cut_of. lia.
    + destruct (bits_spec value nonzero) as [least most]. rewrite <- abs_IZR.
      assert (0 < bits value)%Z as many by (destruct (Z_le_gt_dec (bits value) 0); [|lia]; pose proof (bits_nonneg value);
        replace (bits value) with 0%Z in most by lia; cbn in most; lia).
      rewrite <- !IZR_power by lia. split; [now apply IZR_le | now apply IZR_lt].
Qed.

Lemma round_ratio_unbounded p q : (0 < q)%Z ->
  let value := Z.shiftl p (places form) in
  let cut := Z.max (bits (Z.abs value / q) - digits form) 0 in
  real (Z.shiftl (nearest_quotient value (Z.shiftl q cut)) cut) = flocq_round (IZR p / IZR q).
Proof.
  intros positive. cbv zeta. destruct (digits_positive form fine) as (some & nonneg & _).
  rewrite Z.shiftl_mul_pow2 with (a := p) by exact nonneg. set (value := (p * 2 ^ places form)%Z).
  set (cut := Z.max _ 0). assert (0 <= cut)%Z by apply Z.le_max_r. rewrite !Z.shiftl_mul_pow2 by lia.
  assert (0 < 2 ^ cut)%Z by (apply Z.pow_pos_nonneg; lia). assert (0 < IZR q) as q_positive by now apply IZR_lt.
  pose proof (bpow_gt_0 radix2 (places form)) as scale. pose proof (bpow_gt_0 radix2 cut) as cut_scale.
  assert (IZR p / IZR q = IZR value / IZR q * power (- places form)) as same.
  { unfold value. rewrite mult_IZR, IZR_power, bpow_opp by exact nonneg. field. split; now apply Rgt_not_eq. }
  destruct (Z.eq_dec p 0) as [-> | nonzero].
  { assert (value = 0%Z) as -> by (unfold value; lia).
    assert (nearest_quotient 0 (q * 2 ^ cut) = 0%Z) as ->.
    { unfold nearest_quotient. rewrite Z.div_0_l, Z.mod_0_l by lia. now destruct (q * 2 ^ cut)%Z eqn:large; [|reflexivity|lia]; cbn. }
    unfold real, flocq_round, Rdiv. rewrite !Rmult_0_l, round_0; [reflexivity | apply valid_rnd_N]. }
  assert (IZR p / IZR q <> 0) as real_nonzero.
  { apply Rmult_integral_contrapositive. split; [now apply not_0_IZR | apply Rinv_neq_0_compat; now apply Rgt_not_eq]. }
  assert (IZR value / IZR q <> 0) as value_nonzero.
  { intros zero. apply real_nonzero. rewrite same, zero. ring. }
  rewrite (round_at _ cut real_nonzero).
  - rewrite same, Rmult_assoc, <- bpow_plus. replace (- places form + (places form - cut))%Z with (- cut)%Z by lia.
    assert (IZR value / IZR q * power (- cut) = IZR value / IZR (q * 2 ^ cut)) as ->.
    { rewrite mult_IZR, IZR_power, bpow_opp by lia. field. split; now apply Rgt_not_eq. }
    rewrite nearest_quotient_is_nearest by lia. unfold real. rewrite mult_IZR, IZR_power by lia.
    replace (cut - places form)%Z with (cut + - places form)%Z by lia. rewrite bpow_plus. ring.
  - unfold cexp, FLT_exp. rewrite same, mag_mult_bpow by exact value_nonzero.
    set (whole := (Z.abs value / q)%Z) in *.
    assert (Rabs (IZR value / IZR q) = IZR (Z.abs value) / IZR q) as size.
    { unfold Rdiv. rewrite Rabs_mult, abs_IZR, (Rabs_right (/ IZR q)); [reflexivity|]. apply Rle_ge, Rlt_le, Rinv_0_lt_compat, q_positive. }
    assert (IZR whole <= IZR (Z.abs value) / IZR q < IZR whole + 1) as around.
    { unfold whole. rewrite <- Zfloor_div by lia. split; [apply Zfloor_lb | apply Zfloor_ub]. }
    destruct (Z.eq_dec whole 0) as [small | large].
    + assert (mag radix2 (IZR value / IZR q) <= 0)%Z as below.
      { apply mag_le_bpow; [exact value_nonzero|]. rewrite size. cbn [bpow]. rewrite small in around. lra. }
      unfold cut. rewrite small. cbn [bits]. lia.
    + assert (0 < whole)%Z as whole_positive by (assert (0 <= whole)%Z by (apply Z.div_pos; lia); lia).
      rewrite (mag_unique radix2 (IZR value / IZR q) (bits whole)); [unfold cut; lia|].
      destruct (bits_spec whole large) as [least most]. rewrite Z.abs_eq in least, most by lia.
      assert (0 < bits whole)%Z as many by (destruct (Z_le_gt_dec (bits whole) 0); [|lia]; pose proof (bits_nonneg whole);
        replace (bits whole) with 0%Z in most by lia; cbn in most; lia).
      rewrite size, <- !IZR_power by lia. split; [apply Rle_trans with (IZR whole); [now apply IZR_le | apply around]|].
      apply Rlt_le_trans with (IZR whole + 1); [apply around|]. rewrite <- plus_IZR. apply IZR_le. lia.
Qed.

End Format.
