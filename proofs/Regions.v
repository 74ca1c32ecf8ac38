(** Regions: without a bias only the ratio of the steps and U matter to a binary readout, and for each U the ratios that are right
    on any set of strings are an interval. *)

From Tallystick Require Import Brackets AllLengths.

(** The state is a sum of multiples of the steps. *)
Lemma state_in_steps a b U s : run (linear a b U) s = a * run (linear 1 0 U) s + b * run (linear 0 1 U) s.
Proof.
  induction s as [|x s IH] using rev_ind; [change (0 = a * 0 + b * 0); ring|].
  rewrite !run_snoc, IH. destruct x; unfold linear; ring.
Qed.

(** With an output v h of a = 1 and b = r, up to a factor whose sign alone matters. *)
Theorem only_the_ratio_matters : forall (a b U v : R) (s : string), a <> 0 ->
  v * run (linear a b U) s = v * a * run (linear 1 (b / a) U) s.
Proof.
  intros a b U v s not_zero. rewrite (state_in_steps a b), (state_in_steps 1 (b / a)). field. assumption.
Qed.

Theorem regions_are_intervals : forall (U v r1 r r2 : R) (counted : string -> Prop),
  let right r s := v * run (linear 1 r U) s > 0 <-> (count Open s > count Close s)%nat in
  r1 <= r <= r2 -> (forall s, counted s -> right r1 s) -> (forall s, counted s -> right r2 s) ->
  forall s, counted s -> right r s.
Proof.
  intros U v r1 r r2 counted right between first last s counts. specialize (first s counts). specialize (last s counts).
  unfold right in *. rewrite (state_in_steps 1 r), (state_in_steps 1 r1), (state_in_steps 1 r2) in *.
  set (A := run (linear 1 0 U) s) in *. set (B := run (linear 0 1 U) s) in *. destruct first as [f1 f2], last as [l1 l2].
  split; intros more.
  - destruct (Rle_or_lt (v * (1 * A + r1 * B)) 0) as [low1 | high1]; [|now apply f1].
    destruct (Rle_or_lt (v * (1 * A + r2 * B)) 0) as [low2 | high2]; [exfalso | now apply l1].
    destruct (Rle_or_lt 0 (v * B)); nra.
  - specialize (f2 more). specialize (l2 more). destruct (Rle_or_lt 0 (v * B)); nra.
Qed.
