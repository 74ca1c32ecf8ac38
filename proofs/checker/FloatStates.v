(** Every state of every string, listed: where the ends of a count do not tell, what lies between them may be no state at all. *)

From Tallystick.checker Require Import Floats FloatClasses FloatBetween FloatSearch CountGroups.

(** One list for two, both in rising order, on which only the speed depends. *)
Fixpoint merge_states (xs : list Z) : list Z -> list Z :=
  fix with_second (ys : list Z) : list Z :=
    match xs, ys with
    | [], _ => ys
    | _, [] => xs
    | x :: xs', y :: ys' =>
        match x ?= y with
        | Lt => x :: merge_states xs' ys
        | Eq => x :: merge_states xs' ys'
        | Gt => y :: with_second ys'
        end
    end.

(** Equal neighbours are one state. *)
Fixpoint without_repeats (xs : list Z) : list Z :=
  match xs with
  | x :: (y :: _) as rest => if x =? y then without_repeats rest else x :: without_repeats rest
  | _ => xs
  end.

(** A falling map turns the order. *)
Definition in_rising_order (xs : list Z) : list Z :=
  match xs with
  | x :: _ => if last xs x <? x then rev' xs else xs
  | [] => []
  end.

Definition image_of_states (p : prepared) (x : token) (states : list Z) : list Z :=
  in_rising_order (without_repeats (map (next_state p x) states)).

(** So many states of one count are listed at most. *)
Definition most_states : Z := 100 * 1000.

Fixpoint is_short (left : Z) (xs : list Z) : bool :=
  match xs with
  | [] => true
  | _ :: rest => (0 <? left) && is_short (left - 1) rest
  end.

Definition finite_states (p : prepared) (states : list Z) : bool :=
  forallb (fun h => Z.abs h <? far p) states && is_short most_states states.

Definition states_are_given (p : prepared) (states : list Z) (k : class) : bool :=
  forallb (fun h => given_between p (h, h) k) states.

Definition check_states (p : prepared) (t : task) (l : lengths) (horizon : Z) : bool :=
  right_by_rows (list Z) (image_of_states p) merge_states (finite_states p) (floored t) [0] (states_are_given p) t l horizon.

(** * Soundness *)

Lemma merge_has_left h xs ys : In h xs -> In h (merge_states xs ys).
Proof.
  revert ys. induction xs as [|x xs IHx]; intros ys; [contradiction|].
  induction ys as [|y ys IHy]; [trivial|]. cbn [merge_states].
  destruct (Z.compare_spec x y) as [same | less | more]; intros member.
  - destruct member as [-> | member]; [now left | right; now apply IHx].
  - destruct member as [-> | member]; [now left | right; now apply IHx].
  - right. now apply IHy.
Qed.

Lemma merge_has_right h xs ys : In h ys -> In h (merge_states xs ys).
Proof.
  revert ys. induction xs as [|x xs IHx]; intros ys; [now destruct ys|].
  induction ys as [|y ys IHy]; [contradiction|]. cbn [merge_states].
  destruct (Z.compare_spec x y) as [same | less | more]; intros member.
  - destruct member as [<- | member]; [now left | right; now apply IHx].
  - right. now apply IHx.
  - destruct member as [-> | member]; [now left | right; now apply IHy].
Qed.

Lemma without_repeats_has h xs : In h xs -> In h (without_repeats xs).
Proof.
  induction xs as [|x [|y xs] IH]; [trivial | trivial |]. intros member. cbn [without_repeats].
  destruct (Z.eqb_spec x y) as [<- | differ].
  - apply IH. destruct member as [-> | member]; [now left | exact member].
  - destruct member as [-> | member]; [now left | right; now apply IH].
Qed.

Lemma in_rising_order_has h xs : In h xs -> In h (in_rising_order xs).
Proof.
  destruct xs as [|x xs]; [trivial|]. cbn [in_rising_order]. destruct (last (x :: xs) x <? x); [|trivial].
  unfold rev'. rewrite <- rev_alt. now rewrite <- in_rev.
Qed.

Section Sound.

Variable n : float_network.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.

Local Notation p := (prepare n).

Definition among (state : option Z) (states : list Z) : Prop :=
  match state with
  | Some h => In h states
  | None => exists h, In h states /\ is_finite (form n) h = false
  end.

Lemma finite_states_are_finite states : finite_states p states = true -> forall h, In h states -> is_finite (form n) h = true.
Proof. unfold finite_states. rewrite andb_true_iff, forallb_forall. intros [all _]. exact all. Qed.

Lemma image_has state states x : finite_states p states = true -> among state states ->
  among (float_after n state x) (image_of_states p x states).
Proof.
  intros finite. pose proof (finite_states_are_finite states finite) as all.
  destruct state as [h|]; [|intros (h & member & far); rewrite all in far; [discriminate | exact member]].
  cbn [among float_after]. intros member.
  assert (In (float_step n x h) (image_of_states p x states)) as next.
  { apply in_rising_order_has, without_repeats_has. rewrite <- next_state_is_executed by exact fine. now apply in_map. }
  destruct (is_finite (form n) (float_step n x h)) eqn:is_far; [exact next | now exists (float_step n x h)].
Qed.

Lemma check_states_sound t l horizon : check_states p t l horizon = true -> right_to (float_gives n) t l horizon.
Proof.
  intros right s counts below.
  enough (exists h, float_state n s = Some h /\ float_class n h = Some (right_class t s)) by now split.
  apply (right_by_rows_sound (option Z) (list Z) (float_after n) (image_of_states p) merge_states among (finite_states p))
    with (is_floored := floored t) (start := Some 0) (start_bound := [0])
      (gives := fun state k => exists h, state = Some h /\ float_class n h = Some k)
      (given := states_are_given p) (which := l) (horizon := horizon); try assumption; try reflexivity.
  - intros state states x. now apply image_has.
  - intros [h|] xs ys; cbn [among]; [apply merge_has_left | intros (h & member & far); exists h; split; [now apply merge_has_left | exact far]].
  - intros [h|] xs ys; cbn [among]; [apply merge_has_right | intros (h & member & far); exists h; split; [now apply merge_has_right | exact far]].
  - now left.
  - intros [h|] states k finite given member.
    + exists h. split; [reflexivity|]. unfold states_are_given in given. rewrite forallb_forall in given.
      eapply given_between_sound; [exact fine | exact loaded | | apply given; exact member]. unfold between. cbn. lia.
    + destruct member as (h & member & far). rewrite (finite_states_are_finite _ finite h member) in far. discriminate.
Qed.

End Sound.
