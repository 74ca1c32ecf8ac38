(** The verdict on a length of a linear network of any dimension, by sorting: the least sum over a range of numbers of opening
    brackets, and the criterion for binary readouts and for differences of two outputs. *)

From Coq Require Import Permutation Sorting.Sorted.
From Tallystick Require Import Brackets Extremes Sorting Networks.

(** * The least sum over a range: where terms turn from negative to positive, or at the nearest end *)

Definition is_negative (x : R) : bool := if Rlt_dec x 0 then true else false.

(** How many opening brackets make the least sum, among first to last. *)
Definition turn (first last : nat) (sorted : list R) : nat :=
  Nat.min (Nat.max (length (filter is_negative sorted)) first) last.

Lemma negative_ones_come_first l : StronglySorted Rle l -> forall i, (i < length l)%nat ->
  ((i < length (filter is_negative l))%nat -> nth i l 0 < 0) /\
  ((length (filter is_negative l) <= i)%nat -> 0 <= nth i l 0).
Proof.
  induction l as [|x l IH]; cbn [length]; intros sorted i small; [lia|].
  apply StronglySorted_inv in sorted as [sorted least]. cbn [filter].
  destruct (is_negative x) eqn:sign; unfold is_negative in sign; destruct (Rlt_dec x 0) as [negative | not_negative];
    try discriminate sign; clear sign.
  - cbn [length]. destruct i as [|i]; cbn [nth]; [split; [auto | lia]|].
    destruct (IH sorted i) as [below above]; [lia|]. split; intros; [apply below | apply above]; lia.
  - assert (filter is_negative l = []) as ->.
    { clear - least not_negative. induction least as [|y l more least IH]; [reflexivity|].
      cbn. rewrite IH. unfold is_negative. destruct (Rlt_dec y 0); [lra | reflexivity]. }
    split; [cbn; lia|]. intros _. rewrite Forall_forall in least. destruct i as [|i]; cbn [nth]; [lra|].
    assert (x <= nth i l 0) by (apply least, nth_In; lia). lra.
Qed.

Lemma one_more (l : list R) n : (n < length l)%nat -> total (firstn (S n) l) = total (firstn n l) + nth n l 0.
Proof.
  revert n. induction l as [|x l IH]; cbn [length]; intros n small; [lia|].
  destruct n as [|n]; [cbn; lra|]. cbn [firstn total nth] in *. rewrite (IH n) by lia. lra.
Qed.

Lemma least_in_a_range l first last n : StronglySorted Rle l -> (first <= n <= last)%nat -> (last <= length l)%nat ->
  total (firstn (turn first last l) l) <= total (firstn n l).
Proof.
  intros sorted range inside. unfold turn. set (negative := length (filter is_negative l)).
  assert (forall i j, (i <= j)%nat -> (j <= length l)%nat ->
    ((j <= negative)%nat -> total (firstn j l) <= total (firstn i l)) /\
    ((negative <= i)%nat -> total (firstn i l) <= total (firstn j l))) as moves.
  { intros i j order. induction order as [|j order IH]; intros small; [split; lra|].
    destruct (negative_ones_come_first l sorted j) as [below above]; [lia|]. fold negative in below, above.
    destruct (IH ltac:(lia)) as [falls rises]. rewrite one_more by lia. split; intros.
    - assert (nth j l 0 < 0) by (apply below; lia).
      assert (total (firstn j l) <= total (firstn i l)) by (apply falls; lia). lra.
    - assert (0 <= nth j l 0) by (apply above; lia).
      assert (total (firstn i l) <= total (firstn j l)) by (apply rises; lia). lra. }
  destruct (Nat.lt_total n (Nat.min (Nat.max negative first) last)) as [less | [<- | more]]; [|lra|].
  - destruct (moves n (Nat.min (Nat.max negative first) last)) as [falls _]; [lia | lia | apply falls; lia].
  - destruct (moves (Nat.min (Nat.max negative first) last) n) as [_ rises]; [lia | lia | apply rises; lia].
Qed.

(** The demand of a class: an output, or the difference of two, is positive on all strings of T tokens with first to last
    opening brackets. One sum decides. *)
Theorem sorting_decides_a_demand :
  forall (delta : nat -> R) (base : R) (T first last : nat) (sorted : list R),
  Permutation sorted (map delta (seq 0 T)) -> StronglySorted Rle sorted -> (first <= last <= T)%nat ->
  let least := base + total (firstn (turn first last sorted) sorted) in
  ((forall s, length s = T -> (first <= count Open s <= last)%nat -> 0 < base + opened delta s) <-> 0 < least) /\
  ((forall s, length s = T -> (first <= count Open s <= last)%nat -> 0 <= base + opened delta s) <-> 0 <= least).
Proof.
  intros delta base T first last sorted same order range least.
  assert (length sorted = T) as size by (rewrite (Permutation_length same), map_length, seq_length; reflexivity).
  assert (exists s, length s = T /\ (first <= count Open s <= last)%nat /\ base + opened delta s = least) as attained.
  { destruct (least_sum delta T (turn first last sorted) sorted) as [(s & length_s & opens & adds) _]; try assumption.
    - unfold turn. lia.
    - exists s. rewrite opens, adds. repeat split; try assumption; unfold turn; lia. }
  assert (forall s, length s = T -> (first <= count Open s <= last)%nat -> least <= base + opened delta s) as bound.
  { intros s length_s opens. apply Rplus_le_compat_l.
    eapply Rle_trans; [apply (least_in_a_range _ _ _ (count Open s)); [assumption | assumption | lia]|].
    apply (least_sum delta T (count Open s) sorted); try assumption; [lia|]. now exists s. }
  destruct attained as (s & length_s & opens & equal).
  split; split; intros positive; try (rewrite <- equal; now apply positive);
    intros t length_t opens_t; specialize (bound t length_t opens_t); lra.
Qed.

(** * The binary readout *)

Theorem sorting_decides_binary : forall (d : nat) (N : network) (T : nat) (sorted : list R), is_linear N ->
  Permutation sorted (map (delta d N) (seq 0 T)) -> StronglySorted Rle sorted ->
  (forall s, length s = T -> (output d N s > 0 <-> (count Open s > count Close s)%nat))
  <-> (forall n, (2 * n <= T)%nat -> bias N + beta d N T + total (skipn (T - n) sorted) <= 0) /\
      (forall n, (n <= T < 2 * n)%nat -> 0 < bias N + beta d N T + total (firstn n sorted)).
Proof.
  intros d N T sorted linear same order. split.
  - intros right. split; intros n range.
    + destruct (greatest_sum (delta d N) T n sorted) as [(s & length_s & opens & adds) _]; try assumption; [lia|].
      rewrite <- adds, <- length_s, <- linear_networks_unrolled by assumption.
      apply Rnot_gt_le. intros more. apply right in more; [|assumption]. rewrite length_is_both_counts in length_s. lia.
    + destruct (least_sum (delta d N) T n sorted) as [(s & length_s & opens & adds) _]; try assumption; [lia|].
      rewrite <- adds, <- length_s, <- linear_networks_unrolled by assumption.
      apply right; [assumption|]. rewrite length_is_both_counts in length_s. lia.
  - intros [closed opened_more] s length_s. rewrite linear_networks_unrolled, length_s by assumption.
    pose proof (length_is_both_counts s) as both. rewrite length_s in both.
    destruct (sorting (delta d N) T (count Open s) sorted) as [[_ least] [_ greatest]]; try assumption; [lia|].
    assert (reached_sum (delta d N) T (count Open s) (opened (delta d N) s)) as reached by now exists s.
    apply least in reached as low. apply greatest in reached as high. split; intros more.
    + destruct (Nat.le_gt_cases (count Open s) (count Close s)) as [few|]; [exfalso | assumption].
      assert (bias N + beta d N T + total (skipn (T - count Open s) sorted) <= 0) by (apply closed; lia). lra.
    + assert (0 < bias N + beta d N T + total (firstn (count Open s) sorted)) by (apply opened_more; lia). lra.
Qed.

(** * The count itself: what an output is off by is such a sum too, so that the same sums bound it *)

Theorem error_of_the_count : forall (d : nat) (N : network) (s : string), is_linear N ->
  output d N s - (INR (count Open s) - INR (count Close s))
  = bias N + beta d N (length s) + INR (length s) + opened (fun k => delta d N k - 2) s.
Proof.
  intros d N s linear. rewrite linear_networks_unrolled by assumption.
  assert (opened (fun k => delta d N k - 2) s = opened (delta d N) s - 2 * INR (count Open s)) as ->.
  { induction s as [|[] s IH]; [cbn; lra | |]; cbn [opened].
    - rewrite count_open_cons, S_INR. lra.
    - now rewrite count_open_cons_close. }
  pose proof (f_equal INR (length_is_both_counts s)) as both. rewrite plus_INR in both. lra.
Qed.
