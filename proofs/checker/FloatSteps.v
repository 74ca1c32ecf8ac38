(** What one operation as executed does: it keeps the order, and is not far off. *)

From Tallystick.checker Require Import Floats.

Section Steps.

Variable n : float_network.
Hypothesis fine : is_format (form n) = true.

Local Notation finer := (places (form n)).

Lemma finer_nonneg : 0 <= finer.
Proof. now destruct (digits_positive (form n) fine) as (_ & nonneg & _). Qed.

(** * Order: an executed w h + c rises with h, or falls where w is negative *)

Lemma multiply_add_rises w c x y : 0 <= w -> x <= y -> multiply_add n w x c <= multiply_add n w y c.
Proof.
  intros positive less. pose proof finer_nonneg. unfold multiply_add.
  destruct (fused n); [|apply round_rises, Z.add_le_mono_r; [exact fine | lia |]];
    apply round_rises; try assumption; nia.
Qed.

Lemma multiply_add_falls w c x y : w <= 0 -> x <= y -> multiply_add n w y c <= multiply_add n w x c.
Proof.
  intros negative less. pose proof finer_nonneg. unfold multiply_add.
  destruct (fused n); [|apply round_rises, Z.add_le_mono_r; [exact fine | lia |]];
    apply round_rises; try assumption; nia.
Qed.

(** What lies between two numbers is taken to what lies between their images. *)
Lemma multiply_add_between w c low h high : low <= h <= high ->
  Z.min (multiply_add n w low c) (multiply_add n w high c) <= multiply_add n w h c <=
  Z.max (multiply_add n w low c) (multiply_add n w high c).
Proof.
  intros [above below]. destruct (Z_le_gt_dec 0 w) as [positive | negative].
  - pose proof (multiply_add_rises w c _ _ positive above). pose proof (multiply_add_rises w c _ _ positive below). lia.
  - pose proof (multiply_add_falls w c _ _ ltac:(lia) above). pose proof (multiply_add_falls w c _ _ ltac:(lia) below). lia.
Qed.

(** * Error: how far an output is from the exact one, unless it overflows *)

Local Notation D := (2 ^ digits (form n)).
Local Notation unit := (2 ^ finer).

Lemma powers_positive : 0 < D /\ 0 < unit.
Proof.
  destruct (digits_positive (form n) fine) as (some & nonneg & _). split; apply Z.pow_pos_nonneg; lia.
Qed.

Lemma round_unbounded_error value places : 0 <= places ->
  2 * D * Z.abs (round_unbounded (form n) value places * 2 ^ places - value) <=
  2 * Z.abs value + (if places =? 0 then 0 else D * 2 ^ places).
Proof.
  intros nonneg. destruct (digits_positive (form n) fine) as (some & _ & _). destruct powers_positive as [positive _].
  rewrite round_unbounded_value by exact nonneg. cbv zeta.
  assert (places <= cut_of (form n) value places) as least by apply Z.le_max_r.
  assert (0 < 2 ^ places) by (apply Z.pow_pos_nonneg; lia).
  destruct (Z.eq_dec (cut_of (form n) value places) 0) as [none | cuts].
  - rewrite none. replace places with 0 by lia. change (nearest_even value 0) with value.
    rewrite Z.pow_0_r, Z.mul_1_r, Z.sub_diag. change (Z.abs 0) with 0. rewrite Z.mul_0_r. change (0 =? 0) with true. lia.
  - pose proof (nearest_even_error (cut_of (form n) value places) ltac:(lia) value) as half.
    assert (D * 2 ^ cut_of (form n) value places <= 2 * Z.abs value + (if places =? 0 then 0 else D * 2 ^ places)); [|nia].
    unfold cut_of in *. destruct (Z_le_gt_dec (bits value - digits (form n)) places) as [few | many].
    + replace (Z.max (bits value - digits (form n)) places) with places in * by lia.
      replace (places =? 0) with false by lia. lia.
    + replace (Z.max (bits value - digits (form n)) places) with (bits value - digits (form n)) in * by lia.
      rewrite <- Z.pow_add_r by lia. replace (digits (form n) + (bits value - digits (form n))) with (bits value) by lia.
      assert (value <> 0) as nonzero by (intros ->; cbn in *; lia).
      destruct (bits_spec value nonzero) as [most _].
      replace (bits value) with (Z.succ (bits value - 1)) by lia. rewrite Z.pow_succ_r by (pose proof (bits_nonneg value); lia).
      destruct (places =? 0); lia.
Qed.

Lemma finite_round value places : is_finite (form n) (round (form n) value places) = true ->
  round (form n) value places = round_unbounded (form n) value places.
Proof.
  unfold round. rewrite overflow_spec by exact fine. pose proof (end_positive (form n) fine).
  destruct (is_finite (form n) (round_unbounded (form n) value places)); [reflexivity|].
  unfold is_finite, infinity. destruct (0 <? _); rewrite Z.ltb_lt; lia.
Qed.

(** An infinite number stays infinite, whatever finite number is added to it. *)
Lemma finite_sum value c : is_finite (form n) c = true ->
  is_finite (form n) (round (form n) (overflow (form n) value + c) 0) = true -> is_finite (form n) (overflow (form n) value) = true.
Proof.
  intros finite_c finite_sum. rewrite finite_round in finite_sum by exact finite_sum.
  destruct (is_finite (form n) (overflow (form n) value)) eqn:finite; [reflexivity | exfalso].
  pose proof (end_positive (form n) fine) as positive.
  assert (overflow (form n) value = infinity (form n) \/ overflow (form n) value = - infinity (form n)) as beyond.
  { rewrite overflow_spec in * by exact fine. destruct (is_finite (form n) value) eqn:small; [congruence|]. destruct (0 <? value); auto. }
  set (far := overflow (form n) value) in *. clearbody far.
  pose proof (round_unbounded_error (far + c) 0 ltac:(lia)) as error. cbn [Z.eqb] in error.
  rewrite Z.pow_0_r, Z.mul_1_r in error. destruct powers_positive as [D_positive _].
  assert (2 <= D) by (destruct (digits_positive (form n) fine) as (some & _ & _);
    replace (digits (form n)) with (Z.succ (digits (form n) - 1)) by lia; rewrite Z.pow_succ_r by lia;
    assert (0 < 2 ^ (digits (form n) - 1)) by (apply Z.pow_pos_nonneg; lia); lia).
  unfold is_finite, infinity in *. rewrite Z.ltb_lt in *. nia.
Qed.

Lemma multiply_add_error w h c : is_finite (form n) c = true -> is_finite (form n) (multiply_add n w h c) = true ->
  D * Z.abs (multiply_add n w h c * unit - (w * h + c * unit)) <= 3 * (Z.abs (w * h) + Z.abs c * unit) + D * unit.
Proof.
  intros finite_c. destruct powers_positive as [positive unit_positive]. pose proof finer_nonneg as nonneg.
  unfold multiply_add. destruct (fused n); intros finite.
  - rewrite finite_round by exact finite. rewrite Z.shiftl_mul_pow2 by exact nonneg.
    pose proof (round_unbounded_error (w * h + c * unit) finer nonneg) as error.
    destruct (finer =? 0); nia.
  - pose proof (finite_sum _ _ finite_c finite) as finite_product.
    rewrite (finite_round (round _ _ _ + c)) by exact finite. rewrite (finite_round (w * h)) by exact finite_product.
    set (product := round_unbounded (form n) (w * h) finer).
    pose proof (round_unbounded_error (w * h) finer nonneg) as first. fold product in first.
    pose proof (round_unbounded_error (product + c) 0 ltac:(lia)) as second. cbn [Z.eqb] in second.
    rewrite Z.pow_0_r, Z.mul_1_r in second. set (sum := round_unbounded (form n) (product + c) 0) in *.
    assert (2 * D * Z.abs (product * unit - w * h) <= 2 * Z.abs (w * h) + D * unit) as first' by (destruct (finer =? 0); nia).
    assert (2 * Z.abs (product * unit - w * h) <= 2 * Z.abs (w * h) + unit) as near by nia.
    assert (D * Z.abs (sum - (product + c)) * unit <= Z.abs (product + c) * unit) as second' by nia.
    assert (Z.abs ((sum - (product + c)) * unit) = Z.abs (sum - (product + c)) * unit) as size by (rewrite Z.abs_mul; lia).
    assert (Z.abs (product * unit) = Z.abs product * unit) as size_product by (rewrite Z.abs_mul; lia).
    assert (Z.abs (product + c) * unit <= (Z.abs product + Z.abs c) * unit) as triangle.
    { apply Z.mul_le_mono_nonneg_r; [lia | apply Z.abs_triangle]. }
    assert (Z.abs (sum * unit - (w * h + c * unit)) <=
      Z.abs ((sum - (product + c)) * unit) + Z.abs (product * unit - w * h)) as split by lia.
    rewrite size in split. apply (Z.mul_le_mono_nonneg_l _ _ D) in split; [|lia].
    rewrite Z.mul_add_distr_l in split. rewrite Z.mul_add_distr_r in triangle.
    assert (unit <= D * unit) as units by (rewrite <- (Z.mul_1_l unit) at 1; apply Z.mul_le_mono_nonneg_r; lia).
    clear first second size finite finite_product. lia.
Qed.

End Steps.
