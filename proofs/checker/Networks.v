(** Networks with rational numbers, as certificates write them, and what they do with a string.

    This file and [Claims] say what is claimed; nothing else needs to be read to know what a verified claim means. *)

From Coq Require Export QArith.
From Tallystick.checker Require Export Claims.
Open Scope Q_scope.

(** * Programs *)

(** The numbers of a program are those of the state, and what its operations give, one after the other. A place says which
    of them is meant, counted from 0; where there is none the number is 0. *)
Definition place := Z.

Fixpoint at_place (numbers : list Q) (p : place) : Q :=
  match numbers with
  | [] => 0
  | x :: rest => if (p =? 0)%Z then x else at_place rest (p - 1)%Z
  end.

Inductive operation :=
  | Sum (terms : list (Q * place)) (bias : Q)
  | PositivePart (p : place)
  | Product (p q : place)
  | Square (p : place)
  | Step (p : place)
  | Mean (share p q : place).

Definition positive_part (x : Q) : Q := if Qle_bool x 0 then 0 else x.

Definition apply (o : operation) (numbers : list Q) : Q :=
  match o with
  | Sum terms bias => fold_right (fun term total => fst term * at_place numbers (snd term) + total) bias terms
  | PositivePart p => positive_part (at_place numbers p)
  | Product p q => at_place numbers p * at_place numbers q
  | Square p => at_place numbers p * at_place numbers p
  | Step p => if Qle_bool (at_place numbers p) 0 then 0 else 1
  | Mean s p q => (1 - at_place numbers s) * at_place numbers p + at_place numbers s * at_place numbers q
  end.

Record program := { operations : list operation; results : list place }.

Definition run_program (p : program) (state : list Q) : list Q :=
  let numbers := fold_left (fun numbers o => numbers ++ [apply o numbers]) (operations p) state in
  map (at_place numbers) (results p).

(** * Readouts *)

(** An output is v * h + c. *)
Fixpoint dot (v h : list Q) : Q :=
  match v, h with
  | x :: v, y :: h => x * y + dot v h
  | _, _ => 0
  end.

Definition line := (list Q * Q)%type.

Definition output (l : line) (h : list Q) : Q := dot (fst l) h + snd l.

(** One output is above another, or equal to it where the comparison is not strict; None stands for the number 0. *)
Record comparison := { greater : option place; less : option place; strict : bool }.

Definition output_at (outputs : list Q) (p : option place) : Q :=
  match p with Some p => at_place outputs p | None => 0 end.

Definition compares (outputs : list Q) (c : comparison) : bool :=
  let x := output_at outputs (greater c) in
  let y := output_at outputs (less c) in
  if strict c then negb (Qle_bool x y) else Qle_bool y x.

(** Every class but the first has comparisons, and a string gets the class all of whose comparisons hold. The first class gets
    what no other class gets; where two classes would be given, none is. *)
Fixpoint made (outputs : list Q) (k : class) (decision : list (list comparison)) : list class :=
  match decision with
  | [] => []
  | needed :: rest => (if forallb (compares outputs) needed then [k] else []) ++ made outputs (k + 1)%Z rest
  end.

Definition class_of_outputs (decision : list (list comparison)) (outputs : list Q) : option class :=
  match made outputs 1%Z decision with
  | [] => Some 0%Z
  | [k] => Some k
  | _ => None
  end.

(** * Networks *)

Record network := {
  start : list Q;
  first : list program;  (* steps before the first token *)
  step_open : program;
  step_close : program;
  hidden : program;  (* from a state to what the readout sees *)
  lines : list line;
  decision : list (list comparison);  (* of every class but the first *)
}.

Definition step (n : network) (state : list Q) (x : token) : list Q :=
  run_program (match x with Open => step_open n | Close => step_close n end) state.

Definition initial (n : network) : list Q := fold_left (fun state p => run_program p state) (first n) (start n).

Definition state_after (n : network) (s : string) : list Q := fold_left (step n) s (initial n).

Definition outputs (n : network) (s : string) : list Q :=
  map (fun l => output l (run_program (hidden n) (state_after n s))) (lines n).

Definition class_of (n : network) (s : string) : option class := class_of_outputs (decision n) (outputs n s).

Definition gives (n : network) (s : string) (k : class) : Prop := class_of n s = Some k.

(** ** One unit: h' = P h + a after `(` and Q h + b after `)`; a ReLU unit cuts off what is below zero *)

Record unit_cell := { relu : bool; weights : Q * Q; steps : Q * Q }.

Definition unit_step (c : unit_cell) (weight step : Q) : program :=
  let sum := Sum [(weight, 0%Z)] step in
  if relu c then {| operations := [sum; PositivePart 1%Z]; results := [2%Z] |}
  else {| operations := [sum]; results := [1%Z] |}.

Definition network_of_unit (c : unit_cell) (lines : list line) (decision : list (list comparison)) : network := {|
  start := [0];
  first := [];
  step_open := unit_step c (fst (weights c)) (fst (steps c));
  step_close := unit_step c (snd (weights c)) (snd (steps c));
  hidden := {| operations := []; results := [0%Z] |};
  lines := lines;
  decision := decision;
|}.

(** ** One output that is the answer *)

(** The whole number nearest to the output y is less than the count (class 0), more (class 1), or the count itself (class 2); a tie is
    wrong. *)
Definition half : Q := 1 # 2.

Definition class_of_answer (y : Q) (c : Z) : class :=
  if Qle_bool (y + half) (inject_Z c) then 0%Z else if Qle_bool (inject_Z c + half) y then 1%Z else 2%Z.

Definition answer (n : network) (l : line) (s : string) : Q := output l (run_program (hidden n) (state_after n s)).

(** * Claims about them *)

Inductive model :=
  | Unit (c : unit_cell) (lines : list line) (decision : list (list comparison))
  | Programs (n : network)
  | Counting (n : network) (l : line).  (* asked for the count itself; the lines and the decision of n are not used *)

Definition gives_class (m : model) (s : string) (k : class) : Prop :=
  match m with
  | Unit c lines decision => gives (network_of_unit c lines decision) s k
  | Programs n => gives n s k
  | Counting n l => class_of_answer (answer n l s) (count false s) = k
  end.

Record claim := { its : model; asked : task; which : lengths; said : verdict }.

Definition holds (c : claim) : Prop := claim_holds (gives_class (its c)) (asked c) (which c) (said c).

(** * A token more *)

Lemma state_snoc n s x : state_after n (s ++ [x]) = step n (state_after n s) x.
Proof. unfold state_after. now rewrite fold_left_app. Qed.
