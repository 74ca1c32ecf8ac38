(** Networks whose one output is the answer: the whole number nearest to it should be the count n - m.

    The same question about classes is asked of a network that carries the count before its state. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Affine.

(** * One more number before the others *)

Definition up (p : place) : place := if (p <? 0)%Z then p else (p + 1)%Z.

Definition up_operation (o : operation) : operation :=
  match o with
  | Sum terms bias => Sum (map (fun term => (fst term, up (snd term))) terms) bias
  | PositivePart p => PositivePart (up p)
  | Product p q => Product (up p) (up q)
  | Square p => Square (up p)
  | Step p => Step (up p)
  | Mean s p q => Mean (up s) (up p) (up q)
  end.

Lemma at_negative xs p : (p < 0)%Z -> at_place xs p = 0.
Proof.
  revert p. induction xs as [|x xs IH]; cbn; intros p negative; [reflexivity|].
  destruct (Z.eqb_spec p 0); [lia | apply IH; lia].
Qed.

Lemma at_up c xs p : at_place (c :: xs) (up p) = at_place xs p.
Proof.
  unfold up. destruct (Z.ltb_spec p 0) as [negative | positive].
  - now rewrite !at_negative by lia.
  - cbn. destruct (Z.eqb_spec (p + 1) 0); [lia|]. f_equal. lia.
Qed.

Lemma apply_up c xs o : apply (up_operation o) (c :: xs) = apply o xs.
Proof.
  destruct o as [terms bias | p | p q | p | p | s p q]; cbn [up_operation apply]; rewrite ?at_up; try reflexivity.
  induction terms as [|[w p] terms IH]; [reflexivity|].
  cbn [map fold_right fst snd]. rewrite at_up. now rewrite IH.
Qed.

Definition operate (os : list operation) (xs : list Q) : list Q :=
  fold_left (fun numbers o => numbers ++ [apply o numbers]) os xs.

Lemma operate_up c os xs : operate (map up_operation os) (c :: xs) = c :: operate os xs.
Proof.
  unfold operate. revert xs. induction os as [|o os IH]; intros xs; [reflexivity|].
  cbn [map fold_left]. rewrite apply_up. cbn [app]. apply (IH (xs ++ [apply o xs])).
Qed.

Lemma operate_length os xs : length (operate os xs) = (length xs + length os)%nat.
Proof.
  unfold operate. revert xs. induction os as [|o os IH]; intros xs; cbn [fold_left length]; [lia|].
  rewrite IH, app_length. cbn. lia.
Qed.

(** * Programs that count *)

(** A result of the program as it was; what it has no number for is 0 still. *)
Definition up_result (bound : Z) (p : place) : place := if ((0 <=? p) && (p <? bound))%Z then (p + 1)%Z else (-1)%Z.

Definition counting_program (d : nat) (change : Q) (p : program) : program :=
  let bound := Z.of_nat (d + length (operations p)) in
  {| operations := map up_operation (operations p) ++ [Sum [(1, 0%Z)] change];
     results := (bound + 1)%Z :: map (up_result bound) (results p) |}.

Lemma at_app_l xs ys p : (p < Z.of_nat (length xs))%Z -> at_place (xs ++ ys) p = at_place xs p.
Proof.
  revert p. induction xs as [|x xs IH]; cbn [length app at_place]; intros p inside.
  - now rewrite at_negative by (cbn in inside; lia).
  - destruct (Z.eqb_spec p 0); [reflexivity | apply IH; lia].
Qed.

Lemma at_last xs y : at_place (xs ++ [y]) (Z.of_nat (length xs)) = y.
Proof.
  induction xs as [|x xs IH]; [reflexivity|]. cbn [length app at_place].
  destruct (Z.eqb_spec (Z.of_nat (S (length xs))) 0); [lia|].
  replace (Z.of_nat (S (length xs)) - 1)%Z with (Z.of_nat (length xs)) by lia. exact IH.
Qed.

Lemma at_beyond xs p : (Z.of_nat (length xs) <= p)%Z -> at_place xs p = 0.
Proof.
  revert p. induction xs as [|x xs IH]; cbn [length at_place]; intros p outside; [reflexivity|].
  destruct (Z.eqb_spec p 0); [lia | apply IH; lia].
Qed.

Lemma run_counting d change p c state : length state = d ->
  run_program (counting_program d change p) (c :: state) = (1 * c + change) :: run_program p state.
Proof.
  intros long. unfold run_program, counting_program. cbn [operations results].
  fold (operate (map up_operation (operations p) ++ [Sum [(1, 0%Z)] change]) (c :: state)). fold (operate (operations p) state).
  assert (operate (map up_operation (operations p) ++ [Sum [(1, 0%Z)] change]) (c :: state) =
          (c :: operate (operations p) state) ++ [1 * c + change]) as ->.
  { unfold operate at 1. rewrite fold_left_app. fold (operate (map up_operation (operations p)) (c :: state)).
    rewrite operate_up. reflexivity. }
  set (numbers := operate (operations p) state).
  assert (Z.of_nat (length numbers) = Z.of_nat (d + length (operations p))) as size_is
    by (unfold numbers; rewrite operate_length; lia).
  cbn [map]. f_equal.
  - rewrite <- size_is. replace (Z.of_nat (length numbers) + 1)%Z with (Z.of_nat (length (c :: numbers))) by (cbn [length]; lia).
    apply at_last.
  - rewrite map_map. apply map_ext. intros q. unfold up_result. rewrite <- size_is.
    destruct (Z.leb_spec 0 q), (Z.ltb_spec q (Z.of_nat (length numbers))); cbn [andb].
    + rewrite at_app_l by (cbn [length]; lia). rewrite <- (at_up c numbers q). unfold up.
      destruct (Z.ltb_spec q 0); [lia | reflexivity].
    + rewrite at_negative, at_beyond by lia. reflexivity.
    + rewrite !at_negative by lia. reflexivity.
    + rewrite !at_negative by lia. reflexivity.
Qed.

(** * The network that carries the count *)

Definition count_lines (l : line) : list line :=
  [(1 :: map Qopp (fst l), - snd l - half); ((- (1)) :: fst l, snd l - half); ([], 0)].

(** Of three outputs the greatest wins, of equal ones the first. *)
Definition greatest_of_three : list (list comparison) :=
  let beats i j strict := {| greater := Some i; less := Some j; strict := strict |} in
  [[beats 1%Z 0%Z true; beats 1%Z 2%Z false]; [beats 2%Z 0%Z true; beats 2%Z 1%Z true]].

Definition counting_network (n : network) (l : line) : network :=
  let d := length (start n) in
  {| start := 0 :: start n;
     first := map (counting_program d 0) (first n);
     step_open := counting_program d 1 (step_open n);
     step_close := counting_program d (- (1)) (step_close n);
     hidden := counting_program d 0 (hidden n);
     lines := count_lines l;
     decision := greatest_of_three |}.

(** States have one length. *)
Definition fits (n : network) : bool :=
  forallb (fun p => same_length (results p) (start n)) (step_open n :: step_close n :: first n).

(** * It asks the same *)

Section Same.

Variable n : network.
Variable l : line.
Hypothesis fitting : fits n = true.

Lemma fits_program p state : In p (step_open n :: step_close n :: first n) -> length (run_program p state) = length (start n).
Proof.
  intros member. unfold fits in fitting. rewrite forallb_forall in fitting. apply fitting in member.
  apply same_length_is in member. unfold run_program. now rewrite map_length.
Qed.

Lemma counting_initial : length (initial n) = length (start n) /\
  exists c, initial (counting_network n l) = c :: initial n /\ c == 0.
Proof.
  unfold initial. cbn [counting_network start first].
  assert (forall ps, incl ps (first n) -> forall state c, length state = length (start n) -> c == 0 ->
    length (fold_left (fun state p => run_program p state) ps state) = length (start n) /\
    exists c', fold_left (fun state p => run_program p state) (map (counting_program (length (start n)) 0) ps) (c :: state) =
               c' :: fold_left (fun state p => run_program p state) ps state /\ c' == 0) as all.
  { induction ps as [|p ps IH]; intros included state c long zero; [now split; [|exists c]|].
    cbn [map fold_left]. rewrite run_counting by exact long. apply IH.
    - intros q member. apply included. now right.
    - apply fits_program. right. right. apply included. now left.
    - rewrite zero. ring. }
  apply all; [apply incl_refl | reflexivity | reflexivity].
Qed.

Lemma state_length s : length (state_after n s) = length (start n).
Proof.
  destruct s as [|x s _] using rev_ind; [apply counting_initial|].
  rewrite state_snoc. apply fits_program. destruct x; cbn; auto.
Qed.

Lemma counting_state s : exists c, state_after (counting_network n l) s = c :: state_after n s /\ c == inject_Z (count false s).
Proof.
  induction s as [|x s (c & same & counts)] using rev_ind; [apply counting_initial|].
  rewrite !state_snoc, same, count_snoc. unfold step.
  destruct x; cbn [counting_network step_open step_close count_after]; rewrite run_counting by apply state_length;
    (eexists; split; [reflexivity|]); rewrite counts; [rewrite inject_Z_plus | unfold Z.sub; rewrite inject_Z_plus].
  - change (inject_Z 1) with 1. ring.
  - change (inject_Z (- (1))) with (- (1)). ring.
Qed.

Lemma counting_gives s k : gives (counting_network n l) s k -> class_of_answer (answer n l s) (count false s) = k.
Proof.
  unfold gives, class_of, outputs. destruct (counting_state s) as (c & same & counts). rewrite same.
  cbn [counting_network hidden lines decision]. rewrite run_counting by apply state_length.
  set (h := run_program (hidden n) (state_after n s)).
  assert (output (1 :: map Qopp (fst l), - snd l - half) ((1 * c + 0) :: h) == inject_Z (count false s) - answer n l s - half) as less_is.
  { unfold answer, output. fold h. cbn [fst snd dot]. rewrite dot_opp, counts. ring. }
  assert (output ((- (1)) :: fst l, snd l - half) ((1 * c + 0) :: h) == answer n l s - inject_Z (count false s) - half) as more_is.
  { unfold answer, output. fold h. cbn [fst snd dot]. rewrite counts. ring. }
  assert (output ([], 0) ((1 * c + 0) :: h) == 0) as neither by reflexivity.
  cbn [count_lines map].
  set (u := output (1 :: _, _) _) in *. set (v := output (_ :: fst l, _) _) in *. set (z := output ([], 0) _) in *.
  clearbody u v z. clear same counts.
  unfold class_of_outputs, greatest_of_three, class_of_answer. cbn [made forallb].
  unfold compares. cbn [greater less strict output_at at_place Z.eqb Z.sub Z.add Z.opp Z.pos_sub Pos.pred_double andb].
  set (y := answer n l s) in *. set (m := inject_Z (count false s)) in *. clearbody y m.
  destruct (Qle_bool (y + half) m) eqn:low; [|destruct (Qle_bool (m + half) y) eqn:high];
    repeat match goal with
    | H : Qle_bool _ _ = true |- _ => apply Qle_bool_iff in H
    | H : Qle_bool _ _ = false |- _ => apply Bool.not_true_iff_false in H; rewrite Qle_bool_iff in H; apply Qnot_le_lt in H
    end; unfold half in *.
  all: destruct (Qle_bool v u) eqn:vu; destruct (Qle_bool z v) eqn:zv; destruct (Qle_bool z u) eqn:zu;
    destruct (Qle_bool v z) eqn:vz; cbn;
    repeat match goal with
    | H : Qle_bool _ _ = true |- _ => apply Qle_bool_iff in H
    | H : Qle_bool _ _ = false |- _ => apply Bool.not_true_iff_false in H; rewrite Qle_bool_iff in H; apply Qnot_le_lt in H
    end; try (intros [= <-]; reflexivity); try discriminate; intros _; exfalso; lra.
Qed.

End Same.

(** * The network that is checked in the place of a model *)

Definition network_of (m : model) : network :=
  match m with
  | Unit c lines decision => network_of_unit c lines decision
  | Programs n => n
  | Counting n l => counting_network n l
  end.

Definition is_fit (m : model) : bool := match m with Counting n _ => fits n | _ => true end.

Lemma network_gives m s k : is_fit m = true -> gives (network_of m) s k -> gives_class m s k.
Proof. destruct m as [| |n l]; cbn; auto. intros fitting. now apply counting_gives. Qed.
