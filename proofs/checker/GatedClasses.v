(** The class of all states in some boxes. Outputs are subtracted before boxes are put in: what they have in common widens nothing. *)

From Tallystick.checker Require Import Claims Networks Gated Squashing GatedBoxes.
From Coq Require Import Reals Qreals Lra Lia.
Open Scope R_scope.

(** * Differences of outputs *)

Definition terms := list (Q * place).

Definition opposite (ts : terms) : terms := map (fun t => (Qopp (fst t), snd t)) ts.

Fixpoint minus_terms (ts us : terms) : terms :=
  match ts, us with
  | (w, p) :: ts', (v, q) :: us' => if (p =? q)%Z then (Qminus w v, p) :: minus_terms ts' us' else ts ++ opposite us
  | [], us => opposite us
  | ts, [] => ts
  end.

Definition line_of (lines : list (terms * Q)) (p : option place) : terms * Q :=
  match p with Some p => nth (Z.to_nat p) lines ([], 0%Q) | None => ([], 0%Q) end.

Record ready_comparison := { ready_difference : whole_sum; ready_strict : bool }.

Definition ready_to_compare (lines : list (terms * Q)) (c : comparison) : ready_comparison :=
  let '(ts, b) := line_of lines (greater c) in let '(us, d) := line_of lines (less c) in
  {| ready_difference := ready_sum (minus_terms ts us) (Qminus b d); ready_strict := strict c |}.

Lemma empty_sum xs : gated_sum xs [] 0 = 0.
Proof. apply RMicromega.Q2R_0. Qed.

Lemma gated_sum_bias xs ts b : gated_sum xs ts b = gated_sum xs ts 0 + Q2R b.
Proof.
  unfold gated_sum. induction ts as [|[w p] ts IH]; cbn [fold_right fst snd]; [rewrite RMicromega.Q2R_0; lra|]. rewrite IH. lra.
Qed.

Lemma opposite_sum xs ts : gated_sum xs (opposite ts) 0 = - gated_sum xs ts 0.
Proof.
  unfold gated_sum, opposite. induction ts as [|[w p] ts IH]; cbn [map fold_right fst snd]; [rewrite RMicromega.Q2R_0; lra|].
  rewrite IH, Q2R_opp. lra.
Qed.

Lemma append_sum xs ts us : gated_sum xs (ts ++ us) 0 = gated_sum xs ts 0 + gated_sum xs us 0.
Proof.
  induction ts as [|[w p] ts IH]; [cbn [app]; rewrite empty_sum; lra|].
  unfold gated_sum in *. cbn [app fold_right fst snd]. rewrite IH. lra.
Qed.

Lemma minus_sum xs ts us : gated_sum xs (minus_terms ts us) 0 = gated_sum xs ts 0 - gated_sum xs us 0.
Proof.
  revert us. induction ts as [|[w p] ts IH]; intros us.
  - rewrite empty_sum. replace (minus_terms [] us) with (opposite us) by now destruct us. rewrite opposite_sum. lra.
  - destruct us as [|[v q] us]; cbn [minus_terms]; [rewrite empty_sum; lra|].
    destruct (Z.eqb_spec p q) as [<- | differ]; [|rewrite append_sum, opposite_sum; lra].
    specialize (IH us). unfold gated_sum in *. cbn [fold_right fst snd]. rewrite IH, Q2R_minus. lra.
Qed.

(** * Comparisons that surely hold, or surely fail *)

Section Units.

Variable places : Z.
Hypothesis some : (0 < places)%Z.

Definition surely (boxes : list box) (c : ready_comparison) : bool :=
  let low := fst (sum_ends places boxes (ready_difference c)) in if ready_strict c then (0 <? low)%Z else (0 <=? low)%Z.

Definition surely_not (boxes : list box) (c : ready_comparison) : bool :=
  let high := snd (sum_ends places boxes (ready_difference c)) in if ready_strict c then (high <=? 0)%Z else (high <? 0)%Z.

(** Class k is surely given; i is the number of the first class that is listed. *)
Fixpoint given_among (boxes : list box) (k i : class) (decision : list (list ready_comparison)) : bool :=
  match decision with
  | [] => true
  | needed :: rest =>
      (if (k =? i)%Z then forallb (surely boxes) needed else existsb (surely_not boxes) needed) && given_among boxes k (i + 1)%Z rest
  end.

Definition class_is_given (decision : list (list ready_comparison)) (boxes : list box) (k : class) : bool :=
  (0 <=? k)%Z && (k <=? Z.of_nat (length decision))%Z && given_among boxes k 1%Z decision.

Section Sound.

Variable lines : list (terms * Q).
Variables (seen : list R) (boxes : list box).
Hypothesis inside : all_inside places seen boxes.

Local Notation outputs := (map (fun line : terms * Q => gated_sum seen (fst line) (snd line)) lines).

Lemma output_is_line p : real_output outputs p = gated_sum seen (fst (line_of lines p)) (snd (line_of lines p)).
Proof.
  pose proof (empty_sum seen) as zero.
  destruct p as [p|]; cbn [real_output line_of]; [|symmetry; exact zero]. unfold number_at. rewrite <- zero at 1.
  change (gated_sum seen [] 0) with ((fun line : terms * Q => gated_sum seen (fst line) (snd line)) ([], 0%Q)). now rewrite map_nth.
Qed.

Lemma difference_ends c :
  let ready := ready_to_compare lines c in
  exists factor, 0 < factor /\
    IZR (fst (sum_ends places boxes (ready_difference ready))) <=
      (real_output outputs (greater c) - real_output outputs (less c)) * factor <=
    IZR (snd (sum_ends places boxes (ready_difference ready))).
Proof.
  cbv zeta. rewrite !output_is_line. unfold ready_to_compare.
  destruct (line_of lines (greater c)) as [ts b], (line_of lines (less c)) as [us d]. cbn [ready_difference fst snd].
  pose proof (sum_ends_sound places some (minus_terms ts us) (Qminus b d) seen boxes inside) as ends. cbv zeta in ends.
  destruct (common_is_common (minus_terms ts us) (Qminus b d)) as (positive & _). cbv zeta in positive. apply IZR_lt in positive.
  exists (IZR (common (ready_sum (minus_terms ts us) (Qminus b d))) * scale places).
  pose proof (scale_positive places some). split; [nra|]. rewrite <- Rmult_assoc.
  replace (gated_sum seen ts b - gated_sum seen us d) with (gated_sum seen (minus_terms ts us) (Qminus b d)); [exact ends|].
  rewrite (gated_sum_bias seen (minus_terms ts us)), (gated_sum_bias seen ts b), (gated_sum_bias seen us d), minus_sum, Q2R_minus. ring.
Qed.

Lemma surely_sound c : surely boxes (ready_to_compare lines c) = true -> really_compares outputs c.
Proof.
  destruct (difference_ends c) as (factor & positive & low & _). unfold surely, really_compares.
  replace (ready_strict (ready_to_compare lines c)) with (strict c)
    by (unfold ready_to_compare; now destruct (line_of lines (greater c)), (line_of lines (less c))).
  destruct (strict c); [rewrite Z.ltb_lt | rewrite Z.leb_le]; intros sign; [apply IZR_lt in sign | apply IZR_le in sign]; nra.
Qed.

Lemma surely_not_sound c : surely_not boxes (ready_to_compare lines c) = true -> ~ really_compares outputs c.
Proof.
  destruct (difference_ends c) as (factor & positive & _ & high). unfold surely_not, really_compares.
  replace (ready_strict (ready_to_compare lines c)) with (strict c)
    by (unfold ready_to_compare; now destruct (line_of lines (greater c)), (line_of lines (less c))).
  destruct (strict c); [rewrite Z.leb_le | rewrite Z.ltb_lt]; intros sign; [apply IZR_le in sign | apply IZR_lt in sign]; nra.
Qed.

Lemma class_is_given_sound decision k :
  class_is_given (map (map (ready_to_compare lines)) decision) boxes k = true -> real_class decision outputs k.
Proof.
  unfold class_is_given. rewrite !andb_true_iff, !Z.leb_le, map_length. intros [[low high] given]. split; [lia|].
  assert (forall first i needed, given_among boxes k first (map (map (ready_to_compare lines)) decision) = true ->
    nth_error decision i = Some needed ->
    if (k =? Z.of_nat i + first)%Z then Forall (really_compares outputs) needed else ~ Forall (really_compares outputs) needed) as all.
  { clear given low high. induction decision as [|here rest IH]; intros first [|i] needed given found; try discriminate;
      cbn [map given_among] in given; apply andb_true_iff in given as [now_given rest_given]; cbn [nth_error] in found.
    - injection found as ->. cbn [Z.of_nat]. rewrite Z.add_0_l. destruct (k =? first)%Z.
      + rewrite forallb_forall in now_given. apply Forall_forall. intros c member. apply surely_sound, now_given. now apply in_map.
      + apply existsb_exists in now_given as (ready & member & fails). apply in_map_iff in member as (c & <- & member).
        intros holds. rewrite Forall_forall in holds. apply (surely_not_sound c fails). now apply holds.
    - specialize (IH (first + 1)%Z i needed rest_given found). now replace (Z.of_nat (S i) + first)%Z with (Z.of_nat i + (first + 1))%Z by lia. }
  intros i needed. now apply all.
Qed.

End Sound.

End Units.
