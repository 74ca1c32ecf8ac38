(** The class of all states between two ends: by comparisons that surely hold, or surely fail, everywhere between them. *)

From Tallystick.checker Require Import Floats FloatSteps FloatClasses.

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

End Sound.
