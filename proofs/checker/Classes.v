(** When all that is known of outputs is enough to know the class. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks.

(** Comparisons that surely hold or surely fail, by a test that may leave both open. *)
Section Sure.

Variable outputs : list Q.
Variables surely surely_not : comparison -> bool.
Hypothesis surely_sound : forall c, surely c = true -> compares outputs c = true.
Hypothesis surely_not_sound : forall c, surely_not c = true -> compares outputs c = false.

(** Class k is surely given: all its comparisons hold, and one of every other class fails. *)
Fixpoint given_among (k : class) (i : class) (decision : list (list comparison)) : bool :=
  match decision with
  | [] => true
  | needed :: rest =>
      (if (i =? k)%Z then forallb surely needed else existsb surely_not needed) && given_among k (i + 1)%Z rest
  end.

Definition surely_given (decision : list (list comparison)) (k : class) : bool :=
  (0 <=? k)%Z && (k <=? Z.of_nat (length decision))%Z && given_among k 1%Z decision.

Lemma forallb_surely needed : forallb surely needed = true -> forallb (compares outputs) needed = true.
Proof. rewrite !forallb_forall. auto. Qed.

Lemma existsb_surely_not needed : existsb surely_not needed = true -> forallb (compares outputs) needed = false.
Proof.
  rewrite existsb_exists. intros (c & member & fails). apply surely_not_sound in fails.
  destruct (forallb (compares outputs) needed) eqn:all; [|reflexivity].
  rewrite forallb_forall in all. rewrite all in fails; [discriminate | exact member].
Qed.

Lemma made_is_given k i decision : given_among k i decision = true ->
  made outputs i decision = if ((i <=? k) && (k <? i + Z.of_nat (length decision)))%Z then [k] else [].
Proof.
  revert i. induction decision as [|needed rest IH]; intros i; cbn [given_among made length].
  - intros _. destruct (Z.leb_spec i k), (Z.ltb_spec k (i + Z.of_nat 0)); cbn; try reflexivity; lia.
  - rewrite Bool.andb_true_iff. intros [here there]. rewrite (IH _ there).
    destruct (Z.eqb_spec i k) as [same|other].
    + subst i. rewrite (forallb_surely _ here).
      destruct (Z.leb_spec (k + 1) k), (Z.leb_spec k k), (Z.ltb_spec k (k + Z.of_nat (S (length rest)))); try lia.
      reflexivity.
    + rewrite (existsb_surely_not _ here).
      destruct (Z.leb_spec (i + 1) k), (Z.leb_spec i k), (Z.ltb_spec k (i + 1 + Z.of_nat (length rest))),
        (Z.ltb_spec k (i + Z.of_nat (S (length rest)))); cbn; try reflexivity; lia.
Qed.

Lemma surely_given_sound decision k : surely_given decision k = true -> class_of_outputs decision outputs = Some k.
Proof.
  unfold surely_given, class_of_outputs. rewrite !Bool.andb_true_iff, !Z.leb_le. intros [[low high] all].
  rewrite (made_is_given _ _ _ all).
  destruct (Z.leb_spec 1 k), (Z.ltb_spec k (1 + Z.of_nat (length decision))); cbn; try reflexivity; try lia.
  f_equal. lia.
Qed.

End Sure.

(** * Differences of outputs as lines of their own, so that what is known of h is used once *)

Fixpoint row_minus (v u : list Q) : list Q :=
  match v, u with
  | x :: v, y :: u => (x - y) :: row_minus v u
  | [], u => map Qopp u
  | v, [] => v
  end.

Lemma dot_opp u h : dot (map Qopp u) h == - dot u h.
Proof.
  revert h. induction u as [|y u IH]; intros [|z h]; cbn; try reflexivity. rewrite IH. ring.
Qed.

Lemma dot_minus v u h : dot (row_minus v u) h == dot v h - dot u h.
Proof.
  revert u h. induction v as [|x v IH]; intros [|y u] [|z h]; cbn; try ring.
  - rewrite dot_opp. ring.
  - rewrite IH. ring.
Qed.

Fixpoint line_at (ls : list line) (p : place) : line :=
  match ls with
  | [] => ([], 0)
  | l :: rest => if (p =? 0)%Z then l else line_at rest (p - 1)%Z
  end.

Definition line_of (ls : list line) (p : option place) : line :=
  match p with Some p => line_at ls p | None => ([], 0) end.

Definition difference (ls : list line) (p q : option place) : line :=
  let '(v, c) := line_of ls p in
  let '(u, d) := line_of ls q in
  (row_minus v u, c - d).

Lemma at_place_map ls h p : at_place (map (fun l => output l h) ls) p == output (line_at ls p) h.
Proof.
  revert p. induction ls as [|l ls IH]; intros p; cbn; [destruct h; unfold output; cbn; ring|].
  destruct (p =? 0)%Z; [reflexivity | apply IH].
Qed.

Lemma output_at_map ls h p : output_at (map (fun l => output l h) ls) p == output (line_of ls p) h.
Proof. destruct p; [apply at_place_map | destruct h; unfold output; cbn; ring]. Qed.

Lemma difference_is_difference ls p q h :
  output (difference ls p q) h ==
  output_at (map (fun l => output l h) ls) p - output_at (map (fun l => output l h) ls) q.
Proof.
  rewrite !output_at_map. unfold difference.
  destruct (line_of ls p) as [v c], (line_of ls q) as [u d]. unfold output. cbn [fst snd]. rewrite dot_minus. ring.
Qed.

(** A comparison by the sign of the difference. *)
Lemma compares_strict ls h c : strict c = true -> 0 < output (difference ls (greater c) (less c)) h ->
  compares (map (fun l => output l h) ls) c = true.
Proof.
  intros is_strict positive. rewrite difference_is_difference in positive. unfold compares. rewrite is_strict.
  apply negb_true_iff. apply not_true_is_false. rewrite Qle_bool_iff. lra.
Qed.

Lemma compares_weak ls h c : strict c = false -> 0 <= output (difference ls (greater c) (less c)) h ->
  compares (map (fun l => output l h) ls) c = true.
Proof.
  intros is_weak positive. rewrite difference_is_difference in positive. unfold compares. rewrite is_weak.
  apply Qle_bool_iff. lra.
Qed.

Lemma compares_strict_not ls h c : strict c = true -> output (difference ls (greater c) (less c)) h <= 0 ->
  compares (map (fun l => output l h) ls) c = false.
Proof.
  intros is_strict negative. rewrite difference_is_difference in negative. unfold compares. rewrite is_strict.
  apply negb_false_iff, Qle_bool_iff. lra.
Qed.

Lemma compares_weak_not ls h c : strict c = false -> output (difference ls (greater c) (less c)) h < 0 ->
  compares (map (fun l => output l h) ls) c = false.
Proof.
  intros is_weak negative. rewrite difference_is_difference in negative. unfold compares. rewrite is_weak.
  apply not_true_is_false. rewrite Qle_bool_iff. lra.
Qed.
