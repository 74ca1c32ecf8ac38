(** Powers of U > 0 between two multiples of a small unit, and what a quadratic in U^k is for every k in a range: the range is halved until
    three numbers decide.

    The unit is a hint: a coarse one may leave something open, and where it is a multiple of all denominators nothing is rounded. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Boxes Asks FewStrings.

(** * Products and powers of boxes *)

Section Unit.

Variable S : positive.

(** The product with something that is not negative. *)
Definition product (p b : box) : box := {|
  low := (if (0 <=? low b)%Z then Z.max 0 (low p) * low b else high p * low b)%Z / Zpos S;
  high := - (- (if (0 <=? high b)%Z then high p * high b else Z.max 0 (low p) * high b)%Z / Zpos S);
|}.

Lemma quotient_below z : inject_Z (z / Zpos S) * inject_Z (Zpos S) <= inject_Z z.
Proof. rewrite <- inject_Z_mult, <- Zle_Qle, Z.mul_comm. now apply Z.mul_div_le. Qed.

Lemma quotient_above z : inject_Z z <= inject_Z (- (- z / Zpos S)) * inject_Z (Zpos S).
Proof. pose proof (quotient_below (- z)) as below. rewrite !inject_Z_opp in *. lra. Qed.

Lemma within_product x y p b : 0 <= x -> within S x p -> within S y b -> within S (x * y) (product p b).
Proof.
  unfold within, product. intros nonneg [x_low x_high] [y_low y_high]. cbn [low high].
  assert (0 < inject_Z (Zpos S)) as unit_ by reflexivity. set (K := inject_Z (Zpos S)) in *.
  assert (0 <= x * K) as positive by (apply Qmult_le_0_compat; lra).
  assert (inject_Z (Z.max 0 (low p)) <= x * K) as x_low'.
  { destruct (Z.max_spec 0 (low p)) as [[_ ->] | [_ ->]]; [exact x_low | exact positive]. }
  assert (0 <= inject_Z (Z.max 0 (low p))) as clipped by (change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
  split.
  - match goal with |- inject_Z (?z / _) <= _ => assert (inject_Z z <= (x * K) * (y * K)) as bound; [|pose proof (quotient_below z) as below; fold K in below] end.
    + destruct (Z.leb_spec 0 (low b)) as [sign | sign]; rewrite inject_Z_mult.
      * rewrite Zle_Qle in sign. change (inject_Z 0) with 0 in sign. nra.
      * rewrite Zlt_Qlt in sign. change (inject_Z 0) with 0 in sign. nra.
    + apply Qmult_le_r with K; [exact unit_|]. lra.
  - match goal with |- _ <= inject_Z (- (- ?z / _)) => assert ((x * K) * (y * K) <= inject_Z z) as bound; [|pose proof (quotient_above z) as above; fold K in above] end.
    + destruct (Z.leb_spec 0 (high b)) as [sign | sign]; rewrite inject_Z_mult.
      * rewrite Zle_Qle in sign. change (inject_Z 0) with 0 in sign. nra.
      * rewrite Zlt_Qlt in sign. change (inject_Z 0) with 0 in sign. nra.
    + apply Qmult_le_r with K; [exact unit_|]. lra.
Qed.

Fixpoint power_of (base : box) (e : positive) : box :=
  match e with
  | xH => base
  | xO e => let root := power_of base e in product root root
  | xI e => let root := power_of base e in product base (product root root)
  end.

Definition power (U : Q) (z : Z) : box :=
  match z with
  | Zpos e => power_of (point S U) e
  | _ => point S 1
  end.

Lemma within_eq x y b : x == y -> within S x b -> within S y b.
Proof. unfold within. intros same. now rewrite same. Qed.

Lemma within_power U z : 0 < U -> (0 <= z)%Z -> within S (U ^ z) (power U z).
Proof.
  intros positive some. destruct z as [|e|e]; [apply within_point | | lia]. cbn [power].
  pose proof (not_zero U positive) as not_zero_.
  assert (forall d, 0 <= U ^ Zpos d) as nonneg by (intros d; apply Qlt_le_weak, power_positive, positive).
  clear some. induction e as [e IH | e IH |]; cbn [power_of].
  - apply within_eq with (U * (U ^ Zpos e * U ^ Zpos e)).
    + rewrite <- Qpower_plus, <- power_next by assumption. replace (1 + (Zpos e + Zpos e))%Z with (Zpos e~1) by lia. reflexivity.
    + apply within_product; [lra | apply within_point | now apply within_product].
  - apply within_eq with (U ^ Zpos e * U ^ Zpos e); [|now apply within_product].
    rewrite <- Qpower_plus by assumption. replace (Zpos e + Zpos e)%Z with (Zpos e~0) by lia. reflexivity.
  - apply within_eq with U; [symmetry; apply Qpower_1_r | apply within_point].
Qed.

(** * What is known of a sign: that the question is answered by yes, by no, or not at all *)

Definition sign_of (strictly : bool) (b : box) : option bool :=
  if strictly then if (0 <? low b)%Z then Some true else if (high b <=? 0)%Z then Some false else None
  else if (0 <=? low b)%Z then Some true else if (high b <? 0)%Z then Some false else None.

Lemma sign_of_sound strictly x b : within S x b -> sign_of strictly b = Some true -> above_zero strictly x.
Proof.
  intros inside. pose proof (within_sign S _ _ inside) as signs. unfold sign_of, above_zero.
  destruct strictly; [destruct (Z.ltb_spec 0 (low b)) | destruct (Z.leb_spec 0 (low b))]; intros settled;
    try (now apply signs); destruct (_ : bool); discriminate.
Qed.

Definition blend_box (q : quadratic) (x y : box) : box :=
  plus (plus (times (of_square q) (product x y)) (times (of_number q * (1 # 2)) (plus x y))) (point S (of_one q)).

Lemma within_blend q x y b c : 0 <= x -> within S x b -> within S y c -> within S (blend q x y) (blend_box q b c).
Proof.
  intros nonneg in_b in_c. unfold blend, blend_box. apply within_plus; [apply within_plus|].
  - now apply within_times, within_product.
  - now apply within_times, within_plus.
  - apply within_point.
Qed.

(** * Halving a range *)

Section Range.

Variable U : Q.
Variable q : quadratic.
Variable strictly : bool.

(** The numbers strictly between i and k, where both ends are fine; x and y are the powers there. *)
Fixpoint settle_between (depth : nat) (i : Z) (x : box) (k : Z) (y : box) : option bool :=
  match depth with
  | O => None
  | Datatypes.S depth =>
      if ((k - i <=? 1) || (0 <=? low (blend_box q x y)))%Z then Some true
      else
        let j := ((i + k) / 2)%Z in
        let z := power U j in
        match sign_of strictly (blend_box q z z) with
        | Some true =>
            match settle_between depth i x j z with Some true => settle_between depth j z k y | unsettled => unsettled end
        | unsettled => unsettled
        end
  end.

Definition settle_range (i : Z) (x : box) (k : Z) (y : box) : option bool :=
  match sign_of strictly (blend_box q x x), sign_of strictly (blend_box q y y) with
  | Some true, Some true => settle_between (Z.to_nat (Z.log2_up (k - i)) + 1) i x k y
  | Some true, unsettled => unsettled
  | unsettled, _ => unsettled
  end.

Hypothesis positive : 0 < U.

Definition fine (j : Z) : Prop := above_zero strictly (at_number q (U ^ j)).

Lemma fine_at j b : within S (U ^ j) b -> sign_of strictly (blend_box q b b) = Some true -> fine j.
Proof.
  intros inside settled. unfold fine. assert (0 <= U ^ j) by (apply Qlt_le_weak, power_positive, positive).
  assert (above_zero strictly (blend q (U ^ j) (U ^ j))) as found by (eapply sign_of_sound; [apply within_blend; eauto | exact settled]).
  unfold above_zero in *. destruct strictly; rewrite <- blend_of_one; exact found.
Qed.

Lemma fine_between i x k y j : within S (U ^ i) x -> within S (U ^ k) y -> (0 <= low (blend_box q x y))%Z ->
  fine i -> fine k -> (i <= j <= k)%Z -> fine j.
Proof.
  intros in_x in_y third fine_i fine_k order. assert (0 <= U ^ i) by (apply Qlt_le_weak, power_positive, positive).
  assert (0 <= blend q (U ^ i) (U ^ k)) as nonneg by (eapply within_sign; [apply within_blend; eauto | exact third]).
  pose proof (quadratic_between q _ _ _ (power_between U positive i j k order) nonneg) as [strict_ weak].
  unfold fine, above_zero in *. destruct strictly; auto.
Qed.

Lemma settle_between_sound depth : forall i x k y, (0 <= i)%Z -> within S (U ^ i) x -> within S (U ^ k) y -> fine i -> fine k ->
  settle_between depth i x k y = Some true -> forall j, (i <= j <= k)%Z -> fine j.
Proof.
  induction depth as [|depth IH]; cbn [settle_between]; [discriminate|].
  intros i x k y some in_x in_y fine_i fine_k settled j order.
  destruct (Z.leb_spec (k - i) 1) as [near | far].
  { assert (j = i \/ j = k) as [-> | ->] by lia; assumption. }
  destruct (Z.leb_spec 0 (low (blend_box q x y))) as [third | third]; cbn [orb] in settled.
  { exact (fine_between i x k y j in_x in_y third fine_i fine_k order). }
  set (m := ((i + k) / 2)%Z) in *.
  assert (i <= m <= k)%Z as middle by (unfold m; split; [apply Z.div_le_lower_bound | apply Z.div_le_upper_bound]; lia).
  assert (within S (U ^ m) (power U m)) as in_m by (apply within_power; [exact positive | lia]).
  destruct (sign_of strictly (blend_box q (power U m) (power U m))) as [[]|] eqn:at_m; try discriminate.
  pose proof (fine_at m _ in_m at_m) as fine_m.
  destruct (settle_between depth i x m (power U m)) as [[]|] eqn:lower; try discriminate.
  destruct (Z_le_gt_dec j m).
  - apply (IH i x m (power U m)); auto; lia.
  - apply (IH m (power U m) k y); auto; lia.
Qed.

Lemma settle_range_sound i x k y : (0 <= i)%Z -> within S (U ^ i) x -> within S (U ^ k) y ->
  settle_range i x k y = Some true -> forall j, (i <= j <= k)%Z -> fine j.
Proof.
  intros some in_x in_y. unfold settle_range.
  destruct (sign_of strictly (blend_box q x x)) as [[]|] eqn:at_i; try discriminate.
  destruct (sign_of strictly (blend_box q y y)) as [[]|] eqn:at_k; try discriminate.
  apply settle_between_sound; auto; [exact (fine_at i x in_x at_i) | exact (fine_at k y in_y at_k)].
Qed.

End Range.

End Unit.
