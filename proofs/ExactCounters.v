(** A cell whose closing map undoes its opening map is right at every length, by any readout whose classes are intervals,
    if it is right on the strings of at most two tokens: linear and selective cells, binary, ternary and larger readouts. *)

From Coq Require Import ZArith.
From Tallystick Require Import Brackets Extremes Verdict Selective.

(** What is right follows from the sign of the count. *)
Definition by_sign {class} (below zero above : class) (d : Z) : class :=
  match d with Zneg _ => below | Z0 => zero | Zpos _ => above end.

(** Every class is right for some count. *)
Definition all_asked_for {class} (below zero above : class) : Prop :=
  forall c : class, c = below \/ c = zero \/ c = above.

(** * States that move one way with the count *)

(** States k(j) of the counts, each of which follows from its neighbours by maps that rise, move one way. *)
Lemma move_one_way (k : Z -> R) (F G : R -> R) :
  (forall x y, x <= y -> F x <= F y) -> (forall x y, x <= y -> G x <= G y) ->
  (forall j, k (j + 1)%Z = F (k j)) -> (forall j, k (j - 1)%Z = G (k j)) ->
  (forall i j, (i <= j)%Z -> k i <= k j) \/ (forall i j, (i <= j)%Z -> k j <= k i).
Proof.
  intros F_rises G_rises up down.
  assert (forall less : R -> R -> Prop, (forall x, less x x) -> (forall x y z, less x y -> less y z -> less x z) ->
    (forall x y, less x y -> less (F x) (F y)) -> (forall x y, less x y -> less (G x) (G y)) -> less (k 0%Z) (k 1%Z) ->
    forall i j, (i <= j)%Z -> less (k i) (k j)) as one_way.
  { intros less reflexive transitive F_keeps G_keeps first.
    assert (forall n, less (k (Z.of_nat n)) (k (Z.of_nat n + 1)%Z)) as above.
    { induction n as [|n IH]; [exact first|]. rewrite Nat2Z.inj_succ, <- Z.add_1_r.
      rewrite (up (Z.of_nat n)), (up (Z.of_nat n + 1)%Z), (up (Z.of_nat n)). apply F_keeps. now rewrite <- up. }
    assert (forall n, less (k (- Z.of_nat n)%Z) (k (- Z.of_nat n + 1)%Z)) as below.
    { induction n as [|n IH]; [exact first|].
      replace (- Z.of_nat (S n))%Z with (- Z.of_nat n - 1)%Z by lia.
      replace (- Z.of_nat n - 1 + 1)%Z with (- Z.of_nat n + 1 - 1)%Z by lia.
      rewrite !down. now apply G_keeps. }
    assert (forall j, less (k j) (k (j + 1)%Z)) as next.
    { intros j. destruct (Z.le_gt_cases 0 j).
      - rewrite <- (Z2Nat.id j) by assumption. apply above.
      - replace j with (- Z.of_nat (Z.to_nat (- j)))%Z by lia. apply below. }
    intros i j order. replace j with (i + Z.of_nat (Z.to_nat (j - i)))%Z by lia.
    induction (Z.to_nat (j - i)) as [|n IH]; [now rewrite Z.add_0_r|].
    rewrite Nat2Z.inj_succ, <- Z.add_1_r, Z.add_assoc. eapply transitive; [exact IH | apply next]. }
  destruct (Rle_or_lt (k 0%Z) (k 1%Z)) as [rises | falls]; [left | right].
  - apply (one_way Rle); intros; lra || auto.
  - apply (one_way (fun x y => y <= x)); intros; lra || auto.
Qed.

(** Then the counts -1, 0 and 1 decide for all: a class that is wrong at another count is right at one of the three, on
    the other side of a neighbour of zero, which would be of that class too. *)
Lemma neighbours_of_zero_decide {class} (readout : R -> class) (below zero above : class) (k : Z -> R) :
  classes_are_intervals readout -> all_asked_for below zero above ->
  (forall i j, (i <= j)%Z -> k i <= k j) \/ (forall i j, (i <= j)%Z -> k j <= k i) ->
  readout (k (-1)%Z) = below -> readout (k 0%Z) = zero -> readout (k 1%Z) = above ->
  forall j, readout (k j) = by_sign below zero above j.
Proof.
  intros intervals asked one_way at_below at_zero at_above.
  assert (forall i j l, (i <= j <= l)%Z -> readout (k i) = readout (k l) -> readout (k j) = readout (k i)) as between.
  { intros i j l order same. destruct one_way as [rises | falls].
    - apply (intervals _ _ (k l)); [split; apply rises; lia | exact same].
    - rewrite same. apply (intervals _ _ (k i)); [split; apply falls; lia | congruence]. }
  intros [|j|j]; cbn [by_sign]; [exact at_zero | |].
  - destruct (asked (readout (k (Zpos j)))) as [wrong | [wrong | right]]; [| |exact right].
    + rewrite wrong. rewrite <- at_above. symmetry. rewrite (between (-1) 1 (Zpos j))%Z; [exact at_below|lia|congruence].
    + rewrite wrong. rewrite <- at_above. symmetry. rewrite (between 0 1 (Zpos j))%Z; [exact at_zero|lia|congruence].
  - destruct (asked (readout (k (Zneg j)))) as [right | [wrong | wrong]]; [exact right | |].
    + rewrite <- at_below. symmetry. apply between with (l := 0%Z); [lia | congruence].
    + rewrite <- at_below. symmetry. apply between with (l := 1%Z); [lia | congruence].
Qed.

(** * Cells whose maps undo each other: the state depends on the count alone *)

Section Inverse.

Variable f : cell.
Hypothesis close_undoes : forall h, f Close (f Open h) = h.
Hypothesis open_undoes : forall h, f Open (f Close h) = h.

Definition state (d : Z) : R := Nat.iter (Z.to_nat d) (f Open) (Nat.iter (Z.to_nat (- d)) (f Close) 0).

Lemma state_up d : state (d + 1) = f Open (state d).
Proof.
  unfold state. destruct (Z.le_gt_cases 0 d).
  - replace (Z.to_nat (d + 1)) with (S (Z.to_nat d)) by lia.
    now replace (Z.to_nat (- (d + 1))) with (Z.to_nat (- d)) by lia.
  - replace (Z.to_nat (- d)) with (S (Z.to_nat (- (d + 1)))) by lia.
    replace (Z.to_nat (d + 1)) with 0%nat by lia. replace (Z.to_nat d) with 0%nat by lia. cbn. now rewrite open_undoes.
Qed.

Lemma state_down d : state (d - 1) = f Close (state d).
Proof. rewrite <- (Z.sub_add 1 d) at 2. now rewrite state_up, close_undoes. Qed.

Lemma run_is_state s : run f s = state (difference s).
Proof.
  unfold difference. induction s as [|x s IH] using rev_ind; [reflexivity|].
  destruct x; autorewrite with snoc; rewrite IH, Nat2Z.inj_succ.
  - rewrite <- state_up. f_equal. lia.
  - rewrite <- state_down. f_equal. lia.
Qed.

End Inverse.

(** * The criterion *)

Lemma selective_close_undoes a b P Q : P * Q = 1 -> b = - Q * a ->
  forall h, selective a b P Q Close (selective a b P Q Open h) = h.
Proof. intros inverse -> h. cbn. transitivity (P * Q * h); [ring | rewrite inverse; ring]. Qed.

Lemma selective_open_undoes a b P Q : P * Q = 1 -> b = - Q * a ->
  forall h, selective a b P Q Open (selective a b P Q Close h) = h.
Proof. intros inverse -> h. cbn. transitivity (P * Q * h - P * Q * a + a); [ring | rewrite inverse; ring]. Qed.

Theorem exact_counters_at_all_lengths :
  forall (class : Type) (readout : R -> class) (below zero above : class) (a b P Q : R),
  classes_are_intervals readout -> all_asked_for below zero above ->
  P * Q = 1 -> b = - Q * a -> 0 < P ->
  let right := is_right class (selective a b P Q) readout (by_sign below zero above) in
  (forall s, s <> [] -> (length s <= 2)%nat -> right s) -> forall s, s <> [] -> right s.
Proof.
  intros class readout below zero above a b P Q intervals asked inverse undoes positive right short s _.
  pose proof (selective_close_undoes a b P Q inverse undoes) as close_undoes.
  pose proof (selective_open_undoes a b P Q inverse undoes) as open_undoes.
  assert (0 < Q) by nra.
  unfold right, is_right in *. rewrite (run_is_state _ close_undoes open_undoes).
  apply (neighbours_of_zero_decide readout below zero above (state (selective a b P Q))); try assumption.
  - apply (move_one_way _ (selective a b P Q Open) (selective a b P Q Close));
      [intros; cbn; nra | intros; cbn; nra | now apply state_up | now apply state_down].
  - change (-1)%Z with (difference [Close]). rewrite <- run_is_state by assumption. now apply (short [Close]); cbn; auto.
  - change 0%Z with (difference [Open; Close]). rewrite <- run_is_state by assumption.
    now apply (short [Open; Close]); cbn; auto.
  - change 1%Z with (difference [Open]). rewrite <- run_is_state by assumption. now apply (short [Open]); cbn; auto.
Qed.

(** At even lengths two brackets move the state by a map that rises, whatever the sign of P. *)
Theorem exact_counters_at_even_lengths :
  forall (class : Type) (readout : R -> class) (below zero above : class) (a b P Q : R),
  classes_are_intervals readout -> all_asked_for below zero above ->
  P * Q = 1 -> b = - Q * a ->
  let right := is_right class (selective a b P Q) readout (by_sign below zero above) in
  (forall s, length s = 2%nat -> right s) -> forall s, s <> [] -> Nat.Even (length s) -> right s.
Proof.
  intros class readout below zero above a b P Q intervals asked inverse undoes right short s _ [half even].
  pose proof (selective_close_undoes a b P Q inverse undoes) as close_undoes.
  pose proof (selective_open_undoes a b P Q inverse undoes) as open_undoes.
  set (f := selective a b P Q) in *. set (k := fun j => state f (2 * j)%Z).
  assert (forall j, readout (k j) = by_sign below zero above j) as all.
  { apply neighbours_of_zero_decide; try assumption.
    - apply (move_one_way _ (fun h => f Open (f Open h)) (fun h => f Close (f Close h))).
      + intros x y less. subst f. cbn. pose proof (pow2_ge_0 P). nra.
      + intros x y less. subst f. cbn. pose proof (pow2_ge_0 Q). nra.
      + intros j. subst k. cbn beta. rewrite <- !state_up by assumption. f_equal. lia.
      + intros j. subst k. cbn beta. rewrite <- !(state_down f) by assumption. f_equal. lia.
    - change (k (-1)%Z) with (state f (difference [Close; Close])).
      rewrite <- run_is_state by assumption. now apply (short [Close; Close]).
    - change (k 0%Z) with (state f (difference [Open; Close])).
      rewrite <- run_is_state by assumption. now apply (short [Open; Close]).
    - change (k 1%Z) with (state f (difference [Open; Open])).
      rewrite <- run_is_state by assumption. now apply (short [Open; Open]). }
  unfold right, is_right. rewrite (run_is_state f) by assumption.
  assert (difference s = 2 * (Z.of_nat (count Open s) - Z.of_nat half))%Z as ->.
  { unfold difference. rewrite length_is_both_counts in even. lia. }
  change (state f (2 * ?j)) with (k j). rewrite all. now destruct (_ - _)%Z.
Qed.
