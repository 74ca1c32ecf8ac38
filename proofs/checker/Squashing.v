(** The logistic function and tanh between whole numbers of a unit 2^-places, from bounds of e^-x. *)

From Tallystick.checker Require Import Claims Exponential Gated.
From Coq Require Import Reals Lra Lia.
Open Scope R_scope.

Section Units.

Variable places : Z.
Hypothesis some : (0 < places)%Z.

Definition scale : R := IZR (2 ^ places).

Lemma scale_positive : 0 < scale.
Proof. apply IZR_lt, Z.pow_pos_nonneg; lia. Qed.

(** Digits that are carried along besides. *)
Definition guard : Z := 12.

(** How often x is halved until it is below 2^-14. Each term of the series then tells 16 digits or so. *)
Definition halvings (x : Z) : Z := Z.max 0 (Z.log2 x + 15 - places).

(** The logistic function at x >= 0. *)
Definition sigmoid_ends_above (x : Z) : Z * Z :=
  let h := halvings x in
  let work := (places + h + guard)%Z in
  let one := Z.shiftl 1 work in
  let '(low, high) := power_ends work (Z.to_nat (work / 16 + 2)) (Z.to_nat h) (Z.shiftl x guard) in
  let all := Z.shiftl one places in
  (all / (one + Z.max 0 high), up_quotient all (one + Z.max 0 low))%Z.

Definition sigmoid_ends (x : Z) : Z * Z :=
  if (x =? 0)%Z then (Z.shiftl 1 (places - 1), Z.shiftl 1 (places - 1))
  else if (0 <? x)%Z then sigmoid_ends_above x
  else let '(low, high) := sigmoid_ends_above (- x) in (Z.shiftl 1 places - high, Z.shiftl 1 places - low)%Z.

Lemma power_pow h : IZR (2 ^ Z.of_nat h) = 2 ^ h.
Proof. rewrite <- pow_IZR. reflexivity. Qed.

Lemma sigmoid_above_sound x : (0 <= x)%Z ->
  IZR (fst (sigmoid_ends_above x)) <= sigmoid (IZR x / scale) * scale <= IZR (snd (sigmoid_ends_above x)).
Proof.
  intros nonneg. unfold sigmoid_ends_above. set (h := halvings x). assert (0 <= h)%Z as h_nonneg by apply Z.le_max_l.
  set (work := (places + h + guard)%Z). assert (0 <= work)%Z as work_nonneg by (unfold work, guard; lia).
  set (n := Z.to_nat (work / 16 + 2)).
  assert (0 <= Z.shiftl x guard)%Z as y_nonneg by (rewrite Z.shiftl_mul_pow2 by (unfold guard; lia); unfold guard; lia).
  pose proof (power_ends_sound work work_nonneg n (Z.to_nat h) (Z.shiftl x guard) y_nonneg) as bounds.
  destruct (one_is_power work work_nonneg) as [same positive]. pose proof scale_positive as unit.
  assert (IZR (Z.shiftl x guard) / IZR (Z.shiftl 1 work) * 2 ^ Z.to_nat h = IZR x / scale) as argument.
  { rewrite <- power_pow, Z2Nat.id by exact h_nonneg. rewrite same. unfold work, scale.
    rewrite !Z.pow_add_r, Z.shiftl_mul_pow2, !mult_IZR by (unfold guard; lia).
    assert (0 < IZR (2 ^ places) /\ 0 < IZR (2 ^ h) /\ 0 < IZR (2 ^ guard)) as (p & q & r)
      by (repeat split; apply IZR_lt, Z.pow_pos_nonneg; unfold guard; lia). field. lra. }
  rewrite argument in bounds. destruct (power_ends work n (Z.to_nat h) (Z.shiftl x guard)) as [low high].
  cbn [fst snd] in bounds |- *. unfold Exponential.between in bounds. set (E := exp (- (IZR x / scale))) in *.
  assert (0 < E) as E_positive by apply exp_pos.
  assert (Z.shiftl (Z.shiftl 1 work) places = Z.shiftl 1 work * 2 ^ places)%Z as all by (apply Z.shiftl_mul_pow2; lia). rewrite all.
  set (one := Z.shiftl 1 work) in *. unfold sigmoid. fold E.
  assert (IZR (one * 2 ^ places) = IZR one * scale) as product by apply mult_IZR.
  assert (0 < one)%Z as one_positive by (apply lt_IZR; exact positive).
  assert (/ (1 + E) * scale = IZR one * scale / (IZR one + E * IZR one)) as -> by (field; nra).
  assert (IZR (Z.max 0 low) <= E * IZR one) as least.
  { destruct (Z.max_spec 0 low) as [[_ ->] | [_ ->]]; [apply bounds | nra]. }
  assert (0 <= IZR (Z.max 0 low)) as low_nonneg by (apply IZR_le; lia).
  assert (E * IZR one <= IZR (Z.max 0 high)) as most.
  { apply Rle_trans with (IZR high); [apply bounds | apply IZR_le; lia]. }
  assert (forall d d', 0 < d -> d <= d' -> IZR one * scale / d' <= IZR one * scale / d) as falls.
  { intros d d' d_positive larger. apply Rmult_le_compat_l; [nra | now apply Rinv_le_contravar]. }
  split.
  - eapply Rle_trans; [apply down_below; lia|]. rewrite product, plus_IZR. apply falls; nra.
  - eapply Rle_trans; [|apply up_above; lia]. rewrite product, plus_IZR. apply falls; nra.
Qed.

Lemma sigmoid_opposite x : sigmoid (- x) = 1 - sigmoid x.
Proof.
  unfold sigmoid. rewrite Ropp_involutive, exp_Ropp. pose proof (exp_pos x). field. lra.
Qed.

Lemma sigmoid_ends_sound x :
  IZR (fst (sigmoid_ends x)) <= sigmoid (IZR x / scale) * scale <= IZR (snd (sigmoid_ends x)).
Proof.
  pose proof scale_positive as unit. unfold sigmoid_ends. destruct (Z.eqb_spec x 0) as [-> | nonzero].
  - cbn [fst snd]. unfold sigmoid, scale. replace (- (0 / IZR (2 ^ places))) with 0 by (unfold Rdiv; ring). rewrite exp_0.
    rewrite Z.shiftl_1_l. replace places with (Z.succ (places - 1)) at 2 3 by lia. rewrite Z.pow_succ_r, mult_IZR by lia. split; lra.
  - destruct (Z.ltb_spec 0 x) as [positive | negative]; [apply sigmoid_above_sound; lia|].
    pose proof (sigmoid_above_sound (- x) ltac:(lia)) as mirrored.
    destruct (sigmoid_ends_above (- x)) as [low high]. cbn [fst snd] in *.
    replace (IZR (- x) / scale) with (- (IZR x / scale)) in mirrored by (rewrite opp_IZR; unfold Rdiv; ring).
    rewrite sigmoid_opposite in mirrored. rewrite !minus_IZR, Z.shiftl_1_l. fold scale. lra.
Qed.

(** * Boxes *)

Definition inside (x : R) (box : Z * Z) : Prop := IZR (fst box) <= x * scale <= IZR (snd box).

Definition sigmoid_box (box : Z * Z) : Z * Z :=
  if (fst box =? snd box)%Z then sigmoid_ends (fst box)
  else (fst (sigmoid_ends (fst box)), snd (sigmoid_ends (snd box))).

Definition tanh_box (box : Z * Z) : Z * Z :=
  let '(low, high) := sigmoid_box (2 * fst box, 2 * snd box)%Z in (2 * low - Z.shiftl 1 places, 2 * high - Z.shiftl 1 places)%Z.

Lemma sigmoid_rises x y : x <= y -> sigmoid x <= sigmoid y.
Proof.
  intros less. unfold sigmoid. pose proof (exp_pos (- y)). apply Rinv_le_contravar; [lra|].
  apply Rplus_le_compat_l. destruct (Req_dec x y) as [-> | differ]; [lra|]. apply Rlt_le, exp_increasing. lra.
Qed.

Lemma over_scale a x : IZR a <= x * scale -> IZR a / scale <= x.
Proof.
  pose proof scale_positive. intros below. apply (Rmult_le_reg_r scale); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma under_scale a x : x * scale <= IZR a -> x <= IZR a / scale.
Proof.
  pose proof scale_positive. intros above. apply (Rmult_le_reg_r scale); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma sigmoid_box_sound x box : inside x box -> inside (sigmoid x) (sigmoid_box box).
Proof.
  intros [above below]. pose proof scale_positive as unit. unfold inside, sigmoid_box.
  pose proof (sigmoid_rises _ _ (over_scale _ _ above)). pose proof (sigmoid_rises _ _ (under_scale _ _ below)).
  pose proof (sigmoid_ends_sound (fst box)). pose proof (sigmoid_ends_sound (snd box)).
  destruct (Z.eqb_spec (fst box) (snd box)) as [same | differ]; cbn [fst snd]; [rewrite same in * |- *|]; split; nra.
Qed.

Lemma tanh_is_sigmoid x : tanh x = 2 * sigmoid (2 * x) - 1.
Proof.
  unfold tanh, sinh, cosh, sigmoid. replace (- (2 * x)) with (- x + - x) by ring. rewrite exp_plus.
  assert (exp x * exp (- x) = 1) as inverse by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  pose proof (exp_pos x). pose proof (exp_pos (- x)).
  replace (1 + exp (- x) * exp (- x)) with (exp (- x) * (exp x + exp (- x))) by (rewrite Rmult_plus_distr_l, (Rmult_comm _ (exp x)), inverse; ring).
  assert (/ (exp (- x) * (exp x + exp (- x))) = exp x / (exp x + exp (- x))) as ->.
  { apply (Rmult_eq_reg_r (exp (- x) * (exp x + exp (- x)))); [|nra]. rewrite Rinv_l by nra.
    transitivity (exp x * exp (- x)); [now rewrite inverse | field; lra]. }
  field. lra.
Qed.

Lemma tanh_box_sound x box : inside x box -> inside (tanh x) (tanh_box box).
Proof.
  intros [above below]. rewrite tanh_is_sigmoid.
  assert (inside (2 * x) (2 * fst box, 2 * snd box)%Z) as twice by (unfold inside; cbn [fst snd]; rewrite !mult_IZR; lra).
  apply sigmoid_box_sound in twice as [above_low below_high]. unfold inside, tanh_box.
  destruct (sigmoid_box (2 * fst box, 2 * snd box)%Z) as [low high]. cbn [fst snd] in *.
  rewrite !minus_IZR, !mult_IZR, Z.shiftl_1_l. fold scale. lra.
Qed.

End Units.
