(** All lengths between two at once: at the sorted strings of length 2 k + r a comparison is a quadratic in U^k, and three numbers
    decide for every k between two. *)

From Tallystick Require Import Brackets SortedStrings.

(** The state after n times one token and m times another, in powers of U: o is the older step and y the younger. *)
Theorem sorted_string_in_powers : forall (a b U : R) (older younger : token) (n m : nat),
  let o := match older with Open => a | Close => b end in
  let y := match younger with Open => a | Close => b end in
  let h := run (linear a b U) (repeat older n ++ repeat younger m) in
  (U - 1) * h = o * U ^ (n + m) + (y - o) * U ^ m - y /\ (U = 1 -> h = INR n * o + INR m * y).
Proof.
  intros a b U older younger n m o y h. unfold h. rewrite run_blocks. fold o y. split.
  - replace ((U - 1) * (U ^ m * (o * power_sum U n) + y * power_sum U m))
      with (U ^ m * (o * ((U - 1) * power_sum U n)) + y * ((U - 1) * power_sum U m)) by ring.
    rewrite !power_sum_times, pow_add. ring.
  - intros ->. rewrite pow1, !power_sum_of_one. ring.
Qed.

(** Between x and y a quadratic is a mean, with weights that are not negative, of its values there and of a third number. *)
Theorem quadratic_between : forall A B C x y t : R,
  let q z := A * z ^ 2 + B * z + C in
  let third := C + B * (x + y) / 2 + A * x * y in
  x <= t <= y \/ y <= t <= x -> 0 <= third -> (0 < q x -> 0 < q y -> 0 < q t) /\ (0 <= q x -> 0 <= q y -> 0 <= q t).
Proof.
  intros A B C x y t q third between nonneg. destruct (Req_dec x y) as [<- | differ].
  { assert (t = x) as -> by lra. auto. }
  assert (exists l, 0 <= l <= 1 /\ t = (1 - l) * x + l * y) as (l & range & ->).
  { exists ((t - x) / (y - x)). split; [|field; lra].
    assert ((t - x) / (y - x) * (y - x) = t - x) as product by (field; lra).
    destruct (Rlt_or_le x y); split.
    - apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra].
    - nra.
    - nra.
    - nra. }
  assert (q ((1 - l) * x + l * y) = (1 - l) ^ 2 * q x + l ^ 2 * q y + 2 * l * (1 - l) * third) as ->
    by (unfold q, third; field).
  assert (0 <= 2 * l * (1 - l) * third) by (repeat apply Rmult_le_pos; lra).
  assert (0 <= (1 - l) ^ 2) by apply pow2_ge_0. assert (0 <= l ^ 2) by apply pow2_ge_0.
  split; intros at_x at_y; [|nra]. destruct (Req_dec l 0) as [-> | not_zero]; [nra|].
  assert (0 < l ^ 2) by (apply pow_lt; lra). nra.
Qed.

(** The powers of U move one way, so that U^k lies between those of the first and the last k. *)
Theorem powers_between : forall (U : R) (first k last : nat), 0 < U -> (first <= k <= last)%nat ->
  U ^ first <= U ^ k <= U ^ last \/ U ^ last <= U ^ k <= U ^ first.
Proof.
  intros U first k last positive range.
  assert (forall i j, (i <= j)%nat -> (1 <= U -> U ^ i <= U ^ j) /\ (U <= 1 -> U ^ j <= U ^ i)) as moves.
  { intros i j order. replace j with (i + (j - i))%nat by lia. rewrite pow_add.
    pose proof (pow_lt U i positive). split; intros side.
    - pose proof (pow_R1_Rle U (j - i) side). nra.
    - assert (U ^ (j - i) <= 1) by (rewrite <- (pow1 (j - i)); apply pow_incr; lra). nra. }
  destruct (moves first k), (moves k last); try lia. destruct (Rle_or_lt 1 U); [left | right]; split; auto with real.
Qed.
