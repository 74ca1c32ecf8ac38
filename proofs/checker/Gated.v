(** Networks in real numbers whose steps may squash, as those of tanh cells, GRUs and LSTMs do, and what it is that they say.

    A step is a program: a list of operations on numbers, those of the state first. *)

From Tallystick.checker Require Import Claims Networks.
From Coq Require Import Reals Qreals Lra.
Open Scope R_scope.

Inductive gated_operation :=
  | GSum (terms : list (Q * place)) (bias : Q)
  | GProduct (p q : place)
  | GPositivePart (p : place)
  | GTanh (p : place)
  | GSigmoid (p : place)
  | GSquare (p : place)
  | GStep (p : place)
  | GMean (share p q : place).

Definition sigmoid (x : R) : R := / (1 + exp (- x)).

Definition number_at (numbers : list R) (p : place) : R := nth (Z.to_nat p) numbers 0.

Definition gated_sum (numbers : list R) (terms : list (Q * place)) (bias : Q) : R :=
  fold_right (fun term total => Q2R (fst term) * number_at numbers (snd term) + total) (Q2R bias) terms.

Definition apply_gated (numbers : list R) (o : gated_operation) : R :=
  match o with
  | GSum terms bias => gated_sum numbers terms bias
  | GProduct p q => number_at numbers p * number_at numbers q
  | GPositivePart p => Rmax (number_at numbers p) 0
  | GTanh p => tanh (number_at numbers p)
  | GSigmoid p => sigmoid (number_at numbers p)
  | GSquare p => number_at numbers p * number_at numbers p
  | GStep p => if Rlt_dec 0 (number_at numbers p) then 1 else 0
  | GMean s p q => (1 - number_at numbers s) * number_at numbers p + number_at numbers s * number_at numbers q
  end.

Record gated_program := { gated_operations : list gated_operation; gated_results : list place }.

Definition run_gated (p : gated_program) (state : list R) : list R :=
  let numbers := fold_left (fun numbers o => numbers ++ [apply_gated numbers o]) (gated_operations p) state in
  map (number_at numbers) (gated_results p).

Record gated_network := {
  gated_start : list Q;
  gated_first : list gated_program;  (* steps before the first token *)
  gated_open : gated_program;
  gated_close : gated_program;
  gated_hidden : gated_program;  (* from a state to what the readout sees *)
  gated_lines : list (list (Q * place) * Q);  (* the outputs, sums of what it sees *)
  gated_decision : list (list comparison);  (* of every class but the first *)
}.

Definition gated_initial (n : gated_network) : list R :=
  fold_left (fun state p => run_gated p state) (gated_first n) (map Q2R (gated_start n)).

Definition gated_step (n : gated_network) (state : list R) (x : token) : list R :=
  run_gated (match x with Open => gated_open n | Close => gated_close n end) state.

Definition gated_state (n : gated_network) (s : string) : list R := fold_left (gated_step n) s (gated_initial n).

Definition gated_outputs (n : gated_network) (state : list R) : list R :=
  map (fun line => gated_sum (run_gated (gated_hidden n) state) (fst line) (snd line)) (gated_lines n).

Definition real_output (outputs : list R) (p : option place) : R :=
  match p with Some p => number_at outputs p | None => 0 end.

Definition really_compares (outputs : list R) (c : comparison) : Prop :=
  if strict c then real_output outputs (less c) < real_output outputs (greater c)
  else real_output outputs (less c) <= real_output outputs (greater c).

(** A class is given if all its comparisons hold, and of every other class not all do. The first class has none. *)
Definition real_class (decision : list (list comparison)) (outputs : list R) (k : class) : Prop :=
  (0 <= k <= Z.of_nat (length decision))%Z /\
  forall i needed, nth_error decision i = Some needed ->
    if (k =? Z.of_nat i + 1)%Z then Forall (really_compares outputs) needed else ~ Forall (really_compares outputs) needed.

Definition gated_gives (n : gated_network) (s : string) (k : class) : Prop :=
  real_class (gated_decision n) (gated_outputs n (gated_state n s)) k.

Record gated_claim := { gated_net : gated_network; gated_asked : task; gated_which : lengths; gated_said : verdict }.

Definition gated_holds (c : gated_claim) : Prop :=
  claim_holds (gated_gives (gated_net c)) (gated_asked c) (gated_which c) (gated_said c).
