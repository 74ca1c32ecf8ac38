(** Programs that add up multiples of the state, as lines: one for each number, in the numbers of the state. *)

From Tallystick.checker Require Import Networks Classes.

(** * Lines *)

(** The sums are brought to lowest terms, without which they would grow from number to number. *)
Definition add_times (w x y : Q) : Q := if (Qnum y =? 0)%Z then x else Qred (x + w * y).

Lemma add_times_is w x y : add_times w x y == x + w * y.
Proof.
  unfold add_times. destruct (Z.eqb_spec (Qnum y) 0) as [none|]; [|apply Qred_correct].
  assert (y == 0) as -> by (unfold Qeq; cbn; lia). ring.
Qed.

(** u + w v, the shorter row filled up with zeros. *)
Fixpoint row_plus (w : Q) (u v : list Q) : list Q :=
  match u, v with
  | x :: u, y :: v => add_times w x y :: row_plus w u v
  | [], v => map (add_times w 0) v
  | u, [] => u
  end.

Lemma dot_scaled w v h : dot (map (add_times w 0) v) h == w * dot v h.
Proof.
  revert h. induction v as [|y v IH]; intros [|z h]; cbn; try ring. rewrite IH, add_times_is. ring.
Qed.

Lemma dot_plus w u v h : dot (row_plus w u v) h == dot u h + w * dot v h.
Proof.
  revert v h. induction u as [|x u IH]; intros [|y v] [|z h]; cbn; try ring.
  - rewrite dot_scaled, add_times_is. ring.
  - rewrite IH, add_times_is. ring.
Qed.

Definition line_plus (w : Q) (l m : line) : line :=
  if (Qnum w =? 0)%Z then l else (row_plus w (fst l) (fst m), add_times w (snd l) (snd m)).

Lemma output_plus w l m h : output (line_plus w l m) h == output l h + w * output m h.
Proof.
  unfold line_plus. destruct (Z.eqb_spec (Qnum w) 0) as [none|].
  - assert (w == 0) as -> by (unfold Qeq; cbn; lia). ring.
  - unfold output. cbn [fst snd]. rewrite dot_plus, add_times_is. ring.
Qed.

(** * What lines say of numbers *)

Definition says (state : list Q) : list line -> list Q -> Prop := Forall2 (fun l x => x == output l state).

Lemma says_at state ls xs p : says state ls xs -> at_place xs p == output (line_at ls p) state.
Proof.
  intros all. revert p. induction all as [|l x ls xs said _ IH]; intros p; cbn; [destruct state; reflexivity|].
  destruct (p =? 0)%Z; [exact said | apply IH].
Qed.

(** The lines of the state itself. *)
Fixpoint units {A} (zeros : list Q) (state : list A) : list line :=
  match state with
  | [] => []
  | _ :: rest => (zeros ++ [1], 0) :: units (0 :: zeros) rest
  end.

Lemma dot_unit k (before : list Q) x after : length before = k -> dot (repeat 0 k ++ [1]) (before ++ x :: after) == x.
Proof.
  revert before. induction k as [|k IH]; intros [|y before]; cbn; try discriminate.
  - intros _. destruct after; cbn; ring.
  - intros [= same]. rewrite IH by exact same. ring.
Qed.

Lemma units_say_from {A} (template : list A) before state : length template = length state ->
  says (before ++ state) (units (repeat 0 (length before)) template) state.
Proof.
  revert before state. induction template as [|z template IH]; intros before [|x state]; cbn; try discriminate.
  - constructor.
  - intros [= same]. constructor.
    + unfold output. cbn [fst snd]. rewrite dot_unit by reflexivity. ring.
    + specialize (IH (before ++ [x]) state same). rewrite app_length, <- app_assoc in IH. cbn in IH.
      rewrite Nat.add_1_r in IH. exact IH.
Qed.

Lemma units_say {A} (template : list A) state : length template = length state -> says state (units [] template) state.
Proof. apply (units_say_from template []). Qed.

(** * Programs *)

Definition sum_line (ls : list line) (terms : list (Q * place)) (bias : Q) : line :=
  fold_right (fun term total => line_plus (fst term) total (line_at ls (snd term))) ([], bias) terms.

Fixpoint operation_lines (os : list operation) (ls : list line) : option (list line) :=
  match os with
  | [] => Some ls
  | Sum terms bias :: os => operation_lines os (ls ++ [sum_line ls terms bias])
  | _ => None
  end.

Definition program_lines (p : program) (ls : list line) : option (list line) :=
  match operation_lines (operations p) ls with
  | Some numbers => Some (map (line_at numbers) (results p))
  | None => None
  end.

Lemma sum_line_is state ls xs terms bias : says state ls xs -> apply (Sum terms bias) xs == output (sum_line ls terms bias) state.
Proof.
  intros all. induction terms as [|[w p] terms IH]; cbn [apply sum_line fold_right fst snd] in *.
  - unfold output. cbn [fst snd dot]. ring.
  - rewrite IH, output_plus, (says_at _ _ _ p all). fold (sum_line ls terms bias). ring.
Qed.

Lemma operation_lines_say state os ls xs found : says state ls xs -> operation_lines os ls = Some found ->
  says state found (fold_left (fun numbers o => numbers ++ [apply o numbers]) os xs).
Proof.
  revert ls xs. induction os as [|o os IH]; intros ls xs all; [intros [= <-]; exact all|].
  destruct o as [terms bias | | | | |]; try discriminate. cbn [operation_lines fold_left]. apply IH.
  apply Forall2_app; [exact all | constructor; [now apply sum_line_is | constructor]].
Qed.

Lemma program_lines_say state p ls found : says state ls state -> program_lines p ls = Some found ->
  says state found (run_program p state).
Proof.
  unfold program_lines, run_program. intros all.
  destruct (operation_lines (operations p) ls) as [numbers|] eqn:operated; [intros [= <-] | discriminate].
  pose proof (operation_lines_say _ _ _ _ _ all operated) as said.
  induction (results p) as [|q qs IH]; cbn; constructor; [apply says_at, said | exact IH].
Qed.

(** A line in numbers that lines say, as a line in the state. *)
Fixpoint combine_lines (v : list Q) (ls : list line) (c : Q) : line :=
  match v, ls with
  | w :: v, l :: ls => line_plus w (combine_lines v ls c) l
  | _, _ => ([], c)
  end.

Definition pull (ls : list line) (l : line) : line := combine_lines (fst l) ls (snd l).

Lemma pull_is state ls xs l : says state ls xs -> output (pull ls l) state == output l xs.
Proof.
  intros all. destruct l as [v c]. unfold pull. cbn [fst snd]. revert v. unfold output at 2. cbn [fst snd].
  induction all as [|m x ls xs said _ IH]; intros [|w v]; cbn [combine_lines dot];
    try (unfold output; cbn [fst snd dot]; ring).
  rewrite output_plus, IH, said. ring.
Qed.

(** * Affine networks *)

Definition same_length {A B} : list A -> list B -> bool :=
  fix same u v := match u, v with [], [] => true | _ :: u, _ :: v => same u v | _, _ => false end.

Lemma same_length_is {A B} (u : list A) (v : list B) : same_length u v = true -> length u = length v.
Proof. revert v. induction u as [|x u IH]; intros [|y v]; cbn; try discriminate; auto. Qed.

(** The lines of a step for each token, and of what the readout sees. *)
Record affine := { opening : list line; closing : list line; shown : list line }.

Definition affine_of (n : network) : option affine :=
  let ls := units [] (start n) in
  match program_lines (step_open n) ls, program_lines (step_close n) ls, program_lines (hidden n) ls with
  | Some o, Some c, Some h =>
      if same_length o (start n) && same_length c (start n) && same_length (initial n) (start n)
      then Some {| opening := o; closing := c; shown := h |} else None
  | _, _, _ => None
  end.

Definition lines_after (a : affine) (x : token) : list line := match x with Open => opening a | Close => closing a end.

Lemma run_program_length p state : length (run_program p state) = length (results p).
Proof. apply map_length. Qed.

Lemma program_lines_length p ls found : program_lines p ls = Some found -> length found = length (results p).
Proof. unfold program_lines. destruct (operation_lines _ _); [intros [= <-]; apply map_length | discriminate]. Qed.

Section Network.

Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.

Lemma affine_length s : length (state_after n s) = length (start n).
Proof.
  unfold affine_of in is_affine.
  destruct (program_lines (step_open n) _) as [o|] eqn:opened; [|discriminate].
  destruct (program_lines (step_close n) _) as [c|] eqn:closed; [|discriminate].
  destruct (program_lines (hidden n) _) as [h|]; [|discriminate].
  destruct (same_length o (start n) && _ && _) eqn:same; [|discriminate].
  rewrite !Bool.andb_true_iff in same. destruct same as [[same_o same_c] same_i].
  apply same_length_is in same_o, same_c, same_i. apply program_lines_length in opened, closed.
  destruct s as [|x s _] using rev_ind; [exact same_i|].
  rewrite state_snoc. unfold step. rewrite run_program_length. destruct x; congruence.
Qed.

Lemma affine_step s x : says (state_after n s) (lines_after a x) (state_after n (s ++ [x])).
Proof.
  pose proof (units_say (start n) _ (eq_sym (affine_length s))) as all. rewrite state_snoc. unfold step.
  unfold affine_of in is_affine.
  destruct (program_lines (step_open n) _) as [o|] eqn:opened; [|discriminate].
  destruct (program_lines (step_close n) _) as [c|] eqn:closed; [|discriminate].
  destruct (program_lines (hidden n) _) as [h|]; [|discriminate].
  destruct (same_length o (start n) && _ && _); [injection is_affine as <- | discriminate].
  destruct x; eapply program_lines_say; eassumption.
Qed.

Lemma affine_shown s : says (state_after n s) (shown a) (run_program (hidden n) (state_after n s)).
Proof.
  pose proof (units_say (start n) _ (eq_sym (affine_length s))) as all.
  unfold affine_of in is_affine.
  destruct (program_lines (step_open n) _) as [o|]; [|discriminate].
  destruct (program_lines (step_close n) _) as [c|]; [|discriminate].
  destruct (program_lines (hidden n) _) as [h|] eqn:showed; [|discriminate].
  destruct (same_length o (start n) && _ && _); [injection is_affine as <- | discriminate].
  eapply program_lines_say; eassumption.
Qed.

(** The value of a line after a token, as a line before it. *)
Lemma pull_step l s x : output l (state_after n (s ++ [x])) == output (pull (lines_after a x) l) (state_after n s).
Proof. symmetry. apply pull_is, affine_step. Qed.

End Network.
