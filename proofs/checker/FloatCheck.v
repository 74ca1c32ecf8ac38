(** The check of a claim about a cell with one unit in floating point as executed, and the theorem that what it lets pass holds. *)

From Tallystick.checker Require Import Floats FloatBetween FloatSearch FloatStrings FloatDepth FloatStates.

(** How the lengths to the horizon are checked. Nothing rests on what is chosen. *)
Inductive float_way := ByEnds | ByStates | ByDepth.

Definition right_to_horizon (w : float_way) : prepared -> task -> lengths -> Z -> bool :=
  match w with ByEnds => check_to | ByStates => check_states | ByDepth => check_depth end.

Definition check_float (w : float_way) (c : float_claim) : bool :=
  let n := float_net c in
  let p := prepare n in
  let to := right_to_horizon w p in
  is_format (form n) && loads n &&
  match float_said c with
  | Proved => false
  | Bounded horizon => to (float_asked c) (float_which c) horizon
  | Refuted horizon failing given =>
      check_failing p (float_asked c) (float_which c) horizon failing given && to (float_asked c) (float_which c) horizon
  end.

Theorem check_float_sound : forall (w : float_way) (c : float_claim), check_float w c = true -> float_holds c.
Proof.
  intros w c. unfold check_float, float_holds. rewrite !andb_true_iff. intros [[fine loaded] checked].
  assert (forall horizon, right_to_horizon w (prepare (float_net c)) (float_asked c) (float_which c) horizon = true ->
    right_to (float_gives (float_net c)) (float_asked c) (float_which c) horizon) as sound.
  { intros horizon. destruct w; [now apply check_to_sound | now apply check_states_sound | now apply check_depth_sound]. }
  destruct (float_said c) as [|horizon failing given|horizon]; cbn [claim_holds]; [discriminate | |].
  - apply andb_true_iff in checked as [fails right]. split; [now apply sound | now apply check_failing_sound].
  - now apply sound.
Qed.
