(** The ends of a region for U >= 1: at each length two sorted strings decide, and ask for b/a between two numbers. *)

From Tallystick Require Import Brackets Extremes SortedStrings.

Lemma power_sum_split U i j : power_sum U (j + i) = power_sum U j + U ^ j * power_sum U i.
Proof.
  induction j as [|j IH]; [cbn; ring|]. change (S j + i)%nat with (S (j + i)). cbn [power_sum pow]. rewrite IH. ring.
Qed.

Lemma power_sum_rises U i j : 1 <= U -> (i <= j)%nat -> power_sum U i <= power_sum U j.
Proof.
  intros large order. replace j with (i + (j - i))%nat by lia. rewrite power_sum_split.
  pose proof (power_sum_nonneg U (j - i) ltac:(lra)). pose proof (pow_R1_Rle U i large). nra.
Qed.

(** Of n + m tokens half open, or one less than half: that string and the one with a `(` more decide. *)
Theorem ends_of_a_length : forall (U r : R) (n m : nat), 1 <= U -> (1 <= m)%nat -> m = n \/ m = S n ->
  (forall s, length s = (n + m)%nat -> (run (linear 1 r U) s > 0 <-> (count Open s > count Close s)%nat))
  <-> r * power_sum U m + U ^ m * power_sum U n <= 0 /\ 0 < power_sum U (S n) + r * U ^ S n * power_sum U (m - 1).
Proof.
  intros U r n m large some half. split.
  - intros right. split.
    + destruct (count_blocks Open Close n m) as [opens closes]; [discriminate|].
      assert (length (opens_first n m) = (n + m)%nat) as long by (unfold opens_first; rewrite app_length, !repeat_length; lia).
      specialize (right _ long). unfold opens_first in right. rewrite opens, closes in right. fold (opens_first n m) in right.
      destruct (closed_form 1 r U n m) as [_ state]. rewrite state in right.
      destruct (Rle_or_lt (r * power_sum U m + 1 * U ^ m * power_sum U n) 0) as [low | high]; [lra|]. apply right in high. lia.
    + destruct (count_blocks Close Open (m - 1) (S n)) as [closes opens]; [discriminate|].
      assert (length (closes_first (S n) (m - 1)) = (n + m)%nat) as long
        by (unfold closes_first; rewrite app_length, !repeat_length; lia).
      specialize (right _ long). unfold closes_first in right. rewrite opens, closes in right. fold (closes_first (S n) (m - 1)) in right.
      destruct (closed_form 1 r U (S n) (m - 1)) as [state _]. rewrite state in right.
      assert (S n > m - 1)%nat as more by lia. apply right in more. lra.
  - intros [upper lower] s long. pose proof (length_is_both_counts s) as both.
    set (i := count Open s) in *. set (j := count Close s) in *.
    pose proof (power_sum_nonneg U n ltac:(lra)) as sum_n. pose proof (pow_R1_Rle U m large) as power_m.
    assert (1 <= power_sum U m) as sum_m by (destruct m as [|m]; [lia | apply power_sum_at_least_one; lra]).
    assert (r <= 0) as falls by nra.
    destruct (above_one_between 1 r U ltac:(lra) s large) as [low high]. fold i j in low, high.
    destruct (closed_form 1 r U i j) as [first last]. rewrite first in low. rewrite last in high.
    destruct (Nat.le_gt_cases i n) as [few | many]; split; intros sign; try lia.
    + exfalso. assert (r * power_sum U j + 1 * U ^ j * power_sum U i <= 0); [|lra].
      replace j with ((j - m) + m)%nat by lia. rewrite pow_add, power_sum_split. set (d := (j - m)%nat).
      pose proof (pow_R1_Rle U d large) as power_d. pose proof (power_sum_nonneg U d ltac:(lra)).
      pose proof (power_sum_rises U i n large few).
      assert (U ^ d * (r * power_sum U m + U ^ m * power_sum U n) <= 0) by nra.
      assert (U ^ d * U ^ m * power_sum U i <= U ^ d * U ^ m * power_sum U n) by (apply Rmult_le_compat_l; nra). nra.
    + assert (0 < 1 * power_sum U i + r * U ^ i * power_sum U j); [|lra].
      pose proof (power_sum_rises U (S n) i large ltac:(lia)) as more. pose proof (pow_R1_Rle U (S n) large) as power_n.
      assert (U ^ i * power_sum U j <= U ^ S n * power_sum U (m - 1)); [|nra].
      replace i with (S n + (i - S n))%nat by lia. rewrite pow_add. set (d := (i - S n)%nat).
      replace (m - 1)%nat with (d + j)%nat by lia. rewrite power_sum_split. pose proof (power_sum_nonneg U d ltac:(lra)). nra.
Qed.

(** These numbers for the lengths 2 k and 2 k + 1. *)
Theorem closed_forms_of_the_ends : forall (U r : R) (k : nat), 1 <= U -> (1 <= k)%nat ->
  (r * power_sum U k + U ^ k * power_sum U k <= 0 <-> r <= - U ^ k) /\
  ((2 <= k)%nat -> 0 < power_sum U (S k) + r * U ^ S k * power_sum U (k - 1)
    <-> - (1 + U) / (U ^ S k * power_sum U (k - 1)) - U / U ^ k < r) /\
  (0 < power_sum U (S k) + r * U ^ S k * power_sum U (S k - 1) <-> - 1 / (U ^ S k * power_sum U k) - 1 / U ^ k < r).
Proof.
  intros U r k large some.
  assert (forall j, (1 <= j)%nat -> 1 <= power_sum U j) as sums.
  { intros [|j]; [lia|]. intros _. apply power_sum_at_least_one. lra. }
  pose proof (pow_R1_Rle U k large) as power_k. pose proof (pow_R1_Rle U (S k) large) as power_next.
  assert (forall x y P, 0 < P -> x + r * P > 0 -> - x / P = y -> y < r) as above.
  { intros x y P positive sign <-. apply (Rmult_lt_reg_r P); [exact positive|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (forall x y P, 0 < P -> - x / P = y -> y < r -> 0 < x + r * P) as below.
  { intros x y P positive <- sign. apply (Rmult_lt_compat_r P) in sign; [|exact positive]. unfold Rdiv in sign.
    rewrite Rmult_assoc, Rinv_l in sign by lra. lra. }
  split; [|split].
  - pose proof (sums k some). split; intros sign; nra.
  - intros long. pose proof (sums (k - 1)%nat ltac:(lia)) as sum_.
    assert (power_sum U (S k) = 1 + U + U * U * power_sum U (k - 1)) as parts.
    { replace (S k) with (S (S (k - 1))) by lia. cbn [power_sum]. ring. }
    assert (0 < U ^ S k * power_sum U (k - 1)) as positive by nra.
    assert (- power_sum U (S k) / (U ^ S k * power_sum U (k - 1)) = - (1 + U) / (U ^ S k * power_sum U (k - 1)) - U / U ^ k) as same.
    { rewrite parts. cbn [pow]. field. repeat split; lra. }
    rewrite Rmult_assoc. split; intros sign; [exact (above _ _ _ positive sign same) | exact (below _ _ _ positive same sign)].
  - rewrite Nat.sub_succ, Nat.sub_0_r. pose proof (sums k some) as sum_.
    assert (0 < U ^ S k * power_sum U k) as positive by nra.
    assert (- power_sum U (S k) / (U ^ S k * power_sum U k) = - 1 / (U ^ S k * power_sum U k) - 1 / U ^ k) as same.
    { cbn [pow power_sum]. field. repeat split; lra. }
    rewrite Rmult_assoc. split; intros sign; [exact (above _ _ _ positive sign same) | exact (below _ _ _ positive same sign)].
Qed.
