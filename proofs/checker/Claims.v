(** What a certificate claims, whatever its network is made of and whatever its arithmetic is.

    A network is known here only by the classes that it gives to strings, so that every kind of network and of arithmetic
    brings its own [gives] and shares these definitions. *)

From Coq Require Export ZArith List Bool Lia.
Export ListNotations.
Open Scope Z_scope.

Inductive token := Open | Close.

(** The first token comes first. *)
Definition string := list token.

(** Classes are numbered from 0 in the order in which a certificate lists them. *)
Definition class := Z.

(** * What is right *)

(** Each `(` counts 1 and each `)` counts -1. A floored count, the kappa of semi-Dyck-1, never falls below zero. *)
Definition count_after (floored : bool) (c : Z) (x : token) : Z :=
  match x with
  | Open => c + 1
  | Close => if floored then Z.max 0 (c - 1) else c - 1
  end.

Definition count (floored : bool) (s : string) : Z := fold_left (count_after floored) s 0.

(** The right class follows from the sign of the count. *)
Record task := { floored : bool; below : class; at_zero : class; above : class }.

Definition class_of_count (t : task) (c : Z) : class :=
  match c ?= 0 with Lt => below t | Eq => at_zero t | Gt => above t end.

Definition right_class (t : task) (s : string) : class := class_of_count t (count (floored t) s).

(** * Which strings count: all but the empty one, or those of even length *)

Inductive lengths := AllLengths | EvenLengths.

Definition stride (l : lengths) : Z := match l with AllLengths => 1 | EvenLengths => 2 end.

Definition size (s : string) : Z := Z.of_nat (length s).

Definition counted (l : lengths) (s : string) : Prop := s <> [] /\ (stride l | size s).

(** * The three verdicts *)

(** A string is written as runs of equal tokens. *)
Definition runs := list (token * Z).

Fixpoint string_of (r : runs) : string :=
  match r with
  | [] => []
  | (x, n) :: r => Z.iter n (cons x) (string_of r)
  end.

(** A failing string comes with the class that it gets. *)
Inductive verdict :=
  | Proved
  | Refuted (horizon : Z) (failing : runs) (given : class)
  | Bounded (horizon : Z).

Section Claim.

Variable gives : string -> class -> Prop.
Variable t : task.
Variable l : lengths.

Definition right_to (horizon : Z) : Prop :=
  forall s, counted l s -> size s <= horizon -> gives s (right_class t s).

(** REFUTED says that no shorter counted string fails: the failing string has the first counted length after the horizon. *)
Definition claim_holds (v : verdict) : Prop :=
  match v with
  | Proved => forall s, counted l s -> gives s (right_class t s)
  | Bounded horizon => right_to horizon
  | Refuted horizon failing given =>
      right_to horizon /\
      counted l (string_of failing) /\ size (string_of failing) = horizon + stride l /\
      gives (string_of failing) given /\ given <> right_class t (string_of failing)
  end.

End Claim.

(** Classes that are given for another reason make the same claims. *)
Lemma claim_from (gives gives' : string -> class -> Prop) t l v : (forall s k, gives s k -> gives' s k) ->
  claim_holds gives t l v -> claim_holds gives' t l v.
Proof.
  intros all. destruct v; cbn; unfold right_to; intuition.
Qed.

(** * Counting along a string *)

Lemma count_snoc f s x : count f (s ++ [x]) = count_after f (count f s) x.
Proof. unfold count. now rewrite fold_left_app. Qed.

Lemma size_snoc s x : size (s ++ [x]) = size s + 1.
Proof. unfold size. rewrite app_length. cbn. lia. Qed.

(** * Going on for so many tokens *)

(** What a step keeps is kept by any number of steps. How many there were is for the state to tell. *)
Lemma iter_keeps {A} (keeps : A -> Prop) (f : A -> A) (n : Z) (x : A) :
  (forall y, keeps y -> keeps (f y)) -> keeps x -> keeps (Z.iter n f x).
Proof. intros kept begun. destruct n; cbn; [exact begun | now apply Pos.iter_invariant | exact begun]. Qed.
