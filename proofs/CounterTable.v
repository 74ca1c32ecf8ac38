(** Machines with one state and one counter as tables, which is how the Python package writes them: a row for each token and zero check. *)

From Coq Require Import ZArith.
From Coq Require Vector.
From Tallystick Require Import Brackets Counter.

(** A token, the zero check, and what the counter does. *)
Definition row := (token * bool * change)%type.

Definition is_row (x : token) (check : bool) (r : row) : bool :=
  match x, fst (fst r) with Open, Open | Close, Close => Bool.eqb check (snd (fst r)) | _, _ => false end.

(** What a token does that has no row is to forget the count. *)
Definition look_up (rows : list row) (x : token) (check : bool) : change :=
  match find (is_row x check) rows with Some r => snd r | None => TimesZero end.

Definition machine_of_rows (rows : list row) (accepted : list bool) : counter_machine token unit 1.
Proof.
  refine {|
    initial_state := tt;
    update := fun x _ check => one (look_up rows x (Vector.hd check));
    transition := fun _ q _ => q;
    accepting := fun _ check => In (Vector.hd check) accepted;
  |}.
  - exists [Open; Close]. intros []; cbn; tauto.
  - exists [tt]. intros []; cbn; tauto.
Defined.

Definition adds (u : change) (m : Z) : bool := match u with Add k => Z.eqb k m | TimesZero => false end.

(** + 1 for `(` and - 1 for `)` whatever the zero check, and accepting at zero alone. *)
Definition counts_brackets (rows : list row) (accepted : list bool) : bool :=
  (forallb (fun check => adds (look_up rows Open check) 1 && adds (look_up rows Close check) (-1)) [false; true] &&
   existsb negb accepted && forallb negb accepted)%bool.

Theorem tables_that_count_brackets : forall (rows : list row) (accepted : list bool),
  counts_brackets rows accepted = true -> is_balanced_bracket_counter (machine_of_rows rows accepted).
Proof.
  intros rows accepted. unfold counts_brackets. rewrite !Bool.andb_true_iff, existsb_exists, !forallb_forall.
  intros [[counts (zero & accepts & is_zero)] only].
  assert (forall x check, look_up rows x check = match x with Open => Add 1 | Close => Add (-1) end) as same.
  { intros x check. assert (In check [false; true]) as one_of by (destruct check; cbn; auto).
    apply counts, Bool.andb_true_iff in one_of as [opens closes]. unfold adds in opens, closes.
    destruct x; [destruct (look_up rows Open check) | destruct (look_up rows Close check)]; try discriminate;
      f_equal; now apply Z.eqb_eq. }
  assert (forall s, computation (machine_of_rows rows accepted) s = computation BB_counter s) as runs.
  { intros s. unfold computation. change (initial_state (machine_of_rows rows accepted)) with (initial_state BB_counter).
    generalize (initial_state BB_counter, Vector.const 0%Z 1).
    induction s as [|x s IH]; intros now_; [reflexivity|]. cbn [fold_left]. rewrite <- IH. f_equal.
    destruct now_ as [q c]. unfold step. cbn [update transition machine_of_rows BB_counter]. now rewrite same. }
  intros s. rewrite <- (balanced_bracket_counter s). unfold machine_accepts. rewrite runs, computation_counts.
  cbn -[Z.of_nat Z.sub]. set (check := negb (Z.eqb _ 0)). split.
  - intros accepted_. apply only in accepted_. destruct check; [discriminate | reflexivity].
  - intros equal. apply (f_equal Vector.hd) in equal. cbn in equal. rewrite equal.
    destruct zero; [discriminate | exact accepts].
Qed.
