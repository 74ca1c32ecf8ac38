(** Rounding to nearest, ties to even, in whole numbers: a number of a binary format is a whole number of units, the least
    positive number of the format. Products and sums of whole numbers are exact, so that an operation of the format is one
    exact operation and one rounding. No axiom is used; [FloatFlocq] proves that this is Flocq's rounding. *)

From Tallystick.checker Require Export NearestEven.

(** * The binary formats *)

(** Numbers have so many binary digits, a unit is 2^-places, and every finite number is below 2^limit. *)
Record format := Format { digits : Z; places : Z; limit : Z }.

Definition float16 := Format 11 24 16.
Definition bfloat16 := Format 8 133 128.
Definition float32 := Format 24 149 128.
Definition float64 := Format 53 1074 1024.

Definition is_format (form : format) : bool :=
  (0 <? digits form) && (0 <=? places form) && (digits form <=? limit form + places form).

(** * Rounding to a format *)

Section Format.

Variable form : format.
Hypothesis fine : is_format form = true.

(** So many last digits are cut off that the digits of the format stay, or more where what is left would be finer than a unit. *)
Definition cut_of (value finer : Z) : Z := Z.max (bits value - digits form) finer.

(** The number of the format nearest to value / 2^finer units, as if no number were too large. *)
Definition round_unbounded (value finer : Z) : Z :=
  let cut := cut_of value finer in
  if cut <=? 0 then value else Z.shiftl (nearest_even value cut) (cut - finer).

(** Where finite numbers end, and what stands for an overflow: a number so far beyond them that adding one leaves it there. *)
Definition end_of_format : Z := Z.shiftl 1 (limit form + places form).
Definition infinity : Z := 4 * end_of_format.
Definition is_finite (value : Z) : bool := Z.abs value <? end_of_format.

Definition overflow (value : Z) : Z :=
  if bits value <=? limit form + places form then value else if 0 <? value then infinity else - infinity.

Definition round (value finer : Z) : Z := overflow (round_unbounded value finer).

Lemma digits_positive : 0 < digits form /\ 0 <= places form /\ digits form <= limit form + places form.
Proof. revert fine. unfold is_format. rewrite !andb_true_iff. lia. Qed.

Lemma end_positive : 0 < end_of_format.
Proof.
  pose proof digits_positive. unfold end_of_format. rewrite Z.shiftl_1_l. apply Z.pow_pos_nonneg; lia.
Qed.

(** ** Rounding keeps the order and the sign *)

Lemma cut_rises x y finer : Z.abs x <= Z.abs y -> cut_of x finer <= cut_of y finer.
Proof. intros less. pose proof (bits_rise x y less). unfold cut_of. lia. Qed.

Lemma round_unbounded_value value finer : 0 <= finer -> let cut := cut_of value finer in
  round_unbounded value finer * 2 ^ finer = nearest_even value cut * 2 ^ cut.
Proof.
  intros nonneg cut. unfold round_unbounded. fold cut. assert (finer <= cut) by apply Z.le_max_r.
  destruct (Z.leb_spec cut 0) as [none | some].
  - replace cut with 0 by lia. replace finer with 0 by lia. reflexivity.
  - rewrite Z.shiftl_mul_pow2, <- Z.mul_assoc, <- Z.pow_add_r by lia. do 2 f_equal. lia.
Qed.

Lemma round_unbounded_opposite value finer : round_unbounded (- value) finer = - round_unbounded value finer.
Proof.
  unfold round_unbounded, cut_of. rewrite bits_opposite. destruct (Z.leb_spec (Z.max (bits value - digits form) finer) 0); [reflexivity|].
  destruct (Z_le_gt_dec finer (Z.max (bits value - digits form) finer)); [|lia].
  rewrite nearest_even_opposite by lia. rewrite !Z.shiftl_mul_pow2 by lia. lia.
Qed.

Lemma nearest_even_nonneg value cut : 0 <= value -> 0 <= nearest_even value cut.
Proof.
  intros nonneg. destruct (Z_le_gt_dec cut 0) as [none | some].
  - unfold nearest_even. replace (cut <=? 0) with true by lia. exact nonneg.
  - pose proof (nearest_even_between cut ltac:(lia) value). pose proof (power_positive cut ltac:(lia)).
    assert (0 <= value / 2 ^ cut) by (apply Z.div_pos; lia). lia.
Qed.

(** Positive numbers that are cut off at different places stay apart: a power of two lies between them. *)
Lemma round_unbounded_rises_above_zero x y finer : 0 <= finer -> 0 <= x <= y ->
  round_unbounded x finer <= round_unbounded y finer.
Proof.
  intros nonneg [x_nonneg less]. pose proof digits_positive as (some_digits & _ & _).
  assert (0 < 2 ^ finer) as unit by (apply Z.pow_pos_nonneg; lia).
  apply Z.mul_le_mono_pos_r with (p := 2 ^ finer); [exact unit|].
  rewrite !round_unbounded_value by exact nonneg. cbv zeta.
  pose proof (cut_rises x y finer ltac:(lia)) as cuts.
  assert (finer <= cut_of x finer) as least by apply Z.le_max_r.
  destruct (Z.eq_dec (cut_of x finer) (cut_of y finer)) as [same | differ].
  - rewrite <- same. apply Z.mul_le_mono_nonneg_r; [apply Z.pow_nonneg; lia|].
    destruct (Z.eq_dec (cut_of x finer) 0) as [-> | some]; [exact less|]. apply nearest_even_rises; lia.
  - assert (cut_of y finer = bits y - digits form) as cut_y by (unfold cut_of in *; lia).
    assert (bits x <= cut_of x finer + digits form) as bits_x by (unfold cut_of; lia).
    transitivity (2 ^ (cut_of x finer + digits form)).
    + assert (x < 2 ^ (cut_of x finer + digits form)) as below.
      { pose proof (below_bits x). assert (2 ^ bits x <= 2 ^ (cut_of x finer + digits form)) by (apply Z.pow_le_mono_r; lia). lia. }
      rewrite Z.pow_add_r in * by lia. rewrite Z.mul_comm. apply Z.mul_le_mono_nonneg_l; [apply Z.pow_nonneg; lia|].
      destruct (Z.eq_dec (cut_of x finer) 0) as [zero | some].
      * rewrite zero in *. change (nearest_even x 0) with x. change (2 ^ 0) with 1 in below. lia.
      * pose proof (nearest_even_between (cut_of x finer) ltac:(lia) x).
        pose proof (power_positive (cut_of x finer) ltac:(lia)) as power.
        pose proof (Z.div_lt_upper_bound x (2 ^ cut_of x finer) (2 ^ digits form) power below). lia.
    + assert (y <> 0) as nonzero by (intros ->; pose proof (bits_nonneg 0); cbn in *; lia).
      destruct (bits_spec y nonzero) as [above _]. rewrite Z.abs_eq in above by lia.
      transitivity (2 ^ (digits form - 1) * 2 ^ cut_of y finer).
      { rewrite <- Z.pow_add_r by lia. apply Z.pow_le_mono_r; lia. }
      apply Z.mul_le_mono_nonneg_r; [apply Z.pow_nonneg; lia|].
      pose proof (nearest_even_between (cut_of y finer) ltac:(lia) y).
      enough (2 ^ (digits form - 1) <= y / 2 ^ cut_of y finer) by lia.
      apply Z.div_le_lower_bound; [apply power_positive; lia|]. rewrite <- Z.pow_add_r by lia.
      replace (cut_of y finer + (digits form - 1)) with (bits y - 1) by lia. exact above.
Qed.

Lemma round_unbounded_zero finer : round_unbounded 0 finer = 0.
Proof.
  unfold round_unbounded. destruct (Z.leb_spec (cut_of 0 finer) 0) as [none | some]; [reflexivity|].
  rewrite <- (Z.mul_0_l (2 ^ cut_of 0 finer)) at 1. rewrite nearest_even_exact by exact some. apply Z.shiftl_0_l.
Qed.

Lemma round_unbounded_nonneg value finer : 0 <= finer -> 0 <= value -> 0 <= round_unbounded value finer.
Proof.
  intros nonneg above. pose proof (round_unbounded_rises_above_zero 0 value finer nonneg ltac:(lia)) as rises.
  now rewrite round_unbounded_zero in rises.
Qed.

Lemma round_unbounded_rises x y finer : 0 <= finer -> x <= y -> round_unbounded x finer <= round_unbounded y finer.
Proof.
  intros nonneg less. destruct (Z_le_gt_dec 0 x).
  - apply round_unbounded_rises_above_zero; lia.
  - pose proof (round_unbounded_nonneg (- x) finer nonneg ltac:(lia)) as below.
    rewrite round_unbounded_opposite in below. destruct (Z_le_gt_dec 0 y).
    + pose proof (round_unbounded_nonneg y finer nonneg ltac:(lia)). lia.
    + pose proof (round_unbounded_rises_above_zero (- y) (- x) finer nonneg ltac:(lia)) as mirrored.
      rewrite !round_unbounded_opposite in mirrored. lia.
Qed.

Lemma overflow_spec value :
  overflow value = if is_finite value then value else if 0 <? value then infinity else - infinity.
Proof.
  unfold overflow, is_finite, end_of_format. rewrite Z.shiftl_1_l. pose proof digits_positive.
  destruct (Z.leb_spec (bits value) (limit form + places form)) as [few | many],
    (Z.ltb_spec (Z.abs value) (2 ^ (limit form + places form))) as [finite | infinite]; try reflexivity; exfalso.
  - pose proof (below_bits value). assert (2 ^ bits value <= 2 ^ (limit form + places form)) by (apply Z.pow_le_mono_r; lia). lia.
  - pose proof (bits_below value (limit form + places form) ltac:(lia) finite). lia.
Qed.

Lemma overflow_rises x y : x <= y -> overflow x <= overflow y.
Proof.
  intros less. rewrite !overflow_spec. pose proof end_positive. unfold is_finite, infinity.
  destruct (Z.ltb_spec (Z.abs x) end_of_format), (Z.ltb_spec (Z.abs y) end_of_format), (Z.ltb_spec 0 x), (Z.ltb_spec 0 y); lia.
Qed.

Lemma round_rises : forall x y finer, 0 <= finer -> x <= y -> round x finer <= round y finer.
Proof. intros. now apply overflow_rises, round_unbounded_rises. Qed.

(** More zeros at the end, and as many more places: the same number, and the same rounding. *)
Lemma round_shifted value finer more : 0 <= more -> 0 <= finer -> round (value * 2 ^ more) (finer + more) = round value finer.
Proof.
  intros nonneg finer_nonneg. unfold round. f_equal.
  destruct (Z.eq_dec value 0) as [-> | nonzero].
  - rewrite Z.mul_0_l. exact (eq_trans (round_unbounded_zero _) (eq_sym (round_unbounded_zero _))).
  - unfold round_unbounded, cut_of. rewrite bits_shifted by assumption.
    replace (Z.max (bits value + more - digits form) (finer + more)) with (Z.max (bits value - digits form) finer + more) by lia.
    set (cut := Z.max (bits value - digits form) finer). assert (finer <= cut) by apply Z.le_max_r.
    replace (cut + more - (finer + more)) with (cut - finer) by lia.
    destruct (Z.leb_spec cut 0) as [none | some], (Z.leb_spec (cut + more) 0) as [none' | some']; try lia.
    + replace more with 0 by lia. rewrite Z.pow_0_r. lia.
    + replace cut with 0 by lia. replace finer with 0 by lia.
      rewrite Z.add_0_l. rewrite nearest_even_exact by lia. apply Z.shiftl_0_r.
    + rewrite nearest_even_shifted by lia. reflexivity.
Qed.

End Format.

(** * Rounding a rational number *)

(** The whole number nearest to a quotient, of two nearest ones the even one. *)
Definition nearest_quotient (dividend divisor : Z) : Z :=
  let quotient := dividend / divisor in
  match 2 * (dividend mod divisor) ?= divisor with
  | Lt => quotient
  | Eq => if Z.odd quotient then quotient + 1 else quotient
  | Gt => quotient + 1
  end.

(** The number of a format nearest to numerator / denominator, in units. The whole part of the quotient in units tells at
    which digit it is cut off. *)
Definition round_ratio (form : format) (numerator denominator : Z) : Z :=
  let value := Z.shiftl numerator (places form) in
  let cut := Z.max (bits (Z.abs value / denominator) - digits form) 0 in
  overflow form (Z.shiftl (nearest_quotient value (Z.shiftl denominator cut)) cut).
