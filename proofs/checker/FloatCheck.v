(** The check of a claim about a cell with one unit in floating point as executed, and the theorem that what it lets pass holds. *)

From Tallystick.checker Require Import Floats FloatSteps FloatClasses CountGroups.

(** * The class of all states between two ends *)

(** What is worked out once, before anything runs. *)
Record prepared := {
  net : float_network;
  open_factor : factor;
  close_factor : factor;
  line_factors : list factor;
  executed : list (Z * Z);
  far : Z;
}.

Definition prepare (n : float_network) : prepared := {|
  net := n;
  open_factor := factor_of n (fst (weights (cell n))) (fst (steps (cell n)));
  close_factor := factor_of n (snd (weights (cell n))) (snd (steps (cell n)));
  line_factors := map (fun l => factor_of n (fst l) (snd l)) (float_lines n);
  executed := executed_lines n;
  far := end_of_format (form n);
|}.

Definition executed_at (lines : list (Z * Z)) (p : option place) : Z * Z :=
  match p with Some p => nth (Z.to_nat p) lines (0, 0) | None => (0, 0) end.

(** Two outputs may change places more than once: their slopes are of one sign. *)
Definition may_cross (p : prepared) (c : comparison) : bool :=
  0 <? Z.sgn (fst (executed_at (executed p) (greater c))) * Z.sgn (fst (executed_at (executed p) (less c))).

Section Sure.

Variable p : prepared.
Variable e : ends.
Variables at_low at_high : list Z.

Definition single : bool := fst e =? snd e.

(** One output is further above another than rounding accounts for. *)
Definition is_apart (one other : option place) : bool :=
  apart (net p) e (executed_at (executed p) one) (executed_at (executed p) other)
    (float_at at_low one) (float_at at_high one) (float_at at_low other) (float_at at_high other).

(** A comparison is looked at for outputs that may cross only where all others do not tell, since it takes longer. *)
Definition surely (closely : bool) (c : comparison) : bool :=
  if single || negb (may_cross p c) then float_compares at_low c && float_compares at_high c
  else closely && is_apart (greater c) (less c).

Definition surely_not (closely : bool) (c : comparison) : bool :=
  if single || negb (may_cross p c) then negb (float_compares at_low c || float_compares at_high c)
  else closely && is_apart (less c) (greater c).

(** Class k is surely given: all its comparisons hold, and one of every other class fails. *)
Fixpoint given_among (closely : bool) (k i : class) (decision : list (list comparison)) : bool :=
  match decision with
  | [] => true
  | needed :: rest =>
      (if i =? k then forallb (surely closely) needed else existsb (surely_not closely) needed)
        && given_among closely k (i + 1) rest
  end.

Definition surely_given (closely : bool) (k : class) : bool :=
  (0 <=? k) && (k <=? Z.of_nat (length (float_decision (net p)))) && given_among closely k 1 (float_decision (net p)).

End Sure.

Definition outputs_at (p : prepared) (h : Z) : list Z := map (fun f => affine (net p) f h) (line_factors p).

Definition given_between (p : prepared) (e : ends) (k : class) : bool :=
  let at_low := outputs_at p (fst e) in
  let at_high := if single e then at_low else outputs_at p (snd e) in
  if surely_given p e at_low at_high false k then true else surely_given p e at_low at_high true k.

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

(** * The check *)

Definition check_to (p : prepared) (t : task) (l : lengths) (horizon : Z) : bool :=
  right_by_rows ends (image p) hull (finite_ends p) (floored t) (0, 0) (given_between p) t l horizon.

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

Definition check_float (c : float_claim) : bool :=
  let n := float_net c in
  let p := prepare n in
  is_format (form n) && loads n &&
  match float_said c with
  | Proved => false
  | Bounded horizon => check_to p (float_asked c) (float_which c) horizon
  | Refuted horizon failing given =>
      check_failing p (float_asked c) (float_which c) horizon failing given
        && check_to p (float_asked c) (float_which c) horizon
  end.

(** * Soundness *)

Section Sound.

Variable n : float_network.
Hypothesis fine : is_format (form n) = true.
Hypothesis loaded : loads n = true.

Local Notation p := (prepare n).

Lemma outputs_are_executed h : outputs_at p h = float_outputs n h.
Proof.
  unfold outputs_at, float_outputs. cbn [prepare line_factors net]. rewrite map_map. apply map_ext.
  intros line. now apply affine_is_executed.
Qed.

Lemma next_state_is_executed x h : next_state p x h = float_step n x h.
Proof.
  unfold next_state, float_step, weight_of, step_of. destruct x; cbn [prepare open_factor close_factor net];
    now rewrite affine_is_executed.
Qed.

Lemma zero_line h : line_value n (0, 0) h = 0.
Proof.
  pose proof (end_positive (form n) fine). assert (overflow (form n) 0 = 0) as zero.
  { rewrite overflow_spec by exact fine. unfold is_finite. now replace (Z.abs 0 <? end_of_format (form n)) with true by lia. }
  unfold line_value, multiply_add, round. cbn [fst snd]. rewrite Z.mul_0_l, Z.shiftl_0_l.
  destruct (fused n); repeat (rewrite Z.add_0_r || rewrite round_unbounded_zero || rewrite zero); reflexivity.
Qed.

Lemma output_is_line place h : float_at (float_outputs n h) place = line_value n (executed_at (executed p) place) h.
Proof.
  destruct place as [place|]; [|symmetry; apply zero_line]. cbn [float_at executed_at prepare executed].
  unfold float_outputs, executed_lines. rewrite <- (zero_line h) at 1.
  rewrite <- (map_nth (fun line => line_value n line h)). rewrite map_map. reflexivity.
Qed.

Lemma finite_bias place : is_finite (form n) (snd (executed_at (executed p) place)) = true.
Proof.
  assert (is_finite (form n) 0 = true) as zero.
  { pose proof (end_positive (form n) fine). unfold is_finite. now apply Z.ltb_lt. }
  destruct place as [place|]; [|exact zero]. cbn [executed_at prepare executed]. unfold executed_lines.
  destruct (Nat.lt_ge_cases (Z.to_nat place) (length (float_lines n))) as [inside | outside];
    [|rewrite nth_overflow; [exact zero | now rewrite map_length]].
  set (f := fun l : Q * Q => (rounded n (fst l), rounded n (snd l))).
  rewrite (nth_indep _ _ (f (0, 0)%Q)) by now rewrite map_length. rewrite map_nth. unfold f. cbn [snd]. revert loaded. unfold loads. rewrite forallb_forall. intros all. apply all.
  do 4 right. rewrite in_flat_map. exists (nth (Z.to_nat place) (float_lines n) (0, 0)%Q).
  split; [now apply nth_In | now right; left].
Qed.

(** Two outputs whose slopes are not of one sign: at one of the ends the first is no larger, at one the second. *)
Lemma monotone_order line other e h : between h e -> Z.sgn (fst line) * Z.sgn (fst other) <= 0 ->
  (line_value n line (fst e) <= line_value n line h /\ line_value n other h <= line_value n other (fst e) \/
   line_value n line (snd e) <= line_value n line h /\ line_value n other h <= line_value n other (snd e)).
Proof.
  intros [above below] signs. unfold line_value. pose proof (multiply_add_rises n fine) as rises.
  pose proof (multiply_add_falls n fine) as falls.
  destruct (Z_le_gt_dec 0 (fst line)) as [up | down].
  - destruct (Z_le_gt_dec (fst other) 0) as [other_down | other_up]; [left; auto|].
    assert (fst line = 0) as flat by (rewrite (Z.sgn_pos (fst other)) in signs by lia; destruct (fst line); cbn in *; lia).
    right. split; [apply falls | apply rises]; lia.
  - right. destruct (Z_le_gt_dec 0 (fst other)) as [other_up | other_down]; [split; [apply falls | apply rises]; lia | exfalso].
    rewrite (Z.sgn_neg (fst line)), (Z.sgn_neg (fst other)) in signs by lia. lia.
Qed.

Section Between.

Variables (e : ends) (h : Z) (closely : bool).
Hypothesis inside : between h e.

Local Notation at_low := (float_outputs n (fst e)).
Local Notation at_high := (float_outputs n (snd e)).

Lemma single_end : single e = true -> h = fst e /\ h = snd e.
Proof. unfold single. rewrite Z.eqb_eq. destruct inside. lia. Qed.

Lemma surely_sound c : surely p e at_low at_high closely c = true -> float_compares (float_outputs n h) c = true.
Proof.
  unfold surely. destruct (single e || negb (may_cross p c)) eqn:plain.
  - rewrite andb_true_iff. intros [low high]. apply orb_true_iff in plain as [one | cannot].
    { destruct (single_end one) as [-> _]. exact low. }
    apply negb_true_iff, Z.ltb_ge in cannot. revert low high. unfold float_compares. rewrite !output_is_line.
    destruct (monotone_order _ _ e h inside cannot), (strict c); rewrite ?Z.ltb_lt, ?Z.leb_le; lia.
  - rewrite andb_true_iff. intros [_ far_apart]. unfold is_apart in far_apart. rewrite !output_is_line in far_apart.
    apply apart_sound with (h := h) in far_apart; try assumption; try apply finite_bias.
    unfold float_compares. rewrite !output_is_line. destruct (strict c); rewrite ?Z.ltb_lt, ?Z.leb_le; lia.
Qed.

Lemma surely_not_sound c : surely_not p e at_low at_high closely c = true -> float_compares (float_outputs n h) c = false.
Proof.
  unfold surely_not. destruct (single e || negb (may_cross p c)) eqn:plain.
  - rewrite negb_true_iff, orb_false_iff. intros [low high]. apply orb_true_iff in plain as [one | cannot].
    { destruct (single_end one) as [-> _]. exact low. }
    apply negb_true_iff, Z.ltb_ge in cannot. rewrite Z.mul_comm in cannot. revert low high. unfold float_compares.
    rewrite !output_is_line.
    destruct (monotone_order _ _ e h inside cannot), (strict c); rewrite ?Z.ltb_ge, ?Z.leb_gt; lia.
  - rewrite andb_true_iff. intros [_ far_apart]. unfold is_apart in far_apart. rewrite !output_is_line in far_apart.
    apply apart_sound with (h := h) in far_apart; try assumption; try apply finite_bias.
    unfold float_compares. rewrite !output_is_line. destruct (strict c); rewrite ?Z.ltb_ge, ?Z.leb_gt; lia.
Qed.

Lemma made_is_given k i decision : given_among p e at_low at_high closely k i decision = true ->
  float_made (float_outputs n h) i decision = if (i <=? k) && (k <? i + Z.of_nat (length decision)) then [k] else [].
Proof.
  revert i. induction decision as [|needed rest IH]; intros i; cbn [given_among float_made length].
  - intros _. destruct (Z.leb_spec i k), (Z.ltb_spec k (i + Z.of_nat 0)); cbn; try reflexivity; lia.
  - rewrite andb_true_iff. intros [here there]. rewrite (IH _ there). destruct (Z.eqb_spec i k) as [same | other].
    + subst i. replace (forallb (float_compares (float_outputs n h)) needed) with true.
      2: { symmetry. rewrite forallb_forall in *. intros c member. now apply surely_sound, here. }
      destruct (Z.leb_spec (k + 1) k), (Z.leb_spec k k), (Z.ltb_spec k (k + Z.of_nat (S (length rest)))); try lia. reflexivity.
    + replace (forallb (float_compares (float_outputs n h)) needed) with false.
      2: { symmetry. apply existsb_exists in here as (c & member & fails). apply surely_not_sound in fails.
           apply not_true_is_false. rewrite forallb_forall. intros all. now rewrite all in fails. }
      destruct (Z.leb_spec (i + 1) k), (Z.leb_spec i k), (Z.ltb_spec k (i + 1 + Z.of_nat (length rest))),
        (Z.ltb_spec k (i + Z.of_nat (S (length rest)))); cbn; try reflexivity; lia.
Qed.

Lemma surely_given_sound k : surely_given p e at_low at_high closely k = true -> float_class n h = Some k.
Proof.
  unfold surely_given, float_class. cbn [prepare net]. rewrite !andb_true_iff, !Z.leb_le. intros [[low high] all].
  rewrite (made_is_given _ _ _ all).
  destruct (Z.leb_spec 1 k), (Z.ltb_spec k (1 + Z.of_nat (length (float_decision n)))); cbn; try reflexivity; try lia.
  f_equal. lia.
Qed.

End Between.

Lemma given_between_sound e h k : between h e -> given_between p e k = true -> float_class n h = Some k.
Proof.
  intros inside. unfold given_between. rewrite !outputs_are_executed. cbv zeta.
  assert ((if single e then float_outputs n (fst e) else float_outputs n (snd e)) = float_outputs n (snd e)) as ->.
  { destruct (single e) eqn:one; [|reflexivity]. apply Z.eqb_eq in one. now rewrite one. }
  destruct (surely_given p e _ _ false k) eqn:quickly; [|]; intros; eapply surely_given_sound; eassumption.
Qed.

(** ** States *)

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

(** ** One string *)

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
    eapply given_between_sound; [|exact gets]. unfold between. cbn. lia.
Qed.

End Sound.

Theorem check_float_sound : forall c : float_claim, check_float c = true -> float_holds c.
Proof.
  intros c. unfold check_float, float_holds. rewrite !andb_true_iff. intros [[fine loaded] checked].
  destruct (float_said c) as [|horizon failing given|horizon]; cbn [claim_holds]; [discriminate | |].
  - apply andb_true_iff in checked as [fails right]. split; [now apply check_to_sound | now apply check_failing_sound].
  - now apply check_to_sound.
Qed.
