(** One string, as runs of tokens: its state, its count and its class. *)

From Tallystick.checker Require Import Floats FloatClasses FloatBetween FloatSearch Runs.

Definition next_finite (p : prepared) (x : token) (state : option Z) : option Z :=
  match state with
  | None => None
  | Some h => let h := next_state p x h in if Z.abs h <? far p then Some h else None
  end.

Definition state_of_runs (p : prepared) (r : runs) : option Z :=
  fold_left (fun state run => Z.iter (snd run) (next_finite p (fst run)) state) r (Some 0).

Definition check_failing (p : prepared) (t : task) (l : lengths) (horizon : Z) (failing : runs) (given : class) : bool :=
  fails_after t l horizon failing given &&
  match state_of_runs p failing with Some h => given_between p (h, h) given | None => false end.

(** * Soundness *)

Section Sound.

Variable n : float_network.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.

Local Notation p := (prepare n).

Lemma next_finite_is_executed x state : next_finite p x state = float_after n state x.
Proof.
  destruct state as [h|]; [|reflexivity]. cbn [next_finite float_after prepare far]. now rewrite next_state_is_executed.
Qed.

Lemma state_of_runs_is_state r : state_of_runs p r = float_state n (string_of r).
Proof.
  unfold state_of_runs, float_state. generalize (Some 0). induction r as [|[x size] r IH]; intros start; [reflexivity|].
  cbn [fold_left string_of fst snd]. rewrite IH, fold_over_run. f_equal.
  destruct size as [|size|size]; cbn [Z.iter]; try reflexivity. rewrite !Pos2Nat.inj_iter.
  induction (Pos.to_nat size) as [|k same]; [reflexivity|]. cbn in *. now rewrite same, next_finite_is_executed.
Qed.

Lemma check_failing_sound t l horizon failing given : check_failing p t l horizon failing given = true ->
  counted l (string_of failing) /\ size (string_of failing) = horizon + stride l /\
  float_gives n (string_of failing) given /\ given <> right_class t (string_of failing).
Proof.
  unfold check_failing. rewrite andb_true_iff. intros [fails gets].
  destruct (fails_after_sound _ _ _ _ _ fails) as (counts & long & wrong). repeat split; try assumption; try apply counts.
  rewrite state_of_runs_is_state in gets. destruct (float_state n (string_of failing)) as [h|] eqn:state; [|discriminate].
  exists h. split; [reflexivity|].
  eapply given_between_sound; [exact fine | exact loaded | | exact gets]. unfold between. cbn. lia.
Qed.

End Sound.
