(** Cutting off binary digits, so that the nearest number is left, ties to even; and how many digits a number has. *)

From Coq Require Export ZArith List Lia Bool.
Export ListNotations.
Open Scope Z_scope.

(** * Digits *)

(** How many binary digits a number has, without its sign. *)
Definition bits (value : Z) : Z := match value with 0 => 0 | _ => Z.log2 (Z.abs value) + 1 end.

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

(** * Rounding at a place *)

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
