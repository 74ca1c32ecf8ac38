(** The check of a claim about a network in real numbers whose steps squash, and the theorem that what it lets pass holds. *)

From Tallystick.checker Require Import Claims Networks Gated Squashing GatedBoxes GatedClasses GatedGroups Runs.
From Coq Require Import Reals Qreals Lra Lia.
Open Scope Z_scope.

(** A network made ready: its programs, its comparisons, and the boxes of its state before the first token. *)
Record ready_network := {
  box_step : token -> list box -> list box;
  box_hidden : list box -> list box;
  box_decision : list (list ready_comparison);
  box_start : list box;
}.

Definition ready_network_of (places : Z) (n : gated_network) : ready_network :=
  let opened := make_ready (gated_open n) in
  let closed := make_ready (gated_close n) in
  let hidden := make_ready (gated_hidden n) in
  {| box_step := fun x => run_boxes places match x with Open => opened | Close => closed end;
     box_hidden := run_boxes places hidden;
     box_decision := map (map (ready_to_compare (gated_lines n))) (gated_decision n);
     box_start := fold_left (fun boxes p => run_boxes places (make_ready p) boxes) (gated_first n)
       (map (fun q => sum_box places [] (ready_sum [] q)) (gated_start n)) |}.

Definition class_in_boxes (places : Z) (r : ready_network) (boxes : list box) (k : class) : bool :=
  class_is_given places (box_decision r) (box_hidden r boxes) k.

(** * All lengths *)

Fixpoint groups_are_right (places codes : Z) (r : ready_network) (t : task) (l : lengths) (more : nat) (length : Z) (m : groups) : bool :=
  match more with
  | O => true
  | S more =>
      match longer_groups (floored t) codes (box_step r) m with
      | None => false
      | Some next =>
          (if (length + 1) mod stride l =? 0
           then forallb (fun entry => class_in_boxes places r (snd entry) (class_of_count t (fst entry / codes))) (Groups.elements next)
           else true)
          && groups_are_right places codes r t l more (length + 1) next
      end
  end.

Definition check_groups (places suffix : Z) (r : ready_network) (t : task) (l : lengths) (horizon : Z) : bool :=
  groups_are_right places (Z.shiftl 1 suffix) r t l (Z.to_nat horizon) 0 (Groups.add 0 (box_start r) (Groups.empty _)).

(** * One string *)

Definition boxes_of_runs (r : ready_network) (s : runs) : list box :=
  fold_left (fun boxes run => Z.iter (snd run) (box_step r (fst run)) boxes) s (box_start r).

Definition check_gated_failing (places : Z) (r : ready_network) (t : task) (l : lengths) (horizon : Z) (failing : runs) (given : class) : bool :=
  fails_after t l horizon failing given && class_in_boxes places r (boxes_of_runs r failing) given.

(** * The check *)

(** Digits and suffixes are hints: more of them make boxes closer. *)
Record gated_hints := { digits_to_horizon : Z; suffix_to_horizon : Z; digits_of_string : Z }.

Definition check_gated (hints : gated_hints) (c : gated_claim) : bool :=
  let n := gated_net c in
  let check_to := check_groups (digits_to_horizon hints) (suffix_to_horizon hints) (ready_network_of (digits_to_horizon hints) n)
    (gated_asked c) (gated_which c) in
  (0 <? digits_to_horizon hints) && (0 <? digits_of_string hints) && (0 <=? suffix_to_horizon hints) &&
  match gated_said c with
  | Proved => false
  | Bounded horizon => check_to horizon
  | Refuted horizon failing given =>
      check_gated_failing (digits_of_string hints) (ready_network_of (digits_of_string hints) n) (gated_asked c) (gated_which c)
        horizon failing given && check_to horizon
  end.

(** * Soundness *)

Section Sound.

Variable n : gated_network.
Variable places : Z.
Hypothesis some : 0 < places.

Local Notation r := (ready_network_of places n).

Lemma step_is_inside x xs boxes : all_inside places xs boxes -> all_inside places (gated_step n xs x) (box_step r x boxes).
Proof. intros all. unfold gated_step. destruct x; now apply run_boxes_sound. Qed.

Lemma start_is_inside : all_inside places (gated_initial n) (box_start r).
Proof.
  cbn [ready_network_of box_start]. unfold gated_initial.
  assert (all_inside places (map Q2R (gated_start n)) (map (fun q => sum_box places [] (ready_sum [] q)) (gated_start n))) as begun.
  { induction (gated_start n) as [|q qs IH]; cbn [map]; constructor; [|exact IH].
    change (Q2R q) with (gated_sum [] [] q). now apply sum_box_sound; [|constructor]. }
  revert begun. generalize (map Q2R (gated_start n)) (map (fun q => sum_box places [] (ready_sum [] q)) (gated_start n)).
  induction (gated_first n) as [|p ps IH]; intros xs boxes all; cbn [fold_left]; [exact all|]. apply IH. now apply run_boxes_sound.
Qed.

Lemma class_in_boxes_sound state boxes k : all_inside places state boxes -> class_in_boxes places r boxes k = true ->
  real_class (gated_decision n) (gated_outputs n state) k.
Proof.
  intros all. unfold class_in_boxes. cbn [ready_network_of box_decision box_hidden].
  apply class_is_given_sound; [exact some | now apply run_boxes_sound].
Qed.

Lemma groups_are_right_sound codes t l more length m : 0 < codes -> 0 <= length ->
  (forall s, size s = length -> has places m (fold_left (key_after (floored t) codes) s 0) (gated_state n s)) ->
  groups_are_right places codes r t l more length m = true ->
  forall s, counted l s -> length < size s <= length + Z.of_nat more -> gated_gives n s (right_class t s).
Proof.
  intros positive. revert length m. induction more as [|more IH]; intros length m nonneg holds right s counts between; [lia|].
  cbn [groups_are_right] in right. destruct (longer_groups (floored t) codes (box_step r) m) as [next|] eqn:went; [|discriminate].
  apply andb_true_iff in right as [now_right later].
  assert (forall s, size s = length + 1 -> has places next (fold_left (key_after (floored t) codes) s 0) (gated_state n s)) as held.
  { intros u sized. destruct u as [|x u _] using rev_ind; [cbn in sized; lia|]. rewrite size_snoc in sized.
    unfold gated_state. rewrite !fold_left_app. cbn [fold_left].
    eapply (longer_has (floored t) codes (box_step r) places (gated_step n) step_is_inside); [exact went | apply holds; lia]. }
  destruct (Z.eq_dec (size s) (length + 1)) as [asked | not_yet]; [|now apply (IH (length + 1) next); try assumption; lia].
  destruct counts as [_ [times multiple]]. replace ((length + 1) mod stride l =? 0) with true in now_right.
  2: { symmetry. rewrite <- asked, multiple. apply Z.eqb_eq, Z.mod_mul. now destruct l. }
  destruct (held s asked) as (boxes & found & all). rewrite forallb_forall in now_right.
  apply Groups.find_2, Groups.elements_1, SetoidList.InA_alt in found as ([key bs] & [same_key same_boxes] & member).
  cbn in same_key, same_boxes. subst. specialize (now_right _ member). cbn [fst snd] in now_right.
  rewrite count_of_key in now_right by exact positive. eapply class_in_boxes_sound; [exact all | exact now_right].
Qed.

Lemma check_groups_sound suffix t l horizon : 0 <= suffix -> check_groups places suffix r t l horizon = true ->
  right_to (gated_gives n) t l horizon.
Proof.
  intros nonneg right s counts below. unfold check_groups in right.
  refine (groups_are_right_sound (Z.shiftl 1 suffix) t l (Z.to_nat horizon) 0 _ _ _ _ right s counts _).
  - rewrite Z.shiftl_1_l. apply Z.pow_pos_nonneg; lia.
  - lia.
  - intros [|x u]; [|cbn; lia]. intros _. exists (box_start r). split; [now rewrite Facts.add_eq_o | apply start_is_inside].
  - destruct counts as [nonempty _]. destruct s as [|x s]; [congruence|]. cbn in *. lia.
Qed.

Lemma boxes_of_runs_hold s : all_inside places (gated_state n (string_of s)) (boxes_of_runs r s).
Proof.
  unfold gated_state, boxes_of_runs. pose proof start_is_inside as begun. revert begun. generalize (gated_initial n) (box_start r).
  induction s as [|[x size] s IH]; intros xs boxes all; [exact all|]. cbn [fold_left string_of fst snd].
  rewrite fold_over_run. apply IH. destruct size as [|size|size]; cbn [Z.iter]; try exact all. rewrite !Pos2Nat.inj_iter.
  induction (Pos.to_nat size) as [|k held]; [exact all|]. cbn. now apply step_is_inside.
Qed.

Lemma check_gated_failing_sound t l horizon failing given : check_gated_failing places r t l horizon failing given = true ->
  counted l (string_of failing) /\ size (string_of failing) = horizon + stride l /\
  gated_gives n (string_of failing) given /\ given <> right_class t (string_of failing).
Proof.
  unfold check_gated_failing. rewrite andb_true_iff. intros [fails gets].
  destruct (fails_after_sound _ _ _ _ _ fails) as (counts & long & wrong).
  split; [exact counts | split; [exact long | split; [|exact wrong]]].
  eapply class_in_boxes_sound; [apply boxes_of_runs_hold | exact gets].
Qed.

End Sound.

Theorem check_gated_sound : forall (hints : gated_hints) (c : gated_claim), check_gated hints c = true -> gated_holds c.
Proof.
  intros hints c. unfold check_gated, gated_holds. rewrite !andb_true_iff, !Z.ltb_lt, Z.leb_le. intros [[[places digits] suffix] checked].
  destruct (gated_said c) as [|horizon failing given|horizon]; cbn [claim_holds]; [discriminate | |].
  - apply andb_true_iff in checked as [fails right].
    split; [exact (check_groups_sound _ _ places _ _ _ _ suffix right) | exact (check_gated_failing_sound _ _ digits _ _ _ _ _ fails)].
  - exact (check_groups_sound _ _ places _ _ _ _ suffix checked).
Qed.
