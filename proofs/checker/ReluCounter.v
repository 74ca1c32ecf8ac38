(** A ReLU unit with U = 1 and b = -a < 0 holds a times the count that never falls below zero, on every string. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Sorting Tracks Monotone.

Definition is_relu_counter (c : unit_cell) : bool :=
  relu c && Qeq_bool (fst (weights c)) 1 && Qeq_bool (snd (weights c)) 1 &&
  negb (Qle_bool (fst (steps c)) 0) && Qeq_bool (snd (steps c)) (- fst (steps c)).

(** A comparison holds where the count is zero, or everywhere above: there it is least at one. *)
Definition relu_meets (ls : list line) (a : Q) (c : comparison) (side : Datatypes.comparison) : bool :=
  let l := difference ls (greater c) (less c) in
  let fine := is_above_zero (strict c) in
  match side with
  | Lt => true
  | Eq => fine (output l [0])
  | Gt => Qle_bool (output l [0]) (output l [a]) && fine (output l [a])
  end.

Definition relu_tracks (tracks : list track) (m : model) (t : task) : bool :=
  match m with
  | Unit c ls decision =>
      is_relu_counter c && floored t &&
      enough decision (at_zero t) (needed_for tracks Eq) && enough decision (above t) (needed_for tracks Gt) &&
      forallb (fun tr : track => forallb (relu_meets ls (fst (steps c)) (fst tr)) (snd tr)) tracks
  | _ => false
  end.

(** * The state *)

Lemma positive_part_is x y : x == y -> 0 <= y -> positive_part x == y.
Proof.
  unfold positive_part. intros same positive. destruct (Qle_bool x 0) eqn:test; [|exact same].
  apply Qle_bool_iff in test. lra.
Qed.

Lemma positive_part_none x : x <= 0 -> positive_part x == 0.
Proof. unfold positive_part. intros negative. apply Qle_bool_iff in negative. now rewrite negative. Qed.

Lemma floored_count s : (0 <= count true s)%Z.
Proof. induction s as [|x s IH] using rev_ind; [reflexivity|]. rewrite count_snoc. destruct x; cbn [count_after]; lia. Qed.

Lemma relu_state c ls d s : is_relu_counter c = true ->
  exists x, state_after (network_of_unit c ls d) s = [x] /\ x == fst (steps c) * inject_Z (count true s).
Proof.
  unfold is_relu_counter. rewrite !Bool.andb_true_iff. intros [[[[cuts one] one'] positive] opposite].
  apply Qeq_bool_iff in one, one', opposite. apply positive_test in positive.
  destruct c as [is_relu [P R] [a b]]. cbn [relu weights steps fst snd] in *. subst.
  induction s as [|x s (h & same & is_count)] using rev_ind.
  - exists 0. split; [reflexivity|]. change (inject_Z (count true [])) with 0. ring.
  - rewrite state_snoc, same, count_snoc. pose proof (floored_count s) as some.
    assert (0 <= inject_Z (count true s)) by (change 0 with (inject_Z 0); now rewrite <- Zle_Qle).
    destruct x; [exists (positive_part (P * h + a)) | exists (positive_part (R * h + b))];
      (split; [reflexivity|]); cbn [count_after].
    + apply positive_part_is.
      * rewrite inject_Z_plus, is_count, one. change (inject_Z 1) with 1. ring.
      * apply Qmult_le_0_compat; [lra|]. change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia.
    + destruct (Z.eq_dec (count true s) 0) as [zero | more].
      * rewrite zero in *. change (inject_Z (Z.max 0 (0 - 1))) with 0. change (inject_Z 0) with 0 in is_count.
        rewrite Qmult_0_r. apply positive_part_none. rewrite is_count, opposite. lra.
      * rewrite Z.max_r by lia. apply positive_part_is.
        -- unfold Z.sub. rewrite inject_Z_plus, is_count, one', opposite. change (inject_Z (- (1))) with (- (1)). ring.
        -- apply Qmult_le_0_compat; [lra|]. change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia.
Qed.

Lemma output_one l x : output l [x] == output l [0] + hd 0 (fst l) * x.
Proof. unfold output. destruct (fst l) as [|w [|z v]]; cbn; ring. Qed.

(** * Soundness *)

Lemma relu_tracks_sound tracks c ls d t s : relu_tracks tracks (Unit c ls d) t = true ->
  gives (network_of_unit c ls d) s (right_class t s).
Proof.
  unfold relu_tracks. rewrite !Bool.andb_true_iff. intros [[[[counter is_floored] at_0] above_0] all].
  destruct (relu_state c ls d s counter) as (x & same & is_count).
  unfold gives, class_of, outputs, right_class, class_of_count. rewrite is_floored, same.
  change (run_program (hidden (network_of_unit c ls d)) [x]) with [x].
  change (decision (network_of_unit c ls d)) with d. change (lines (network_of_unit c ls d)) with ls.
  pose proof (floored_count s) as some. unfold is_relu_counter in counter. rewrite !Bool.andb_true_iff in counter.
  destruct counter as [[_ positive] _]. apply positive_test in positive. set (a := fst (steps c)) in *.
  assert (forall side, (count true s ?= 0)%Z = side ->
    Forall (fun c => compares (map (fun l => output l [x]) ls) c = true) (needed_for tracks side)) as needed.
  { intros side sign. unfold needed_for. apply Forall_map, Forall_forall. intros tr member. apply filter_In in member.
    destruct member as [member wanted]. apply existsb_exists in wanted. destruct wanted as (side' & inside & equal).
    assert (side' = side) as -> by (destruct side, side'; try discriminate; reflexivity).
    rewrite forallb_forall in all. apply all in member. rewrite forallb_forall in member. apply member in inside.
    set (k := fst tr) in *. set (l := difference ls (greater k) (less k)).
    assert (above_zero (strict k) (output l [x])) as positive_line.
    { unfold relu_meets in inside. fold l in inside. destruct side.
      - apply above_test in inside. apply Z.compare_eq_iff in sign. rewrite sign in is_count.
        eapply above_more; [|exact inside]. rewrite (output_one l x), is_count. change (inject_Z 0) with 0. lra.
      - rewrite Z.compare_lt_iff in sign. lia.
      - apply Bool.andb_true_iff in inside. destruct inside as [rises fine]. apply Qle_bool_iff in rises.
        apply above_test in fine. eapply above_more; [|exact fine]. rewrite Z.compare_gt_iff in sign.
        assert (1 <= inject_Z (count true s)) by (change 1 with (inject_Z 1); rewrite <- Zle_Qle; lia).
        rewrite (output_one l x), (output_one l a), is_count. rewrite (output_one l a) in rises.
        set (w := hd 0 (fst l)) in *. clearbody w. assert (0 <= w * a) by lra. nra. }
    unfold above_zero in positive_line. destruct (strict k) eqn:is_strict; [now apply compares_strict | now apply compares_weak]. }
  destruct (Z.compare_spec (count true s) 0) as [zero | less_ | more] in needed |- *; [| lia |].
  - eapply enough_sound; [exact at_0 | now apply needed].
  - eapply enough_sound; [exact above_0 | now apply needed].
Qed.
