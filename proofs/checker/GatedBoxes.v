(** Programs on boxes: whatever lies in the boxes of a state, what a program makes of it lies in the boxes after it.

    A box is a pair of whole numbers of units 2^-places, and every operation rounds outwards. *)

From Tallystick.checker Require Import Claims Networks Exponential Gated Squashing.
From Coq Require Import Reals Qreals Lra Lia.
Open Scope R_scope.

Notation box := (Z * Z)%type.

(** * Programs made ready: places as they are looked up, sums in whole numbers over one denominator *)

Record whole_sum := { whole_terms : list (Z * nat); whole_bias : Z; common : Z }.

Inductive ready_operation :=
  | ReadySum (s : whole_sum)
  | ReadyProduct (p q : nat)
  | ReadyPositivePart (p : nat)
  | ReadyTanh (p : nat)
  | ReadySigmoid (p : nat)
  | ReadyStep (p : nat)
  | ReadyMean (share p q : nat).

(** A weight over a denominator that is a multiple of its own. *)
Definition over (D : Z) (w : Q) : Z := (Qnum w * (D / Zpos (Qden w)))%Z.

Definition ready_sum (terms : list (Q * place)) (bias : Q) : whole_sum :=
  let D := fold_right (fun term => Z.lcm (Zpos (Qden (fst term)))) (Zpos (Qden bias)) terms in
  {| whole_terms := map (fun term => (over D (fst term), Z.to_nat (snd term))) terms; whole_bias := over D bias; common := D |}.

Definition ready (o : gated_operation) : ready_operation :=
  match o with
  | GSum terms bias => ReadySum (ready_sum terms bias)
  | GProduct p q => ReadyProduct (Z.to_nat p) (Z.to_nat q)
  | GPositivePart p => ReadyPositivePart (Z.to_nat p)
  | GTanh p => ReadyTanh (Z.to_nat p)
  | GSigmoid p => ReadySigmoid (Z.to_nat p)
  | GSquare p => ReadyProduct (Z.to_nat p) (Z.to_nat p)
  | GStep p => ReadyStep (Z.to_nat p)
  | GMean s p q => ReadyMean (Z.to_nat s) (Z.to_nat p) (Z.to_nat q)
  end.

Record ready_program := { ready_operations : list ready_operation; ready_results : list nat }.

Definition make_ready (p : gated_program) : ready_program :=
  {| ready_operations := map ready (gated_operations p); ready_results := map Z.to_nat (gated_results p) |}.

Section Units.

Variable places : Z.
Hypothesis some : (0 < places)%Z.

Local Notation inside := (inside places).
Local Notation scale := (scale places).

Definition box_at (boxes : list box) (p : nat) : box := nth p boxes (0, 0)%Z.

(** The least and the greatest value of a sum, times its denominator. *)
Definition sum_ends (boxes : list box) (s : whole_sum) : box :=
  fold_right (fun term ends =>
    let '(low, high) := box_at boxes (snd term) in
    let w := fst term in
    if (0 <=? w)%Z then (w * low + fst ends, w * high + snd ends)%Z else (w * high + fst ends, w * low + snd ends)%Z)
    (Z.shiftl (whole_bias s) places, Z.shiftl (whole_bias s) places) (whole_terms s).

Definition sum_box (boxes : list box) (s : whole_sum) : box :=
  let '(low, high) := sum_ends boxes s in (low / common s, up_quotient high (common s))%Z.

(** Divide by the unit, downwards and upwards. *)
Definition shift_down (z : Z) : Z := Z.shiftr z places.
Definition shift_up (z : Z) : Z := (- Z.shiftr (- z) places)%Z.

Definition product_box (x y : box) : box :=
  let '(a, b) := x in let '(c, d) := y in
  if (0 <=? a)%Z && (0 <=? c)%Z then (shift_down (a * c), shift_up (b * d))%Z
  else
    let ac := (a * c)%Z in let ad := (a * d)%Z in let bc := (b * c)%Z in let bd := (b * d)%Z in
    (shift_down (Z.min (Z.min ac ad) (Z.min bc bd)), shift_up (Z.max (Z.max ac ad) (Z.max bc bd))).

(** A mean is linear in its share, so that the ends of the share decide. *)
Definition mean_box (share x y : box) : box :=
  let '(less, more) := share in let '(a, b) := x in let '(c, d) := y in
  let one := Z.shiftl 1 places in
  if (0 <=? less)%Z && (more <=? one)%Z then
    (shift_down (Z.min ((one - less) * a + less * c) ((one - more) * a + more * c)),
     shift_up (Z.max ((one - less) * b + less * d) ((one - more) * b + more * d)))%Z
  else
    let '(p, q) := product_box (one - more, one - less)%Z x in let '(r, s) := product_box share y in (p + r, q + s)%Z.

Definition step_box (x : box) : box :=
  let one := Z.shiftl 1 places in ((if 0 <? fst x then one else 0), (if 0 <? snd x then one else 0))%Z.

Definition apply_box (boxes : list box) (o : ready_operation) : box :=
  match o with
  | ReadySum s => sum_box boxes s
  | ReadyProduct p q => product_box (box_at boxes p) (box_at boxes q)
  | ReadyPositivePart p => let '(low, high) := box_at boxes p in (Z.max 0 low, Z.max 0 high)
  | ReadyTanh p => tanh_box places (box_at boxes p)
  | ReadySigmoid p => sigmoid_box places (box_at boxes p)
  | ReadyStep p => step_box (box_at boxes p)
  | ReadyMean s p q => mean_box (box_at boxes s) (box_at boxes p) (box_at boxes q)
  end.

Definition run_boxes (p : ready_program) (state : list box) : list box :=
  let boxes := fold_left (fun boxes o => boxes ++ [apply_box boxes o]) (ready_operations p) state in
  map (box_at boxes) (ready_results p).

(** * Soundness *)

Definition all_inside : list R -> list box -> Prop := Forall2 inside.

Lemma inside_zero : inside 0 (0, 0)%Z.
Proof. unfold Squashing.inside. cbn. lra. Qed.

Lemma inside_at xs bs p : all_inside xs bs -> inside (nth p xs 0) (box_at bs p).
Proof.
  intros all. revert p. induction all as [|x b xs bs here _ IH]; intros [|p]; cbn; try apply inside_zero; [exact here | apply IH].
Qed.

Lemma shift_down_below z : IZR (shift_down z) <= IZR z / scale.
Proof.
  unfold shift_down, Squashing.scale. rewrite Z.shiftr_div_pow2 by lia. apply down_below. apply Z.pow_pos_nonneg; lia.
Qed.

Lemma shift_up_above z : IZR z / scale <= IZR (shift_up z).
Proof.
  unfold shift_up. rewrite opp_IZR. pose proof (shift_down_below (- z)) as below. unfold shift_down in below.
  rewrite opp_IZR in below. unfold Rdiv in *. lra.
Qed.

Lemma shift_scale low high x : IZR low <= x * scale * scale <= IZR high -> inside x (shift_down low, shift_up high).
Proof.
  intros [above below]. pose proof (scale_positive places some) as unit. unfold Squashing.inside. cbn [fst snd].
  pose proof (shift_down_below low). pose proof (shift_up_above high).
  assert (x * scale = x * scale * scale / scale) as -> by (field; lra).
  assert (forall a b, a <= b -> a / scale <= b / scale) as over_scale
    by (intros a b less; apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, unit | exact less]).
  pose proof (over_scale _ _ above). pose proof (over_scale _ _ below). lra.
Qed.

(** ** Sums *)

Lemma over_value D w : (Zpos (Qden w) | D)%Z -> (0 < D)%Z -> IZR (over D w) = Q2R w * IZR D.
Proof.
  intros [k multiple] positive. unfold over, Q2R. rewrite multiple, Z.div_mul by lia. rewrite !mult_IZR.
  assert (IZR (Zpos (Qden w)) <> 0) by (apply not_0_IZR; lia). field. assumption.
Qed.

Lemma common_is_common terms bias :
  let D := common (ready_sum terms bias) in
  (0 < D)%Z /\ (Zpos (Qden bias) | D)%Z /\ Forall (fun term : Q * place => (Zpos (Qden (fst term)) | D)%Z) terms.
Proof.
  cbn [ready_sum common]. induction terms as [|[w p] terms (positive & of_bias & all)]; cbn [fold_right fst].
  - split; [lia | split; [apply Z.divide_refl | constructor]].
  - set (D := fold_right _ _ terms) in *. pose proof (Z.lcm_nonneg (Zpos (Qden w)) D).
    assert (Z.lcm (Zpos (Qden w)) D <> 0)%Z by (rewrite Z.lcm_eq_0; lia).
    pose proof (Z.divide_lcm_r (Zpos (Qden w)) D) as larger. split; [lia | split; [now apply Z.divide_trans with D|]].
    constructor; [apply Z.divide_lcm_l|]. eapply Forall_impl; [|exact all]. intros term divides. now apply Z.divide_trans with D.
Qed.

Lemma sum_ends_sound terms bias xs bs : all_inside xs bs ->
  let s := ready_sum terms bias in
  IZR (fst (sum_ends bs s)) <= gated_sum xs terms bias * IZR (common s) * scale <= IZR (snd (sum_ends bs s)).
Proof.
  intros all. cbv zeta. destruct (common_is_common terms bias) as (positive & of_bias & of_terms). cbv zeta in *.
  unfold sum_ends, gated_sum. cbn [ready_sum whole_terms whole_bias]. set (D := common (ready_sum terms bias)) in *.
  change (fold_right (fun term => Z.lcm (Zpos (Qden (fst term)))) (Zpos (Qden bias)) terms) with D. clearbody D.
  pose proof (scale_positive places some) as unit.
  induction terms as [|[w p] terms IH]; cbn [map fold_right fst snd].
  - rewrite Z.shiftl_mul_pow2, mult_IZR, over_value by (assumption || lia). fold scale. lra.
  - inversion of_terms as [|? ? here rest]; subst. specialize (IH rest). cbn [fst] in here.
    pose proof (inside_at xs bs (Z.to_nat p) all) as at_p. fold (number_at xs p) in at_p.
    set (ends := fold_right _ _ _) in *. set (total := fold_right _ _ terms) in *.
    destruct (box_at bs (Z.to_nat p)) as [low high]. unfold Squashing.inside in at_p. cbn [fst snd] in at_p.
    pose proof (over_value D w here positive) as weight.
    replace ((Q2R w * number_at xs p + total) * IZR D * scale) with
      (IZR (over D w) * (number_at xs p * scale) + total * IZR D * scale) by (rewrite weight; ring).
    destruct (Z.leb_spec 0 (over D w)) as [up | down]; cbn [fst snd]; rewrite !plus_IZR, !mult_IZR.
    + apply IZR_le in up. split; nra.
    + apply IZR_lt in down. split; nra.
Qed.

Lemma sum_box_sound terms bias xs bs : all_inside xs bs -> inside (gated_sum xs terms bias) (sum_box bs (ready_sum terms bias)).
Proof.
  intros all. pose proof (sum_ends_sound terms bias xs bs all) as ends. cbv zeta in ends. unfold sum_box.
  destruct (common_is_common terms bias) as (positive & _ & _). cbv zeta in positive.
  destruct (sum_ends bs (ready_sum terms bias)) as [low high]. cbn [fst snd] in ends. unfold Squashing.inside. cbn [fst snd].
  set (D := common (ready_sum terms bias)) in *. pose proof (down_below low D positive). pose proof (up_above high D positive).
  apply IZR_lt in positive. set (x := gated_sum xs terms bias) in *.
  assert (x * scale = x * IZR D * scale / IZR D) as -> by (field; lra).
  assert (forall a b, a <= b -> a / IZR D <= b / IZR D) as over_D
    by (intros a b less; apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, positive | exact less]).
  destruct ends as [above below]. pose proof (over_D _ _ above). pose proof (over_D _ _ below). lra.
Qed.

(** ** Products and means *)

Lemma product_between a x b c y d : a <= x <= b -> c <= y <= d ->
  Rmin (Rmin (a * c) (a * d)) (Rmin (b * c) (b * d)) <= x * y <= Rmax (Rmax (a * c) (a * d)) (Rmax (b * c) (b * d)).
Proof.
  intros x_between y_between.
  assert (Rmin (x * c) (x * d) <= x * y <= Rmax (x * c) (x * d)) as in_y.
  { unfold Rmin, Rmax. destruct (Rle_dec (x * c) (x * d)); split; destruct (Rle_dec 0 x); nra. }
  assert (forall z, Rmin (a * z) (b * z) <= x * z <= Rmax (a * z) (b * z)) as in_x.
  { intros z. unfold Rmin, Rmax. destruct (Rle_dec (a * z) (b * z)); split; destruct (Rle_dec 0 z); nra. }
  pose proof (in_x c) as at_c. pose proof (in_x d) as at_d. revert in_y at_c at_d. unfold Rmin, Rmax.
  repeat destruct Rle_dec; lra.
Qed.

Lemma IZR_min a b : IZR (Z.min a b) = Rmin (IZR a) (IZR b).
Proof.
  destruct (Z.min_spec a b) as [[less ->] | [less ->]]; [apply IZR_lt in less; rewrite Rmin_left | apply IZR_le in less; rewrite Rmin_right]; lra.
Qed.

Lemma IZR_max a b : IZR (Z.max a b) = Rmax (IZR a) (IZR b).
Proof.
  destruct (Z.max_spec a b) as [[less ->] | [less ->]]; [apply IZR_lt in less; rewrite Rmax_right | apply IZR_le in less; rewrite Rmax_left]; lra.
Qed.

Lemma product_box_sound x y b c : inside x b -> inside y c -> inside (x * y) (product_box b c).
Proof.
  destruct b as [a b], c as [c d]. intros x_in y_in. unfold product_box. unfold Squashing.inside in x_in, y_in. cbn [fst snd] in *.
  destruct ((0 <=? a)%Z && (0 <=? c)%Z) eqn:nonneg; apply shift_scale; replace (x * y * scale * scale) with ((x * scale) * (y * scale)) by ring.
  - apply andb_true_iff in nonneg as [a_nonneg c_nonneg]. apply Z.leb_le, IZR_le in a_nonneg, c_nonneg. rewrite !mult_IZR.
    set (X := x * scale) in *. set (Y := y * scale) in *. clearbody X Y. split; apply Rmult_le_compat; lra.
  - rewrite !IZR_min, !IZR_max, !mult_IZR. now apply product_between.
Qed.

Lemma one_value : IZR (Z.shiftl 1 places) = scale.
Proof. now rewrite Z.shiftl_1_l. Qed.

Lemma mean_box_sound s x y share b c : inside s share -> inside x b -> inside y c ->
  inside ((1 - s) * x + s * y) (mean_box share b c).
Proof.
  intros s_in x_in y_in. unfold mean_box. destruct share as [less more] eqn:is_share, b as [a b], c as [c d].
  destruct ((0 <=? less)%Z && (more <=? Z.shiftl 1 places)%Z) eqn:is_share_fine.
  - apply andb_true_iff in is_share_fine as [from to]. apply Z.leb_le, IZR_le in from, to. rewrite one_value in to.
    apply shift_scale. unfold Squashing.inside in *. cbn [fst snd] in *. rewrite IZR_min, IZR_max, !plus_IZR, !mult_IZR, !minus_IZR, one_value.
    replace (((1 - s) * x + s * y) * scale * scale) with ((scale - s * scale) * (x * scale) + s * scale * (y * scale)) by ring.
    set (S := s * scale) in *. set (X := x * scale) in *. set (Y := y * scale) in *. set (one := scale) in *. clearbody S X Y one.
    assert ((one - S) * IZR a + S * IZR c <= (one - S) * X + S * Y <= (one - S) * IZR b + S * IZR d) as at_share by (split; nra).
    assert (forall u v, Rmin ((one - IZR less) * u + IZR less * v) ((one - IZR more) * u + IZR more * v) <= (one - S) * u + S * v
      <= Rmax ((one - IZR less) * u + IZR less * v) ((one - IZR more) * u + IZR more * v)) as linear.
    { intros u v. replace ((one - S) * u + S * v) with (one * u + S * (v - u)) by ring.
      replace ((one - IZR less) * u + IZR less * v) with (one * u + IZR less * (v - u)) by ring.
      replace ((one - IZR more) * u + IZR more * v) with (one * u + IZR more * (v - u)) by ring.
      unfold Rmin, Rmax. destruct Rle_dec; split; destruct (Rle_dec 0 (v - u)); nra. }
    pose proof (linear (IZR a) (IZR c)). pose proof (linear (IZR b) (IZR d)). lra.
  - assert (inside (1 - s) (Z.shiftl 1 places - more, Z.shiftl 1 places - less)%Z) as rest_in.
    { unfold Squashing.inside in *. cbn [fst snd] in *. rewrite !minus_IZR, one_value. lra. }
    pose proof (product_box_sound _ _ _ _ rest_in x_in) as first. pose proof (product_box_sound _ _ _ _ s_in y_in) as second.
    destruct (product_box (_, _) (a, b)) as [p q]. destruct (product_box (less, more) (c, d)) as [r t].
    unfold Squashing.inside in *. cbn [fst snd] in *. rewrite !plus_IZR. lra.
Qed.

(** ** Programs *)

Lemma apply_box_sound o xs bs : all_inside xs bs -> inside (apply_gated xs o) (apply_box bs (ready o)).
Proof.
  intros all. pose proof (fun p => inside_at xs bs (Z.to_nat p) all) as at_place.
  destruct o as [terms bias | p q | p | p | p | p | p | s p q]; cbn [ready apply_box apply_gated]; fold (number_at xs) in *.
  - now apply sum_box_sound.
  - apply product_box_sound; apply at_place.
  - pose proof (at_place p) as inside_p. destruct (box_at bs (Z.to_nat p)) as [low high]. unfold Squashing.inside in *. cbn [fst snd] in *.
    fold (number_at xs p) in inside_p. pose proof (scale_positive places some). rewrite !IZR_max.
    unfold Rmax at 2 3. destruct (Rle_dec (number_at xs p) 0); unfold Rmax; repeat destruct Rle_dec; nra.
  - now apply tanh_box_sound, at_place.
  - now apply sigmoid_box_sound, at_place.
  - apply product_box_sound; apply at_place.
  - pose proof (at_place p) as inside_p. fold (number_at xs p) in inside_p. unfold step_box, Squashing.inside in *. cbn [fst snd].
    pose proof (scale_positive places some) as unit. pose proof one_value as one.
    destruct (Rlt_dec 0 (number_at xs p)) as [above | below];
      destruct (Z.ltb_spec 0 (fst (box_at bs (Z.to_nat p)))) as [low | low], (Z.ltb_spec 0 (snd (box_at bs (Z.to_nat p)))) as [high | high];
      rewrite ?one; try lra; try (apply IZR_lt in low); try (apply IZR_le in low); try (apply IZR_lt in high); try (apply IZR_le in high); nra.
  - apply mean_box_sound; apply at_place.
Qed.

Lemma run_boxes_sound p xs bs : all_inside xs bs -> all_inside (run_gated p xs) (run_boxes (make_ready p) bs).
Proof.
  intros all. unfold run_gated, run_boxes. cbn [make_ready ready_operations ready_results].
  assert (all_inside (fold_left (fun numbers o => numbers ++ [apply_gated numbers o]) (gated_operations p) xs)
    (fold_left (fun boxes o => boxes ++ [apply_box boxes o]) (map ready (gated_operations p)) bs)) as after.
  { revert xs bs all. induction (gated_operations p) as [|o os IH]; intros xs bs all; [exact all|]. cbn [map fold_left]. apply IH.
    apply Forall2_app; [exact all | constructor; [now apply apply_box_sound | constructor]]. }
  induction (gated_results p) as [|q qs IH]; cbn [map]; constructor; [apply inside_at, after | exact IH].
Qed.

End Units.
