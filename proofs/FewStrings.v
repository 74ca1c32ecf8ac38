(** The verdict on a length of a linear cell with U > 0 by a few sorted strings, and on all lengths between two at once. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Extremes Verdict SortedStrings ExactCounters.

(** * Between the sorted strings of the two ends of a range *)

(** The sorted strings of T tokens of which n open. *)
Definition sorted_strings (T n : nat) : list string := [opens_first n (T - n); closes_first n (T - n)].

Section Range.

Variables a b U : R.
Hypothesis positive : 0 < U.
Local Notation h := (run (linear a b U)).

Lemma run_from_linear g s t : run_from (linear a b U) g s - run_from (linear a b U) t s = U ^ length s * (g - t).
Proof.
  revert g t. induction s as [|x s IH]; intros g t; [cbn; ring|].
  change (run_from (linear a b U) g (x :: s)) with (run_from (linear a b U) (linear a b U x g) s).
  change (run_from (linear a b U) t (x :: s)) with (run_from (linear a b U) (linear a b U x t) s).
  rewrite IH. unfold linear. cbn [length pow]. ring.
Qed.

(** A `(` in the place of a `)` moves h towards a. *)
Lemma exchange s t : b <= a -> h (s ++ Close :: t) <= h (s ++ Open :: t).
Proof.
  intros order. rewrite !run_app. change (run_from ?f ?g (?x :: t)) with (run_from f (f x g) t).
  pose proof (run_from_linear (linear a b U Open (h s)) t (linear a b U Close (h s))) as moved.
  assert (linear a b U Open (h s) - linear a b U Close (h s) = a - b) as step by (unfold linear; ring).
  rewrite step in moved. assert (0 < U ^ length t) by now apply pow_lt. nra.
Qed.

Lemma some_close s : (count Open s < length s)%nat -> exists t t', s = t ++ Close :: t'.
Proof.
  intros some. apply in_split. rewrite length_is_both_counts in some. apply (count_occ_In token_eq_dec). unfold count in some. lia.
Qed.

Lemma some_open s : (0 < count Open s)%nat -> exists t t', s = t ++ Open :: t'.
Proof. intros some. apply in_split. now apply (count_occ_In token_eq_dec). Qed.

Lemma counts_exchanged t t' : count Open (t ++ Open :: t') = S (count Open (t ++ Close :: t')) /\
  length (t ++ Open :: t') = length (t ++ Close :: t').
Proof. rewrite !count_app, !app_length. cbn. unfold count. lia. Qed.

Lemma raised k : forall s, b <= a -> (count Open s + k <= length s)%nat ->
  exists t, length t = length s /\ count Open t = (count Open s + k)%nat /\ h s <= h t.
Proof.
  induction k as [|k IH]; intros s order small; [exists s; repeat split; lia || lra|].
  destruct (some_close s) as (t & t' & ->); [lia|]. destruct (counts_exchanged t t') as [counts sizes].
  destruct (IH (t ++ Open :: t') order) as (r & size & count & above); [lia|].
  exists r. pose proof (exchange t t' order). repeat split; lia || lra.
Qed.

Lemma lowered k : forall s, b <= a -> (k <= count Open s)%nat ->
  exists t, length t = length s /\ (count Open t + k = count Open s)%nat /\ h t <= h s.
Proof.
  induction k as [|k IH]; intros s order small; [exists s; repeat split; lia || lra|].
  destruct (some_open s) as (t & t' & ->); [lia|]. destruct (counts_exchanged t t') as [counts sizes].
  destruct (IH (t ++ Close :: t') order) as (r & size & count & below); [lia|].
  exists r. pose proof (exchange t t' order). repeat split; lia || lra.
Qed.

(** Some sorted string is at least as high, and some at most. *)
Lemma within_sorted s : b < a ->
  (exists t, In t (sorted_strings (length s) (count Open s)) /\ h s <= h t) /\
  (exists t, In t (sorted_strings (length s) (count Open s)) /\ h t <= h s).
Proof.
  intros order. unfold sorted_strings. replace (length s - count Open s)%nat with (count Close s) by (rewrite length_is_both_counts; lia).
  destruct (Rle_or_lt U 1).
  - destruct (below_one_between a b U positive order s); [assumption|].
    split; [exists (closes_first (count Open s) (count Close s)) | exists (opens_first (count Open s) (count Close s))];
      cbn; auto.
  - destruct (above_one_between a b U order s); [lra|].
    split; [exists (opens_first (count Open s) (count Close s)) | exists (closes_first (count Open s) (count Close s))];
      cbn; auto.
Qed.

Lemma range_rising {class} (readout : R -> class) c T first last : b <= a -> classes_are_intervals readout ->
  (first <= last <= T)%nat ->
  (forall s, In s (sorted_strings T first ++ sorted_strings T last) -> readout (h s) = c) ->
  forall s, length s = T -> (first <= count Open s <= last)%nat -> readout (h s) = c.
Proof.
  intros order intervals range right s size inside.
  assert (exists s1 s2, In s1 (sorted_strings T first) /\ In s2 (sorted_strings T last) /\ h s1 <= h s <= h s2)
    as (s1 & s2 & in1 & in2 & between).
  { destruct order as [less | equal].
    - destruct (lowered (count Open s - first) s) as (t1 & size1 & count1 & below); [lra | lia |].
      destruct (raised (last - count Open s) s) as (t2 & size2 & count2 & above); [lra | lia |].
      destruct (within_sorted t1 less) as [_ (s1 & in1 & low)]. destruct (within_sorted t2 less) as [(s2 & in2 & high) _].
      exists s1, s2. rewrite size1, size in in1. rewrite size2, size in in2.
      replace (count Open t1) with first in in1 by lia. replace (count Open t2) with last in in2 by lia.
      repeat split; try assumption; lra.
    - assert (forall t t', length t = length t' -> h t = h t') as same.
      { subst b. intros t. induction t as [|x t IH] using rev_ind; intros t' sizes.
        - now destruct t'.
        - destruct t' as [|y t' _] using rev_ind; [rewrite app_length in sizes; cbn in sizes; lia|].
          rewrite !run_snoc, (IH t'); [now destruct x, y|]. rewrite !app_length in sizes. cbn in sizes. lia. }
      exists (opens_first first (T - first)), (opens_first last (T - last)).
      assert (forall n, (n <= T)%nat -> h (opens_first n (T - n)) = h s) as equal_h.
      { intros n small. apply same. unfold opens_first. rewrite app_length, !repeat_length. lia. }
      rewrite !equal_h by lia. cbn. repeat split; auto; lra. }
  rewrite <- (right s1) by (apply in_or_app; auto).
  apply (intervals _ _ (h s2)); [assumption|]. rewrite !right; auto using in_or_app.
Qed.

End Range.

(** All strings of T tokens with first to last opening brackets have a class if the sorted strings of both ends have it. *)
Theorem sorted_strings_decide_a_range :
  forall (class : Type) (readout : R -> class) (c : class) (a b U : R) (T first last : nat),
  0 < U -> classes_are_intervals readout -> (first <= last <= T)%nat ->
  (forall s, In s (sorted_strings T first ++ sorted_strings T last) -> readout (run (linear a b U) s) = c) ->
  forall s, length s = T -> (first <= count Open s <= last)%nat -> readout (run (linear a b U) s) = c.
Proof.
  intros class readout c a b U T first last positive intervals range right s size inside.
  destruct (Rle_or_lt b a) as [order | order]; [now apply (range_rising a b U positive readout c T first last)|].
  (* With a < b the mirror image of the cell is read by the mirror image of the readout. *)
  assert (forall t, run (linear (- a) (- b) U) t = - run (linear a b U) t) as mirrored.
  { induction t as [|x t IH] using rev_ind; [change (0 = - 0); ring|].
    rewrite !run_snoc, IH. destruct x; unfold linear; ring. }
  rewrite <- (Ropp_involutive (run (linear a b U) s)), <- mirrored.
  apply (range_rising (- a) (- b) U positive (fun h => readout (- h)) c T first last); try assumption; [lra | |].
  - intros x y z between same. rewrite same. apply (intervals _ _ (- x)); [lra | congruence].
  - intros t listed. rewrite mirrored, Ropp_involutive. now apply right.
Qed.

(** So at each length the counts nearest to zero, )ᵀ and (ᵀ decide. *)
Theorem few_strings_decide_a_length :
  forall (class : Type) (readout : R -> class) (below zero above : class) (a b U : R) (T : nat),
  0 < U -> classes_are_intervals readout -> (1 <= T)%nat ->
  let right := is_right class (linear a b U) readout (by_sign below zero above) in
  (forall n s, n = 0%nat \/ (n = (T - 1) / 2)%nat \/ (T = 2 * n)%nat \/ (n = T / 2 + 1)%nat \/ n = T ->
     In s (sorted_strings T n) -> right s) ->
  forall s, length s = T -> right s.
Proof.
  intros class readout below zero above a b U T positive intervals some right short s size.
  assert (forall n t, (n <= T)%nat -> In t (sorted_strings T n) -> difference t = (2 * Z.of_nat n - Z.of_nat T)%Z) as counts.
  { intros n t small [<- | [<- | []]]; unfold difference, opens_first, closes_first;
      [destruct (count_blocks Open Close n (T - n)) as [-> ->] | destruct (count_blocks Close Open (T - n) n) as [-> ->]];
      discriminate || lia. }
  assert (Nat.div T 2 = (T - 1) / 2 \/ T = 2 * Nat.div T 2)%nat as halves.
  { pose proof (Nat.div_mod T 2). pose proof (Nat.mod_upper_bound T 2). pose proof (Nat.div_mod (T - 1) 2).
    pose proof (Nat.mod_upper_bound (T - 1) 2). lia. }
  assert ((T - 1) / 2 <= T / 2 /\ 2 * ((T - 1) / 2) < T /\ T < 2 * (T / 2 + 1) /\ T / 2 + 1 <= T)%nat as places.
  { pose proof (Nat.div_mod T 2). pose proof (Nat.mod_upper_bound T 2). pose proof (Nat.div_mod (T - 1) 2).
    pose proof (Nat.mod_upper_bound (T - 1) 2). lia. }
  assert (forall c first last,
    (forall n, n = first \/ n = last -> n = 0%nat \/ (n = (T - 1) / 2)%nat \/ (T = 2 * n)%nat \/ (n = T / 2 + 1)%nat \/ n = T) ->
    (first <= last <= T)%nat ->
    (forall n, (first <= n <= last)%nat -> by_sign below zero above (2 * Z.of_nat n - Z.of_nat T) = c) ->
    (first <= count Open s <= last)%nat -> right s) as by_range.
  { intros c first last decisive range one_class inside. unfold right, is_right in *.
    assert (difference s = 2 * Z.of_nat (count Open s) - Z.of_nat T)%Z as ->
      by (unfold difference; rewrite <- size, length_is_both_counts; lia).
    rewrite (one_class _ inside).
    apply (sorted_strings_decide_a_range class readout c a b U T first last); try assumption.
    intros t listed. apply in_app_or in listed as [listed | listed].
    - rewrite (short first t (decisive _ (or_introl eq_refl)) listed), (counts first t) by (lia || assumption).
      apply one_class. lia.
    - rewrite (short last t (decisive _ (or_intror eq_refl)) listed), (counts last t) by (lia || assumption).
      apply one_class. lia. }
  pose proof (length_is_both_counts s) as both.
  destruct (Nat.lt_total (2 * count Open s) T) as [few | [half | many]].
  - apply (by_range below 0%nat ((T - 1) / 2)%nat); [lia | lia | |].
    + intros n small. now replace (2 * Z.of_nat n - Z.of_nat T)%Z with (Z.neg (Pos.of_nat (T - 2 * n))) by lia.
    + split; [lia|]. apply Nat.div_le_lower_bound; lia.
  - apply (by_range zero (count Open s) (count Open s)); [lia | lia | | lia].
    intros n equal. now replace (2 * Z.of_nat n - Z.of_nat T)%Z with 0%Z by lia.
  - assert (T / 2 < count Open s)%nat by (apply Nat.div_lt_upper_bound; lia).
    apply (by_range above (T / 2 + 1)%nat T); [lia | lia | | lia].
    intros n large. now replace (2 * Z.of_nat n - Z.of_nat T)%Z with (Z.pos (Pos.of_nat (2 * n - T))) by lia.
Qed.
