(** Floating point as a set of numbers, and every rounding to a nearest one of them, however it breaks ties: it keeps the numbers
    of the set, it rises, and it is off by little. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets.

(** Numbers of p binary digits whose last place is 2^emin or more, as those of IEEE 754, subnormal ones with them. There is no
    greatest exponent here: what is said holds as long as nothing overflows. *)
Definition is_float (p emin : Z) (x : R) : Prop :=
  exists m e : Z, (emin <= e)%Z /\ (Z.abs m <= 2 ^ p)%Z /\ x = IZR m * powerRZ 2 e.

Definition to_nearest (round : R -> R) (p emin : Z) : Prop :=
  forall x, is_float p emin (round x) /\ forall y, is_float p emin y -> Rabs (x - round x) <= Rabs (x - y).

(** A rounding leaves the numbers of the format as they are, up to the greatest: beyond, it may overflow. *)
Definition keeps_floats (round : R -> R) (p emin : Z) (greatest : R) : Prop :=
  forall x, is_float p emin x -> Rabs x <= greatest -> round x = x.

Theorem rounding_keeps_floats : forall round p emin greatest, to_nearest round p emin -> keeps_floats round p emin greatest.
Proof.
  intros round p emin greatest nearest x float _. destruct (nearest x) as [_ closest]. specialize (closest x float).
  rewrite (Rminus_diag_eq x x eq_refl), Rabs_R0 in closest.
  pose proof (Rabs_pos (x - round x)). destruct (Req_dec (x - round x) 0) as [|other]; [lra|].
  apply Rabs_pos_lt in other. lra.
Qed.

(** Were the order of two numbers turned round, each would lie on the other's side of the middle. *)
Theorem rounding_rises : forall round p emin, to_nearest round p emin -> forall x y, x <= y -> round x <= round y.
Proof.
  intros round p emin nearest x y order. apply Rnot_lt_le. intros turned.
  destruct (nearest x) as [x_float x_closest], (nearest y) as [y_float y_closest].
  specialize (x_closest _ y_float). specialize (y_closest _ x_float).
  destruct order as [less | <-]; [|lra].
  unfold Rabs in *. repeat destruct Rcase_abs; lra.
Qed.

(** * Errors *)

Section Errors.

Variables (round : R -> R) (p emin : Z).
Hypothesis digits : (0 < p)%Z.
Hypothesis nearest : to_nearest round p emin.

Local Notation unit := (powerRZ 2 emin).
Local Notation u := (powerRZ 2 (- p)).

Lemma power_positive e : 0 < powerRZ 2 e.
Proof. apply powerRZ_lt. lra. Qed.

Lemma power_add e e' : powerRZ 2 (e + e') = powerRZ 2 e * powerRZ 2 e'.
Proof. apply powerRZ_add. lra. Qed.

Lemma power_whole n : (0 <= n)%Z -> powerRZ 2 n = IZR (2 ^ n).
Proof.
  intros nonneg. rewrite <- (Z2Nat.id n) by assumption. rewrite <- pow_powerRZ, <- pow_IZR. reflexivity.
Qed.

(** Some whole number is at most 1/2 away. *)
Lemma whole_number_near x : exists m : Z, Rabs (x - IZR m) <= 1 / 2.
Proof.
  destruct (archimed (x - 1 / 2)) as [above below]. exists (up (x - 1 / 2)). unfold Rabs. destruct Rcase_abs; lra.
Qed.

(** With the place 2^e there is a float within half of it, unless the number is too large for p digits. *)
Lemma float_near x e : (emin <= e)%Z -> Rabs x <= powerRZ 2 (p + e) ->
  exists y, is_float p emin y /\ Rabs (x - y) <= powerRZ 2 e / 2.
Proof.
  intros low small. pose proof (power_positive e) as positive.
  destruct (whole_number_near (x / powerRZ 2 e)) as [m near].
  exists (IZR m * powerRZ 2 e). split.
  - exists m, e. repeat split; [assumption|]. apply Z.lt_succ_r, lt_IZR. rewrite succ_IZR, abs_IZR, <- power_whole by lia.
    rewrite power_add in small.
    assert (Rabs (x / powerRZ 2 e) <= powerRZ 2 p) as quotient.
    { unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (powerRZ 2 e)) by lra.
      apply (Rmult_le_reg_r (powerRZ 2 e)); [lra|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    pose proof (Rabs_triang (x / powerRZ 2 e) (- (x / powerRZ 2 e - IZR m))) as triangle. rewrite Rabs_Ropp in triangle.
    replace (x / powerRZ 2 e + - (x / powerRZ 2 e - IZR m)) with (IZR m) in triangle by ring.
    lra.
  - replace (x - IZR m * powerRZ 2 e) with ((x / powerRZ 2 e - IZR m) * powerRZ 2 e) by (field; lra).
    rewrite Rabs_mult, (Rabs_right (powerRZ 2 e)) by lra. nra.
Qed.

Lemma exponent_of x : powerRZ 2 (p + emin) < x -> exists e, (emin <= e)%Z /\ powerRZ 2 (p + e - 1) <= x <= powerRZ 2 (p + e).
Proof.
  intros large. destruct (Pow_x_infinity 2) with (b := x / powerRZ 2 (p + emin)) as [n above]; [rewrite Rabs_right; lra|].
  specialize (above n (le_n n)). rewrite (Rabs_right (2 ^ n)) in above by (apply Rle_ge, pow_le; lra).
  assert (x <= powerRZ 2 (p + emin + Z.of_nat n)) as bounded.
  { pose proof (power_positive (p + emin)). rewrite power_add, <- pow_powerRZ. apply Rge_le in above.
    apply (Rmult_le_compat_r (powerRZ 2 (p + emin))) in above; [|lra].
    unfold Rdiv in above. rewrite Rmult_assoc, Rinv_l in above by lra. lra. }
  clear above. induction n as [|n IH]; [rewrite Z.add_0_r in bounded; lra|].
  destruct (Rle_or_lt x (powerRZ 2 (p + emin + Z.of_nat n))) as [less | more]; [now apply IH|].
  exists (emin + Z.of_nat (S n))%Z. split; [lia|].
  replace (p + (emin + Z.of_nat (S n)) - 1)%Z with (p + emin + Z.of_nat n)%Z by lia.
  replace (p + (emin + Z.of_nat (S n)))%Z with (p + emin + Z.of_nat (S n))%Z by lia. lra.
Qed.

Lemma relative_error x : powerRZ 2 (p + emin) < Rabs x -> Rabs (x - round x) <= u * Rabs x.
Proof.
  intros large. destruct (exponent_of _ large) as (e & low & at_least & at_most).
  destruct (float_near x e low at_most) as (y & float & near).
  destruct (nearest x) as [_ closest]. specialize (closest y float).
  apply (Rmult_le_compat_l u) in at_least; [|apply Rlt_le, power_positive].
  rewrite <- power_add in at_least. replace (- p + (p + e - 1))%Z with (e + - 1)%Z in at_least by lia.
  rewrite power_add in at_least. change (powerRZ 2 (-1)) with (/ (2 * 1)) in at_least. rewrite Rmult_1_r in at_least. lra.
Qed.

(** A rounded number is off by a unit in the last place at most, halved: relative where it is large, else the least place. *)
Lemma rounding_error x : Rabs (x - round x) <= u * Rabs x + unit / 2.
Proof.
  pose proof (power_positive emin). pose proof (power_positive (- p)). pose proof (Rabs_pos x).
  destruct (Rle_or_lt (Rabs x) (powerRZ 2 (p + emin))) as [small | large].
  - destruct (float_near x emin (Z.le_refl _) small) as (y & float & near).
    destruct (nearest x) as [_ closest]. specialize (closest y float). nra.
  - apply relative_error in large. lra.
Qed.

(** A sum of two floats is off by a relative error alone: where it is small it is a float itself. *)
Lemma sum_error x y : is_float p emin x -> is_float p emin y -> Rabs (x + y - round (x + y)) <= u * Rabs (x + y).
Proof.
  intros x_float y_float. destruct (Rle_or_lt (Rabs (x + y)) (powerRZ 2 (p + emin))) as [small | large];
    [|now apply relative_error].
  assert (forall z, is_float p emin z -> exists m, z = IZR m * unit) as whole.
  { intros z (m & e & low & _ & ->). exists (m * 2 ^ (e - emin))%Z.
    rewrite mult_IZR, <- power_whole by lia. rewrite Rmult_assoc, <- power_add. f_equal. f_equal. lia. }
  destruct (whole x x_float) as (m & x_is), (whole y y_float) as (n & y_is).
  assert (is_float p emin (x + y)) as float.
  { exists (m + n)%Z, emin. rewrite x_is, y_is, plus_IZR. repeat split; [lia | | ring].
    apply le_IZR. rewrite <- power_whole, abs_IZR, plus_IZR by lia. rewrite x_is, y_is, power_add in small.
    replace (IZR m * unit + IZR n * unit) with ((IZR m + IZR n) * unit) in small by ring.
    rewrite Rabs_mult, (Rabs_right unit) in small by (apply Rle_ge, Rlt_le, power_positive).
    apply Rmult_le_reg_r in small; [assumption | apply power_positive]. }
  rewrite (rounding_keeps_floats round p emin _ nearest _ float (Rle_refl _)), (Rminus_diag_eq _ _ eq_refl), Rabs_R0.
  apply Rmult_le_pos; [apply Rlt_le, power_positive | apply Rabs_pos].
Qed.

End Errors.
