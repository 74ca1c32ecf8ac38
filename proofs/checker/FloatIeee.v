(** What [Floats] defines is floating point as IEEE 754 has it: the state after a string, that of a ReLU too, and comparisons of outputs. *)

From Flocq Require Import Core.Core IEEE754.BinarySingleNaN.
From Tallystick.checker Require Import Floats FloatFlocq FloatOperations.
From Coq Require Import Reals Qreals Lra.
Open Scope R_scope.

Section Network.

Variable n : float_network.
Hypothesis loaded : loads n = true.

Local Notation rnd := (flocq_round (form n)).

Lemma loaded_weights x : is_finite (form n) (weight_of n x) = true /\ is_finite (form n) (step_of n x) = true.
Proof.
  revert loaded. unfold loads. rewrite forallb_forall. intros all. unfold weight_of, step_of.
  destruct x; split; apply all; cbn; tauto.
Qed.

(** ** Weights and steps as they are loaded *)

Definition flocq_weight (x : token) : R := rnd (Q2R match x with Open => fst (weights (cell n)) | Close => snd (weights (cell n)) end).
Definition flocq_term (x : token) : R := rnd (Q2R match x with Open => fst (steps (cell n)) | Close => snd (steps (cell n)) end).

Lemma float_after_cases state x h : float_after n state x = Some h ->
  exists before, state = Some before /\ h = float_step n x before /\ is_finite (form n) h = true.
Proof.
  destruct state as [before|]; [|discriminate]. cbn [float_after]. cbv zeta.
  destruct (is_finite (form n) (float_step n x before)) eqn:finite; [|discriminate]. intros [= <-]. now exists before.
Qed.

End Network.

Section Binary.

Variables prec emax : Z.
Context (prec_positive : Prec_gt_0 prec) (prec_below : Prec_lt_emax prec emax).

Variable n : float_network.
Hypothesis same_format : form n = Format prec (emax + prec - 3) emax.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.

Local Notation float := (binary_float prec emax).
Local Notation stands_for := (stands_for prec emax n).

Variables weight_float term_float : token -> float.
Hypothesis weights_loaded : forall x, BinarySingleNaN.is_finite (weight_float x) = true /\ B2R (weight_float x) = flocq_weight n x.
Hypothesis terms_loaded : forall x, BinarySingleNaN.is_finite (term_float x) = true /\ B2R (term_float x) = flocq_term n x.

Definition ieee_step (h : float) (x : token) : float :=
  let sum := ieee_multiply_add prec emax prec_positive prec_below n (weight_float x) h (term_float x) in
  if relu (cell n) then ieee_relu prec emax sum else sum.

Lemma run_is_ieee s h : float_state n s = Some h ->
  BinarySingleNaN.is_finite (fold_left ieee_step s (B754_zero false)) = true /\
  B2R (fold_left ieee_step s (B754_zero false)) = real (form n) h.
Proof.
  revert h. induction s as [|x s IH] using rev_ind; intros h.
  - intros [= <-]. unfold real. now rewrite Rmult_0_l.
  - rewrite float_state_snoc, fold_left_app. intros after.
    apply float_after_cases in after as (before & state & -> & finite). destruct (IH before state) as [finite_before value_before].
    set (b := fold_left ieee_step s (B754_zero false)) in *. cbn [fold_left].
    destruct (weights_loaded x) as [weight_finite weight_value]. destruct (terms_loaded x) as [term_finite term_value].
    destruct (loaded_weights n loaded x) as [finite_weight finite_term].
    unfold flocq_weight in weight_value. unfold flocq_term in term_value.
    rewrite <- (weight_is_flocqs n fine _ finite_weight) in weight_value. rewrite <- (weight_is_flocqs n fine _ finite_term) in term_value.
    pose proof (operation_is_ieee prec emax prec_positive prec_below n same_format fine _ b _ (weight_of n x) before (step_of n x) weight_finite weight_value finite_before value_before
      term_finite term_value finite_term) as sum.
    assert (stands_for (ieee_step b x) (float_step n x before)) as next.
    { unfold ieee_step, float_step. destruct (relu (cell n)); [now apply relu_is_ieee | exact sum]. }
    pose proof (end_positive (form n) fine) as positive.
    destruct next as [(_ & found) | [[far _] | [far _]]]; [exact found | |];
      rewrite far in finite; unfold is_finite, infinity in finite; lia.
Qed.

End Binary.

(** What [Floats] computes for a cell is Flocq's run of it: the multiplications and additions of IEEE 754 in the binary format, and for a
    ReLU its comparison with 0. The result is finite and has this value. *)
Theorem floats_are_ieee : forall (prec emax : Z) (prec_positive : Prec_gt_0 prec) (prec_below : Prec_lt_emax prec emax)
  (n : float_network) (weight_float term_float : token -> binary_float prec emax),
  form n = Format prec (emax + prec - 3) emax -> is_format (form n) = true -> loads n = true ->
  (forall x, BinarySingleNaN.is_finite (weight_float x) = true /\ B2R (weight_float x) = flocq_weight n x) ->
  (forall x, BinarySingleNaN.is_finite (term_float x) = true /\ B2R (term_float x) = flocq_term n x) ->
  forall s h, float_state n s = Some h ->
  let float := fold_left (ieee_step prec emax prec_positive prec_below n weight_float term_float) s (B754_zero false) in
  BinarySingleNaN.is_finite float = true /\ B2R float = real (form n) h.
Proof. intros. now apply run_is_ieee. Qed.

(** Outputs of a finite state, which may overflow: comparing two of them is the comparison of IEEE 754. *)
Theorem outputs_are_ieee : forall (prec emax : Z) (prec_positive : Prec_gt_0 prec) (prec_below : Prec_lt_emax prec emax)
  (n : float_network) (h v c w d : Z) (H V C W D : binary_float prec emax),
  form n = Format prec (emax + prec - 3) emax -> is_format (form n) = true ->
  Forall (fun loaded => is_finite (form n) (snd loaded) = true /\ BinarySingleNaN.is_finite (fst loaded) = true /\
    B2R (fst loaded) = real (form n) (snd loaded)) [(H, h); (V, v); (C, c); (W, w); (D, d)] ->
  let executed := ieee_multiply_add prec emax prec_positive prec_below n in
  Bcompare (executed V H C) (executed W H D) = Some (multiply_add n v h c ?= multiply_add n w h d)%Z.
Proof.
  intros prec emax prec_positive prec_below n h v c w d H V C W D same_format fine all executed.
  rewrite !Forall_cons_iff in all. cbn [fst snd] in all.
  apply (compares_as_ieee prec emax n fine); apply operation_is_ieee; tauto.
Qed.

(** The four formats are such formats. *)
Theorem formats_are_flocqs :
  float16 = Format 11 (16 + 11 - 3) 16 /\ bfloat16 = Format 8 (128 + 8 - 3) 128 /\
  float32 = Format 24 (128 + 24 - 3) 128 /\ float64 = Format 53 (1024 + 53 - 3) 1024.
Proof. repeat split. Qed.
