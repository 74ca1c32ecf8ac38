(** Every string to a length, by the ends of the states of each count: rounding keeps the order, so that ends go to ends. *)

From Tallystick.checker Require Import Floats FloatSteps FloatClasses FloatBetween CountGroups.

(** * States *)

Definition next_state (p : prepared) (x : token) (h : Z) : Z :=
  let h := affine (net p) match x with Open => open_factor p | Close => close_factor p end h in
  if relu (cell (net p)) then Z.max h 0 else h.

(** A falling map exchanges the ends. *)
Definition image (p : prepared) (x : token) (e : ends) : ends :=
  let first := next_state p x (fst e) in
  if single e then (first, first)
  else let second := next_state p x (snd e) in if first <=? second then (first, second) else (second, first).

Definition hull (e f : ends) : ends := (Z.min (fst e) (fst f), Z.max (snd e) (snd f)).

(** Nothing between the ends overflows. *)
Definition finite_ends (p : prepared) (e : ends) : bool := (- far p <? fst e) && (snd e <? far p).

Definition check_to (p : prepared) (t : task) (l : lengths) (horizon : Z) : bool :=
  right_by_rows ends (image p) hull (finite_ends p) (floored t) (0, 0) (given_between p) t l horizon.

(** * Soundness *)

Section Sound.

Variable n : float_network.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.

Local Notation p := (prepare n).

Lemma next_state_is_executed x h : next_state p x h = float_step n x h.
Proof.
  unfold next_state, float_step, weight_of, step_of. destruct x; cbn [prepare open_factor close_factor net];
    now rewrite affine_is_executed.
Qed.

(** What the rows hold: a state between two ends, or none at all where something overflows. *)
Definition inside (state : option Z) (e : ends) : Prop :=
  match state with
  | Some h => between h e
  | None => fst e <= - far p \/ far p <= snd e
  end.

Lemma float_step_between x e h : between h e ->
  Z.min (float_step n x (fst e)) (float_step n x (snd e)) <= float_step n x h <=
  Z.max (float_step n x (fst e)) (float_step n x (snd e)).
Proof.
  intros between. pose proof (multiply_add_between n fine (weight_of n x) (step_of n x) _ _ _ between).
  unfold float_step. destruct (relu (cell n)); lia.
Qed.

Lemma image_sound state e x : finite_ends p e = true -> inside state e -> inside (float_after n state x) (image p x e).
Proof.
  unfold finite_ends. rewrite andb_true_iff, !Z.ltb_lt. intros finite.
  destruct state as [h|]; cbn [inside]; [|lia]. intros holds. unfold image. rewrite !next_state_is_executed.
  pose proof (float_step_between x e h holds) as step. cbn [float_after]. unfold is_finite.
  assert (between (float_step n x h)
    (if single e then (float_step n x (fst e), float_step n x (fst e))
     else if float_step n x (fst e) <=? float_step n x (snd e) then (float_step n x (fst e), float_step n x (snd e))
     else (float_step n x (snd e), float_step n x (fst e)))) as next.
  { unfold between. destruct (single e) eqn:one.
    - apply Z.eqb_eq in one. rewrite one in *. cbn. lia.
    - destruct (Z.leb_spec (float_step n x (fst e)) (float_step n x (snd e))); cbn; lia. }
  set (e' := if single e then _ else _) in *. clearbody e'. unfold between in next. cbn [prepare far].
  destruct (Z.ltb_spec (Z.abs (float_step n x h)) (end_of_format (form n))); cbn [inside prepare far]; unfold between; lia.
Qed.

Lemma hull_left state e f : inside state e -> inside state (hull e f).
Proof. destruct state; unfold inside, hull, between; cbn [fst snd]; lia. Qed.

Lemma hull_right state e f : inside state f -> inside state (hull e f).
Proof. destruct state; unfold inside, hull, between; cbn [fst snd]; lia. Qed.

Lemma check_to_sound t l horizon : check_to p t l horizon = true -> right_to (float_gives n) t l horizon.
Proof.
  intros right s counts below.
  enough (exists h, float_state n s = Some h /\ float_class n h = Some (right_class t s)) by now split.
  apply (right_by_rows_sound (option Z) ends (float_after n) (image p) hull inside (finite_ends p)
    image_sound hull_left hull_right (floored t) (Some 0) (0, 0))
    with (gives := fun state k => exists h, state = Some h /\ float_class n h = Some k)
      (given := given_between p) (which := l) (horizon := horizon); try assumption; [cbn; unfold between; cbn; lia | | reflexivity].
  intros [h|] e k finite given holds.
  - exists h. split; [reflexivity|]. eapply given_between_sound; eassumption.
  - unfold finite_ends in finite. rewrite andb_true_iff, !Z.ltb_lt in finite. unfold inside in holds. lia.
Qed.

End Sound.
