(** For a linear cell with U > 0 and a > b the extremes are the two sorted strings, (ⁿ)ᵐ and )ᵐ(ⁿ. *)

From Tallystick Require Import Brackets Extremes.

Definition opens_first (n m : nat) : string := repeat Open n ++ repeat Close m.
Definition closes_first (n m : nat) : string := repeat Close m ++ repeat Open n.

(** Their states in closed form, with S_k = 1 + U + ... + U^(k-1). *)
Theorem closed_form : forall (a b U : R) (n m : nat),
  run (linear a b U) (closes_first n m) = a * power_sum U n + b * U ^ n * power_sum U m /\
  run (linear a b U) (opens_first n m) = b * power_sum U m + a * U ^ m * power_sum U n.
Proof. intros. unfold opens_first, closes_first. rewrite !run_blocks. split; ring. Qed.

Section Sorted.

Variables a b U : R.
Local Notation h := (run (linear a b U)).

(** Each order takes its own last token for nothing; the other token at the end costs a power of U. *)
Lemma open_after_closes_first n m : U * h (closes_first n m) + a = h (closes_first (S n) m).
Proof. destruct (closed_form a b U n m) as [-> _], (closed_form a b U (S n) m) as [-> _]. cbn. ring. Qed.

Lemma close_after_opens_first n m : U * h (opens_first n m) + b = h (opens_first n (S m)).
Proof. destruct (closed_form a b U n m) as [_ ->], (closed_form a b U n (S m)) as [_ ->]. cbn. ring. Qed.

Lemma close_after_closes_first n m :
  U * h (closes_first n m) + b = h (closes_first n (S m)) + (a - b) * (U ^ n - 1).
Proof.
  destruct (closed_form a b U n m) as [-> _], (closed_form a b U n (S m)) as [-> _].
  rewrite <- (power_sum_times U n). cbn [power_sum].
  replace (U ^ n) with ((U - 1) * power_sum U n + 1) by (rewrite power_sum_times; ring). ring.
Qed.

Lemma open_after_opens_first n m :
  U * h (opens_first n m) + a = h (opens_first (S n) m) - (a - b) * (U ^ m - 1).
Proof.
  destruct (closed_form a b U n m) as [_ ->], (closed_form a b U (S n) m) as [_ ->].
  rewrite <- (power_sum_times U m). cbn [power_sum].
  replace (U ^ m) with ((U - 1) * power_sum U m + 1) by (rewrite power_sum_times; ring). ring.
Qed.

Hypothesis U_positive : 0 < U.
Hypothesis open_above_close : b < a.

Lemma below_one_between s : U <= 1 ->
  h (opens_first (count Open s) (count Close s)) <= h s <= h (closes_first (count Open s) (count Close s)).
Proof.
  intros at_most_one. assert (forall k, U ^ k <= 1) as powers by (intros k; rewrite <- (pow1 k); apply pow_incr; lra).
  induction s as [|x s IH] using rev_ind; [split; apply Rle_refl|].
  destruct x; autorewrite with snoc.
  - change (linear a b U Open (h s)) with (U * h s + a).
    rewrite <- open_after_closes_first. pose proof (open_after_opens_first (count Open s) (count Close s)).
    pose proof (powers (count Close s)). nra.
  - change (linear a b U Close (h s)) with (U * h s + b).
    rewrite <- close_after_opens_first. pose proof (close_after_closes_first (count Open s) (count Close s)).
    pose proof (powers (count Open s)). nra.
Qed.

Lemma above_one_between s : 1 <= U ->
  h (closes_first (count Open s) (count Close s)) <= h s <= h (opens_first (count Open s) (count Close s)).
Proof.
  intros at_least_one. pose proof (fun k => pow_R1_Rle U k at_least_one) as powers.
  induction s as [|x s IH] using rev_ind; [split; apply Rle_refl|].
  destruct x; autorewrite with snoc.
  - change (linear a b U Open (h s)) with (U * h s + a).
    rewrite <- open_after_closes_first. pose proof (open_after_opens_first (count Open s) (count Close s)).
    pose proof (powers (count Close s)). nra.
  - change (linear a b U Close (h s)) with (U * h s + b).
    rewrite <- close_after_opens_first. pose proof (close_after_closes_first (count Open s) (count Close s)).
    pose proof (powers (count Open s)). nra.
Qed.

Lemma opens_first_is_reached n m : reached (linear a b U) n m (h (opens_first n m)).
Proof. exists (opens_first n m). destruct (count_blocks Open Close n m); [discriminate | auto]. Qed.

Lemma closes_first_is_reached n m : reached (linear a b U) n m (h (closes_first n m)).
Proof. exists (closes_first n m). destruct (count_blocks Close Open m n); [discriminate | auto]. Qed.

End Sorted.

(** U = 1 belongs to both: there the two strings end in the same state. *)
Theorem sorted_strings_are_extreme : forall a b U : R, 0 < U -> b < a -> forall n m,
  (U <= 1 ->
    is_greatest (reached (linear a b U) n m) (run (linear a b U) (closes_first n m)) /\
    is_least (reached (linear a b U) n m) (run (linear a b U) (opens_first n m))) /\
  (1 <= U ->
    is_greatest (reached (linear a b U) n m) (run (linear a b U) (opens_first n m)) /\
    is_least (reached (linear a b U) n m) (run (linear a b U) (closes_first n m))).
Proof.
  intros a b U positive above n m.
  repeat split; auto using opens_first_is_reached, closes_first_is_reached; intros h (s & <- & <- & <-);
    (now apply below_one_between) || (now apply above_one_between).
Qed.
