(** One string, as runs of tokens: its state, its count and its class. *)

From Tallystick.checker Require Import Floats FloatClasses FloatBetween FloatSearch.

Definition next_finite (p : prepared) (x : token) (state : option Z) : option Z :=
  match state with
  | None => None
  | Some h => let h := next_state p x h in if Z.abs h <? far p then Some h else None
  end.

Definition state_of_runs (p : prepared) (r : runs) : option Z :=
  fold_left (fun state run => Z.iter (snd run) (next_finite p (fst run)) state) r (Some 0).

(** The count after a run, all its tokens at once. *)
Definition count_after_run (is_floored : bool) (c : Z) (run : token * Z) : Z :=
  let size := Z.max 0 (snd run) in
  match fst run with
  | Open => c + size
  | Close => if is_floored then if 0 <? size then Z.max 0 (c - size) else c else c - size
  end.

Definition check_failing (p : prepared) (t : task) (l : lengths) (horizon : Z) (failing : runs) (given : class) : bool :=
  let size := fold_right (fun run total => Z.max 0 (snd run) + total) 0 failing in
  let right := class_of_count t (fold_left (count_after_run (floored t)) failing 0) in
  (0 <=? horizon) && (horizon mod stride l =? 0) && (size =? horizon + stride l) && negb (given =? right)
    && match state_of_runs p failing with Some h => given_between p (h, h) given | None => false end.

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

Lemma fold_over_run {A} (f : A -> token -> A) x size s start :
  fold_left f (Z.iter size (cons x) s) start = fold_left f s (Z.iter size (fun state => f state x) start).
Proof.
  destruct size as [|size|size]; cbn [Z.iter]; try reflexivity. rewrite !Pos2Nat.inj_iter.
  revert start. induction (Pos.to_nat size) as [|k IH]; intros start; [reflexivity|].
  cbn [Nat.iter nat_rect fold_left]. rewrite IH. f_equal. clear. revert start.
  induction k as [|k IH]; intros start; [reflexivity|]. cbn in *. now rewrite IH.
Qed.

Lemma state_of_runs_is_state r : state_of_runs p r = float_state n (string_of r).
Proof.
  unfold state_of_runs, float_state. generalize (Some 0). induction r as [|[x size] r IH]; intros start; [reflexivity|].
  cbn [fold_left string_of fst snd]. rewrite IH, fold_over_run. f_equal.
  destruct size as [|size|size]; cbn [Z.iter]; try reflexivity. rewrite !Pos2Nat.inj_iter.
  induction (Pos.to_nat size) as [|k same]; [reflexivity|]. cbn in *. now rewrite same, next_finite_is_executed.
Qed.

Lemma count_of_runs is_floored r : fold_left (count_after_run is_floored) r 0 = count is_floored (string_of r).
Proof.
  unfold count. generalize 0 as c. induction r as [|[x size] r IH]; intros c; [reflexivity|]. cbn [fold_left string_of]. rewrite fold_over_run.
  assert (count_after_run is_floored c (x, size) = Z.iter size (fun c => count_after is_floored c x) c) as same.
  { unfold count_after_run. cbn [fst snd]. destruct size as [|size|size];
      [destruct x, is_floored; cbn; lia | | destruct x, is_floored; cbn; lia].
    cbn [Z.iter]. rewrite Pos2Nat.inj_iter, Z.max_r, <- positive_nat_Z by lia.
    destruct (Pos2Nat.is_succ size) as [k ->]. replace (0 <? Z.of_nat (S k)) with true by (symmetry; apply Z.ltb_lt; lia).
    symmetry. induction k as [|k IHk]; [destruct x, is_floored; cbn; lia|].
    cbn [nat_rect] in *. rewrite IHk. destruct x, is_floored; cbn [count_after]; lia. }
  rewrite <- same. apply IH.
Qed.

Lemma size_of_run k x s : size (Z.iter k (cons x) s) = Z.max 0 k + size s.
Proof.
  unfold size. destruct k as [|k|k]; cbn [Z.iter]; [lia | | lia].
  rewrite Pos2Nat.inj_iter, Z.max_r, <- positive_nat_Z, <- Nat2Z.inj_add by lia. f_equal.
  induction (Pos.to_nat k) as [|j IH]; cbn; lia.
Qed.

Lemma size_by_runs r : size (string_of r) = fold_right (fun run total => Z.max 0 (snd run) + total) 0 r.
Proof.
  induction r as [|[x k] r IH]; [reflexivity|]. cbn [string_of fold_right snd]. now rewrite size_of_run, IH.
Qed.

Lemma check_failing_sound t l horizon failing given : check_failing p t l horizon failing given = true ->
  counted l (string_of failing) /\ size (string_of failing) = horizon + stride l /\
  float_gives n (string_of failing) given /\ given <> right_class t (string_of failing).
Proof.
  unfold check_failing. rewrite !andb_true_iff, Z.leb_le, !Z.eqb_eq, negb_true_iff, Z.eqb_neq, <- size_by_runs, count_of_runs.
  intros [[[[nonneg whole] long] wrong] gets].
  assert (0 < stride l) as positive by now destruct l. rewrite long.
  split; [|split; [reflexivity | split; [|exact wrong]]].
  - split; [intros empty; rewrite empty in long; cbn in long; lia|].
    rewrite long. apply Z.divide_add_r; [|apply Z.divide_refl]. apply Z.mod_divide; [lia | exact whole].
  - rewrite state_of_runs_is_state in gets. destruct (float_state n (string_of failing)) as [h|] eqn:state; [|discriminate].
    split; [exact loaded|]. exists h. split; [exact state|].
    eapply given_between_sound; [exact fine | exact loaded | | exact gets]. unfold between. cbn. lia.
Qed.

End Sound.
