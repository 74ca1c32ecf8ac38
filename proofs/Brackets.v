(** What all the theorems speak about: brackets, strings, counts, cells and what a cell accepts. *)

From Coq Require Export Reals List Lia Lra.
Export ListNotations.
Open Scope R_scope.

(** * Strings (the paper, section 3: the alphabet is `(` and `)`) *)

Inductive token := Open | Close.

Definition token_eq_dec (x y : token) : {x = y} + {x <> y}.
Proof. decide equality. Defined.

Definition string := list token.

Definition count (x : token) (s : string) : nat := count_occ token_eq_dec s x.

(** Definition 1: the Balanced Bracket Language. The order of the brackets does not matter. *)
Definition BB (s : string) : Prop := count Open s = count Close s.

(** * Cells *)

(** A cell is one map of the state h for each token. It starts at h = 0 and reads the string from left to right. *)
Definition cell := token -> R -> R.

Definition run_from (f : cell) (h : R) (s : string) : R := fold_left (fun h x => f x h) s h.
Definition run (f : cell) (s : string) : R := run_from f 0 s.

(** The linear cell, h' = U h + c(x), where c(x) is a for `(` and b for `)`. *)
Definition linear (a b U : R) : cell :=
  fun x h => U * h + match x with Open => a | Close => b end.

(** A string is accepted if h = 0 at its end. A cell is right on a string if it accepts it just when it is in the
    language, and accepts exactly the language if it is right on every string. *)
Definition right_on (f : cell) (L : string -> Prop) (s : string) : Prop := run f s = 0 <-> L s.
Definition accepts_exactly (f : cell) (L : string -> Prop) : Prop := forall s, right_on f L s.

(** * One token more: every induction over the length of a string goes from s to s followed by x *)

Lemma run_snoc f s x : run f (s ++ [x]) = f x (run f s).
Proof. apply fold_left_app. Qed.

Lemma run_from_app f h s t : run_from f h (s ++ t) = run_from f (run_from f h s) t.
Proof. apply fold_left_app. Qed.

Lemma run_app f s t : run f (s ++ t) = run_from f (run f s) t.
Proof. apply run_from_app. Qed.

Lemma run_ext f g : (forall x h, f x h = g x h) -> forall s, run f s = run g s.
Proof.
  intros same s. induction s as [|x s IH] using rev_ind; [reflexivity|].
  now rewrite !run_snoc, IH, same.
Qed.

Lemma accepts_exactly_ext f g L : (forall x h, f x h = g x h) -> accepts_exactly f L <-> accepts_exactly g L.
Proof.
  intros same. unfold accepts_exactly, right_on. now setoid_rewrite (run_ext f g same).
Qed.

Lemma count_app x s t : count x (s ++ t) = (count x s + count x t)%nat.
Proof. apply count_occ_app. Qed.

Lemma count_snoc x y s : count y (s ++ [x]) = if token_eq_dec x y then S (count y s) else count y s.
Proof. rewrite count_app. destruct x, y; cbn; lia. Qed.

Lemma open_after_open s : count Open (s ++ [Open]) = S (count Open s).
Proof. apply count_snoc. Qed.

Lemma open_after_close s : count Open (s ++ [Close]) = count Open s.
Proof. apply count_snoc. Qed.

Lemma close_after_open s : count Close (s ++ [Open]) = count Close s.
Proof. apply count_snoc. Qed.

Lemma close_after_close s : count Close (s ++ [Close]) = S (count Close s).
Proof. apply count_snoc. Qed.

(** [autorewrite with snoc] works out what one more token does to the state and to the counts. *)
Global Hint Rewrite run_snoc open_after_open open_after_close close_after_open close_after_close : snoc.

Lemma length_is_both_counts s : length s = (count Open s + count Close s)%nat.
Proof.
  unfold count. induction s as [|x s IH]; [reflexivity|]. destruct x; cbn; lia.
Qed.

(** * Blocks of one token: (ᵏ and )ᵏ *)

Lemma repeat_snoc (x : token) k : repeat x (S k) = repeat x k ++ [x].
Proof. apply repeat_cons. Qed.

Lemma count_same x k : count x (repeat x k) = k.
Proof. now apply count_occ_repeat_eq. Qed.

Lemma count_other x y k : x <> y -> count y (repeat x k) = 0%nat.
Proof. intros differ. apply count_occ_repeat_neq; congruence. Qed.

Lemma count_blocks x y n m :
  x <> y -> count x (repeat x n ++ repeat y m) = n /\ count y (repeat x n ++ repeat y m) = m.
Proof.
  intros differ. rewrite !count_app, !count_same, !count_other by congruence. lia.
Qed.

(** The sum 1 + U + ... + U^(k-1), which is the state of a linear cell with step 1 after k times the same token. *)
Fixpoint power_sum (U : R) (k : nat) : R :=
  match k with
  | O => 0
  | S k => U * power_sum U k + 1
  end.

Lemma power_sum_last U k : power_sum U (S k) = power_sum U k + U ^ k.
Proof.
  induction k as [|k IH]; [cbn; ring|].
  transitivity (U * (power_sum U k + U ^ k) + 1); [now rewrite <- IH | cbn; ring].
Qed.

(** The geometric series, without the division. *)
Lemma power_sum_times U k : (U - 1) * power_sum U k = U ^ k - 1.
Proof.
  induction k as [|k IH]; cbn [power_sum pow]; [ring|].
  replace (U ^ k) with ((U - 1) * power_sum U k + 1) by lra. ring.
Qed.

Lemma power_sum_of_one k : power_sum 1 k = INR k.
Proof.
  induction k as [|k IH]; [reflexivity|]. rewrite S_INR. cbn [power_sum]. lra.
Qed.

Lemma power_sum_at_least_one U k : 0 <= U -> 1 <= power_sum U (S k).
Proof.
  intros nonneg. induction k as [|k IH]; cbn [power_sum] in *; nra.
Qed.

Lemma power_sum_nonneg U k : 0 <= U -> 0 <= power_sum U k.
Proof.
  intros nonneg. destruct k as [|k]; [cbn; lra|]. pose proof (power_sum_at_least_one U k nonneg). lra.
Qed.

Lemma power_sum_grows U k : 1 <= U -> INR k <= power_sum U k.
Proof.
  intros at_least_one. induction k as [|k IH]; [cbn; lra|].
  rewrite S_INR. cbn [power_sum]. pose proof (pos_INR k). nra.
Qed.

Lemma run_from_block a b U x h k :
  run_from (linear a b U) h (repeat x k) = U ^ k * h + match x with Open => a | Close => b end * power_sum U k.
Proof.
  revert h. induction k as [|k IH]; intros h; [cbn; ring|].
  change (run_from (linear a b U) h (repeat x (S k))) with (run_from (linear a b U) (linear a b U x h) (repeat x k)).
  rewrite IH, power_sum_last. unfold linear. cbn [pow]. ring.
Qed.

(** The state after two blocks: (ⁿ)ᵐ or )ⁿ(ᵐ. *)
Lemma run_blocks a b U x y n m :
  run (linear a b U) (repeat x n ++ repeat y m)
  = U ^ m * (match x with Open => a | Close => b end * power_sum U n)
    + match y with Open => a | Close => b end * power_sum U m.
Proof. unfold run. rewrite run_from_app, !run_from_block. ring. Qed.

(** Archimedes: however small the step, enough of them pass any bound. *)
Lemma archimedes bound step : 0 < step -> exists k, bound < INR k * step.
Proof.
  intros positive. destruct (archimed (Rmax 0 (bound / step))) as [above _].
  pose proof (Rmax_l 0 (bound / step)). pose proof (Rmax_r 0 (bound / step)).
  exists (Z.to_nat (up (Rmax 0 (bound / step)))).
  rewrite INR_IZR_INZ, Z2Nat.id by (apply le_IZR; lra).
  replace bound with (bound / step * step) at 1 by (field; lra). apply Rmult_lt_compat_r; lra.
Qed.
