(** What the opening brackets of a string add to an output, extreme over all strings with as many of them: the sums of the least
    and of the greatest terms. *)

From Coq Require Import Permutation Sorting.Sorted.
From Tallystick Require Import Brackets Extremes.

(** Each opening bracket adds the term of the number of tokens after it. *)
Fixpoint opened (delta : nat -> R) (s : string) : R :=
  match s with
  | [] => 0
  | Open :: s => delta (length s) + opened delta s
  | Close :: s => opened delta s
  end.

(** What strings of T tokens, n of them opening, may add. *)
Definition reached_sum (delta : nat -> R) (T n : nat) (y : R) : Prop :=
  exists s, length s = T /\ count Open s = n /\ opened delta s = y.

Fixpoint total (l : list R) : R := match l with [] => 0 | x :: l => x + total l end.

(** f 0 + ... + f (T - 1). *)
Fixpoint sum (T : nat) (f : nat -> R) : R := match T with O => 0 | S T => sum T f + f T end.

Lemma total_app l l' : total (l ++ l') = total l + total l'.
Proof. induction l as [|x l IH]; cbn; lra. Qed.

Lemma total_perm l l' : Permutation l l' -> total l = total l'.
Proof. induction 1; cbn; lra. Qed.

Lemma total_map_seq f T : total (map f (seq 0 T)) = sum T f.
Proof.
  induction T as [|T IH]; [reflexivity|]. rewrite seq_S, map_app, total_app, IH. cbn. lra.
Qed.

Lemma count_open_cons s : count Open (Open :: s) = S (count Open s).
Proof. reflexivity. Qed.

Lemma count_open_cons_close s : count Open (Close :: s) = count Open s.
Proof. reflexivity. Qed.

(** * A bound below, with any level M *)

Theorem opened_at_least : forall (delta : nat -> R) (M : R) (s : string),
  INR (count Open s) * M - sum (length s) (fun k => Rmax 0 (M - delta k)) <= opened delta s.
Proof.
  intros delta M s. induction s as [|x s IH]; [cbn; lra|].
  pose proof (Rmax_l 0 (M - delta (length s))). pose proof (Rmax_r 0 (M - delta (length s))).
  destruct x; [rewrite count_open_cons, S_INR | rewrite count_open_cons_close]; cbn [opened length sum]; lra.
Qed.

(** * The least sum: M is the greatest of the n least terms, and the bound is an equation *)

Definition above_level (M : R) (x : R) : R := Rmax 0 (M - x).

Lemma sorted_around l1 M l2 : StronglySorted Rle (l1 ++ M :: l2) ->
  Forall (fun x => x <= M) l1 /\ Forall (fun x => M <= x) l2.
Proof.
  induction l1 as [|x l1 IH]; cbn; intros sorted; apply StronglySorted_inv in sorted as [sorted first]; [auto|].
  destruct (IH sorted). split; [constructor|]; auto.
  rewrite Forall_forall in first. apply first, in_or_app. cbn. auto.
Qed.

Lemma level_reached l1 M l2 : StronglySorted Rle (l1 ++ M :: l2) ->
  total (l1 ++ [M]) = INR (S (length l1)) * M - total (map (above_level M) (l1 ++ M :: l2)).
Proof.
  intros sorted. destruct (sorted_around l1 M l2 sorted) as [less more].
  rewrite total_app, map_app, total_app, S_INR. cbn [total map].
  assert (above_level M M = 0) as -> by (unfold above_level; rewrite Rmax_left; lra).
  assert (total (map (above_level M) l2) = 0) as ->.
  { clear sorted. induction more as [|x l2 above more IH]; [reflexivity|]. cbn. rewrite IH.
    unfold above_level. rewrite Rmax_left; lra. }
  assert (total (map (above_level M) l1) = INR (length l1) * M - total l1) as ->; [|lra].
  clear sorted. induction less as [|x l1 below less IH]; [cbn; lra|].
  cbn [map total length]. rewrite IH, S_INR. unfold above_level. rewrite Rmax_right; lra.
Qed.

(** * Any n terms are those of a string *)

Lemma terms_cons (delta : nat -> R) T : Permutation (map delta (seq 0 (S T))) (delta T :: map delta (seq 0 T)).
Proof. rewrite seq_S, map_app. cbn. symmetry. apply Permutation_cons_append. Qed.

Lemma some_string_opens delta T : forall l1 l2, Permutation (l1 ++ l2) (map delta (seq 0 T)) ->
  reached_sum delta T (length l1) (total l1).
Proof.
  induction T as [|T IH]; intros l1 l2 same.
  - cbn in same. apply Permutation_sym, Permutation_nil, app_eq_nil in same as [-> ->]. now exists [].
  - rewrite terms_cons in same.
    assert (In (delta T) (l1 ++ l2)) as chosen by (apply (Permutation_in _ (Permutation_sym same)); now left).
    apply in_app_or in chosen as [chosen | chosen]; apply in_split in chosen as (l & l' & ->).
    + rewrite <- app_assoc in same. cbn in same. symmetry in same. apply Permutation_cons_app_inv in same.
      symmetry in same. rewrite app_assoc in same. destruct (IH (l ++ l') l2 same) as (s & size & opens & adds).
      exists (Open :: s). rewrite count_open_cons. cbn [length opened]. rewrite size, opens, adds.
      rewrite !app_length, !total_app. cbn. repeat split; [lia | lra].
    + rewrite app_assoc in same. symmetry in same. apply Permutation_cons_app_inv in same. symmetry in same.
      rewrite <- app_assoc in same. destruct (IH l1 (l ++ l') same) as (s & size & opens & adds).
      exists (Close :: s). rewrite count_open_cons_close. cbn [length opened]. auto.
Qed.

Lemma opened_terms delta T M : sum T (fun k => Rmax 0 (M - delta k)) = total (map (above_level M) (map delta (seq 0 T))).
Proof. now rewrite map_map, total_map_seq. Qed.

Lemma least_sum delta T n l : (n <= T)%nat -> Permutation l (map delta (seq 0 T)) -> StronglySorted Rle l ->
  is_least (reached_sum delta T n) (total (firstn n l)).
Proof.
  intros in_range same sorted.
  assert (length l = T) as size by (rewrite (Permutation_length same), map_length, seq_length; reflexivity).
  split.
  - replace n with (length (firstn n l)) at 1 by (rewrite firstn_length; lia).
    apply (some_string_opens delta T _ (skipn n l)). now rewrite firstn_skipn.
  - intros y (s & length_s & opens & <-). subst T.
    destruct n as [|n].
    { cbn. assert (count Open s = 0%nat -> opened delta s = 0) as none; [|rewrite none; [lra | assumption]].
      clear. induction s as [|[] s IH]; cbn; intros; [reflexivity | discriminate | auto]. }
    destruct (nth_split l 0 (n := n)) as (l1 & l2 & split & length_l1); [lia|]. set (M := nth n l 0) in *.
    assert (firstn (S n) l = l1 ++ [M]) as ->.
    { rewrite split, <- length_l1. replace (S (length l1)) with (length l1 + 1)%nat by lia. now rewrite firstn_app_2. }
    rewrite split in sorted. rewrite (level_reached _ _ _ sorted), <- split, length_l1.
    rewrite (total_perm _ _ (Permutation_map _ same)), <- opened_terms, <- opens, <- length_s.
    apply opened_at_least.
Qed.

(** * The greatest sum: what a string opens and what it leaves closed make up all terms *)

Definition other (x : token) : token := match x with Open => Close | Close => Open end.

Lemma opened_other delta s : opened delta (map other s) = sum (length s) delta - opened delta s.
Proof. induction s as [|[] s IH]; cbn; rewrite ?map_length; lra. Qed.

Lemma count_other_tokens s : (count Open (map other s) + count Open s = length s)%nat.
Proof. induction s as [|[] s IH]; [reflexivity | |]; unfold count in *; cbn in *; lia. Qed.

Lemma greatest_sum delta T n l : (n <= T)%nat -> Permutation l (map delta (seq 0 T)) -> StronglySorted Rle l ->
  is_greatest (reached_sum delta T n) (total (skipn (T - n) l)).
Proof.
  intros in_range same sorted.
  destruct (least_sum delta T (T - n) l) as [(s & size & opens & adds) least]; [lia | auto | auto |].
  assert (total (skipn (T - n) l) = sum T delta - total (firstn (T - n) l)) as ->.
  { rewrite <- total_map_seq, <- (total_perm _ _ same).
    pose proof (total_app (firstn (T - n) l) (skipn (T - n) l)) as parts. rewrite firstn_skipn in parts. lra. }
  split.
  - exists (map other s). rewrite map_length, opened_other, size, adds. pose proof (count_other_tokens s).
    repeat split; lia.
  - intros y (t & size_t & opens_t & <-).
    assert (total (firstn (T - n) l) <= opened delta (map other t)) as bound.
    { apply least. exists (map other t). rewrite map_length. pose proof (count_other_tokens t). repeat split; lia. }
    rewrite opened_other, size_t in bound. lra.
Qed.

(** Over all strings of T tokens of which n open, the extremes are the sums of the n least and of the n greatest terms. *)
Theorem sorting : forall (delta : nat -> R) (T n : nat) (sorted : list R), (n <= T)%nat ->
  Permutation sorted (map delta (seq 0 T)) -> StronglySorted Rle sorted ->
  is_least (reached_sum delta T n) (total (firstn n sorted)) /\
  is_greatest (reached_sum delta T n) (total (skipn (T - n) sorted)).
Proof. intros. split; [now apply least_sum | now apply greatest_sum]. Qed.
