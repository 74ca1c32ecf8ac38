(** Affine networks whose lines follow the count on every string, with any two matrices.

    Some rows, the basis, must never see that the state moves: no token moves the initial state for them, and by every token's matrix each
    of them becomes a sum of multiples of them. A line whose row becomes itself and such a sum then moves by the same with every `(`, and
    by as much the other way with every `)`. The basis and all multiples are hints, which are verified here. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Boxes Affine Whole Sorting Tracks.

(** * Sums of multiples *)

Fixpoint combination (cs : list Q) (V : list (list Q)) : list Q :=
  match cs, V with
  | c :: cs, v :: V => row_plus c (combination cs V) v
  | _, _ => []
  end.

Lemma combination_same cs V u h : Forall (fun v => dot v u == dot v h) V ->
  dot (combination cs V) u == dot (combination cs V) h.
Proof.
  intros all. revert cs. induction all as [|v V same _ IH]; intros [|c cs]; cbn [combination]; try now destruct u, h.
  rewrite !dot_plus, IH, same. reflexivity.
Qed.

(** * Rows *)

(** The row of what a line is before a token. *)
Definition row_before (ls : list line) (r : list Q) : list Q := fst (pull ls (r, 0)).

Definition no_row (r : list Q) : bool := forallb (fun x => Qnum x =? 0)%Z r.

Lemma no_row_is r u : no_row r = true -> dot r u == 0.
Proof.
  revert u. induction r as [|x r IH]; intros [|y u]; cbn; try reflexivity.
  rewrite Bool.andb_true_iff, Z.eqb_eq. intros [zero rest].
  rewrite IH by exact rest. assert (x == 0) as -> by (unfold Qeq; cbn; lia). ring.
Qed.

(** A row becomes itself, or nothing, and some multiples of the basis. *)
Definition becomes (ls : list line) (V : list (list Q)) (r own cs : list Q) : bool :=
  no_row (row_minus (row_before ls r) (row_plus 1 own (combination cs V))).

Lemma becomes_is ls V r own cs u : becomes ls V r own cs = true ->
  dot (row_before ls r) u == dot own u + dot (combination cs V) u.
Proof.
  intros found. apply (no_row_is _ u) in found. rewrite dot_minus, dot_plus in found. lra.
Qed.

(** * The checks *)

(** A row of the basis, with its multiples after `(` and `)`. *)
Definition kept := (list Q * (list Q * list Q))%type.

Definition multiples (k : list Q * list Q) (x : token) : list Q := match x with Open => fst k | Close => snd k end.

Definition is_kept (n : network) (a : affine) (V : list (list Q)) (k : kept) : bool :=
  forallb (fun x => becomes (lines_after a x) V (fst k) [] (multiples (snd k) x) &&
                    (Qnum (dot (fst k) (moved n x)) =? 0)%Z) [Open; Close].

Definition moves (n : network) (l : line) (x : token) : Q := dot (fst l) (moved n x).

Definition follows (n : network) (a : affine) (V : list (list Q)) (l : line) (cs : list Q * list Q) : bool :=
  forallb (fun x => becomes (lines_after a x) V (fst l) (fst l) (multiples cs x)) [Open; Close] &&
  Qeq_bool (moves n l Close) (- moves n l Open).

(** The count next to zero of each sign, and whether a slope leads away from there. *)
Definition nearest (which : lengths) (side : Datatypes.comparison) : Z :=
  match side with Lt => - stride which | Eq => 0 | Gt => stride which end.

Definition leads_away (slope : Q) (side : Datatypes.comparison) : bool :=
  match side with Lt => Qle_bool slope 0 | Eq => true | Gt => Qle_bool 0 slope end.

(** The line is at least so much where it is least: next to zero, on the side that is asked about. *)
Definition is_met (n : network) (which : lengths) (l : line) (question : ask) : bool :=
  let s := moves n l Open in
  let C := output l (initial n) in
  leads_away s (fst question) && is_above_zero (snd question) (C + s * inject_Z (nearest which (fst question))).

(** * Soundness *)

Lemma dot_row_before ls r u xs : says u ls xs -> dot (row_before ls r) u + snd (pull ls (r, 0)) == dot r xs.
Proof.
  intros all. pose proof (pull_is _ _ _ (r, 0) all) as same. unfold output in same. cbn [fst snd] in same.
  unfold row_before. rewrite same. ring.
Qed.

Section Sound.

Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.

(** How much a row has seen after one more token. *)
Lemma row_step r s x : dot r (state_after n (s ++ [x])) ==
  dot (row_before (lines_after a x) r) (state_after n s) - dot (row_before (lines_after a x) r) (initial n) +
  dot r (initial n) + dot r (moved n x).
Proof.
  pose proof (dot_row_before _ r _ _ (affine_step n a is_affine s x)) as after.
  pose proof (dot_row_before _ r _ _ (affine_step n a is_affine [] x)) as first_.
  change (state_after n ([] ++ [x])) with (step n (initial n) x) in first_.
  change (state_after n []) with (initial n) in first_.
  assert (dot r (moved n x) == dot r (step n (initial n) x) - dot r (initial n)) as ->.
  { unfold moved. rewrite dot_comm, dot_minus, (dot_comm _ r), (dot_comm (initial n) r). reflexivity. }
  lra.
Qed.

Variable basis : list kept.
Hypothesis all_kept : forallb (is_kept n a (map fst basis)) basis = true.

Lemma basis_unmoved s : Forall (fun v => dot v (state_after n s) == dot v (initial n)) (map fst basis).
Proof.
  induction s as [|x s IH] using rev_ind.
  - apply Forall_forall. intros v _. reflexivity.
  - apply Forall_map, Forall_forall. intros k member. rewrite forallb_forall in all_kept. apply all_kept in member.
    unfold is_kept in member. rewrite forallb_forall in member.
    assert (In x [Open; Close]) as either by (destruct x; cbn; auto). apply member in either.
    apply Bool.andb_true_iff in either. destruct either as [becoming unmoved]. apply Z.eqb_eq in unmoved.
    assert (dot (fst k) (moved n x) == 0) as still by (unfold Qeq; cbn; lia).
    rewrite row_step, still, !(becomes_is _ _ _ _ _ _ becoming), (combination_same _ _ _ _ IH).
    destruct (state_after n s), (initial n); cbn; ring.
Qed.

Lemma follows_count l cs s : follows n a (map fst basis) l cs = true ->
  output l (state_after n s) == output l (initial n) + moves n l Open * inject_Z (count false s).
Proof.
  unfold follows. rewrite Bool.andb_true_iff, forallb_forall. intros [becoming opposite]. apply Qeq_bool_iff in opposite.
  induction s as [|x s IH] using rev_ind.
  - change (inject_Z (count false [])) with 0. change (state_after n []) with (initial n). ring.
  - assert (In x [Open; Close]) as either by (destruct x; cbn; auto). apply becoming in either.
    assert (output l (state_after n (s ++ [x])) == output l (state_after n s) + moves n l x) as one_more.
    { unfold output, moves. rewrite row_step, !(becomes_is _ _ _ _ _ _ either).
      rewrite (combination_same _ _ _ _ (basis_unmoved s)). ring. }
    rewrite one_more, IH, count_snoc. destruct x; cbn [count_after].
    + rewrite inject_Z_plus. change (inject_Z 1) with 1. ring.
    + unfold Z.sub. rewrite inject_Z_plus, opposite. change (inject_Z (- (1))) with (- (1)). ring.
Qed.

Lemma far_from_zero which s : counted which s -> (count false s <> 0)%Z -> (stride which <= Z.abs (count false s))%Z.
Proof.
  intros [_ [k divides]] some. destruct which; cbn [stride] in *; [lia|]. rewrite count_by_opens, divides in *. lia.
Qed.

Lemma nearest_is_least which s side slope : counted which s -> (count false s ?= 0)%Z = side -> leads_away slope side = true ->
  slope * inject_Z (nearest which side) <= slope * inject_Z (count false s).
Proof.
  intros is_counted sign direction. pose proof (far_from_zero which s is_counted) as far. rewrite (Zle_Qle (stride which)) in far.
  destruct side; cbn [nearest leads_away] in *.
  - apply Z.compare_eq_iff in sign. rewrite sign. lra.
  - rewrite Z.compare_lt_iff in sign. apply Qle_bool_iff in direction. specialize (far ltac:(lia)).
    rewrite Z.abs_neq in far by lia. rewrite inject_Z_opp in *. nra.
  - rewrite Z.compare_gt_iff in sign. apply Qle_bool_iff in direction. specialize (far ltac:(lia)).
    rewrite Z.abs_eq in far by lia. nra.
Qed.

Lemma counts_sound which l cs asks s : follows n a (map fst basis) l cs = true ->
  forallb (is_met n which l) asks = true -> counted which s -> Forall (answers n l s) asks.
Proof.
  intros following met is_counted. rewrite forallb_forall in met. apply Forall_forall. intros [side strictly] member sign.
  apply met in member. unfold is_met in member. cbv zeta in member. cbn [fst snd] in *. apply Bool.andb_true_iff in member.
  destruct member as [direction least]. pose proof (follows_count _ _ s following) as value.
  eapply above_more; [|apply above_test; exact least]. rewrite value.
  pose proof (nearest_is_least which s side (moves n l Open) is_counted sign direction). lra.
Qed.

End Sound.
