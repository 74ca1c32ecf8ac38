(** What is asked of a line in the state: that it is positive, or not negative, on all strings whose count has some sign. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks.

(** The sign of the count, and whether the line must be positive there. *)
Definition ask := (Datatypes.comparison * bool)%type.

Definition above_zero (strictly : bool) (x : Q) : Prop := if strictly then 0 < x else 0 <= x.

Definition answers (n : network) (l : line) (s : string) (question : ask) : Prop :=
  (count false s ?= 0)%Z = fst question -> above_zero (snd question) (output l (state_after n s)).

Definition answers_to (n : network) (which : lengths) (l : line) (questions : list ask) (horizon : Z) : Prop :=
  forall s, counted which s -> (size s <= horizon)%Z -> Forall (answers n l s) questions.

(** * Tests *)

Definition is_above_zero (strictly : bool) (x : Q) : bool := if strictly then negb (Qle_bool x 0) else Qle_bool 0 x.

Lemma positive_test x : negb (Qle_bool x 0) = true -> 0 < x.
Proof. intros test. apply Bool.negb_true_iff in test. apply Qnot_le_lt. rewrite <- Qle_bool_iff, test. discriminate. Qed.

Lemma above_test strictly x : is_above_zero strictly x = true -> above_zero strictly x.
Proof. unfold is_above_zero, above_zero. destruct strictly; [apply positive_test | apply Qle_bool_iff]. Qed.

Lemma above_more strictly x y : x <= y -> above_zero strictly x -> above_zero strictly y.
Proof. unfold above_zero. destruct strictly; lra. Qed.
