(** Networks whose units each undo `(` by `)`: the output is a function of the count, and where no two units pull in different
    directions it moves one way with it, so that the counts next to zero decide. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Verdict Selective ExactCounters Sorting Networks Limits.

Lemma selective_moves a b P Q s t : P * Q = 1 -> b = - Q * a -> 0 < P -> (difference s <= difference t)%Z ->
  (0 <= a -> run (selective a b P Q) s <= run (selective a b P Q) t) /\
  (a <= 0 -> run (selective a b P Q) t <= run (selective a b P Q) s).
Proof.
  intros inverse undoes positive order. assert (0 < Q) by nra.
  pose proof (selective_close_undoes a b P Q inverse undoes) as close_undoes.
  pose proof (selective_open_undoes a b P Q inverse undoes) as open_undoes.
  assert (a = 0 -> forall w, run (selective a b P Q) w = 0) as stays.
  { intros zero w. rewrite undoes, zero. induction w as [|x w IH] using rev_ind; [reflexivity|].
    rewrite run_snoc, IH. destruct x; cbn; ring. }
  rewrite !(run_is_state _ close_undoes open_undoes) in *.
  assert (state (selective a b P Q) 1 = a) as first by (change (P * 0 + a = a); ring).
  destruct (move_one_way (state (selective a b P Q)) (selective a b P Q Open) (selective a b P Q Close)) as [rises | falls];
    try (intros; cbn; nra); try (now apply state_up); try (now apply state_down).
  - split; intros sign; [now apply rises|]. assert (a = 0) as zero.
    { specialize (rises 0%Z 1%Z ltac:(lia)). rewrite first in rises. cbn in rises. lra. }
    rewrite <- !(run_is_state _ close_undoes open_undoes), !(stays zero). lra.
  - split; intros sign; [|now apply falls]. assert (a = 0) as zero.
    { specialize (falls 0%Z 1%Z ltac:(lia)). rewrite first in falls. cbn in falls. lra. }
    rewrite <- !(run_is_state _ close_undoes open_undoes), !(stays zero). lra.
Qed.

(** `(` multiplies unit i by p i and `)` by q i. *)
Theorem monotone_networks :
  forall (d : nat) (N : network) (p q : nat -> R) (sign : R) (s t : string),
  (forall x i j, matrix N x i j = if Nat.eq_dec i j then match x with Open => p i | Close => q i end else 0) ->
  (forall i, start N i = 0) ->
  (forall i, (i < d)%nat -> weight N i = 0 \/ (step N Open i = 0 /\ step N Close i = 0) \/
     (0 < p i /\ p i * q i = 1 /\ step N Close i = - q i * step N Open i /\ 0 <= sign * weight N i * step N Open i)) ->
  (difference s <= difference t)%Z -> sign * output d N s <= sign * output d N t.
Proof.
  intros d N p q sign s t diagonal zero units order.
  assert (forall w i, (i < d)%nat ->
    final d N w i = run (selective (step N Open i) (step N Close i) (p i) (q i)) w) as by_unit.
  { intros w i inside. unfold final. induction w as [|x w IH] using rev_ind; [apply zero|].
    rewrite fold_left_app, run_snoc. cbn [fold_left]. set (g := fold_left (next d N) w (start N)) in *. unfold next, applied, dot.
    rewrite (sum_ext _ _ (fun j => match x with Open => p i | Close => q i end * g j * (if Nat.eq_dec j i then 1 else 0))).
    - rewrite (sum_unit d (fun j => match x with Open => p i | Close => q i end * g j)) by assumption. rewrite IH. destruct x; cbn; ring.
    - intros j _. rewrite diagonal. destruct (Nat.eq_dec i j), (Nat.eq_dec j i); try lia; ring. }
  unfold output. rewrite !Rmult_plus_distr_l. apply Rplus_le_compat_r. unfold dot. rewrite <- !sum_times.
  apply sum_le. intros i inside. rewrite !by_unit by assumption.
  destruct (units i inside) as [none | [[open close] | (positive & inverse & undoes & direction)]].
  - rewrite none. lra.
  - rewrite open, close.
    assert (forall w, run (selective 0 0 (p i) (q i)) w = 0) as stays.
    { induction w as [|x w IH] using rev_ind; [reflexivity|]. rewrite run_snoc, IH. destruct x; cbn; ring. }
    rewrite !stays. lra.
  - destruct (selective_moves _ _ _ _ s t inverse undoes positive order) as [rises falls].
    set (a := step N Open i) in *. rewrite <- !Rmult_assoc. set (w := sign * weight N i) in *.
    destruct (Rtotal_order a 0) as [less | [equal | more]].
    + apply Rmult_le_compat_neg_l; [nra | apply falls; lra].
    + assert (run (selective a (step N Close i) (p i) (q i)) s = run (selective a (step N Close i) (p i) (q i)) t) as ->; [|lra].
      apply Rle_antisym; [apply rises | apply falls]; lra.
    + apply Rmult_le_compat_l; [nra | apply rises; lra].
Qed.
