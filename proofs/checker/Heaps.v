(** Pairing heaps of whole numbers, the least on top. *)

From Coq Require Export Permutation.
From Tallystick.checker Require Import Claims.

(** Trees side by side: one with its children, and the others. *)
Inductive forest := Nothing | Tree (x : Z) (children others : forest).

Inductive heap := Empty | Root (x : Z) (children : forest).

Definition meld (h k : heap) : heap :=
  match h, k with
  | Empty, _ => k
  | _, Empty => h
  | Root x c, Root y d => if x <=? y then Root x (Tree y d c) else Root y (Tree x c d)
  end.

Fixpoint pair_up (f : forest) : heap :=
  match f with
  | Nothing => Empty
  | Tree x c Nothing => Root x c
  | Tree x c (Tree y d rest) => meld (meld (Root x c) (Root y d)) (pair_up rest)
  end.

Definition push (x : Z) (h : heap) : heap := meld (Root x Nothing) h.

(** Put x in and take the least out. *)
Definition push_pop (x : Z) (h : heap) : Z * heap :=
  match h with
  | Empty => (x, h)
  | Root y c => if x <=? y then (x, h) else (y, push x (pair_up c))
  end.

(** * What is in a heap *)

Fixpoint in_forest (f : forest) : list Z :=
  match f with
  | Nothing => []
  | Tree x c others => x :: in_forest c ++ in_forest others
  end.

Definition in_heap (h : heap) : list Z :=
  match h with Empty => [] | Root x c => x :: in_forest c end.

Lemma in_meld h k : Permutation (in_heap (meld h k)) (in_heap h ++ in_heap k).
Proof.
  destruct h as [|x c], k as [|y d]; cbn; rewrite ?app_nil_r; try reflexivity.
  destruct (x <=? y); cbn.
  - apply perm_skip. rewrite Permutation_app_comm with (l := in_forest c). reflexivity.
  - apply Permutation_trans with (y :: (x :: in_forest c) ++ in_forest d); [reflexivity|].
    exact (Permutation_middle (x :: in_forest c) (in_forest d) y).
Qed.

(** Trees two by two. *)
Lemma forest_pairs (P : forest -> Prop) : P Nothing -> (forall x c, P (Tree x c Nothing)) ->
  (forall x c y d rest, P rest -> P (Tree x c (Tree y d rest))) -> forall f, P f.
Proof.
  intros none one two. fix pairs 1. intros [|x c [|y d rest]]; [exact none | apply one | apply two, pairs].
Qed.

Lemma in_pair_up f : Permutation (in_heap (pair_up f)) (in_forest f).
Proof.
  induction f as [| x c | x c y d rest IH] using forest_pairs; [reflexivity | cbn; now rewrite app_nil_r |].
  change (pair_up (Tree x c (Tree y d rest))) with (meld (meld (Root x c) (Root y d)) (pair_up rest)).
  rewrite in_meld, in_meld, IH. cbn. now rewrite <- app_assoc.
Qed.

Lemma in_push x h : Permutation (in_heap (push x h)) (x :: in_heap h).
Proof. unfold push. now rewrite in_meld. Qed.

Lemma in_push_pop x h y k : push_pop x h = (y, k) -> Permutation (y :: in_heap k) (x :: in_heap h).
Proof.
  destruct h as [|z c]; cbn [push_pop]; [intros [= <- <-]; reflexivity|].
  destruct (x <=? z); intros [= <- <-]; [reflexivity|]. rewrite in_push, in_pair_up. apply perm_swap.
Qed.

(** * The least is on top *)

Definition below_all (x : Z) (l : list Z) : Prop := Forall (Z.le x) l.

Fixpoint ordered (f : forest) : Prop :=
  match f with
  | Nothing => True
  | Tree x c others => below_all x (in_forest c) /\ ordered c /\ ordered others
  end.

Definition is_heap (h : heap) : Prop :=
  match h with Empty => True | Root x c => below_all x (in_forest c) /\ ordered c end.

Lemma below_all_trans x y l : x <= y -> below_all y l -> below_all x l.
Proof. intros less. apply Forall_impl. intros z. lia. Qed.

Lemma meld_is_heap h k : is_heap h -> is_heap k -> is_heap (meld h k).
Proof.
  destruct h as [|x c], k as [|y d]; cbn; auto. intros [below ordered_c] [below' ordered_d].
  destruct (Z.leb_spec x y); cbn; repeat split; auto.
  - constructor; [assumption|]. apply Forall_app. split; [eapply below_all_trans; eassumption | assumption].
  - constructor; [lia|]. apply Forall_app. split; [eapply below_all_trans; [|eassumption]; lia | assumption].
Qed.

Lemma pair_up_is_heap f : ordered f -> is_heap (pair_up f).
Proof.
  induction f as [| x c | x c y d rest IH] using forest_pairs; [trivial | cbn; tauto |].
  change (pair_up (Tree x c (Tree y d rest))) with (meld (meld (Root x c) (Root y d)) (pair_up rest)).
  intros (bx & oc & by_ & od & ordered_rest). apply meld_is_heap; [apply meld_is_heap | apply IH, ordered_rest]; now split.
Qed.

Lemma push_is_heap x h : is_heap h -> is_heap (push x h).
Proof. apply meld_is_heap. split; [constructor | exact I]. Qed.

Lemma push_pop_is_heap x h y k : is_heap h -> push_pop x h = (y, k) -> is_heap k /\ below_all y (in_heap k).
Proof.
  destruct h as [|z c]; cbn [push_pop is_heap]; [intros _ [= <- <-]; split; [exact I | constructor]|].
  intros [below ordered_c]. destruct (Z.leb_spec x z); intros [= <- <-].
  - split; [now split|]. constructor; [assumption | eapply below_all_trans; eassumption].
  - split; [now apply push_is_heap, pair_up_is_heap|]. unfold below_all. rewrite in_push, in_pair_up.
    constructor; [lia | exact below].
Qed.

Lemma root_is_least x c : is_heap (Root x c) -> below_all x (in_heap (Root x c)).
Proof. intros [below _]. constructor; [lia | exact below]. Qed.
