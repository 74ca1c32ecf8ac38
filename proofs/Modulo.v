(** What a number is that is 0 modulo P: 0 itself, where P is above all that it can be.

    The checker of exact counters works out rows of whole numbers modulo a prime P. A row u that two matrices have
    been applied to k times is at most |u|₁·g^k in size, where g bounds what the sizes in a row of a matrix add up to. *)

From Coq Require Import ZArith List Lia.
Import ListNotations.
Open Scope Z_scope.

Definition row := list Z.
Definition size (u : row) : Z := fold_right (fun x rest => Z.abs x + rest) 0 u.
Definition dot (u v : row) : Z := fold_right (fun p rest => fst p * snd p + rest) 0 (combine u v).
Definition scale (c : Z) (u : row) : row := map (Z.mul c) u.

(** Rows of different lengths are added as far as both go; those of a matrix have one length. *)
Definition add (u v : row) : row := map (fun p => fst p + snd p) (combine u v).

(** The row u times a matrix, which is a list of rows: the sum of its rows, each times a number of u. *)
Fixpoint times (width : nat) (u : row) (matrix : list row) : row :=
  match u, matrix with
  | x :: u, r :: matrix => add (scale x r) (times width u matrix)
  | _, _ => repeat 0 width
  end.

Lemma size_is_not_negative u : 0 <= size u.
Proof. induction u; simpl; lia. Qed.

Lemma size_of_scale c u : size (scale c u) = Z.abs c * size u.
Proof. induction u; simpl; [lia | rewrite IHu, Z.abs_mul; lia]. Qed.

Lemma size_of_add u v : size (add u v) <= size u + size v.
Proof.
  revert v. induction u; intros [|y v]; simpl;
    try (pose proof (size_is_not_negative u); pose proof (size_is_not_negative v); lia); try lia.
  - pose proof (size_is_not_negative v). lia.
  - pose proof (size_is_not_negative u). lia.
  - specialize (IHu v). unfold add in IHu. lia.
Qed.

Lemma size_of_zeros n : size (repeat 0 n) = 0.
Proof. induction n; simpl; lia. Qed.

Theorem size_of_times : forall (width : nat) (matrix : list row) (g : Z) (u : row),
  0 <= g -> (forall r, In r matrix -> size r <= g) -> size (times width u matrix) <= size u * g.
Proof.
  intros width matrix g u not_negative. revert u.
  induction matrix as [|r matrix IH]; intros [|x u] bounded; simpl times; rewrite ?size_of_zeros; simpl size; try lia.
  - pose proof (size_is_not_negative u). nia.
  - pose proof (size_of_add (scale x r) (times width u matrix)) as sum. rewrite size_of_scale in sum.
    pose proof (IH u (fun s found => bounded s (or_intror found))). pose proof (bounded r (or_introl eq_refl)).
    pose proof (Z.abs_nonneg x). nia.
Qed.

(** After any number of tokens, each with its matrix. *)
Theorem size_after_tokens : forall (width : nat) (g : Z) (matrices : list (list row)) (u : row),
  0 <= g -> (forall matrix r, In matrix matrices -> In r matrix -> size r <= g) ->
  size (fold_left (times width) matrices u) <= size u * g ^ Z.of_nat (length matrices).
Proof.
  intros width g matrices. induction matrices as [|matrix matrices IH]; intros u not_negative bounded.
  - simpl. lia.
  - cbn [fold_left length]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia.
    pose proof (IH (times width u matrix) not_negative (fun m r found => bounded m r (or_intror found))) as rest.
    pose proof (size_of_times width matrix g u not_negative (fun r => bounded matrix r (or_introl eq_refl))) as first.
    pose proof (Z.pow_nonneg g (Z.of_nat (length matrices)) not_negative). nia.
Qed.

Theorem dot_is_bounded : forall (u v : row) (most : Z),
  0 <= most -> (forall x, In x v -> Z.abs x <= most) -> Z.abs (dot u v) <= size u * most.
Proof.
  induction u as [|x u IH]; intros [|y v] most not_negative bounded; unfold dot in *; simpl; try lia.
  - pose proof (size_is_not_negative u). nia.
  - pose proof (IH v most not_negative (fun z found => bounded z (or_intror found))).
    pose proof (bounded y (or_introl eq_refl)). pose proof (Z.abs_nonneg x). nia.
Qed.

Theorem zero_modulo_a_large_number_is_zero : forall P x : Z, Z.abs x < P -> x mod P = 0 -> x = 0.
Proof.
  intros P x small divided. apply Z.mod_divide in divided; [| lia].
  destruct divided as [k ->]. destruct (Z.eq_dec k 0) as [-> | not_zero]; [lia | nia].
Qed.
