(** Networks whose step is affine, with real numbers and any number of units, and their output as a sum over the tokens. *)

From Tallystick Require Import Brackets Sorting.

(** A vector has a number at each place below d, a matrix at each pair of places. *)
Definition vector := nat -> R.
Definition square := nat -> nat -> R.

Definition dot (d : nat) (w x : vector) : R := sum d (fun i => w i * x i).
Definition applied (d : nat) (A : square) (x : vector) : vector := fun i => dot d (A i) x.
Definition row_times (d : nat) (w : vector) (A : square) : vector := fun j => sum d (fun i => w i * A i j).

(** h' = A_x h + s_x from a start, and one output v h + c. *)
Record network := {
  matrix : token -> square;
  step : token -> vector;
  start : vector;
  weight : vector;
  bias : R;
}.

Definition next (d : nat) (N : network) (h : vector) (x : token) : vector :=
  fun i => applied d (matrix N x) h i + step N x i.
Definition final (d : nat) (N : network) (s : string) : vector := fold_left (next d N) s (start N).
Definition output (d : nat) (N : network) (s : string) : R := dot d (weight N) (final d N s) + bias N.

(** * Sums *)

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n as [|n IH]; intros same; [reflexivity|]. cbn. rewrite IH, same; auto with arith. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; cbn; lra. Qed.

Lemma sum_times n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; cbn; [lra|]. rewrite IH. lra. Qed.

Lemma sum_zero n : sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; cbn; lra. Qed.

Lemma sum_swap n m (f : nat -> nat -> R) : sum n (fun i => sum m (f i)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; cbn; [symmetry; apply sum_zero|]. rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intros less; cbn; [lra|].
  assert (sum n f <= sum n g) by auto with arith. assert (f n <= g n) by auto with arith. lra.
Qed.

Lemma sum_split n m f : sum (n + m) f = sum n f + sum m (fun i => f (n + i)%nat).
Proof. induction m as [|m IH]; cbn; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. cbn. lra. Qed.

Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun i => Rabs (f i)).
Proof. induction n as [|n IH]; cbn; [rewrite Rabs_R0; lra|]. pose proof (Rabs_triang (sum n f) (f n)). lra. Qed.

Lemma dot_plus d w x y : dot d w (fun i => x i + y i) = dot d w x + dot d w y.
Proof. unfold dot. rewrite <- sum_plus. apply sum_ext. intros. ring. Qed.

Lemma dot_minus d w x y : dot d w (fun i => x i - y i) = dot d w x - dot d w y.
Proof.
  unfold dot, Rminus. rewrite <- (Rmult_1_l (sum d (fun i => w i * y i))), Ropp_mult_distr_l, <- sum_times, <- sum_plus.
  apply sum_ext. intros. ring.
Qed.

Lemma dot_applied d w A x : dot d (row_times d w A) x = dot d w (applied d A x).
Proof.
  unfold dot, row_times, applied, dot.
  transitivity (sum d (fun j => sum d (fun i => w i * A i j * x j))).
  { apply sum_ext. intros. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros. ring. }
  rewrite sum_swap. apply sum_ext. intros. rewrite <- sum_times. apply sum_ext. intros. ring.
Qed.

Lemma dot_ext d w w' x : (forall i, (i < d)%nat -> w i = w' i) -> dot d w x = dot d w' x.
Proof. intros same. apply sum_ext. intros. now rewrite same. Qed.

Lemma row_times_ext d w w' A : (forall i, (i < d)%nat -> w i = w' i) -> forall j, row_times d w A j = row_times d w' A j.
Proof. intros same j. apply sum_ext. intros. now rewrite same. Qed.

(** * The output as a sum *)

(** What the output sees of the state before a string: the row v times the matrices of the string. *)
Fixpoint row_of (d : nat) (N : network) (s : string) : vector :=
  match s with
  | [] => weight N
  | x :: s => row_times d (row_of d N s) (matrix N x)
  end.

(** What the tokens add, each seen through the matrices of those after it. *)
Fixpoint added (d : nat) (N : network) (s : string) : R :=
  match s with
  | [] => 0
  | x :: s => dot d (row_of d N s) (step N x) + added d N s
  end.

Lemma output_from d N h s : dot d (weight N) (fold_left (next d N) s h) = dot d (row_of d N s) h + added d N s.
Proof.
  revert h. induction s as [|x s IH]; intros h; cbn [fold_left row_of added]; [lra|].
  rewrite IH, dot_applied. unfold next. rewrite dot_plus. lra.
Qed.

Theorem output_is_a_sum : forall (d : nat) (N : network) (s : string),
  output d N s = dot d (row_of d N s) (start N) + added d N s + bias N.
Proof. intros. unfold output, final. now rewrite output_from. Qed.

(** ** One matrix for both tokens: everything follows from two sequences *)

Definition is_linear (N : network) : Prop := matrix N Close = matrix N Open.

(** v U^k. *)
Definition row (d : nat) (N : network) (k : nat) : vector :=
  Nat.iter k (fun w => row_times d w (matrix N Open)) (weight N).
Definition delta (d : nat) (N : network) (k : nat) : R :=
  dot d (row d N k) (fun i => step N Open i - step N Close i).
Definition beta (d : nat) (N : network) (T : nat) : R :=
  dot d (row d N T) (start N) + sum T (fun k => dot d (row d N k) (step N Close)).

Theorem linear_networks_unrolled : forall (d : nat) (N : network) (s : string), is_linear N ->
  output d N s = bias N + beta d N (length s) + opened (delta d N) s.
Proof.
  intros d N s linear. rewrite output_is_a_sum. unfold beta.
  assert (forall t, row_of d N t = row d N (length t)) as same
    by (induction t as [|[] t IH]; cbn; rewrite ?IH, ?linear; reflexivity).
  rewrite same.
  enough (added d N s = sum (length s) (fun k => dot d (row d N k) (step N Close)) + opened (delta d N) s) by lra.
  induction s as [|x s IH]; [cbn; lra|].
  cbn [added length sum]. rewrite same, IH. destruct x; cbn [opened]; [|lra].
  assert (dot d (row d N (length s)) (step N Open)
          = delta d N (length s) + dot d (row d N (length s)) (step N Close)) by (unfold delta; rewrite dot_minus; lra).
  lra.
Qed.

(** Seen from the start, with C for the output there, gamma_k is what one more `)` at the front of k tokens adds. *)
Definition gamma (d : nat) (N : network) (k : nat) : R :=
  dot d (row d N k) (fun i => step N Close i + (applied d (matrix N Open) (start N) i - start N i)).

Theorem drift_is_a_sum : forall (d : nat) (N : network) (T : nat),
  bias N + beta d N T = output d N [] + sum T (gamma d N).
Proof.
  intros d N T. unfold beta, output, final. cbn [fold_left].
  induction T as [|T IH]; cbn [sum]; [cbn; lra|].
  assert (gamma d N T = dot d (row d N T) (step N Close)
          + (dot d (row d N (S T)) (start N) - dot d (row d N T) (start N))) as ->; [|lra].
  unfold gamma. rewrite dot_plus, dot_minus. cbn [row Nat.iter nat_rect]. now rewrite <- dot_applied.
Qed.

(** The difference of two outputs is an output. *)
Definition with_output (N : network) (v : vector) (c : R) : network :=
  {| matrix := matrix N; step := step N; start := start N; weight := v; bias := c |}.

Theorem differences_are_outputs : forall (d : nat) (N : network) (v w : vector) (c e : R) (s : string),
  output d (with_output N (fun i => v i - w i) (c - e)) s
  = output d (with_output N v c) s - output d (with_output N w e) s.
Proof.
  intros. unfold output. change (final d (with_output N _ _) s) with (final d N s). cbn [weight bias with_output].
  enough (forall x, dot d (fun i => v i - w i) x = dot d v x - dot d w x) as -> by lra.
  intros x. unfold dot. induction d as [|d IH]; cbn; [lra|]. rewrite IH. ring.
Qed.

(** Seen from its start, every network starts at 0. *)
Definition from_zero (d : nat) (N : network) : network := {|
  matrix := matrix N;
  step := fun x i => step N x i + (applied d (matrix N x) (start N) i - start N i);
  start := fun _ => 0;
  weight := weight N;
  bias := dot d (weight N) (start N) + bias N;
|}.

Theorem start_may_be_zero : forall (d : nat) (N : network) (s : string), output d (from_zero d N) s = output d N s.
Proof.
  intros d N s. unfold output. cbn [weight bias from_zero].
  assert (forall (g h : vector) w, (forall i, h i = g i + start N i) -> dot d w h = dot d w g + dot d w (start N)) as seen.
  { intros g h w moved. rewrite <- dot_plus. apply sum_ext. intros j _. now rewrite moved. }
  rewrite (seen (final d (from_zero d N) s) (final d N s)); [lra|].
  unfold final. induction s as [|x s IH] using rev_ind; [intros; cbn; lra|]. intros i.
  rewrite !fold_left_app. cbn [fold_left]. unfold next at 1 3. cbn [matrix step start from_zero] in *.
  unfold applied. rewrite (seen _ _ (matrix N x i) IH). lra.
Qed.
