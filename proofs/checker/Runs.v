(** Strings written as runs of equal tokens, which may be long: their size and count without going along them, and what a string must be
    that fails after a horizon. *)

From Tallystick.checker Require Import Claims.

Lemma fold_over_run {A} (f : A -> token -> A) x size s start :
  fold_left f (Z.iter size (cons x) s) start = fold_left f s (Z.iter size (fun state => f state x) start).
Proof.
  destruct size as [|size|size]; cbn [Z.iter]; try reflexivity. rewrite !Pos2Nat.inj_iter.
  revert start. induction (Pos.to_nat size) as [|k IH]; intros start; [reflexivity|].
  cbn [Nat.iter nat_rect fold_left]. rewrite IH. f_equal. clear. revert start.
  induction k as [|k IH]; intros start; [reflexivity|]. cbn in *. now rewrite IH.
Qed.

(** A run as a list of its own. *)
Lemma run_is_repeated n (x : token) (s : string) : Z.iter n (cons x) s = repeat x (Z.to_nat n) ++ s.
Proof.
  destruct n as [|p|p]; cbn [Z.iter]; [reflexivity | | reflexivity]. rewrite Pos2Nat.inj_iter, Z2Nat.inj_pos.
  induction (Pos.to_nat p) as [|k IH]; cbn; congruence.
Qed.

(** * Sizes *)

Definition size_of_runs (r : runs) : Z := fold_right (fun run total => Z.max 0 (snd run) + total) 0 r.

Lemma size_of_runs_is_size r : size (string_of r) = size_of_runs r.
Proof.
  induction r as [|[x n] r IH]; cbn [string_of size_of_runs fold_right snd]; [reflexivity|].
  fold (size_of_runs r). rewrite <- IH, run_is_repeated. unfold size. rewrite app_length, repeat_length. lia.
Qed.

(** * Counts *)

(** The count after a run, all its tokens at once. *)
Definition count_after_run (is_floored : bool) (c : Z) (run : token * Z) : Z :=
  let size := Z.max 0 (snd run) in
  match fst run with
  | Open => c + size
  | Close => if is_floored then if 0 <? size then Z.max 0 (c - size) else c else c - size
  end.

Definition count_of_runs (is_floored : bool) (r : runs) : Z := fold_left (count_after_run is_floored) r 0.

Definition right_class_of_runs (t : task) (r : runs) : class := class_of_count t (count_of_runs (floored t) r).

Lemma count_of_runs_is_count is_floored r : count_of_runs is_floored r = count is_floored (string_of r).
Proof.
  unfold count_of_runs, count. generalize 0 as c. induction r as [|[x size] r IH]; intros c; [reflexivity|]. cbn [fold_left string_of]. rewrite fold_over_run.
  assert (count_after_run is_floored c (x, size) = Z.iter size (fun c => count_after is_floored c x) c) as same.
  { unfold count_after_run. cbn [fst snd]. destruct size as [|size|size];
      [destruct x, is_floored; cbn; lia | | destruct x, is_floored; cbn; lia].
    cbn [Z.iter]. rewrite Pos2Nat.inj_iter, Z.max_r, <- positive_nat_Z by lia.
    destruct (Pos2Nat.is_succ size) as [k ->]. replace (0 <? Z.of_nat (S k)) with true by (symmetry; apply Z.ltb_lt; lia).
    symmetry. induction k as [|k IHk]; [destruct x, is_floored; cbn; lia|].
    cbn [nat_rect] in *. rewrite IHk. destruct x, is_floored; cbn [count_after]; lia. }
  rewrite <- same. apply IH.
Qed.

Lemma right_class_of_runs_is t r : right_class_of_runs t r = right_class t (string_of r).
Proof. unfold right_class_of_runs, right_class. now rewrite count_of_runs_is_count. Qed.

(** * Failing strings *)

(** A string of the first counted length after a horizon, and a class that is wrong for it. *)
Definition fails_after (t : task) (l : lengths) (horizon : Z) (failing : runs) (given : class) : bool :=
  (0 <=? horizon) && (horizon mod stride l =? 0) && (size_of_runs failing =? horizon + stride l) &&
  negb (given =? right_class_of_runs t failing).

Lemma fails_after_sound t l horizon failing given : fails_after t l horizon failing given = true ->
  counted l (string_of failing) /\ size (string_of failing) = horizon + stride l /\ given <> right_class t (string_of failing).
Proof.
  unfold fails_after. rewrite !andb_true_iff, Z.leb_le, !Z.eqb_eq, negb_true_iff, Z.eqb_neq, <- size_of_runs_is_size, right_class_of_runs_is.
  intros [[[nonneg whole] long] wrong]. assert (0 < stride l) as positive by now destruct l. rewrite long.
  split; [|split; [reflexivity | exact wrong]].
  split; [intros empty; rewrite empty in long; cbn in long; lia|].
  rewrite long. apply Z.divide_add_r; [|apply Z.divide_refl]. apply Z.mod_divide; [lia | exact whole].
Qed.
