(** The powers e^-x for x >= 0 between whole numbers of a small unit.

    The series is added up from its last term: e^-y = t_0 with t_k = 1 - y / (k + 1) t_(k + 1), where every t_k lies between 0 and 1. So
    any t_n may be taken to be between 0 and 1, and each step brings the bounds closer. Before, x is halved until it is small; after,
    the power is squared as often. *)

From Coq Require Import ZArith Reals Lra Lia.
Open Scope R_scope.

(** * The rest of the series *)

(** What is left of e^-y after k terms, without its sign. *)
Fixpoint rest (k : nat) (y : R) : R :=
  match k with
  | O => exp (- y)
  | S k => y ^ k / INR (fact k) - rest k y
  end.

Lemma fact_positive k : 0 < INR (fact k).
Proof. apply lt_0_INR, lt_O_fact. Qed.

Lemma power_derivative k y : derivable_pt_lim (fun y => y ^ S k / INR (fact (S k))) y (y ^ k / INR (fact k)).
Proof.
  pose proof (fact_positive k). pose proof (fact_positive (S k)).
  replace (y ^ k / INR (fact k)) with (INR (S k) * y ^ pred (S k) * / INR (fact (S k)) + y ^ S k * 0).
  - apply (derivable_pt_lim_mult (fun y => y ^ S k) (fun _ => / INR (fact (S k)))); [apply derivable_pt_lim_pow | apply derivable_pt_lim_const].
  - rewrite fact_simpl, mult_INR. cbn [pred]. field. split; [lra | apply not_0_INR; lia].
Qed.

Lemma rest_derivative k y : derivable_pt_lim (rest (S k)) y (rest k y).
Proof.
  revert y. induction k as [|k IH]; intros y.
  - cbn [rest]. replace (exp (- y)) with (0 - exp (- y) * - 1) by ring.
    apply (derivable_pt_lim_minus (fun y => y ^ 0 / INR (fact 0)) (fun y => exp (- y))); [exact (derivable_pt_lim_const (1 / INR (fact 0)) y)|].
    apply (derivable_pt_lim_comp Ropp exp); [apply (derivable_pt_lim_opp id), derivable_pt_lim_id | apply derivable_pt_lim_exp].
  - change (rest (S (S k))) with (fun y => y ^ S k / INR (fact (S k)) - rest (S k) y). cbn [rest].
    apply (derivable_pt_lim_minus (fun y => y ^ S k / INR (fact (S k))) (rest (S k))); [apply power_derivative | apply IH].
Qed.

Lemma rest_at_zero k : rest (S k) 0 = 0.
Proof.
  induction k as [|k IH]; [cbn; rewrite Ropp_0, exp_0; lra|].
  change (rest (S (S k)) 0) with (0 ^ S k / INR (fact (S k)) - rest (S k) 0). rewrite IH, pow_i by lia. unfold Rdiv. ring.
Qed.

Lemma rest_nonneg k y : 0 <= y -> 0 <= rest k y.
Proof.
  revert y. induction k as [|k IH]; intros y nonneg; [cbn; apply Rlt_le, exp_pos|].
  destruct nonneg as [positive | <-]; [|rewrite rest_at_zero; lra].
  destruct (MVT_cor2 (rest (S k)) (rest k) 0 y positive (fun c _ => rest_derivative k c)) as (c & rises & between).
  rewrite rest_at_zero in rises. specialize (IH c ltac:(lra)). nra.
Qed.

(** The numbers t_k. *)
Lemma terms_exist y : 0 <= y -> exists t : nat -> R,
  t O = exp (- y) /\ forall k, 0 <= t k <= 1 /\ t k = 1 - y / INR (S k) * t (S k).
Proof.
  intros [positive | <-].
  - exists (fun k => rest k y * INR (fact k) / y ^ k). split; [cbn; field|]. intros k.
    pose proof (fact_positive k) as fact_k. pose proof (pow_lt y k positive) as power.
    assert (0 < INR (S k)) as next by (apply lt_0_INR; lia).
    pose proof (rest_nonneg k y ltac:(lra)) as here. pose proof (rest_nonneg (S k) y ltac:(lra)) as there. cbn [rest] in there.
    split; [split|].
    + apply Rmult_le_pos; [nra | apply Rlt_le, Rinv_0_lt_compat, power].
    + apply (Rmult_le_reg_r (y ^ k)); [exact power|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      apply (Rmult_le_compat_r (INR (fact k))) in there; [|lra]. unfold Rdiv in there.
      rewrite Rmult_0_l, Rmult_minus_distr_r, Rmult_assoc, Rinv_l in there by lra. lra.
    + cbn [rest]. rewrite fact_simpl, mult_INR. cbn [pow]. field. repeat split; lra.
  - exists (fun _ => 1). rewrite Ropp_0, exp_0. split; [reflexivity|]. intros k. split; [lra|]. unfold Rdiv. ring.
Qed.

(** * In whole numbers *)

Section Units.

Variable places : Z.
Hypothesis some : (0 <= places)%Z.

Local Notation one := (Z.shiftl 1 places).

Lemma one_is_power : IZR one = IZR (2 ^ places) /\ 0 < IZR one.
Proof.
  rewrite Z.shiftl_1_l. split; [reflexivity|]. apply IZR_lt, Z.pow_pos_nonneg; lia.
Qed.

(** Quotients from below and from above. *)
Definition up_quotient (a b : Z) : Z := (- (- a / b))%Z.

Lemma down_below a b : (0 < b)%Z -> IZR (a / b) <= IZR a / IZR b.
Proof.
  intros positive. apply IZR_lt in positive as real. apply (Rmult_le_reg_r (IZR b)); [exact real|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, <- mult_IZR by lra. apply IZR_le.
  rewrite Z.mul_comm. now apply Z.mul_div_le.
Qed.

Lemma up_above a b : (0 < b)%Z -> IZR a / IZR b <= IZR (up_quotient a b).
Proof.
  intros positive. unfold up_quotient. rewrite opp_IZR. pose proof (down_below (- a) b positive) as below.
  rewrite opp_IZR in below. unfold Rdiv in *. lra.
Qed.

(** A number between two numbers of units. *)
Definition between (low high : Z) (x : R) : Prop := IZR low <= x * IZR one <= IZR high.

(** From t_(k + 1) to t_k; k + 1 is given. *)
Definition series_step (y k : Z) (ends : Z * Z) : Z * Z :=
  (one - up_quotient (Z.shiftr (y * snd ends) places + 1) k, one - Z.shiftr (y * fst ends) places / k)%Z.

Fixpoint series (n : nat) (y k : Z) : Z * Z :=
  match n with
  | O => (0, one)%Z
  | S n => series_step y k (series n y (k + 1))
  end.

Lemma shiftr_bounds a : IZR (Z.shiftr a places) <= IZR a / IZR one < IZR (Z.shiftr a places + 1).
Proof.
  destruct one_is_power as [same positive]. rewrite Z.shiftr_div_pow2 by exact some. split.
  - rewrite same. apply down_below. apply Z.pow_pos_nonneg; lia.
  - apply (Rmult_lt_reg_r (IZR one)); [exact positive|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, same, <- mult_IZR by lra.
    apply IZR_lt. assert (0 < 2 ^ places)%Z by (apply Z.pow_pos_nonneg; lia).
    pose proof (Z.div_mod a (2 ^ places) ltac:(lia)). pose proof (Z.mod_pos_bound a (2 ^ places) ltac:(lia)). lia.
Qed.

Lemma series_sound n y k (t : nat -> R) (base : nat) : (0 <= y)%Z -> k = Z.of_nat (S base) ->
  (forall j, 0 <= t j <= 1 /\ t j = 1 - IZR y / IZR one / INR (S j) * t (S j)) ->
  between (fst (series n y k)) (snd (series n y k)) (t base).
Proof.
  intros nonneg. destruct one_is_power as [_ positive]. revert k base. induction n as [|n IH]; intros k base index terms.
  - cbn. destruct (terms base) as [bounds _]. unfold between. split; nra.
  - cbn [series]. specialize (IH (k + 1)%Z (S base) ltac:(lia) terms). destruct (series n y (k + 1)) as [low high].
    cbn [fst snd] in IH. unfold series_step. cbn [fst snd]. destruct (terms base) as [_ ->].
    assert (INR (S base) = IZR k) as -> by (rewrite index, INR_IZR_INZ; reflexivity).
    assert (0 < IZR k) as k_positive by (apply IZR_lt; lia). apply IZR_le in nonneg as real_y.
    destruct IH as [above below]. unfold between.
    pose proof (shiftr_bounds (y * high)) as [_ shift_up]. pose proof (shiftr_bounds (y * low)) as [shift_down _].
    rewrite mult_IZR in shift_up, shift_down. rewrite !minus_IZR.
    pose proof (up_above (Z.shiftr (y * high) places + 1) k ltac:(lia)) as quotient_up.
    pose proof (down_below (Z.shiftr (y * low) places) k ltac:(lia)) as quotient_down.
    set (T := t (S base)) in *.
    assert ((1 - IZR y / IZR one / IZR k * T) * IZR one = IZR one - IZR y * (T * IZR one) / IZR one / IZR k) as -> by (field; lra).
    assert (forall a b, a <= b -> a / IZR k <= b / IZR k) as over_k
      by (intros a b less; apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, k_positive | exact less]).
    assert (forall a b, a <= b -> a / IZR one <= b / IZR one) as over_one
      by (intros a b less; apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, positive | exact less]).
    split.
    + pose proof (over_one _ _ (Rmult_le_compat_l _ _ _ real_y below)) as high_product.
      pose proof (over_k _ _ high_product). pose proof (over_k _ _ (Rlt_le _ _ shift_up)). lra.
    + pose proof (over_one _ _ (Rmult_le_compat_l _ _ _ real_y above)) as low_product.
      pose proof (over_k _ _ low_product). pose proof (over_k _ _ shift_down). lra.
Qed.

(** * Squaring *)

Definition square_ends (ends : Z * Z) : Z * Z :=
  let low := Z.max 0 (fst ends) in (Z.shiftr (low * low) places, Z.shiftr (snd ends * snd ends) places + 1)%Z.

Lemma square_sound low high x : 0 <= x -> between low high x ->
  let '(l, h) := square_ends (low, high) in between l h (x * x).
Proof.
  intros nonneg [above below]. destruct one_is_power as [_ positive]. unfold square_ends. cbn [fst snd]. unfold between.
  pose proof (shiftr_bounds (Z.max 0 low * Z.max 0 low)) as [down _]. pose proof (shiftr_bounds (high * high)) as [_ above_high].
  rewrite mult_IZR in down, above_high.
  assert (0 <= IZR (Z.max 0 low) <= x * IZR one) as least.
  { split; [apply IZR_le; lia|]. destruct (Z.max_spec 0 low) as [[_ ->] | [_ ->]]; [exact above | nra]. }
  assert (x * x * IZR one = (x * IZR one) * (x * IZR one) / IZR one) as -> by (field; lra).
  assert (forall a b, a <= b -> a / IZR one <= b / IZR one) as over_one
    by (intros a b less; apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, positive | exact less]).
  set (z := x * IZR one) in *. assert (0 <= z) by (unfold z; nra). split.
  - eapply Rle_trans; [exact down | apply over_one; nra].
  - eapply Rle_trans; [apply over_one with (b := IZR high * IZR high); nra | lra].
Qed.

Fixpoint square_often (n : nat) (ends : Z * Z) : Z * Z :=
  match n with
  | O => ends
  | S n => square_often n (square_ends ends)
  end.

Lemma square_often_sound n ends y : between (fst ends) (snd ends) (exp (- y)) ->
  between (fst (square_often n ends)) (snd (square_often n ends)) (exp (- (y * 2 ^ n))).
Proof.
  revert ends y. induction n as [|n IH]; intros ends y inside; cbn [square_often pow]; [now rewrite Rmult_1_r|].
  replace (y * (2 * 2 ^ n)) with (2 * y * 2 ^ n) by ring. apply IH.
  replace (- (2 * y)) with (- y + - y) by ring. rewrite exp_plus.
  destruct ends as [low high]. pose proof (square_sound low high (exp (- y)) (Rlt_le _ _ (exp_pos _)) inside) as squared.
  now destruct (square_ends (low, high)).
Qed.

(** * The power *)

(** The power e^-x, given x / 2^halvings in units. *)
Definition power_ends (terms halvings : nat) (y : Z) : Z * Z := square_often halvings (series terms y 1).

Lemma power_ends_sound terms halvings y : (0 <= y)%Z ->
  between (fst (power_ends terms halvings y)) (snd (power_ends terms halvings y)) (exp (- (IZR y / IZR one * 2 ^ halvings))).
Proof.
  intros nonneg. destruct one_is_power as [_ positive]. apply square_often_sound.
  apply IZR_le in nonneg as real_y.
  destruct (terms_exist (IZR y / IZR one)) as (t & first & all); [apply Rmult_le_pos; [exact real_y | apply Rlt_le, Rinv_0_lt_compat, positive]|].
  rewrite <- first. now apply series_sound.
Qed.

End Units.
