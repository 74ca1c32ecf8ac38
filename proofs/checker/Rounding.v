(** Rounding to nearest, ties to even, in whole numbers: a number of a binary format is a whole number of units, the least
    positive number of the format. Products and sums of whole numbers are exact, so that an operation of the format is one
    exact operation and one rounding. No axiom is used; [FloatFlocq] proves that this is Flocq's rounding. *)

From Coq Require Export ZArith List Lia Bool.
Export ListNotations.
Open Scope Z_scope.

(** * The binary formats *)

(** Numbers have so many binary digits, a unit is 2^-places, and every finite number is below 2^limit. *)
Record format := Format { digits : Z; places : Z; limit : Z }.

Definition float16 := Format 11 24 16.
Definition bfloat16 := Format 8 133 128.
Definition float32 := Format 24 149 128.
Definition float64 := Format 53 1074 1024.

Definition is_format (form : format) : bool :=
  (0 <? digits form) && (0 <=? places form) && (digits form <=? limit form + places form).

(** * Rounding at a place *)

(** How many binary digits a number has, without its sign. *)
Definition bits (value : Z) : Z := match value with 0 => 0 | _ => Z.log2 (Z.abs value) + 1 end.

(** The whole number nearest to value / 2^cut, of two nearest ones the even one. Adding half, or one last place less if the
    digit before the cut is even, makes cutting off the digits a rounding to nearest. *)
Definition nearest_even (value cut : Z) : Z :=
  if cut <=? 0 then value
  else Z.shiftr (value + (Z.shiftl 1 (cut - 1) - 1) + (if Z.testbit value cut then 1 else 0)) cut.

(** What the shifts compute. *)
Lemma nearest_even_division value cut : 0 < cut ->
  nearest_even value cut =
  let quotient := value / 2 ^ cut in let rest := value mod 2 ^ cut in
  match 2 * rest ?= 2 ^ cut with
  | Lt => quotient
  | Eq => if Z.even quotient then quotient else quotient + 1
  | Gt => quotient + 1
  end.
Proof.
  intros positive. unfold nearest_even. replace (cut <=? 0) with false by lia.
  rewrite Z.shiftr_div_pow2, Z.shiftl_1_l by lia. rewrite Z.testbit_odd, Z.shiftr_div_pow2, <- Z.negb_even by lia.
  cbv zeta. set (q := value / 2 ^ cut). set (r := value mod 2 ^ cut).
  assert (0 < 2 ^ (cut - 1)) as half by (apply Z.pow_pos_nonneg; lia).
  assert (2 ^ cut = 2 * 2 ^ (cut - 1)) as twice by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  assert (value = 2 ^ cut * q + r) as parts by (apply Z.div_mod; lia).
  assert (0 <= r < 2 ^ cut) as small by (apply Z.mod_pos_bound; lia).
  destruct (Z.compare_spec (2 * r) (2 ^ cut)); destruct (Z.even q); cbn [negb];
    symmetry; first [apply Z.div_unique with (r := r + (2 ^ (cut - 1) - 1)); lia
                    | apply Z.div_unique with (r := r + (2 ^ (cut - 1) - 1) + 1); lia
                    | apply Z.div_unique with (r := r + (2 ^ (cut - 1) - 1) - 2 ^ cut); lia
                    | apply Z.div_unique with (r := r + (2 ^ (cut - 1) - 1) + 1 - 2 ^ cut); lia].
Qed.

(** * Facts about it *)

Section AtAPlace.

Variable cut : Z.
Hypothesis cuts : 0 < cut.

Lemma power_positive : 0 < 2 ^ cut.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

(** Between the quotients, and off by half a place at most. *)
Lemma nearest_even_between value : value / 2 ^ cut <= nearest_even value cut <= value / 2 ^ cut + 1.
Proof.
  rewrite nearest_even_division by exact cuts. cbv zeta.
  destruct (_ ?= _); [destruct (Z.even _)| |]; lia.
Qed.

Lemma nearest_even_error value : 2 * Z.abs (nearest_even value cut * 2 ^ cut - value) <= 2 ^ cut.
Proof.
  rewrite nearest_even_division by exact cuts. cbv zeta. pose proof power_positive as positive.
  pose proof (Z.div_mod value (2 ^ cut) ltac:(lia)) as parts. pose proof (Z.mod_pos_bound value (2 ^ cut) positive) as small.
  set (q := value / 2 ^ cut) in *. set (r := value mod 2 ^ cut) in *. clearbody q r. subst value.
  destruct (Z.compare_spec (2 * r) (2 ^ cut)); [destruct (Z.even q)| |]; lia.
Qed.

Lemma nearest_even_rises x y : x <= y -> nearest_even x cut <= nearest_even y cut.
Proof.
  intros less. pose proof power_positive as positive.
  assert (x / 2 ^ cut <= y / 2 ^ cut) as quotients by (apply Z.div_le_mono; lia).
  pose proof (nearest_even_between x). pose proof (nearest_even_between y).
  destruct (Z.eq_dec (x / 2 ^ cut) (y / 2 ^ cut)) as [same | differ]; [|lia].
  rewrite !nearest_even_division by exact cuts. cbv zeta. rewrite <- same.
  assert (x mod 2 ^ cut <= y mod 2 ^ cut) as rests by (rewrite !Z.mod_eq, same by lia; lia).
  destruct (Z.compare_spec (2 * (x mod 2 ^ cut)) (2 ^ cut)), (Z.compare_spec (2 * (y mod 2 ^ cut)) (2 ^ cut));
    destruct (Z.even (x / 2 ^ cut)); lia.
Qed.

Lemma nearest_even_opposite value : nearest_even (- value) cut = - nearest_even value cut.
Proof.
  rewrite !nearest_even_division by exact cuts. cbv zeta. pose proof power_positive as positive.
  destruct (Z.eq_dec (value mod 2 ^ cut) 0) as [none | some].
  - rewrite Z.div_opp_l_z, Z.mod_opp_l_z, none by lia.
    now replace (2 * 0 ?= 2 ^ cut) with Lt by (symmetry; apply Z.compare_lt_iff; lia).
  - rewrite Z.div_opp_l_nz, Z.mod_opp_l_nz by lia.
    pose proof (Z.mod_pos_bound value (2 ^ cut) positive).
    replace (Z.even (- (value / 2 ^ cut) - 1)) with (negb (Z.even (value / 2 ^ cut))).
    2: { rewrite Z.even_sub, Z.even_opp. cbn. now destruct (Z.even _). }
    destruct (Z.compare_spec (2 * (value mod 2 ^ cut)) (2 ^ cut)),
      (Z.compare_spec (2 * (2 ^ cut - value mod 2 ^ cut)) (2 ^ cut)); try lia; destruct (Z.even _); cbn [negb]; lia.
Qed.

(** What ends in zeros is not changed. *)
Lemma nearest_even_exact value : nearest_even (value * 2 ^ cut) cut = value.
Proof.
  pose proof power_positive. rewrite nearest_even_division by exact cuts. cbv zeta.
  rewrite Z.div_mul, Z.mod_mul by lia.
  now replace (2 * 0 ?= 2 ^ cut) with Lt by (symmetry; apply Z.compare_lt_iff; lia).
Qed.

End AtAPlace.

(** More zeros at the end, and as many more places cut off. *)
Lemma nearest_even_shifted value cut more : 0 <= more -> 0 < cut ->
  nearest_even (value * 2 ^ more) (cut + more) = nearest_even value cut.
Proof.
  intros nonneg positive. rewrite !nearest_even_division by lia. cbv zeta.
  assert (0 < 2 ^ cut) by (apply Z.pow_pos_nonneg; lia). assert (0 < 2 ^ more) by (apply Z.pow_pos_nonneg; lia).
  rewrite Z.pow_add_r, Z.div_mul_cancel_r, Z.mul_mod_distr_r by lia.
  replace (2 * (value mod 2 ^ cut * 2 ^ more)) with (2 * (value mod 2 ^ cut) * 2 ^ more) by ring.
  now rewrite <- (Zmult_compare_compat_r (2 * (value mod 2 ^ cut)) (2 ^ cut) (2 ^ more)) by lia.
Qed.

(** * Rounding to a format *)

Lemma bits_spec value : value <> 0 -> 2 ^ (bits value - 1) <= Z.abs value < 2 ^ bits value.
Proof.
  intros nonzero. assert (bits value = Z.log2 (Z.abs value) + 1) as -> by now destruct value.
  replace (Z.log2 (Z.abs value) + 1 - 1) with (Z.log2 (Z.abs value)) by lia.
  pose proof (Z.log2_spec (Z.abs value) ltac:(lia)). replace (Z.log2 (Z.abs value) + 1) with (Z.succ (Z.log2 (Z.abs value))) by lia.
  assumption.
Qed.

Lemma bits_nonneg value : 0 <= bits value.
Proof. pose proof (Z.log2_nonneg (Z.abs value)). destruct value; cbn [bits]; lia. Qed.

Lemma bits_opposite value : bits (- value) = bits value.
Proof. now destruct value. Qed.

Lemma bits_below value bound : 0 <= bound -> Z.abs value < 2 ^ bound -> bits value <= bound.
Proof.
  intros nonneg below. destruct (Z.eq_dec value 0) as [-> | nonzero]; [cbn; lia|].
  destruct (bits_spec value nonzero) as [least _].
  destruct (Z_le_gt_dec (bits value) bound) as [|more]; [assumption | exfalso].
  assert (2 ^ bound <= 2 ^ (bits value - 1)) by (apply Z.pow_le_mono_r; lia). lia.
Qed.

Lemma below_bits value : Z.abs value < 2 ^ bits value.
Proof. destruct (Z.eq_dec value 0) as [-> | nonzero]; [cbn; lia | now apply bits_spec]. Qed.

Lemma bits_rise x y : Z.abs x <= Z.abs y -> bits x <= bits y.
Proof.
  intros less. apply bits_below; [apply bits_nonneg|]. pose proof (below_bits y). lia.
Qed.

Lemma bits_shifted value more : 0 <= more -> value <> 0 -> bits (value * 2 ^ more) = bits value + more.
Proof.
  intros nonneg nonzero. assert (0 < 2 ^ more) by (apply Z.pow_pos_nonneg; lia).
  assert (value * 2 ^ more <> 0) as product by lia.
  assert (forall x, x <> 0 -> bits x = Z.log2 (Z.abs x) + 1) as logarithm by now intros [].
  rewrite !logarithm, Z.abs_mul, (Z.abs_eq (2 ^ more)), Z.log2_mul_pow2 by lia. lia.
Qed.

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
