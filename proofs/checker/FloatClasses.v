(** The class of all states between two ends, in floating point as executed.

    Rounding keeps every output monotone in h. So two outputs whose slopes are not of one sign change places at most once, and are
    in one order between two ends if they are at both. Two others may change places more often, unless the exact lines are
    further apart than rounding accounts for. *)

From Tallystick.checker Require Import Floats FloatSteps.

(** * Quick products *)

(** A weight as m / 2^finer with a short m, and what is added. *)
Record factor := { short : Z; finer : Z; term : Z }.

Definition factor_of (n : float_network) (weight step : Q) : factor :=
  let w := rounded n weight in
  let zeros := Z.min (Z.log2 (Z.land w (- w))) (places (form n)) in
  let m := Z.shiftr w zeros in
  (* That the last digits were zeros is looked at again, which is easier than to prove it. *)
  if (0 <=? zeros) && (w =? Z.shiftl m zeros) then
    {| short := m; finer := places (form n) - zeros; term := rounded n step |}
  else {| short := w; finer := places (form n); term := rounded n step |}.

Definition affine (n : float_network) (f : factor) (h : Z) : Z :=
  if fused n then round (form n) (short f * h + Z.shiftl (term f) (finer f)) (finer f)
  else round (form n) (round (form n) (short f * h) (finer f) + term f) 0.

Lemma affine_is_executed n weight step h : is_format (form n) = true ->
  affine n (factor_of n weight step) h = multiply_add n (rounded n weight) h (rounded n step).
Proof.
  intros fine. pose proof (finer_nonneg n fine) as nonneg. unfold factor_of, affine, multiply_add.
  set (w := rounded n weight). set (c := rounded n step). set (zeros := Z.min _ _).
  destruct (Z.leb_spec 0 zeros) as [some | none]; [|reflexivity].
  destruct (Z.eqb_spec w (Z.shiftl (Z.shiftr w zeros) zeros)) as [same | other]; [|reflexivity]. cbn [andb short finer term].
  set (m := Z.shiftr w zeros) in *. rewrite Z.shiftl_mul_pow2 in same by exact some. rewrite same.
  assert (zeros <= places (form n)) by apply Z.le_min_r.
  replace (m * 2 ^ zeros * h) with (m * h * 2 ^ zeros) by ring.
  assert (places (form n) = places (form n) - zeros + zeros) as parts by lia.
  destruct (fused n).
  - rewrite !Z.shiftl_mul_pow2 by lia. rewrite parts at 3 4. rewrite Z.pow_add_r by lia.
    replace (m * h * 2 ^ zeros + c * (2 ^ (places (form n) - zeros) * 2 ^ zeros))
      with ((m * h + c * 2 ^ (places (form n) - zeros)) * 2 ^ zeros) by ring.
    now rewrite round_shifted by lia.
  - rewrite parts at 2. now rewrite round_shifted by lia.
Qed.

(** * The order of two outputs between two ends *)

Definition ends := (Z * Z)%type.

Definition between (h : Z) (e : ends) : Prop := fst e <= h <= snd e.

Section Order.

Variable n : float_network.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.

(** Slopes and biases as executed; the number 0 is a line as well. *)
Definition executed_lines : list (Z * Z) := map (fun l => (rounded n (fst l), rounded n (snd l))) (float_lines n).

Definition line_value (line : Z * Z) (h : Z) : Z := multiply_add n (fst line) h (snd line).

(** An output is surely above another: the exact lines differ by more than what both may be off, and no overflow brings the one
    down or the other up. *)
Definition apart (e : ends) (line other : Z * Z) (at_low at_high other_at_low other_at_high : Z) : bool :=
  let '(v, c) := line in let '(w, d) := other in let '(low, high) := e in
  let shift := places (form n) in
  let sizes := (Z.abs v + Z.abs w) * Z.max (Z.abs low) (Z.abs high) + Z.shiftl (Z.abs c + Z.abs d) shift in
  let gap := Z.min ((v - w) * low) ((v - w) * high) + Z.shiftl (c - d) shift in
  let far := infinity (form n) in
  (- far <? at_low) && (- far <? at_high) && (other_at_low <? far) && (other_at_high <? far)
    && (3 * sizes + Z.shiftl 2 (shift + digits (form n)) <? Z.shiftl gap (digits (form n))).

Lemma multiply_add_values w h c :
  let value := multiply_add n w h c in
  is_finite (form n) value = true \/ value = infinity (form n) \/ value = - infinity (form n).
Proof.
  cbv zeta. assert (forall x, is_finite (form n) (overflow (form n) x) = true \/ overflow (form n) x = infinity (form n)
    \/ overflow (form n) x = - infinity (form n)) as each.
  { intros x. rewrite overflow_spec by exact fine. destruct (is_finite (form n) x) eqn:finite; [now left|]. destruct (0 <? x); auto. }
  unfold multiply_add, round. destruct (fused n); apply each.
Qed.

(** The arithmetic of it, in whole numbers: two lines that are off by so much, and further apart than that. *)
Lemma gap_decides D unit v c w d h most gap x y : 0 < D -> 0 < unit ->
  Z.abs h <= most -> gap <= (v - w) * h + (c - d) * unit ->
  3 * ((Z.abs v + Z.abs w) * most + (Z.abs c + Z.abs d) * unit) + 2 * (unit * D) < gap * D ->
  D * Z.abs (x * unit - (v * h + c * unit)) <= 3 * (Z.abs (v * h) + Z.abs c * unit) + D * unit ->
  D * Z.abs (y * unit - (w * h + d * unit)) <= 3 * (Z.abs (w * h) + Z.abs d * unit) + D * unit ->
  y < x.
Proof.
  intros D_positive unit_positive most_h least gap_large x_near y_near.
  assert (Z.abs (v * h) <= Z.abs v * most) as size_v by (rewrite Z.abs_mul; apply Z.mul_le_mono_nonneg_l; lia).
  assert (Z.abs (w * h) <= Z.abs w * most) as size_w by (rewrite Z.abs_mul; apply Z.mul_le_mono_nonneg_l; lia).
  assert (gap * D <= ((v - w) * h + (c - d) * unit) * D) as gap_h by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (D * (v * h + c * unit - x * unit) <= D * Z.abs (x * unit - (v * h + c * unit))) as x_low
    by (apply Z.mul_le_mono_nonneg_l; clear - D_positive; lia).
  assert (D * (y * unit - (w * h + d * unit)) <= D * Z.abs (y * unit - (w * h + d * unit))) as y_high
    by (apply Z.mul_le_mono_nonneg_l; clear - D_positive; lia).
  generalize dependent (Z.abs (x * unit - (v * h + c * unit))). generalize dependent (Z.abs (y * unit - (w * h + d * unit))).
  intros y_off y_near y_high x_off x_near x_low.
  apply (Z.mul_lt_mono_pos_l (D * unit)); [now apply Z.mul_pos_pos|].
  clear most_h least D_positive unit_positive.
  generalize dependent (Z.abs (v * h)). generalize dependent (Z.abs (w * h)).
  generalize dependent (Z.abs v). generalize dependent (Z.abs w). generalize dependent (Z.abs c). generalize dependent (Z.abs d).
  intros. lia.
Qed.

Lemma finite_bounds x : is_finite (form n) x = true -> - infinity (form n) < x < infinity (form n).
Proof. pose proof (end_positive (form n) fine). unfold is_finite, infinity. rewrite Z.ltb_lt. lia. Qed.

Lemma apart_sound e line other h : between h e ->
  is_finite (form n) (snd line) = true -> is_finite (form n) (snd other) = true ->
  apart e line other (line_value line (fst e)) (line_value line (snd e)) (line_value other (fst e)) (line_value other (snd e)) = true ->
  line_value other h < line_value line h.
Proof.
  destruct line as [v c], other as [w d], e as [low high]. unfold between, line_value. cbn [fst snd].
  intros inside finite_c finite_d. unfold apart. rewrite !andb_true_iff, !Z.ltb_lt.
  intros [[[[low_fine high_fine] low_other] high_other] gap].
  assert (- infinity (form n) < multiply_add n v h c) as line_up.
  { eapply Z.lt_le_trans; [|apply (multiply_add_between n fine v c _ _ _ inside)]. now apply Z.min_glb_lt. }
  assert (multiply_add n w h d < infinity (form n)) as other_down.
  { eapply Z.le_lt_trans; [apply (multiply_add_between n fine w d _ _ _ inside)|]. now apply Z.max_lub_lt. }
  clear low_fine high_fine low_other high_other.
  destruct (multiply_add_values w h d) as [finite_other | [up | down]]; [|rewrite up in other_down; now apply Z.lt_irrefl in other_down|
    now rewrite down].
  destruct (multiply_add_values v h c) as [finite_line | [up | down]]; [|now rewrite up|
    rewrite down in line_up; now apply Z.lt_irrefl in line_up].
  pose proof (multiply_add_error n fine v h c finite_c finite_line) as line_error.
  pose proof (multiply_add_error n fine w h d finite_d finite_other) as other_error.
  destruct (powers_positive n fine) as [D_positive unit_positive]. pose proof (finer_nonneg n fine) as shift.
  destruct (digits_positive (form n) fine) as (some & _ & _).
  rewrite !Z.shiftl_mul_pow2, Z.pow_add_r in gap by (clear - shift some; lia).
  clear line_up other_down finite_line finite_other finite_c finite_d.
  eapply gap_decides; [exact D_positive | exact unit_positive | | | exact gap | exact line_error | exact other_error];
    clear - inside; [lia|]. apply Z.add_le_mono_r. destruct (Z_le_gt_dec w v); nia.
Qed.

End Order.

(** So it is where outputs overflow as well: upwards that harms the other output only, downwards this one, and both ends would show it. *)
Theorem outputs_that_overflow_stay_apart : forall (n : float_network) (e : ends) (line other : Z * Z) (h : Z),
  is_format (form n) = true -> between h e ->
  is_finite (form n) (snd line) = true -> is_finite (form n) (snd other) = true ->
  apart n e line other (line_value n line (fst e)) (line_value n line (snd e))
    (line_value n other (fst e)) (line_value n other (snd e)) = true ->
  line_value n other h < line_value n line h.
Proof. intros n e line other h fine. now apply apart_sound. Qed.
