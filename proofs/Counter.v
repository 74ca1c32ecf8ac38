(** The Balanced Bracket Counter as a General Counter Machine, and the linear cells that simulate it. *)

From Coq Require Import ZArith.
From Coq Require Vector.
From Tallystick Require Import Brackets Theorem1.

(** * The General Counter Machine (the paper's appendix, Definition 4) *)

(** What an update does to one counter: + m with a whole number m, or times 0. *)
Inductive change := Add (m : Z) | TimesZero.

Definition changed (u : change) (c : Z) : Z := match u with Add m => (c + m)%Z | TimesZero => 0%Z end.

(** The zero check, equation 1: 0 (false) where a counter is 0, else 1 (true). *)
Definition zero_check {k} : Vector.t Z k -> Vector.t bool k := Vector.map (fun c => negb (Z.eqb c 0)).

(** The appendix writes the acceptance mask as a set of pairs of a state and one bit. With k counters the zero check
    has k bits, and so has the mask here; for the one counter of the brackets there is no difference. *)
Record counter_machine (Sigma Q : Type) (k : nat) := {
  finite_alphabet : exists tokens : list Sigma, forall x, In x tokens;
  finite_states : exists states : list Q, forall q, In q states;
  initial_state : Q;
  update : Sigma -> Q -> Vector.t bool k -> Vector.t change k;
  transition : Sigma -> Q -> Vector.t bool k -> Q;
  accepting : Q -> Vector.t bool k -> Prop;
}.
Arguments initial_state {Sigma Q k}.
Arguments update {Sigma Q k}.
Arguments transition {Sigma Q k}.
Arguments accepting {Sigma Q k}.

(** Definition 5: a configuration is a state with the counters; update and transition look at the token, the state
    and the zero check. *)
Definition step {Sigma Q k} (M : counter_machine Sigma Q k) (now : Q * Vector.t Z k) (x : Sigma)
  : Q * Vector.t Z k :=
  let (q, c) := now in
  (transition M x q (zero_check c), Vector.map2 changed (update M x q (zero_check c)) c).

Definition computation {Sigma Q k} (M : counter_machine Sigma Q k) (s : list Sigma) : Q * Vector.t Z k :=
  fold_left (step M) s (initial_state M, Vector.const 0%Z k).

Definition machine_accepts {Sigma Q k} (M : counter_machine Sigma Q k) (s : list Sigma) : Prop :=
  let (q, c) := computation M s in accepting M q (zero_check c).

(** Definition 2: a General Counter Machine is a Balanced Bracket Counter iff it accepts BB. *)
Definition is_balanced_bracket_counter {Q k} (M : counter_machine token Q k) : Prop :=
  forall s, machine_accepts M s <-> BB s.

(** * The machine: stateless (one state), one counter, + 1 for `(` and - 1 for `)`, accepting at zero *)

Definition one {A} (x : A) : Vector.t A 1 := Vector.cons A x 0 (Vector.nil A).

Definition BB_counter : counter_machine token unit 1.
Proof.
  refine {|
    initial_state := tt;
    update := fun x _ _ => one (match x with Open => Add 1 | Close => Add (-1) end);
    transition := fun _ q _ => q;
    accepting := fun _ check => check = one false;
  |}.
  - exists [Open; Close]. intros []; cbn; tauto.
  - exists [tt]. intros []; cbn; tauto.
Defined.

Definition counter_value (s : string) : Z := Vector.hd (snd (computation BB_counter s)).

Lemma computation_counts s :
  computation BB_counter s = (tt, one (Z.of_nat (count Open s) - Z.of_nat (count Close s))%Z).
Proof.
  induction s as [|x s IH] using rev_ind; [reflexivity|].
  unfold computation in *. rewrite fold_left_app, IH. cbn [fold_left step].
  destruct x; autorewrite with snoc; cbn -[Z.of_nat Z.add Z.sub]; unfold one; do 2 f_equal; lia.
Qed.

Theorem balanced_bracket_counter : is_balanced_bracket_counter BB_counter.
Proof.
  intros s. unfold machine_accepts, BB. rewrite computation_counts. cbn -[Z.of_nat Z.sub].
  set (c := (_ - _)%Z). split.
  - intros check. apply (f_equal Vector.hd) in check. cbn in check. destruct (Z.eqb_spec c 0); [lia | discriminate].
  - intros equal. replace c with 0%Z by lia. reflexivity.
Qed.

(** * The cell *)

Lemma counter_value_counts s : IZR (counter_value s) = INR (count Open s) - INR (count Close s).
Proof.
  unfold counter_value. rewrite computation_counts. cbn -[Z.of_nat Z.sub]. now rewrite minus_IZR, <- !INR_IZR_INZ.
Qed.

(** A linear cell that meets the conditions of Theorem 1 holds a times the counter, after every t tokens. *)
Theorem linear_cell_simulates_the_counter : forall a b U : R,
  b <> 0 /\ a / b = -1 /\ U = 1 ->
  forall (s : string) (t : nat), run (linear a b U) (firstn t s) = a * IZR (counter_value (firstn t s)).
Proof.
  intros a b U (b_not_zero & ratio & ->) s t.
  assert (b = - a) as -> by (apply (Rmult_eq_compat_r b) in ratio; field_simplify in ratio; lra).
  rewrite part_2, counter_value_counts. ring.
Qed.

(** Conversely a linear cell that holds the counter, on any scale but 0, meets them: counting is simulation. *)
Theorem counting_is_simulation : forall a b U : R,
  accepts_exactly (linear a b U) BB
  <-> exists scale, scale <> 0 /\
      forall (s : string) (t : nat), run (linear a b U) (firstn t s) = scale * IZR (counter_value (firstn t s)).
Proof.
  intros a b U. split.
  - intros accepts. exists a. split; [now apply case_1 in accepts|].
    now apply linear_cell_simulates_the_counter, theorem_1.
  - intros (scale & not_zero & simulates) s. specialize (simulates s (length s)).
    rewrite firstn_all, counter_value_counts in simulates. unfold right_on, BB. rewrite simulates. split.
    + intros product. apply Rmult_integral in product as [|equal]; [contradiction|]. apply INR_eq. lra.
    + intros equal. rewrite equal. ring.
Qed.
