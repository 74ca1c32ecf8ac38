(** How far an exact counter counts exactly in floating point: with a = s 2^e, every multiple k a is a number of the format while
    |k s| <= 2^p, and rounding leaves it as it is. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Extremes Verdict Relu ExactCounters Rounding.

(** The cell as executed: the product is rounded and then the sum, or, fused, both at once. *)
Definition rounded (round : R -> R) (a b U : R) : cell :=
  fun x h => round (round (U * h) + match x with Open => a | Close => b end).
Definition fused (round : R -> R) (a b U : R) : cell :=
  fun x h => round (U * h + match x with Open => a | Close => b end).
Definition cut_off (f : cell) : cell := fun x h => Rmax 0 (f x h).

Section Depth.

Variables (round : R -> R) (p emin s e : Z) (greatest : R).
Hypothesis keeps : keeps_floats round p emin greatest.
Hypothesis in_range : (emin <= e)%Z.

Local Notation a := (IZR s * powerRZ 2 e).

(** k times a has p digits, and is no greater than the greatest number. *)
Definition fits (k : Z) : Prop := (Z.abs (k * s) <= 2 ^ p)%Z /\ Rabs (IZR k * a) <= greatest.

Lemma multiple_is_float k : fits k -> round (IZR k * a) = IZR k * a.
Proof.
  intros [small finite]. apply keeps; [|assumption]. exists (k * s)%Z, e. repeat split; try assumption. rewrite mult_IZR. ring.
Qed.

Lemma step_is_exact k x : fits k ->
  let k' := match x with Open => k + 1 | Close => k - 1 end%Z in
  fits k' ->
  rounded round a (- a) 1 x (IZR k * a) = IZR k' * a /\ fused round a (- a) 1 x (IZR k * a) = IZR k' * a.
Proof.
  intros small k' small'. unfold rounded, fused. rewrite Rmult_1_l, multiple_is_float by assumption.
  rewrite <- (multiple_is_float k') by assumption.
  split; f_equal; subst k'; destruct x; rewrite ?plus_IZR, ?minus_IZR; ring.
Qed.

Lemma multiple_fits k n :
  (Z.abs k <= Z.of_nat n)%Z -> (Z.of_nat n * Z.abs s <= 2 ^ p)%Z -> INR n * Rabs a <= greatest -> fits k.
Proof.
  intros small digits finite. split; [rewrite Z.abs_mul; nia|]. rewrite Rabs_mult, <- abs_IZR.
  apply IZR_le in small. rewrite <- INR_IZR_INZ in small. pose proof (Rabs_pos a). nra.
Qed.

Lemma fewer_fit n n' : (n <= n')%nat -> INR n' * Rabs a <= greatest -> INR n * Rabs a <= greatest.
Proof. intros order. apply le_INR in order. pose proof (Rabs_pos a). nra. Qed.

Lemma difference_small w : (Z.abs (difference w) <= Z.of_nat (length w))%Z.
Proof. unfold difference. rewrite length_is_both_counts. lia. Qed.

Lemma kappa_small w : (kappa w <= length w)%nat.
Proof.
  induction w as [|x w IH] using rev_ind; [cbn; lia|]. rewrite kappa_snoc, app_length. cbn. destruct x; lia.
Qed.

Lemma exact_states w : (Z.of_nat (length w) * Z.abs s <= 2 ^ p)%Z -> INR (length w) * Rabs a <= greatest ->
  run (rounded round a (- a) 1) w = IZR (difference w) * a /\ run (fused round a (- a) 1) w = IZR (difference w) * a.
Proof.
  induction w as [|x w IH] using rev_ind; intros short finite; [cbn; split; ring|].
  pose proof (difference_small (w ++ [x])) as after. pose proof (difference_small w) as before.
  rewrite app_length in *. cbn [length] in *. pose proof (fewer_fit (length w) (length w + 1) ltac:(lia) finite) as finite'.
  destruct IH as [IH IH']; [nia | assumption|]. rewrite !run_snoc, IH, IH'.
  assert (difference (w ++ [x]) = match x with Open => difference w + 1 | Close => difference w - 1 end)%Z as next
    by (unfold difference; destruct x; autorewrite with snoc; lia).
  rewrite next in *.
  apply step_is_exact; [apply (multiple_fits _ (length w)) | apply (multiple_fits _ (length w + 1))]; assumption || nia.
Qed.

Lemma exact_kappa w : (0 < s)%Z -> (Z.of_nat (length w) * Z.abs s <= 2 ^ p)%Z -> INR (length w) * Rabs a <= greatest ->
  run (cut_off (rounded round a (- a) 1)) w = INR (kappa w) * a /\
  run (cut_off (fused round a (- a) 1)) w = INR (kappa w) * a.
Proof.
  intros positive. assert (0 < a) as a_positive.
  { apply Rmult_lt_0_compat; [now apply (IZR_lt 0) | apply powerRZ_lt; lra]. }
  induction w as [|x w IH] using rev_ind; intros short finite; [cbn; split; ring|].
  pose proof (kappa_small w) as before. rewrite app_length in short, finite. cbn [length] in short, finite.
  pose proof (fewer_fit (length w) (length w + 1) ltac:(lia) finite) as finite'.
  destruct IH as [IH IH']; [nia | assumption|]. rewrite !run_snoc, IH, IH', kappa_snoc. unfold cut_off.
  rewrite (INR_IZR_INZ (kappa w)). destruct (step_is_exact (Z.of_nat (kappa w)) x) as [-> ->].
  - apply (multiple_fits _ (length w + 1)); assumption || lia.
  - apply (multiple_fits _ (length w + 1)); assumption || (destruct x; lia).
  - destruct x.
    + rewrite S_INR, INR_IZR_INZ, plus_IZR. pose proof (IZR_le 0 (Z.of_nat (kappa w)) ltac:(lia)).
      rewrite !Rmax_right by nra. auto.
    + destruct (kappa w) as [|k]; [cbn; rewrite Rmax_left by lra; split; ring|].
      rewrite Nat2Z.inj_succ, <- Z.add_1_r. replace (Z.of_nat k + 1 - 1)%Z with (Z.of_nat k) by lia.
      rewrite <- INR_IZR_INZ. cbn [pred]. pose proof (pos_INR k). rewrite !Rmax_right by nra. auto.
Qed.

End Depth.

Theorem exact_depth : forall (round : R -> R) (p emin s e : Z) (greatest : R) (w : string),
  let a := IZR s * powerRZ 2 e in
  keeps_floats round p emin greatest -> (emin <= e)%Z ->
  (Z.of_nat (length w) * Z.abs s <= 2 ^ p)%Z -> INR (length w) * Rabs a <= greatest ->
  run (rounded round a (- a) 1) w = IZR (difference w) * a /\
  run (fused round a (- a) 1) w = IZR (difference w) * a.
Proof. intros. now apply (exact_states round p emin s e greatest). Qed.

(** A ReLU cell holds a times the count that never falls below zero. *)
Theorem exact_depth_relu : forall (round : R -> R) (p emin s e : Z) (greatest : R) (w : string),
  let a := IZR s * powerRZ 2 e in
  keeps_floats round p emin greatest -> (emin <= e)%Z -> (0 < s)%Z ->
  (Z.of_nat (length w) * Z.abs s <= 2 ^ p)%Z -> INR (length w) * Rabs a <= greatest ->
  run (cut_off (rounded round a (- a) 1)) w = INR (kappa w) * a /\
  run (cut_off (fused round a (- a) 1)) w = INR (kappa w) * a.
Proof. intros. now apply (exact_kappa round p emin s e greatest). Qed.

(** To that depth any readout whose classes are intervals, in whatever arithmetic, is right if it is at the counts next to zero. *)
Theorem exact_depth_decides :
  forall (class : Type) (readout : R -> class) (below zero above : class),
  classes_are_intervals readout -> all_asked_for below zero above ->
  forall (round : R -> R) (p emin s e : Z) (greatest : R) (horizon : nat),
  let a := IZR s * powerRZ 2 e in
  keeps_floats round p emin greatest -> (emin <= e)%Z ->
  (Z.of_nat horizon * Z.abs s <= 2 ^ p)%Z -> INR horizon * Rabs a <= greatest ->
  forall f, f = rounded round a (- a) 1 \/ f = fused round a (- a) 1 ->
  let right := is_right class f readout (by_sign below zero above) in
  ((forall w, w <> [] -> (length w <= 2)%nat -> right w) ->
   forall w, w <> [] -> (length w <= horizon)%nat -> right w) /\
  ((forall w, length w = 2%nat -> right w) ->
   forall w, w <> [] -> Nat.Even (length w) -> (length w <= horizon)%nat -> right w).
Proof.
  intros class readout below zero above intervals asked round p emin s e greatest horizon a keeps in_range deep finite
    f executed right.
  assert (forall w, (length w <= horizon)%nat -> run f w = IZR (difference w) * a) as states.
  { intros w short. destruct (exact_states round p emin s e greatest keeps in_range w) as [plain once]; [nia | |].
    { now apply (fewer_fit s e greatest (length w) horizon). }
    destruct executed as [-> | ->]; assumption. }
  assert (forall step, (forall i j, (i <= j)%Z -> IZR (step * i) * a <= IZR (step * j) * a) \/
                       (forall i j, (i <= j)%Z -> IZR (step * j) * a <= IZR (step * i) * a)) as one_way.
  { intros step. destruct (Rle_or_lt 0 (IZR step * a)); [left | right]; intros i j order; rewrite !mult_IZR;
      apply IZR_le in order; nra. }
  split.
  - intros short w not_empty small. destruct (Nat.le_gt_cases (length w) 2) as [two | longer]; [now apply short|].
    unfold right, is_right in *. rewrite states by assumption.
    rewrite <- (Z.mul_1_l (difference w)) at 1.
    apply (neighbours_of_zero_decide readout below zero above (fun j => IZR (1 * j) * a)); try assumption; [apply one_way| | |].
    + etransitivity; [|exact (short [Close] ltac:(discriminate) ltac:(cbn; lia))]. now rewrite states by (cbn; lia).
    + etransitivity; [|exact (short [Open; Close] ltac:(discriminate) ltac:(cbn; lia))]. now rewrite states by (cbn; lia).
    + etransitivity; [|exact (short [Open] ltac:(discriminate) ltac:(cbn; lia))]. now rewrite states by (cbn; lia).
  - intros short w not_empty [half even] small. destruct (Nat.le_gt_cases (length w) 2) as [two | longer].
    { apply short. destruct w; [contradiction|]. cbn [length] in *. lia. }
    unfold right, is_right in *. rewrite states by assumption.
    assert (difference w = 2 * (Z.of_nat (count Open w) - Z.of_nat half))%Z as doubled.
    { unfold difference. rewrite length_is_both_counts in even. lia. }
    rewrite doubled. transitivity (by_sign below zero above (Z.of_nat (count Open w) - Z.of_nat half)%Z);
      [|now destruct (_ - _)%Z].
    apply (neighbours_of_zero_decide readout below zero above (fun j => IZR (2 * j) * a)); try assumption; [apply one_way| | |].
    + etransitivity; [|exact (short [Close; Close] eq_refl)]. now rewrite states by (cbn; lia).
    + etransitivity; [|exact (short [Open; Close] eq_refl)]. now rewrite states by (cbn; lia).
    + etransitivity; [|exact (short [Open; Open] eq_refl)]. now rewrite states by (cbn; lia).
Qed.
