(** Theorem 1 of the paper (Linear RNN Counting Indicators), along the paper's own proof: the six cases of its Table 1,
    their combination, and the induction of its Part 2. *)

From Tallystick Require Import Brackets.

Section Necessary.

Variables a b U : R.
Hypothesis accepts : accepts_exactly (linear a b U) BB.

(** What a string gives is computed by running the cell on it; whether it is balanced, by counting. *)
Local Ltac read s := pose proof (accepts s) as [only_if if_balanced]; cbv in only_if, if_balanced.

Lemma case_1 : a <> 0.
Proof. intros zero. read [Open]. enough (1 = 0)%nat by lia. apply only_if. lra. Qed.

Lemma case_2 : b <> 0.
Proof. intros zero. read [Close]. enough (0 = 1)%nat by lia. apply only_if. lra. Qed.

Lemma case_3 : b = - U * a /\ U <> 0.
Proof.
  read [Open; Close]. specialize (if_balanced eq_refl). split; [lra|].
  intros zero. apply case_2. subst U. lra.
Qed.

Lemma case_4 : U <> -1.
Proof. intros minus_one. read [Open; Open]. enough (2 = 0)%nat by lia. apply only_if. subst U. lra. Qed.

Lemma case_5 : b + U * b + U ^ 2 * a + U ^ 3 * a = 0.
Proof. read [Open; Open; Close; Close]. specialize (if_balanced eq_refl). lra. Qed.

Lemma case_6 : b + U * a + U ^ 2 * b + U ^ 3 * a = 0.
Proof. read [Open; Close; Open; Close]. specialize (if_balanced eq_refl). lra. Qed.

(** Cases 5 and 6 are equal; less b + U^3 a, and divided by U. *)
Lemma cases_5_and_6_combined : b - a = U * (b - a).
Proof.
  destruct case_3 as [_ not_zero]. pose proof case_5. pose proof case_6.
  apply (Rmult_eq_reg_l U); [lra | assumption].
Qed.

(** The two situations: U = 1, or a = b, which leads to U = -1 against case 4. *)
Lemma part_1 : b <> 0 /\ a / b = -1 /\ U = 1.
Proof.
  pose proof case_1 as a_not_zero. pose proof case_2 as b_not_zero. destruct case_3 as [undoes _].
  assert ((U - 1) * (b - a) = 0) as product by (pose proof cases_5_and_6_combined; lra).
  apply Rmult_integral in product as [one | equal].
  - assert (U = 1) as -> by lra. repeat split; [assumption|]. assert (a = - b) as -> by lra. now field.
  - exfalso. apply case_4, (Rmult_eq_reg_r a); [lra | assumption].
Qed.

End Necessary.

(** The paper's induction hypothesis: after n opening and m closing brackets h = (n - m) a. The paper starts at length 1;
    here the empty string, for which it holds as well, is the start. *)
Lemma part_2 a s : run (linear a (- a) 1) s = (INR (count Open s) - INR (count Close s)) * a.
Proof.
  induction s as [|x s IH] using rev_ind; [change (0 = (0 - 0) * a); ring|].
  destruct x; autorewrite with snoc; rewrite IH, S_INR; unfold linear; ring.
Qed.

Lemma exact_counter_accepts_BB a : a <> 0 -> accepts_exactly (linear a (- a) 1) BB.
Proof.
  intros not_zero s. unfold right_on, BB. rewrite part_2. split.
  - intros product. apply Rmult_integral in product as [equal | zero]; [|contradiction].
    apply INR_eq. lra.
  - intros equal. rewrite equal. ring.
Qed.

(** Theorem 1. That b is not 0 is said in so many words: without it the paper's a/b would mean nothing. *)
Theorem theorem_1 : forall a b U : R,
  accepts_exactly (linear a b U) BB <-> b <> 0 /\ a / b = -1 /\ U = 1.
Proof.
  intros a b U. split; [apply part_1|].
  intros (not_zero & ratio & ->).
  assert (a = - b) as -> by (apply (Rmult_eq_compat_r b) in ratio; field_simplify in ratio; lra).
  replace b with (- - b) at 2 by ring. apply exact_counter_accepts_BB. lra.
Qed.

(** Definition 3: the Linear Recurrent Network h' = W x + U h + W_b, with x one-hot. *)
Definition one_hot (x : token) : R * R := match x with Open => (1, 0) | Close => (0, 1) end.

Definition network (W_open W_close U W_b : R) : cell :=
  fun x h => W_open * fst (one_hot x) + W_close * snd (one_hot x) + U * h + W_b.

(** Theorem 1 in the network's own weights: a = W_open + W_b and b = W_close + W_b. *)
Theorem theorem_1_network : forall W_open W_close U W_b : R,
  accepts_exactly (network W_open W_close U W_b) BB
  <-> W_close + W_b <> 0 /\ (W_open + W_b) / (W_close + W_b) = -1 /\ U = 1.
Proof.
  intros. rewrite <- theorem_1. apply accepts_exactly_ext.
  intros [] h; cbv [network linear one_hot fst snd]; ring.
Qed.
