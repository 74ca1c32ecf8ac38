(** Strings by length and count: all strings of a length with the same count lead to states that one bound holds.

    The bounds of a length are a row, and follow from the row of the length before. Whatever states and bounds are, all that
    is asked of them is that a token takes what is inside a bound to what is inside its image. *)

From Tallystick.checker Require Import Claims.

(** * The group of a string: its number of `(`, or its floored count *)

Definition group_after (is_floored : bool) (group : nat) (x : token) : nat :=
  match x with
  | Open => S group
  | Close => if is_floored then Nat.pred group else group
  end.

Definition group (is_floored : bool) (s : string) : nat := fold_left (group_after is_floored) s O.

Lemma group_snoc f s x : group f (s ++ [x]) = group_after f (group f s) x.
Proof. unfold group. now rewrite fold_left_app. Qed.

Definition count_of_group (is_floored : bool) (length : Z) (group : Z) : Z :=
  if is_floored then group else 2 * group - length.

Lemma count_by_group f s : count f s = count_of_group f (size s) (Z.of_nat (group f s)).
Proof.
  unfold count_of_group. induction s as [|x s IH] using rev_ind; [now destruct f|].
  rewrite count_snoc, group_snoc, size_snoc, IH. destruct x, f; cbn [group_after count_after]; lia.
Qed.

Section Rows.

Variables state bound : Type.
Variable after : state -> token -> state.
Variable image : token -> bound -> bound.
Variable hull : bound -> bound -> bound.
Variable inside : state -> bound -> Prop.
Variable fine : bound -> bool.
Hypothesis image_sound : forall h b x, fine b = true -> inside h b -> inside (after h x) (image x b).
Hypothesis hull_left : forall h b c, inside h b -> inside h (hull b c).
Hypothesis hull_right : forall h b c, inside h c -> inside h (hull b c).

Variable is_floored : bool.

(** * From one length to the next *)

Fixpoint join (row other : list bound) : list bound :=
  match row, other with
  | b :: row, c :: other => hull b c :: join row other
  | [], other => other
  | row, [] => row
  end.

(** What `)` leads to: each group stays where it is, or a floored one falls by one if it can. *)
Definition close (row : list bound) : list bound :=
  match is_floored, map (image Close) row with
  | true, first :: second :: rest => hull first second :: rest
  | _, images => images
  end.

Definition longer (row : list bound) : list bound :=
  match close row with
  | [] => []
  | first :: rest => first :: join (map (image Open) row) rest
  end.

(** A row holds a state in the place of a group. *)
Definition has (row : list bound) (place : nat) (h : state) : Prop :=
  exists b, nth_error row place = Some b /\ inside h b.

Lemma join_left row other place h : has row place h -> has (join row other) place h.
Proof.
  intros (b & found & holds). revert row other found.
  induction place as [|place IH]; intros [|c row] [|d other]; cbn; try discriminate;
    try (now exists b); [injection 1 as ->; exists (hull b d); auto | apply IH].
Qed.

Lemma join_right row other place h : has other place h -> has (join row other) place h.
Proof.
  intros (b & found & holds). revert row other found.
  induction place as [|place IH]; intros [|c row] [|d other]; cbn; try discriminate;
    try (now exists b); [injection 1 as ->; exists (hull c b); auto | apply IH].
Qed.

Lemma map_has x row place h : forallb fine row = true -> has row place h -> has (map (image x) row) place (after h x).
Proof.
  intros all (b & found & holds). exists (image x b). rewrite nth_error_map, found. split; [reflexivity|].
  apply image_sound; [|exact holds]. rewrite forallb_forall in all. apply all. eapply nth_error_In, found.
Qed.

Lemma close_has row place h : forallb fine row = true -> has row place h ->
  has (close row) (group_after is_floored place Close) (after h Close).
Proof.
  intros all holds. apply (map_has Close) in holds; [|exact all]. unfold close. destruct is_floored; [|exact holds].
  destruct holds as (b & found & holds). cbn [group_after].
  destruct (map (image Close) row) as [|first [|second rest]]; [destruct place; discriminate | |].
  - exists b. split; [|exact holds]. destruct place as [|[]]; [exact found | discriminate | discriminate].
  - destruct place as [|[|place]]; cbn in *.
    + injection found as ->. exists (hull b second). auto.
    + injection found as ->. exists (hull first b). auto.
    + now exists b.
Qed.

Lemma longer_has row place h x : forallb fine row = true -> has row place h ->
  has (longer row) (group_after is_floored place x) (after h x).
Proof.
  intros all holds. unfold longer. pose proof (close_has row place h all holds) as closed.
  assert (close row <> []) as some.
  { intros none. rewrite none in closed. destruct closed as (b & found & _). now destruct (group_after _ _ _). }
  destruct (close row) as [|first rest]; [congruence|]. destruct x.
  - cbn [group_after]. apply (join_left _ rest), (map_has Open); assumption.
  - destruct (group_after is_floored place Close) as [|place']; [exact closed|].
    apply (join_right (map (image Open) row)), closed.
Qed.

(** * All lengths to a horizon *)

Variable start : state.
Variable start_bound : bound.
Hypothesis start_inside : inside start start_bound.

Definition state_after (s : string) : state := fold_left after s start.

Variable gives : state -> class -> Prop.
Variable given : bound -> class -> bool.
Hypothesis given_sound : forall h b k, fine b = true -> given b k = true -> inside h b -> gives h k.

Variable t : task.
Variable which : lengths.
Hypothesis same_count : floored t = is_floored.

Fixpoint row_is_right (length place : Z) (row : list bound) : bool :=
  match row with
  | [] => true
  | b :: row => given b (class_of_count t (count_of_group is_floored length place)) && row_is_right length (place + 1) row
  end.

Fixpoint rows_are_right (more : nat) (length : Z) (row : list bound) : bool :=
  match more with
  | O => true
  | S more =>
      let next := longer row in
      forallb fine next && (if (length + 1) mod stride which =? 0 then row_is_right (length + 1) 0 next else true)
        && rows_are_right more (length + 1) next
  end.

Definition right_by_rows (horizon : Z) : bool :=
  fine start_bound && rows_are_right (Z.to_nat horizon) 0 [start_bound].

Lemma row_is_right_sound length place row index h : forallb fine row = true -> row_is_right length place row = true ->
  has row index h -> gives h (class_of_count t (count_of_group is_floored length (place + Z.of_nat index))).
Proof.
  revert place index. induction row as [|b row IH]; intros place index all right (c & found & holds);
    [now destruct index|]. cbn in all, right. apply andb_true_iff in all as [here there].
  apply andb_true_iff in right as [right_here right_there].
  destruct index as [|index]; cbn in found.
  - injection found as <-. rewrite Z.add_0_r. now apply given_sound with b.
  - replace (place + Z.of_nat (S index)) with (place + 1 + Z.of_nat index) by lia.
    apply IH; [assumption | assumption | now exists c].
Qed.

Definition holds_all (row : list bound) (length : Z) : Prop :=
  forall s, size s = length -> has row (group is_floored s) (state_after s).

Lemma longer_holds_all row length : forallb fine row = true -> holds_all row length -> 0 <= length ->
  holds_all (longer row) (length + 1).
Proof.
  intros all holds nonneg s sized. destruct s as [|x s _] using rev_ind; [cbn in sized; lia|].
  rewrite size_snoc in sized. rewrite group_snoc. unfold state_after. rewrite fold_left_app. cbn [fold_left].
  apply longer_has; [exact all | apply holds; lia].
Qed.

Lemma rows_are_right_sound more length row : 0 <= length -> forallb fine row = true -> holds_all row length ->
  rows_are_right more length row = true ->
  forall s, counted which s -> length < size s <= length + Z.of_nat more -> gives (state_after s) (right_class t s).
Proof.
  revert length row. induction more as [|more IH]; intros length row nonneg all holds right s counts between; [lia|].
  cbn [rows_are_right] in right. rewrite !andb_true_iff in right. destruct right as [[next_fine right] rest].
  pose proof (longer_holds_all row length all holds nonneg) as next.
  destruct (Z.eq_dec (size s) (length + 1)) as [now_asked | later].
  - destruct counts as [_ [times multiple]].
    replace ((length + 1) mod stride which =? 0) with true in right.
    2: { symmetry. rewrite <- now_asked, multiple. apply Z.eqb_eq, Z.mod_mul. now destruct which. }
    pose proof (row_is_right_sound _ _ _ _ _ next_fine right (next s now_asked)) as found.
    unfold right_class. rewrite same_count, count_by_group, now_asked. exact found.
  - apply (IH (length + 1) (longer row)); try assumption; lia.
Qed.

Lemma right_by_rows_sound : forall horizon, right_by_rows horizon = true ->
  forall s, counted which s -> size s <= horizon -> gives (state_after s) (right_class t s).
Proof.
  unfold right_by_rows. intros horizon right s counts below. apply andb_true_iff in right as [start_fine right].
  apply (rows_are_right_sound (Z.to_nat horizon) 0 [start_bound]); try assumption.
  - lia.
  - cbn. now rewrite start_fine.
  - intros [|x r]; [|cbn; lia]. intros _. now exists start_bound.
  - destruct counts as [nonempty _]. destruct s as [|x s]; [congruence|]. cbn in *. lia.
Qed.

End Rows.
