(** Every string to a length, in groups of those with one count: the box of a group holds the states of all its strings.

    A group is reached from the groups one token shorter. Where each token has a map that rises or falls with h, as those of one
    unit do, the boxes are as close as the unit allows. *)

From Tallystick.checker Require Import Networks Classes Boxes.

(** * Groups *)

(** The count of some strings, and boxes around all their states. *)
Definition group := (Z * list box)%type.

Definition hull (b c : box) : box := {| low := Z.min (low b) (low c); high := Z.max (high b) (high c) |}.

Fixpoint hulls (bs cs : list box) : option (list box) :=
  match bs, cs with
  | [], [] => Some []
  | b :: bs, c :: cs => match hulls bs cs with Some rest => Some (hull b c :: rest) | None => None end
  | _, _ => None
  end.

(** One group for two of the same count. Groups come in the order of their counts, on which only the speed depends. *)
Definition put (g : group) (groups : list group) : list group :=
  match groups with
  | h :: rest =>
      if (fst g =? fst h)%Z
      then match hulls (snd g) (snd h) with Some joined => (fst g, joined) :: rest | None => g :: groups end
      else g :: groups
  | [] => [g]
  end.

Fixpoint merge (gs : list group) : list group -> list group :=
  fix with_second (hs : list group) : list group :=
    match gs, hs with
    | [], _ => hs
    | _, [] => gs
    | g :: gs', h :: hs' => if (fst g <=? fst h)%Z then put g (merge gs' hs) else put h (with_second hs')
    end.

Fixpoint join (groups : list group) : list group :=
  match groups with
  | [] => []
  | g :: rest => put g (join rest)
  end.

Fixpoint after_token (fl : bool) (U : positive) (p : program) (x : token) (groups : list group) : option (list group) :=
  match groups with
  | [] => Some []
  | (c, state) :: rest =>
      match run_boxes U p state, after_token fl U p x rest with
      | Some next, Some others => Some ((count_after fl c x, next) :: others)
      | _, _ => None
      end
  end.

Definition longer (fl : bool) (U : positive) (n : network) (groups : list group) : option (list group) :=
  match after_token fl U (step_open n) Open groups, after_token fl U (step_close n) Close groups with
  | Some opened, Some closed => Some (merge (join closed) opened)
  | _, _ => None
  end.

(** * The search *)

(** How far it has come, the groups of that length, and whether all is right so far. *)
Record progress := { reached : Z; groups : list group; fine : bool }.

Definition all_given (U : positive) (n : network) (t : task) (gs : list group) : bool :=
  forallb (fun g => given_in U n (class_of_count t (fst g)) (snd g)) gs.

Definition go_on (U : positive) (n : network) (t : task) (l : lengths) (p : progress) : progress :=
  if fine p then
    let next := (reached p + 1)%Z in
    match longer (floored t) U n (groups p) with
    | Some gs =>
        {| reached := next; groups := gs;
           fine := if (next mod stride l =? 0)%Z then all_given U n t gs else true |}
    | None => {| reached := next; groups := []; fine := false |}
    end
  else p.

Definition begin (U : positive) (n : network) : progress :=
  {| reached := 0; groups := [(0%Z, map (point U) (initial n))]; fine := true |}.

Definition search (U : positive) (n : network) (t : task) (l : lengths) (horizon : Z) : bool :=
  let p := Z.iter horizon (go_on U n t l) (begin U n) in
  fine p && (horizon <=? reached p)%Z.

(** * Soundness *)

Section Sound.

Variable U : positive.

Definition covers (gs : list group) (c : Z) (xs : list Q) : Prop :=
  Exists (fun g => fst g = c /\ all_within U xs (snd g)) gs.

Lemma within_hull_l x b c : within U x b -> within U x (hull b c).
Proof.
  intros [above below]. split; cbn.
  - apply Qle_trans with (inject_Z (low b)); [rewrite <- Zle_Qle; lia | exact above].
  - apply Qle_trans with (inject_Z (high b)); [exact below | rewrite <- Zle_Qle; lia].
Qed.

Lemma within_hull_r x b c : within U x c -> within U x (hull b c).
Proof.
  intros [above below]. split; cbn.
  - apply Qle_trans with (inject_Z (low c)); [rewrite <- Zle_Qle; lia | exact above].
  - apply Qle_trans with (inject_Z (high c)); [exact below | rewrite <- Zle_Qle; lia].
Qed.

Lemma within_hulls xs bs cs joined : hulls bs cs = Some joined ->
  all_within U xs bs \/ all_within U xs cs -> all_within U xs joined.
Proof.
  revert xs cs joined. induction bs as [|b bs IH]; intros xs [|c cs] joined; cbn; try discriminate.
  - intros [= <-] [all | all]; exact all.
  - destruct (hulls bs cs) as [rest|] eqn:hulled; [intros [= <-] | discriminate].
    intros [all | all]; inversion all; subst; constructor;
      [now apply within_hull_l | eapply IH; [exact hulled | now left]
      | now apply within_hull_r | eapply IH; [exact hulled | now right]].
Qed.

Lemma covers_put_l g gs xs c : fst g = c -> all_within U xs (snd g) -> covers (put g gs) c xs.
Proof.
  intros same all. destruct gs as [|h rest]; cbn; [now repeat constructor|].
  destruct (fst g =? fst h)%Z; [|now repeat constructor].
  destruct (hulls (snd g) (snd h)) as [joined|] eqn:hulled; [|now repeat constructor].
  apply Exists_cons_hd. split; [exact same|]. eapply within_hulls; [exact hulled | now left].
Qed.

Lemma covers_put_r g gs xs c : covers gs c xs -> covers (put g gs) c xs.
Proof.
  intros covered. destruct gs as [|h rest]; cbn; [inversion covered|].
  destruct (Z.eqb_spec (fst g) (fst h)) as [same|]; [|now apply Exists_cons_tl].
  destruct (hulls (snd g) (snd h)) as [joined|] eqn:hulled; [|now apply Exists_cons_tl].
  inversion covered as [? ? [equal all]|]; subst; [|now apply Exists_cons_tl].
  apply Exists_cons_hd. split; [exact same|]. eapply within_hulls; [exact hulled | now right].
Qed.

Lemma covers_merge gs hs xs c : covers gs c xs \/ covers hs c xs -> covers (merge gs hs) c xs.
Proof.
  revert hs. induction gs as [|g gs IH]; intros hs.
  - intros [none | covered]; [inversion none|]. destruct hs; exact covered.
  - induction hs as [|h hs IHh]; cbn.
    + intros [covered | none]; [exact covered | inversion none].
    + destruct (fst g <=? fst h)%Z.
      * intros [covered | covered]; [inversion covered as [? ? []|]; subst|];
          [now apply covers_put_l | apply covers_put_r, IH; now left | apply covers_put_r, IH; now right].
      * intros [covered | covered]; [|inversion covered as [? ? []|]; subst];
          [apply covers_put_r, IHh; now left | now apply covers_put_l | apply covers_put_r, IHh; now right].
Qed.

Lemma covers_join gs xs c : covers gs c xs -> covers (join gs) c xs.
Proof.
  induction gs as [|g gs IH]; cbn; [auto|]. intros covered.
  inversion covered as [? ? []|]; subst; [now apply covers_put_l | now apply covers_put_r, IH].
Qed.

Lemma covers_after fl p x gs hs c xs : after_token fl U p x gs = Some hs -> covers gs c xs ->
  covers hs (count_after fl c x) (run_program p xs).
Proof.
  revert hs. induction gs as [|[d state] gs IH]; cbn; intros hs; [intros _ none; inversion none|].
  destruct (run_boxes U p state) as [next|] eqn:ran; [|discriminate].
  destruct (after_token fl U p x gs) as [others|]; [intros [= <-] covered | discriminate].
  inversion covered as [? ? [same all]|]; subst; [apply Exists_cons_hd | apply Exists_cons_tl; now apply IH].
  cbn in *. subst. split; [reflexivity|]. eapply run_boxes_sound; eassumption.
Qed.

Variable n : network.
Variable t : task.
Variable l : lengths.

Definition sound (p : progress) : Prop := (0 <= reached p)%Z /\ (fine p = true ->
  (forall s, size s = reached p -> covers (groups p) (count (floored t) s) (state_after n s)) /\
  right_to (gives n) t l (reached p)).

Lemma all_given_sound gs s : all_given U n t gs = true -> covers gs (count (floored t) s) (state_after n s) ->
  gives n s (right_class t s).
Proof.
  unfold all_given. rewrite forallb_forall. intros all covered. apply Exists_exists in covered.
  destruct covered as (g & member & same & inside). apply all in member. rewrite same in member.
  eapply given_in_sound; [exact inside | exact member].
Qed.

Lemma covers_longer gs hs s x : longer (floored t) U n gs = Some hs ->
  covers gs (count (floored t) s) (state_after n s) ->
  covers hs (count (floored t) (s ++ [x])) (state_after n (s ++ [x])).
Proof.
  unfold longer. intros found covered. rewrite count_snoc, state_snoc.
  destruct (after_token _ U (step_open n) _ _) as [opened|] eqn:after_open; [|discriminate].
  destruct (after_token _ U (step_close n) _ _) as [closed|] eqn:after_close; [injection found as <- | discriminate].
  apply covers_merge. destruct x; [right | left; apply covers_join]; eapply covers_after; eassumption.
Qed.

Lemma go_on_sound p : sound p -> sound (go_on U n t l p).
Proof.
  intros [positive before]. unfold go_on. destruct (fine p) eqn:was_fine; [|split; [assumption | now rewrite was_fine]].
  destruct (before eq_refl) as [covered right].
  destruct (longer (floored t) U n (groups p)) as [gs|] eqn:found; [|split; [cbn; lia | discriminate]].
  split; cbn [reached groups fine]; [lia | intros is_fine].
  assert (forall s, size s = (reached p + 1)%Z -> covers gs (count (floored t) s) (state_after n s)) as covered'.
  { intros s. destruct s as [|x s _] using rev_ind; intros long.
    - unfold size in long. cbn in long. lia.
    - rewrite size_snoc in long. eapply covers_longer; [exact found | apply covered; lia]. }
  split; [exact covered'|].
  intros s is_counted short. destruct (Z.eq_dec (size s) (reached p + 1)) as [last|]; [|apply right; [assumption | lia]].
  destruct is_counted as [_ divides].
  destruct (Z.eqb_spec ((reached p + 1) mod stride l) 0) as [|other].
  - eapply all_given_sound; [exact is_fine | apply covered', last].
  - exfalso. apply other. apply Z.mod_divide; [destruct l; discriminate|]. now rewrite <- last.
Qed.

Lemma begin_sound : sound (begin U n).
Proof.
  split; cbn [begin reached groups fine]; [lia | intros _]. split.
  - intros s none. destruct s; [|unfold size in none; cbn in none; lia].
    apply Exists_cons_hd. split; [reflexivity|]. cbn. unfold all_within.
    induction (initial n); cbn; constructor; [apply within_point | assumption].
  - intros s [not_empty _] short. destruct s; [now destruct not_empty | unfold size in short; cbn in short; lia].
Qed.

Lemma search_sound horizon : search U n t l horizon = true -> right_to (gives n) t l horizon.
Proof.
  unfold search. rewrite Bool.andb_true_iff, Z.leb_le. intros [is_fine far].
  assert (sound (Z.iter horizon (go_on U n t l) (begin U n))) as [_ all].
  { apply iter_keeps; [exact go_on_sound | exact begin_sound]. }
  intros s is_counted short. apply (all is_fine); [exact is_counted | lia].
Qed.

End Sound.

(** * One string *)

Definition run_string (U : positive) (n : network) (s : string) : option (list box) :=
  fold_left
    (fun state x =>
       match state with
       | Some boxes => run_boxes U (match x with Open => step_open n | Close => step_close n end) boxes
       | None => None
       end)
    s (Some (map (point U) (initial n))).

Definition string_gets (U : positive) (n : network) (s : string) (k : class) : bool :=
  match run_string U n s with Some state => given_in U n k state | None => false end.

Lemma run_string_sound U n s boxes : run_string U n s = Some boxes -> all_within U (state_after n s) boxes.
Proof.
  revert boxes. induction s as [|x s IH] using rev_ind; intros boxes.
  - intros [= <-]. unfold state_after. cbn. induction (initial n); cbn; constructor; [apply within_point | assumption].
  - unfold run_string. rewrite fold_left_app, state_snoc. fold (run_string U n s). cbn.
    destruct (run_string U n s) as [before|]; [|discriminate]. intros ran.
    unfold step. destruct x; (eapply run_boxes_sound; [apply IH; reflexivity | exact ran]).
Qed.

Lemma string_gets_sound U n s k : string_gets U n s k = true -> gives n s k.
Proof.
  unfold string_gets. destruct (run_string U n s) as [boxes|] eqn:ran; [|discriminate].
  apply given_in_sound, run_string_sound, ran.
Qed.
