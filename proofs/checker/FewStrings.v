(** Strings of a linear unit with one factor U > 0 for both tokens: at each length one string decides what is asked of a line, and
    three numbers decide for all lengths between two.

    These are the theorems of FewStrings and ManyLengths over the rational numbers, where they need no axiom. *)

From Coq Require Import Lqa.
From Coq Require Export Qpower.
From Tallystick.checker Require Import Networks.

(** * How often a token stands in a string *)

Definition is_token (z x : token) : bool := match z, x with Open, Open | Close, Close => true | _, _ => false end.
Definition other (z : token) : token := match z with Open => Close | Close => Open end.

Fixpoint tally (z : token) (s : string) : Z :=
  match s with
  | [] => 0
  | x :: s => (if is_token z x then 1 else 0) + tally z s
  end.

Lemma size_cons x s : size (x :: s) = (1 + size s)%Z.
Proof. unfold size. cbn [length]. lia. Qed.

Lemma tally_bounds z s : (0 <= tally z s <= size s)%Z.
Proof. induction s as [|x s IH]; [cbn; lia|]. rewrite size_cons. cbn [tally]. destruct (is_token z x); lia. Qed.

Lemma count_by_tally s : count false s = (2 * tally Open s - size s)%Z.
Proof.
  unfold count. assert (forall c, fold_left (count_after false) s c = (c + 2 * tally Open s - size s)%Z) as all; [|now rewrite all].
  induction s as [|x s IH]; intros c; [cbn; lia|].
  cbn [fold_left]. rewrite IH, size_cons. cbn [tally]. destruct x; cbn [count_after is_token]; lia.
Qed.

Lemma tally_other z s : (tally z s + tally (other z) s = size s)%Z.
Proof. induction s as [|x s IH]; [reflexivity|]. rewrite size_cons. cbn [tally]. destruct z, x; cbn [is_token other] in *; lia. Qed.

(** The sign of the count, seen from a token. *)
Definition side_of_token (z : token) (side : Datatypes.comparison) : Datatypes.comparison :=
  match z with Open => side | Close => CompOpp side end.

Lemma side_by_tally z s side : (count false s ?= 0)%Z = side -> (2 * tally z s ?= size s)%Z = side_of_token z side.
Proof.
  intros <-. rewrite count_by_tally. pose proof (tally_other Open s) as both. cbn [other] in both. destruct z; cbn [side_of_token].
  - destruct (Z.compare_spec (2 * tally Open s) (size s)), (Z.compare_spec (2 * tally Open s - size s) 0); lia || reflexivity.
  - destruct (Z.compare_spec (2 * tally Close s) (size s)), (Z.compare_spec (2 * tally Open s - size s) 0); cbn; lia || reflexivity.
Qed.

(** * Powers *)

Section Powers.

Variable U : Q.
Hypothesis positive : 0 < U.

Lemma not_zero : ~ U == 0.
Proof. intros zero. rewrite zero in positive. now apply Qlt_irrefl in positive. Qed.

Lemma power_positive z : 0 < U ^ z.
Proof. now apply Qpower_0_lt. Qed.

Lemma power_next z : U ^ (1 + z) == U * U ^ z.
Proof. rewrite Qpower_plus by exact not_zero. now rewrite Qpower_1_r. Qed.

Lemma powers_rise i j : 1 <= U -> (i <= j)%Z -> U ^ i <= U ^ j.
Proof. intros large order. now apply Qpower_le_compat_l. Qed.

Lemma powers_fall i j : U <= 1 -> (i <= j)%Z -> U ^ j <= U ^ i.
Proof.
  intros small order. assert (forall z, U ^ z == (/ U) ^ (- z)) as turned.
  { intros z. rewrite Qpower_opp, Qinv_power. now rewrite Qinv_involutive. }
  rewrite (turned i), (turned j). apply Qpower_le_compat_l; [lia|].
  apply Qmult_le_l with U; [exact positive|]. rewrite Qmult_inv_r by exact not_zero. lra.
Qed.

Lemma powers_move i j : (i <= j)%Z -> 0 <= (U - 1) * (U ^ j - U ^ i).
Proof.
  intros order. destruct (Qlt_le_dec U 1) as [small | large].
  - pose proof (powers_fall i j ltac:(lra) order). nra.
  - pose proof (powers_rise i j large order). nra.
Qed.

Lemma power_between i j k : (i <= j <= k)%Z -> U ^ i <= U ^ j <= U ^ k \/ U ^ k <= U ^ j <= U ^ i.
Proof.
  intros order. destruct (Qlt_le_dec U 1) as [small | large]; [right | left].
  - split; apply powers_fall; lia || lra.
  - split; apply powers_rise; lia || lra.
Qed.

(** * The state in powers *)

(** What the tokens z of a string add if each adds U - 1. *)
Fixpoint spread (z : token) (s : string) : Q :=
  match s with
  | [] => 0
  | x :: s => (if is_token z x then (U - 1) * U ^ size s else 0) + spread z s
  end.

(** It is least where they come last. *)
Lemma spread_low z s : U ^ tally z s - 1 <= spread z s.
Proof.
  induction s as [|x s IH]; [cbn; lra|]. cbn [tally spread]. pose proof (tally_bounds z s) as [_ within].
  destruct (is_token z x).
  - rewrite power_next. pose proof (powers_move _ _ within). lra.
  - rewrite Z.add_0_l. lra.
Qed.

Variable weight step : token -> Q.
Hypothesis one_weight : forall x, weight x == U.

Definition state_from (h : Q) (s : string) : Q := fold_left (fun h x => weight x * h + step x) s h.

(** A fixed point for each token: U f + c = f, up to the sign. *)
Variable fixed : token -> Q.

Lemma state_in_powers z h s : (forall x, step x == (U - 1) * fixed x) ->
  state_from h s == U ^ size s * h + fixed (other z) * (U ^ size s - 1) + (fixed z - fixed (other z)) * spread z s.
Proof.
  intros fixed_is. revert h. induction s as [|x s IH]; intros h; [cbn; ring|].
  change (state_from h (x :: s)) with (state_from (weight x * h + step x) s).
  rewrite IH, one_weight, fixed_is, size_cons, power_next. cbn [spread]. destruct z, x; cbn [is_token other]; ring.
Qed.

Lemma state_without_factor z h s : U == 1 ->
  state_from h s == h + step (other z) * inject_Z (size s) + (step z - step (other z)) * inject_Z (tally z s).
Proof.
  intros one. revert h. induction s as [|x s IH]; intros h; [cbn; ring|].
  change (state_from h (x :: s)) with (state_from (weight x * h + step x) s).
  rewrite IH, one_weight, one, size_cons. cbn [tally]. rewrite !inject_Z_plus.
  destruct z, x; cbn [is_token other]; change (inject_Z 1) with 1; change (inject_Z 0) with 0; ring.
Qed.

(** * The one string of a length *)

(** Among strings of 2 k + r tokens in which the number of some token is less than half, half, or more, the power of U to that number
    is least here. *)
Inductive spot := Nowhere | Everywhere | Near (d : Z).

Definition spot_of (rises : bool) (side : Datatypes.comparison) (r : Z) : spot :=
  match side with
  | Lt => if rises then Nowhere else Near (r - 1)
  | Eq => Near 0
  | Gt => if rises then Near 1 else Everywhere
  end.

Definition number_at (p : spot) (k r : Z) : Z :=
  match p with Nowhere => 0 | Everywhere => 2 * k + r | Near d => k + d end.

Lemma spot_rises side e k r : (r = 0 \/ r = 1)%Z -> (0 <= e <= 2 * k + r)%Z -> (2 * e ?= 2 * k + r)%Z = side ->
  (number_at (spot_of true side r) k r <= e)%Z.
Proof.
  intros parity bounds <-. destruct (Z.compare_spec (2 * e) (2 * k + r)); cbn [spot_of number_at]; lia.
Qed.

Lemma spot_falls side e k r : (r = 0 \/ r = 1)%Z -> (0 <= e <= 2 * k + r)%Z -> (2 * e ?= 2 * k + r)%Z = side ->
  (e <= number_at (spot_of false side r) k r)%Z.
Proof.
  intros parity bounds <-. destruct (Z.compare_spec (2 * e) (2 * k + r)); cbn [spot_of number_at]; lia.
Qed.

Lemma spot_is_least (rises : bool) side e k r : (if rises then 1 <= U else U <= 1) -> (r = 0 \/ r = 1)%Z -> (0 <= e <= 2 * k + r)%Z ->
  (2 * e ?= 2 * k + r)%Z = side -> U ^ number_at (spot_of rises side r) k r <= U ^ e.
Proof.
  intros way parity bounds sign. destruct rises.
  - apply powers_rise; [exact way | now apply spot_rises].
  - apply powers_fall; [exact way | now apply spot_falls].
Qed.

(** * Lines at that string *)

Record quadratic := { of_square : Q; of_number : Q; of_one : Q }.

Definition at_number (q : quadratic) (x : Q) : Q := of_square q * x * x + of_number q * x + of_one q.

(** A U^(2 k + r) + B U^number + C as a quadratic in U^k. *)
Definition quadratic_of (A B C : Q) (p : spot) (r : Z) : quadratic :=
  match p with
  | Nowhere => {| of_square := Qred (A * U ^ r); of_number := 0; of_one := Qred (C + B) |}
  | Everywhere => {| of_square := Qred ((A + B) * U ^ r); of_number := 0; of_one := Qred C |}
  | Near d => {| of_square := Qred (A * U ^ r); of_number := Qred (B * U ^ d); of_one := Qred C |}
  end.

Lemma quadratic_is A B C p k r : at_number (quadratic_of A B C p r) (U ^ k) ==
  A * U ^ (2 * k + r) + B * U ^ number_at p k r + C.
Proof.
  unfold at_number. assert (U ^ (2 * k + r) == U ^ r * U ^ k * U ^ k) as twice.
  { replace (2 * k + r)%Z with (r + (k + k))%Z by lia. rewrite !Qpower_plus by exact not_zero. ring. }
  destruct p as [| |d]; cbn [quadratic_of of_square of_number of_one number_at]; rewrite ?Qred_correct, ?twice.
  - rewrite Qpower_0_r. ring.
  - ring.
  - rewrite Qpower_plus by exact not_zero. ring.
Qed.

(** w h + b, where the tokens z pull it up. *)
Definition line_quadratic (w b : Q) (z : token) (p : spot) (r : Z) : quadratic :=
  quadratic_of (w * fixed (other z)) (w * (fixed z - fixed (other z))) (b - w * fixed z) p r.

Lemma line_at_least w b z side k r s : (forall x, step x == (U - 1) * fixed x) ->
  0 <= w * (fixed z - fixed (other z)) -> (r = 0 \/ r = 1)%Z -> size s = (2 * k + r)%Z -> (count false s ?= 0)%Z = side ->
  forall rises : bool, (if rises then 1 <= U else U <= 1) ->
  at_number (line_quadratic w b z (spot_of rises (side_of_token z side) r) r) (U ^ k) <= w * state_from 0 s + b.
Proof.
  intros fixed_is up parity long sign rises way. unfold line_quadratic. rewrite quadratic_is, <- long.
  rewrite (state_in_powers z 0 s fixed_is). apply (side_by_tally z) in sign. rewrite long in sign.
  pose proof (tally_bounds z s) as bounds. rewrite long in bounds.
  pose proof (spot_is_least rises _ _ k r way parity bounds sign) as least. pose proof (spread_low z s) as low.
  set (x := U ^ number_at _ _ _) in *. set (y := U ^ tally z s) in *. set (g := spread z s) in *. set (t := U ^ size s) in *.
  set (d := fixed z - fixed (other z)) in *. assert (0 <= w * d * (g + 1 - x)) by (apply Qmult_le_0_compat; [exact up | lra]).
  unfold d in *. nra.
Qed.

(** The same without a factor: a line in k. *)
Definition line_number (w b : Q) (z : token) (p : spot) (k r : Z) : Q :=
  w * step (other z) * inject_Z (2 * k + r) + w * (step z - step (other z)) * inject_Z (number_at p k r) + b.

Lemma line_without_factor w b z side k r s : U == 1 ->
  0 <= w * (step z - step (other z)) -> (r = 0 \/ r = 1)%Z -> size s = (2 * k + r)%Z -> (count false s ?= 0)%Z = side ->
  line_number w b z (spot_of true (side_of_token z side) r) k r <= w * state_from 0 s + b.
Proof.
  intros one up parity long sign. rewrite (state_without_factor z 0 s one). apply (side_by_tally z) in sign. rewrite long in *.
  pose proof (tally_bounds z s) as bounds. rewrite long in bounds.
  pose proof (spot_rises _ _ _ _ parity bounds sign) as least. rewrite Zle_Qle in least. unfold line_number.
  set (x := inject_Z (number_at _ _ _)) in *. set (y := inject_Z (tally z s)) in *. set (t := inject_Z (2 * k + r)) in *.
  assert (0 <= w * (step z - step (other z)) * (y - x)) by (apply Qmult_le_0_compat; [exact up | lra]). nra.
Qed.

End Powers.

(** * All lengths between two *)

(** The third number, beside the values at x and y. *)
Definition blend (q : quadratic) (x y : Q) : Q := of_square q * (x * y) + of_number q * (1 # 2) * (x + y) + of_one q.

Lemma blend_of_one q x : blend q x x == at_number q x.
Proof. unfold blend, at_number. ring. Qed.

(** Between x and y a quadratic is a mean of its values there and of the third number. *)
Lemma quadratic_between q x y t : x <= t <= y \/ y <= t <= x -> 0 <= blend q x y ->
  (0 < at_number q x -> 0 < at_number q y -> 0 < at_number q t) /\
  (0 <= at_number q x -> 0 <= at_number q y -> 0 <= at_number q t).
Proof.
  intros between third.
  assert ((y - x) * (y - x) * at_number q t ==
    (y - t) * (y - t) * at_number q x + (t - x) * (t - x) * at_number q y + 2 * ((t - x) * (y - t)) * blend q x y) as mean
    by (unfold at_number, blend; ring).
  destruct (Qeq_dec x y) as [same | differ].
  { assert (t == x) as equal by (destruct between; lra). assert (at_number q t == at_number q x) as -> by (unfold at_number; now rewrite equal).
    auto. }
  assert (0 <= (t - x) * (y - t)) by (destruct between; nra).
  assert (0 <= 2 * ((t - x) * (y - t)) * blend q x y) as rest
    by (apply Qmult_le_0_compat; [apply Qmult_le_0_compat; [lra | assumption] | exact third]).
  assert (0 <= (y - t) * (y - t)) as left_ by nra. assert (0 <= (t - x) * (t - x)) as right_ by nra.
  assert (0 < (y - x) * (y - x)) as whole.
  { destruct (Q_dec x y) as [[less | more] | equal]; [nra | nra | contradiction]. }
  set (square := (y - x) * (y - x)) in *. set (v := at_number q t) in *.
  set (a := (y - t) * (y - t)) in *. set (b := (t - x) * (t - x)) in *. set (c := 2 * _ * _) in *.
  split; intros at_x at_y.
  - assert (0 < a * at_number q x + b * at_number q y) as some.
    { assert (0 < a \/ 0 < b) as [some | some].
      { destruct (Qlt_le_dec 0 a) as [|none]; [now left | right]. unfold a, b in *.
        assert (y == t) as equal.
        { destruct (Q_dec y t) as [[less | more] | equal]; [nra | nra | exact equal]. }
        unfold square in whole. rewrite equal in whole. exact whole. }
      - assert (0 < a * at_number q x) by now apply Qmult_lt_0_compat.
        assert (0 <= b * at_number q y) by (apply Qmult_le_0_compat; lra). lra.
      - assert (0 < b * at_number q y) by now apply Qmult_lt_0_compat.
        assert (0 <= a * at_number q x) by (apply Qmult_le_0_compat; lra). lra. }
    destruct (Qlt_le_dec 0 v) as [|negative]; [assumption|].
    assert (0 <= square * - v) by (apply Qmult_le_0_compat; lra). lra.
  - assert (0 <= a * at_number q x) by (apply Qmult_le_0_compat; lra).
    assert (0 <= b * at_number q y) by (apply Qmult_le_0_compat; lra).
    destruct (Qlt_le_dec v 0) as [negative|]; [|assumption].
    assert (0 < square * - v) by (apply Qmult_lt_0_compat; lra). lra.
Qed.
