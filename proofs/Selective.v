(** Theorem 2: a cell whose recurrent weight depends on the token counts just when its closing map undoes its opening
    map and 0 never returns under the opening map alone. Theorem 1 is the case of equal weights. *)

From Tallystick Require Import Brackets Theorem1.

Definition selective (a b P Q : R) : cell :=
  fun x h => match x with Open => P * h + a | Close => Q * h + b end.

(** * The sums 1 + P + ... + P^(k-1), which are never 0 *)

(** For P < -1 the sums jump over 0, to and fro. *)
Lemma power_sums_jump P k : P < -1 -> 1 <= power_sum P (S k) \/ power_sum P (S k) <= 1 + P.
Proof.
  intros below. induction k as [|k [high | low]]; cbn [power_sum] in *; [left; lra | right; nra | left; nra].
Qed.

(** For -1 < P < 0 they stay above 0 and never pass 1. *)
Lemma power_sums_between P k : -1 < P < 0 -> 0 < power_sum P (S k) <= 1.
Proof. intros between. induction k as [|k IH]; cbn [power_sum] in *; nra. Qed.

Lemma power_sum_not_zero P k : P <> -1 -> power_sum P (S k) <> 0.
Proof.
  intros not_minus_one. destruct (Rlt_or_le P (-1)); [|destruct (Rlt_or_le P 0)].
  - destruct (power_sums_jump P k); lra.
  - assert (-1 < P < 0) as between by lra. pose proof (power_sums_between P k between). lra.
  - pose proof (power_sum_at_least_one P k). lra.
Qed.

Lemma power_sum_plus P n k : power_sum P (n + k) = power_sum P n + P ^ n * power_sum P k.
Proof. induction n as [|n IH]; cbn [power_sum pow plus]; [|rewrite IH]; ring. Qed.

(** So different numbers of terms have different sums. *)
Lemma power_sum_injective P n m : P <> 0 -> P <> -1 -> power_sum P n = power_sum P m -> n = m.
Proof.
  intros not_zero not_minus_one.
  assert (forall i k, power_sum P i <> power_sum P (i + S k)) as distinct.
  { intros i k equal. rewrite power_sum_plus in equal.
    apply (Rmult_integral_contrapositive (P ^ i) (power_sum P (S k))); [|lra].
    split; [now apply pow_nonzero | now apply power_sum_not_zero]. }
  intros equal. destruct (Nat.lt_total n m) as [less | [same | more]]; [exfalso | exact same | exfalso].
  - apply (distinct n (m - n - 1)%nat). now replace (n + S (m - n - 1))%nat with m by lia.
  - apply (distinct m (n - m - 1)%nat). now replace (m + S (n - m - 1))%nat with n by lia.
Qed.

(** * Sufficient *)

(** h depends on the numbers of brackets alone. The equation is free of divisions and of negative powers. *)
Lemma state_of_counts a b P Q s : P * Q = 1 -> b = - Q * a ->
  P ^ count Close s * run (selective a b P Q) s
  = a * (power_sum P (count Open s) - power_sum P (count Close s)).
Proof.
  intros inverse undoes. induction s as [|x s IH] using rev_ind; [change (1 * 0 = a * (0 - 0)); ring|].
  destruct x; autorewrite with snoc; cbn [selective].
  - rewrite Rmult_plus_distr_l, <- Rmult_assoc, (Rmult_comm _ P), Rmult_assoc, IH.
    pose proof (power_sum_last P (count Close s)) as last. cbn [power_sum] in *.
    replace (P ^ count Close s) with (P * power_sum P (count Close s) + 1 - power_sum P (count Close s)) by lra. ring.
  - rewrite power_sum_last, undoes. cbn [pow].
    transitivity (P * Q * (P ^ count Close s * run (selective a b P Q) s - P ^ count Close s * a)).
    + rewrite undoes. ring.
    + rewrite IH, inverse. ring.
Qed.

Lemma inverse_maps_accept_BB a b P Q :
  P * Q = 1 -> b = - Q * a -> a <> 0 -> P <> -1 -> accepts_exactly (selective a b P Q) BB.
Proof.
  intros inverse undoes a_not_zero not_minus_one s. pose proof (state_of_counts a b P Q s inverse undoes) as state.
  assert (P <> 0) as P_not_zero by nra. pose proof (pow_nonzero P (count Close s) P_not_zero) as power_not_zero.
  unfold right_on, BB. split; intros zero.
  - apply (power_sum_injective P); try assumption. rewrite zero, Rmult_0_r in state.
    symmetry in state. apply Rmult_integral in state as [|difference]; [contradiction | lra].
  - rewrite zero, Rminus_diag_eq, Rmult_0_r in state by reflexivity.
    apply Rmult_integral in state as [|]; [contradiction | assumption].
Qed.

(** * Necessary: the strings of length 2 say it all *)

Lemma length_two_gives_the_conditions a b P Q :
  (forall s, length s = 2%nat -> right_on (selective a b P Q) BB s) ->
  P * Q = 1 /\ b = - Q * a /\ a <> 0 /\ P <> -1.
Proof.
  intros right.
  destruct (right [Open; Open] eq_refl) as [both_open _]. destruct (right [Open; Close] eq_refl) as [_ open_close].
  destruct (right [Close; Open] eq_refl) as [_ close_open].
  cbv in both_open, open_close, close_open. specialize (open_close eq_refl). specialize (close_open eq_refl).
  assert ((P + 1) * a <> 0) as not_zero by (intros zero; enough (2 = 0)%nat by lia; apply both_open; lra).
  assert (a <> 0) as a_not_zero by nra. repeat split; [|lra | assumption | intros ->; lra].
  apply (Rmult_eq_reg_r a); [nra | assumption].
Qed.

Theorem selective_cells : forall a b P Q : R,
  accepts_exactly (selective a b P Q) BB <-> P * Q = 1 /\ b = - Q * a /\ a <> 0 /\ P <> -1.
Proof.
  intros a b P Q. split.
  - intros accepts. pose proof (length_two_gives_the_conditions a b P Q (fun s _ => accepts s)). tauto.
  - intros conditions. apply inverse_maps_accept_BB; tauto.
Qed.

(** Again the strings of length at most 2 decide. *)
Theorem selective_short_strings_decide : forall a b P Q : R,
  (forall s, (length s <= 2)%nat -> right_on (selective a b P Q) BB s) -> accepts_exactly (selective a b P Q) BB.
Proof.
  intros a b P Q right. apply selective_cells, length_two_gives_the_conditions. intros s two. apply right. lia.
Qed.

(** A gate confined to (0, 1), as in most gated models, can never count exactly. *)
Theorem gates_below_one_never_count : forall a b P Q : R,
  0 < P < 1 -> 0 < Q < 1 -> ~ accepts_exactly (selective a b P Q) BB.
Proof. intros a b P Q gate_P gate_Q accepts. apply selective_cells in accepts. nra. Qed.

(** Theorem 1 once more, from Theorem 2 with P = Q = U. *)
Theorem theorem_1_from_selective : forall a b U : R,
  accepts_exactly (linear a b U) BB <-> b <> 0 /\ a / b = -1 /\ U = 1.
Proof.
  intros a b U. rewrite (accepts_exactly_ext _ (selective a b U U)) by now intros [].
  rewrite selective_cells. split.
  - intros (square & undoes & a_not_zero & not_minus_one).
    assert (U = 1) as -> by nra. assert (b = - a) as -> by lra. repeat split; [lra | now field].
  - intros (b_not_zero & ratio & ->).
    assert (a = - b) by (apply (Rmult_eq_compat_r b) in ratio; field_simplify in ratio; lra).
    repeat split; lra.
Qed.
