(** Every string to a length, in groups of those with one count and the same last tokens, whose states share boxes.

    A group has a key: its count times 2^suffix, and its last tokens as a binary number. *)

From Coq Require Import FMapAVL FMapFacts OrderedTypeEx.
From Tallystick.checker Require Import Claims Networks Gated Squashing GatedBoxes GatedClasses.
From Coq Require Import Reals Lra Lia.

Module Groups := FMapAVL.Make Z_as_OT.
Module Facts := FMapFacts.WFacts_fun Z_as_OT Groups.

Open Scope Z_scope.

(** * Keys *)

Section Keys.

Variable is_floored : bool.
Variable codes : Z.  (* 2^suffix *)
Hypothesis positive : 0 < codes.

Definition key_after (key : Z) (x : token) : Z :=
  let last := match x with Open => 0 | Close => 1 end in
  count_after is_floored (key / codes) x * codes + (2 * (key mod codes) + last) mod codes.

Lemma count_of_key s : fold_left key_after s 0 / codes = count is_floored s.
Proof.
  unfold count. assert (0 / codes = 0) as start by now apply Z.div_0_l; lia.
  induction s as [|x s IH] using rev_ind; [exact start|]. rewrite !fold_left_app. cbn [fold_left]. rewrite <- IH.
  generalize (fold_left key_after s 0). intros key. unfold key_after. rewrite Z.div_add_l by lia.
  rewrite (Z.div_small (_ mod _)) by (apply Z.mod_pos_bound; lia). apply Z.add_0_r.
Qed.

End Keys.

(** * Boxes of groups *)

Fixpoint hulls (bs cs : list box) : option (list box) :=
  match bs, cs with
  | [], [] => Some []
  | (a, b) :: bs, (c, d) :: cs =>
      match hulls bs cs with Some rest => Some ((Z.min a c, Z.max b d) :: rest) | None => None end
  | _, _ => None
  end.

Definition groups := Groups.t (list box).

Definition put (key : Z) (boxes : list box) (m : option groups) : option groups :=
  match m with
  | None => None
  | Some m =>
      match Groups.find key m with
      | None => Some (Groups.add key boxes m)
      | Some old => match hulls old boxes with Some joined => Some (Groups.add key joined m) | None => None end
      end
  end.

Section Longer.

Variable is_floored : bool.
Variable codes : Z.
Variable step : token -> list box -> list box.

Definition longer_groups (m : groups) : option groups :=
  Groups.fold (fun key boxes found =>
    put (key_after is_floored codes key Open) (step Open boxes)
      (put (key_after is_floored codes key Close) (step Close boxes) found)) m (Some (Groups.empty _)).

(** ** Soundness *)

Variable places : Z.

Definition has (m : groups) (key : Z) (xs : list R) : Prop :=
  exists boxes, Groups.find key m = Some boxes /\ all_inside places xs boxes.

Lemma hull_inside x a b c d : inside places x (a, b) \/ inside places x (c, d) -> inside places x (Z.min a c, Z.max b d).
Proof.
  unfold inside. cbn [fst snd]. rewrite IZR_min, IZR_max. unfold Rmin, Rmax. repeat destruct Rle_dec; lra.
Qed.

Lemma hulls_inside xs bs cs joined : hulls bs cs = Some joined ->
  all_inside places xs bs \/ all_inside places xs cs -> all_inside places xs joined.
Proof.
  revert xs cs joined. induction bs as [|[a b] bs IH]; intros xs [|[c d] cs] joined; cbn [hulls]; try discriminate.
  - intros [= <-] [all | all]; exact all.
  - destruct (hulls bs cs) as [rest|] eqn:hulled; [intros [= <-] | discriminate].
    intros [all | all]; inversion all; subst; constructor; try (apply hull_inside; tauto); eapply IH; eauto.
Qed.

Lemma put_is_some key boxes m m' : put key boxes m = Some m' -> exists before, m = Some before.
Proof. destruct m as [m|]; [now exists m | discriminate]. Qed.

Lemma put_has key boxes m m' xs : put key boxes (Some m) = Some m' -> all_inside places xs boxes -> has m' key xs.
Proof.
  cbn [put]. intros done all. destruct (Groups.find key m) as [old|].
  - destruct (hulls old boxes) as [joined|] eqn:hulled; [|discriminate]. injection done as <-. exists joined.
    rewrite Facts.add_eq_o by reflexivity. split; [reflexivity|]. eapply hulls_inside; eauto.
  - injection done as <-. exists boxes. now rewrite Facts.add_eq_o.
Qed.

Lemma put_keeps key boxes m m' other xs : put key boxes (Some m) = Some m' -> has m other xs -> has m' other xs.
Proof.
  cbn [put]. intros done (bs & found & all). destruct (Z.eq_dec key other) as [-> | differ].
  - rewrite found in done. destruct (hulls bs boxes) as [joined|] eqn:hulled; [|discriminate]. injection done as <-. exists joined.
    rewrite Facts.add_eq_o by reflexivity. split; [reflexivity|]. eapply hulls_inside; eauto.
  - destruct (Groups.find key m) as [old|]; [destruct (hulls old boxes); [|discriminate]|]; injection done as <-;
      exists bs; now rewrite Facts.add_neq_o.
Qed.

Variable after : list R -> token -> list R.
Hypothesis step_sound : forall x xs boxes, all_inside places xs boxes -> all_inside places (after xs x) (step x boxes).

Lemma fold_has (entries : list (Z * list box)) begun m' :
  fold_left (fun found entry =>
    put (key_after is_floored codes (fst entry) Open) (step Open (snd entry))
      (put (key_after is_floored codes (fst entry) Close) (step Close (snd entry)) found)) entries begun = Some m' ->
  (exists m, begun = Some m /\ forall key xs, has m key xs -> has m' key xs) /\
  forall key boxes x xs, In (key, boxes) entries -> all_inside places xs boxes ->
    has m' (key_after is_floored codes key x) (after xs x).
Proof.
  revert begun. induction entries as [|[key boxes] entries IH]; intros begun done; cbn [fold_left fst snd] in done.
  - split; [exists m'; auto | contradiction].
  - destruct (IH _ done) as [(opened & put_open & kept) others].
    destruct (put_is_some _ _ _ _ put_open) as [closed put_close]. rewrite put_close in put_open.
    destruct (put_is_some _ _ _ _ put_close) as [m ->]. split.
    + exists m. split; [reflexivity|]. intros other xs before. apply kept. eapply put_keeps; [exact put_open|].
      eapply put_keeps; [exact put_close | exact before].
    + intros other bs x xs [[= <- <-] | member] all; [|now apply others with bs]. apply kept. destruct x.
      * eapply put_has; [exact put_open | now apply step_sound].
      * eapply put_keeps; [exact put_open|]. eapply put_has; [exact put_close | now apply step_sound].
Qed.

Lemma longer_has m m' key xs x : longer_groups m = Some m' -> has m key xs ->
  has m' (key_after is_floored codes key x) (after xs x).
Proof.
  unfold longer_groups. rewrite Groups.fold_1. intros done (boxes & found & all).
  destruct (fold_has _ _ _ done) as [_ each]. apply each with boxes; [|exact all].
  apply Groups.find_2, Groups.elements_1, InA_alt in found as ([k bs] & same & member).
  destruct same as [same_key same_boxes]. cbn in same_key, same_boxes. now subst.
Qed.

End Longer.
