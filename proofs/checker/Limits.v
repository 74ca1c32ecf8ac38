(** Affine networks with one matrix that are right at every length though they do not count, because what brackets add converges.

    The row of a line is a row rho that counts exactly, and a rest. Along a string the rest becomes ever smaller: some power of the matrix, less
    its limit E, shrinks every vector, and E takes the rest to zero. So all that the rest adds beyond the first K tokens is bounded, and what it
    adds before is at least the sum of the lesser of both tokens. E, the power and K are hints. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Affine Whole Halves Sorting Counting Paths Monotone.

(** * Vectors *)

Definition bounded (B : Q) (u : list Q) : Prop := Forall (fun x => - B <= x <= B) u.

Definition size_of (x : Q) : Q := if Qle_bool 0 x then x else - x.

Lemma size_of_is x : x <= size_of x /\ - x <= size_of x /\ 0 <= size_of x.
Proof.
  unfold size_of. destruct (Qle_bool 0 x) eqn:sign.
  - apply Qle_bool_iff in sign. lra.
  - apply Bool.not_true_iff_false in sign. rewrite Qle_bool_iff in sign. apply Qnot_le_lt in sign. lra.
Qed.

Definition norm (r : list Q) : Q := fold_right (fun x total => Qred (size_of x + total)) 0 r.

Lemma norm_cons x r : norm (x :: r) == size_of x + norm r.
Proof. unfold norm. cbn [fold_right]. apply Qred_correct. Qed.

Lemma norm_nonneg r : 0 <= norm r.
Proof. induction r as [|x r IH]; [apply Qle_refl|]. rewrite norm_cons. pose proof (size_of_is x). lra. Qed.

Lemma dot_bounded B r u : 0 <= B -> bounded B u -> - (norm r * B) <= dot r u <= norm r * B.
Proof.
  intros positive all. revert r. induction all as [|y u inside _ IH]; intros r.
  - assert (dot r [] == 0) as -> by now destruct r. pose proof (norm_nonneg r). split; nra.
  - destruct r as [|x r]; [change (norm []) with 0; cbn [dot]; lra|].
    cbn [dot]. rewrite norm_cons. specialize (IH r). pose proof (size_of_is x) as (up & down & some). split; nra.
Qed.

Lemma image_bounded B theta M u : 0 <= B -> Forall (fun l => norm (fst l) <= theta) M -> bounded B u ->
  bounded (theta * B) (image M u).
Proof.
  intros positive rows all. unfold bounded, image. apply Forall_map. eapply Forall_impl; [|exact rows].
  intros l small. cbn in small. pose proof (dot_bounded B (fst l) u positive all) as [low high]. split; nra.
Qed.

(** * Powers *)

Definition times_matrix (M N : list line) : list line := map (fun l => (row_before N (fst l), 0)) M.

Fixpoint power (M : list line) (p : positive) : list line :=
  match p with
  | xH => M
  | xO p => let half := power M p in times_matrix half half
  | xI p => let half := power M p in times_matrix (times_matrix half half) M
  end.

Definition same_vectors : list Q -> list Q -> Prop := Forall2 (fun x y => x == y).

Lemma same_refl u : same_vectors u u.
Proof. induction u; constructor; auto; reflexivity. Qed.

Lemma same_trans u v w : same_vectors u v -> same_vectors v w -> same_vectors u w.
Proof.
  intros first. revert w. induction first as [|x y u v same _ IH]; intros w second; inversion second; subst; constructor.
  - etransitivity; eassumption.
  - now apply IH.
Qed.

Lemma same_sym u v : same_vectors u v -> same_vectors v u.
Proof. induction 1; constructor; auto; now symmetry. Qed.

Lemma dot_same r u v : same_vectors u v -> dot r u == dot r v.
Proof. apply dot_image_same. Qed.

Lemma image_same M u v : same_vectors u v -> same_vectors (image M u) (image M v).
Proof. intros same. unfold image. induction M; cbn; constructor; auto. now apply dot_same. Qed.

Lemma image_times M N u : same_vectors (image (times_matrix M N) u) (image M (image N u)).
Proof.
  unfold image at 1 2, times_matrix. rewrite map_map. induction M as [|l M IH]; cbn; constructor; auto.
  cbn [fst]. apply dot_row_before_image.
Qed.

Lemma iter_more {X} (f : X -> X) k x : Nat.iter (S k) f x = Nat.iter k f (f x).
Proof. induction k as [|k IH]; [reflexivity|]. change (f (Nat.iter (S k) f x) = f (Nat.iter k f (f x))). now rewrite IH. Qed.

Lemma iter_plus {X} (f : X -> X) j k x : Nat.iter (j + k) f x = Nat.iter j f (Nat.iter k f x).
Proof. induction j as [|j IH]; [reflexivity|]. exact (f_equal f IH). Qed.

Lemma iter_same M j u v : same_vectors u v -> same_vectors (Nat.iter j (image M) u) (Nat.iter j (image M) v).
Proof. intros same. induction j; [exact same | cbn; now apply image_same]. Qed.

Lemma image_power M p u : same_vectors (image (power M p) u) (Nat.iter (Pos.to_nat p) (image M) u).
Proof.
  revert u. induction p as [p IH | p IH |]; intros u; cbn [power].
  - eapply same_trans; [apply image_times|]. eapply same_trans; [apply image_times|]. eapply same_trans; [apply IH|].
    rewrite Pos2Nat.inj_xI. replace (S (2 * Pos.to_nat p)) with (Pos.to_nat p + S (Pos.to_nat p))%nat by lia.
    rewrite iter_plus. apply iter_same. rewrite iter_more. apply IH.
  - eapply same_trans; [apply image_times|]. eapply same_trans; [apply IH|].
    rewrite Pos2Nat.inj_xO. replace (2 * Pos.to_nat p)%nat with (Pos.to_nat p + Pos.to_nat p)%nat by lia.
    rewrite iter_plus. apply iter_same, IH.
  - apply same_refl.
Qed.

(** * What a row adds along some vectors *)

Section Rows.

Variable A : list line.

Definition next (r : list Q) : list Q := row_before A r.

Fixpoint total (r : list Q) (us : list (list Q)) : Q :=
  match us with
  | [] => 0
  | u :: us => dot r u + total (next r) us
  end.

Lemma dot_next r u : dot (next r) u == dot r (image A u).
Proof. apply dot_row_before_image. Qed.

Lemma total_same r r' us : same_rows r r' -> total r us == total r' us.
Proof.
  revert r r'. induction us as [|u us IH]; intros r r' same; cbn [total]; [reflexivity|].
  rewrite (same u), (IH (next r) (next r')); [reflexivity|]. intros v. rewrite !dot_next. apply same.
Qed.

Lemma total_minus r r' us : total (row_minus r r') us == total r us - total r' us.
Proof.
  revert r r'. induction us as [|u us IH]; intros r r'; cbn [total]; [ring|].
  rewrite (total_same (next (row_minus r r')) (row_minus (next r) (next r'))).
  - rewrite IH, dot_minus. ring.
  - intros v. rewrite dot_minus, !dot_next, dot_minus. reflexivity.
Qed.

Definition further (k : nat) (r : list Q) : list Q := Nat.iter k next r.

Lemma total_app r us vs : total r (us ++ vs) == total r us + total (further (length us) r) vs.
Proof.
  revert r. induction us as [|u us IH]; intros r; cbn [app total length]; [unfold further; cbn; ring|].
  rewrite IH. unfold further. rewrite iter_more. ring.
Qed.

Lemma dot_further k r u : dot (further k r) u == dot r (Nat.iter k (image A) u).
Proof.
  unfold further. revert u. induction k as [|k IH]; intros u; [reflexivity|].
  change (Nat.iter (S k) next r) with (next (Nat.iter k next r)). rewrite dot_next, IH, iter_more. reflexivity.
Qed.

(** ** The rest shrinks *)

Variable E : list line.
Hypothesis kept : forall u, same_vectors (image A (image E u)) (image E u).
Variable m : positive.
Variable Theta : list line.
Hypothesis theta_is : forall u r, dot r (image Theta u) == dot r (image (power A m) u) - dot r (image E u).
Variable theta : Q.
Hypothesis theta_bounds : 0 <= theta < 1.
Hypothesis theta_rows : Forall (fun l => norm (fst l) <= theta) Theta.

Definition vanishes (d : list Q) : Prop := forall u, dot d (image E u) == 0.

Lemma vanishes_next d : vanishes d -> vanishes (next d).
Proof. intros none u. rewrite dot_next, (dot_same _ _ _ (kept u)). apply none. Qed.

Lemma further_shrinks d u : vanishes d -> dot (further (Pos.to_nat m) d) u == dot d (image Theta u).
Proof. intros none. rewrite dot_further, theta_is, (none u), <- (dot_same _ _ _ (image_power A m u)). ring. Qed.

Lemma total_shrinks d us : vanishes d -> total (further (Pos.to_nat m) d) us == total d (map (image Theta) us).
Proof.
  revert d. induction us as [|u us IH]; intros d none; cbn [total map]; [reflexivity|].
  rewrite further_shrinks by exact none. rewrite <- IH by now apply vanishes_next.
  rewrite (total_same (next (further (Pos.to_nat m) d)) (further (Pos.to_nat m) (next d))); [reflexivity|].
  intros v. unfold further. rewrite <- iter_more. reflexivity.
Qed.

(** The sizes of a row and of those that follow. *)
Fixpoint norms (k : nat) (d : list Q) : Q :=
  match k with
  | O => 0
  | S k => norm d + norms k (next d)
  end.

Lemma norms_nonneg k d : 0 <= norms k d.
Proof. revert d. induction k as [|k IH]; intros d; cbn; [lra|]. pose proof (norm_nonneg d). pose proof (IH (next d)). lra. Qed.

Lemma total_short B d us k : 0 <= B -> Forall (bounded B) us -> (length us <= k)%nat -> - (norms k d * B) <= total d us.
Proof.
  intros positive all. revert d k. induction all as [|u us small _ IH]; intros d k; cbn [total length]; intros short.
  - pose proof (norms_nonneg k d). nra.
  - destruct k as [|k]; [lia|]. cbn [norms]. pose proof (dot_bounded B d u positive small) as [low _].
    specialize (IH (next d) k ltac:(lia)). nra.
Qed.

Lemma total_bounded d : vanishes d -> forall us B, 0 <= B -> Forall (bounded B) us ->
  - (norms (Pos.to_nat m) d * B) <= total d us * (1 - theta).
Proof.
  intros none us. remember (length us) as size_is eqn:long. revert us long.
  induction size_is as [size_is IH] using (well_founded_induction Nat.lt_wf_0). intros us long B positive all.
  pose proof (norms_nonneg (Pos.to_nat m) d) as some.
  destruct (Nat.le_gt_cases (length us) (Pos.to_nat m)) as [short | more].
  - pose proof (total_short B d us (Pos.to_nat m) positive all short) as bound.
    assert (0 <= norms (Pos.to_nat m) d * B) by (apply Qmult_le_0_compat; assumption).
    destruct (Qlt_le_dec (total d us) 0); nra.
  - rewrite <- (firstn_skipn (Pos.to_nat m) us) in all |- *. apply Forall_app in all. destruct all as [first_ rest].
    rewrite total_app.
    assert (length (firstn (Pos.to_nat m) us) = Pos.to_nat m) as exactly by (rewrite firstn_length; lia).
    rewrite exactly, total_shrinks by exact none.
    pose proof (total_short B d _ (Pos.to_nat m) positive first_ ltac:(lia)) as bound.
    assert (- (norms (Pos.to_nat m) d * (theta * B)) <= total d (map (image Theta) (skipn (Pos.to_nat m) us)) * (1 - theta)) as later.
    { apply (IH (length (map (image Theta) (skipn (Pos.to_nat m) us)))).
      - rewrite map_length, skipn_length. lia.
      - reflexivity.
      - nra.
      - apply Forall_map. eapply Forall_impl; [|exact rest]. intros u small. now apply image_bounded. }
    nra.
Qed.

End Rows.
