(** Exact counters: with U = 1 and b = -a every state is a multiple of a, as long as all of these are numbers of the format. *)

From Tallystick.checker Require Import Floats FloatSteps FloatClasses FloatBetween FloatSearch CountGroups.

(** All multiples of a from the first to the last, on one side of 0, get a class. *)
Definition multiples_are_given (p : prepared) (a first last : Z) (k : class) : bool :=
  (last <? first) || given_between p (Z.min (first * a) (last * a), Z.max (first * a) (last * a)) k.

(** With a = s 2^e, k a is a number of the format while k s <= 2^digits. That the last e digits of a are zeros is looked at again. *)
Definition is_exact_to (form : format) (a depth : Z) : bool :=
  let e := Z.log2 (Z.land a (- a)) in
  let odd := Z.shiftr (Z.abs a) e in
  (0 <=? e) && (Z.abs a =? Z.shiftl odd e) && (depth * odd <=? Z.shiftl 1 (digits form))
    && (depth * Z.abs a <? end_of_format form).

Definition check_depth (p : prepared) (t : task) (l : lengths) (horizon : Z) : bool :=
  let n := net p in
  let a := step_of n Open in
  let one := Z.shiftl 1 (places (form n)) in
  let first := if floored t then 1 else stride l in
  (weight_of n Open =? one) && (weight_of n Close =? one) && (step_of n Close =? - a)
    && (if relu (cell n) then floored t && (0 <? a) else negb (floored t))
    && is_exact_to (form n) a horizon
    && given_between p (0, 0) (at_zero t)
    && multiples_are_given p a first horizon (above t)
    && (floored t || multiples_are_given p (- a) first horizon (below t)).

(** * Soundness *)

Lemma count_is_near is_floored s : Z.abs (count is_floored s) <= size s.
Proof.
  induction s as [|x s IH] using rev_ind; [cbn; lia|]. rewrite count_snoc, size_snoc.
  destruct x, is_floored; cbn [count_after]; lia.
Qed.

Lemma count_is_nonneg is_floored s : is_floored = true -> 0 <= count is_floored s.
Proof.
  intros ->. induction s as [|x s IH] using rev_ind; [cbn; lia|]. rewrite count_snoc. destruct x; cbn [count_after]; lia.
Qed.

Section Sound.

Variable n : float_network.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.

(** ** Numbers of the format *)

Lemma round_is_exact m e : 0 <= e -> Z.abs m <= 2 ^ digits (form n) -> Z.abs (m * 2 ^ e) < end_of_format (form n) ->
  round (form n) (m * 2 ^ e) 0 = m * 2 ^ e.
Proof.
  intros nonneg few finite. destruct (digits_positive (form n) fine) as (some & _ & _).
  unfold round. rewrite overflow_spec by exact fine.
  enough (round_unbounded (form n) (m * 2 ^ e) 0 = m * 2 ^ e) as ->.
  { unfold is_finite. now replace (Z.abs (m * 2 ^ e) <? end_of_format (form n)) with true by (symmetry; apply Z.ltb_lt; lia). }
  destruct (Z.eq_dec m 0) as [-> | nonzero]; [rewrite Z.mul_0_l; apply round_unbounded_zero|].
  pose proof (round_unbounded_value (form n) (m * 2 ^ e) 0 ltac:(lia)) as value. cbv zeta in value.
  rewrite Z.pow_0_r, Z.mul_1_r in value. rewrite value.
  set (cut := cut_of (form n) (m * 2 ^ e) 0). assert (0 <= cut) by apply Z.le_max_r.
  destruct (Z.eq_dec cut 0) as [-> | cuts]; [unfold nearest_even; cbn; lia|].
  assert (cut = bits m + e - digits (form n)) as cut_value.
  { unfold cut, cut_of in *. rewrite bits_shifted in * by assumption. lia. }
  enough (exists k, m * 2 ^ e = k * 2 ^ cut) as [k ->] by (rewrite nearest_even_exact by lia; reflexivity).
  destruct (Z_le_gt_dec cut e) as [within | beyond].
  - exists (m * 2 ^ (e - cut)). rewrite <- Z.mul_assoc, <- Z.pow_add_r by lia. do 2 f_equal. lia.
  - (* Only 2^digits itself has more digits than that. *)
    destruct (bits_spec m nonzero) as [least _].
    assert (2 ^ digits (form n) <= 2 ^ (bits m - 1)) by (apply Z.pow_le_mono_r; lia).
    assert (Z.abs m = 2 ^ digits (form n)) as power by lia.
    assert (bits m = digits (form n) + 1) as bits_m.
    { apply Z.le_antisymm; [|lia]. apply bits_below; [lia|]. rewrite power. apply Z.pow_lt_mono_r; lia. }
    assert (cut = e + 1) as -> by lia. exists (Z.sgn m * 2 ^ (digits (form n) - 1)).
    rewrite <- (Z.abs_sgn m) at 1. rewrite power.
    replace (digits (form n)) with (Z.succ (digits (form n) - 1)) at 1 by lia. rewrite Z.pow_succ_r, Z.pow_add_r by lia. ring.
Qed.

Section Counter.

Variables a depth : Z.
Hypothesis exact : is_exact_to (form n) a depth = true.

Lemma multiple_is_exact k : Z.abs k <= depth ->
  round (form n) (k * a) 0 = k * a /\ is_finite (form n) (k * a) = true.
Proof.
  intros near. revert exact. unfold is_exact_to. set (e := Z.log2 (Z.land a (- a))).
  rewrite !andb_true_iff, Z.leb_le, Z.eqb_eq, Z.leb_le, Z.ltb_lt. intros [[[nonneg parts] few] finite].
  rewrite Z.shiftl_1_l in few. rewrite Z.shiftl_mul_pow2 in parts by exact nonneg.
  set (odd := Z.shiftr (Z.abs a) e) in *. clearbody odd e.
  assert (0 < 2 ^ e) by (apply Z.pow_pos_nonneg; lia). assert (0 <= odd) by nia.
  assert (Z.abs (k * a) <= depth * Z.abs a) as size by (rewrite Z.abs_mul; apply Z.mul_le_mono_nonneg_r; lia).
  assert (Z.abs k * odd <= depth * odd) as digits by (apply Z.mul_le_mono_nonneg_r; lia).
  split; [|unfold is_finite; apply Z.ltb_lt; lia].
  assert (k * a = k * Z.sgn a * odd * 2 ^ e) as product by (rewrite <- (Z.abs_sgn a) at 1; rewrite parts; ring).
  rewrite product. apply round_is_exact; [exact nonneg | | rewrite <- product; lia].
  rewrite !Z.abs_mul, (Z.abs_eq odd) by lia.
  assert (Z.abs (Z.sgn a) <= 1) by (destruct a; cbn; lia). nia.
Qed.

Hypothesis unit_weights : forall x, weight_of n x = 2 ^ places (form n).
Hypothesis open_step : step_of n Open = a.
Hypothesis close_step : step_of n Close = - a.

Lemma unit_step k c : Z.abs k <= depth -> Z.abs (k + c) <= depth ->
  multiply_add n (2 ^ places (form n)) (k * a) (c * a) = (k + c) * a.
Proof.
  intros near next. destruct (multiple_is_exact k near) as [here _]. destruct (multiple_is_exact (k + c) next) as [there _].
  pose proof (finer_nonneg n fine) as nonneg. unfold multiply_add. rewrite Z.shiftl_mul_pow2 by exact nonneg.
  pose proof (fun value => round_shifted (form n) value 0 (places (form n)) nonneg ltac:(lia)) as shifted.
  rewrite Z.add_0_l in shifted. destruct (fused n).
  - replace (2 ^ places (form n) * (k * a) + c * a * 2 ^ places (form n)) with ((k + c) * a * 2 ^ places (form n)) by ring.
    now rewrite shifted.
  - rewrite (Z.mul_comm (2 ^ places (form n))), shifted, here. now rewrite <- Z.mul_add_distr_r.
Qed.

(** ** Every state is the count times a *)

Variable is_floored : bool.
Hypothesis cut_off : if relu (cell n) then is_floored = true /\ 0 < a else is_floored = false.

Lemma state_is_count s : size s <= depth -> float_state n s = Some (count is_floored s * a).
Proof.
  induction s as [|x s IH] using rev_ind; intros short; [reflexivity|]. rewrite size_snoc in short.
  rewrite float_state_snoc, IH by lia. cbn [float_after].
  pose proof (count_is_near is_floored (s ++ [x])) as next. rewrite size_snoc, count_snoc in next. rewrite count_snoc.
  pose proof (count_is_near is_floored s) as near.
  assert (float_step n x (count is_floored s * a) = count_after is_floored (count is_floored s) x * a) as ->.
  { unfold float_step. rewrite unit_weights.
    assert (step_of n x = (match x with Open => 1 | Close => -1 end) * a) as -> by (destruct x; rewrite ?open_step, ?close_step; ring).
    assert (Z.abs (count is_floored s + match x with Open => 1 | Close => -1 end) <= depth) as bounded by (destruct x; lia).
    rewrite unit_step by (assumption || lia). destruct (relu (cell n)).
    - destruct cut_off as [floors positive]. pose proof (count_is_nonneg is_floored s floors) as nonneg. rewrite floors in *.
      destruct x; cbn [count_after]; nia.
    - rewrite cut_off in *. destruct x; cbn [count_after]; f_equal; lia. }
  now destruct (multiple_is_exact (count_after is_floored (count is_floored s) x) ltac:(lia)) as [_ ->].
Qed.

End Counter.

Lemma multiples_are_given_sound a first last k m :
  multiples_are_given (prepare n) a first last k = true -> first <= m <= last -> float_class n (m * a) = Some k.
Proof.
  unfold multiples_are_given. rewrite orb_true_iff, Z.ltb_lt. intros [none | given] [from to]; [lia|].
  eapply given_between_sound; [exact fine | exact loaded | | exact given]. unfold between. cbn [fst snd].
  destruct (Z_le_gt_dec 0 a); nia.
Qed.

Lemma check_depth_sound t l horizon : check_depth (prepare n) t l horizon = true -> right_to (float_gives n) t l horizon.
Proof.
  unfold check_depth. cbn [prepare net]. set (a := step_of n Open).
  rewrite !andb_true_iff, !Z.eqb_eq, Z.shiftl_1_l. intros [[[[[[[open_one close_one] opposite] cuts] exact] zero] up] down] s counts short.
  assert (if relu (cell n) then floored t = true /\ 0 < a else floored t = false) as cut_off.
  { destruct (relu (cell n)); [now rewrite andb_true_iff, Z.ltb_lt in cuts | now apply negb_true_iff]. }
  assert (forall x, weight_of n x = 2 ^ places (form n)) as unit_weights by now intros [].
  pose proof (state_is_count a horizon exact unit_weights eq_refl opposite (floored t) cut_off s short) as state.
  split; [exact loaded|]. exists (count (floored t) s * a). split; [exact state|].
  pose proof (count_is_near (floored t) s) as near. unfold right_class, class_of_count.
  assert (floored t = false -> count (floored t) s <> 0 -> stride l <= Z.abs (count (floored t) s)) as parity.
  { intros plain nonzero. destruct counts as [_ [times multiple]]. rewrite count_by_group, plain in *. unfold count_of_group in *.
    destruct l; cbn [stride] in *; lia. }
  destruct (Z.compare_spec (count (floored t) s) 0) as [balanced | less | more].
  - rewrite balanced, Z.mul_0_l. eapply given_between_sound; [exact fine | exact loaded | | exact zero]. unfold between. cbn. lia.
  - destruct (floored t) eqn:floors; [pose proof (count_is_nonneg true s eq_refl); lia|]. cbn [orb] in down.
    replace (count false s * a) with (- count false s * - a) by ring.
    eapply multiples_are_given_sound; [exact down|]. specialize (parity eq_refl). lia.
  - eapply multiples_are_given_sound; [exact up|]. destruct (floored t); [lia|]. specialize (parity eq_refl). lia.
Qed.

End Sound.

(** The depth of an exact counter: as long as a and its multiples are numbers of the format, every state is the count times a. *)
Theorem exact_to_depth : forall (n : float_network) (a depth : Z), is_format (form n) = true ->
  (forall x, weight_of n x = 2 ^ places (form n)) -> step_of n Open = a -> step_of n Close = - a ->
  is_exact_to (form n) a depth = true -> (relu (cell n) = true -> 0 < a) ->
  forall s, size s <= depth -> float_state n s = Some (count (relu (cell n)) s * a).
Proof.
  intros n a depth fine one opened closed exact cuts s short.
  apply (state_is_count n fine a depth); try assumption. destruct (relu (cell n)); auto.
Qed.
