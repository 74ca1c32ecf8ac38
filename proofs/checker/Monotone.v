(** Affine networks whose lines rise or fall with the count, without being a multiple of it.

    A row that becomes p times itself by `(` and 1 / p times itself by `)`, where `)` takes back what `(` adds, sees a function F of the
    count alone. For p > 0 it rises or falls; for any p it does on even counts. A line that is a sum of multiples of such rows is least
    next to zero, if all of them rise, or all fall. The rows and their factors are hints. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Affine Whole Halves Sorting Counting.

(** * A function of whole numbers *)

Section Sequence.

Variable F : Z -> Q.
Variables p q a b : Q.
Hypothesis p_positive : 0 < p.
Hypothesis q_positive : 0 < q.
Hypothesis opposite : b == - (q * a).
Hypothesis at_zero_is : F 0 == 0.
Hypothesis after : forall c, F (c + 1) == p * F c + a.
Hypothesis before : forall c, F (c - 1) == q * F c + b.

Lemma rises_above c : 0 <= a -> (0 <= c)%Z -> 0 <= F c.
Proof.
  intros sign. revert c. apply natlike_ind; [rewrite at_zero_is; lra|].
  intros c _ IH. unfold Z.succ. rewrite after. nra.
Qed.

Lemma least_above c : 0 <= a -> (1 <= c)%Z -> a <= F c.
Proof.
  intros sign positive. replace c with (c - 1 + 1)%Z by lia. rewrite after.
  pose proof (rises_above (c - 1) sign ltac:(lia)). nra.
Qed.

Lemma falls_below c : 0 <= a -> (0 <= c)%Z -> F (- c) <= 0.
Proof.
  intros sign. revert c. apply natlike_ind; [change (- 0)%Z with 0%Z; rewrite at_zero_is; lra|].
  intros c _ IH. replace (- Z.succ c)%Z with (- c - 1)%Z by lia. rewrite before. nra.
Qed.

Lemma greatest_below c : 0 <= a -> (c <= -1)%Z -> F c <= b.
Proof.
  intros sign negative. replace c with (c + 1 - 1)%Z by lia. rewrite before.
  pose proof (falls_below (- (c + 1)) sign ltac:(lia)) as below. rewrite Z.opp_involutive in below. nra.
Qed.

End Sequence.

(** The same with a of any sign, as a bound from below. *)
Lemma sequence_bounds F p q a b : 0 < p -> 0 < q -> b == - (q * a) -> F 0%Z == 0 ->
  (forall c, F (c + 1)%Z == p * F c + a) -> (forall c, F (c - 1)%Z == q * F c + b) ->
  (0 <= a -> forall c, (1 <= c)%Z -> a <= F c) /\ (a <= 0 -> forall c, (c <= -1)%Z -> b <= F c).
Proof.
  intros positive positive' opposite zero after before. split; intros sign c side.
  - apply least_above with (p := p); assumption.
  - assert (- F c <= - b); [|lra].
    apply (greatest_below (fun c => - F c)) with (q := q) (a := - a); try assumption; try lra;
      intros d; rewrite before; ring.
Qed.

(** * From strings to counts *)

(** The function of the count, given what both tokens do. *)
Definition function_of (p q a b : Q) (c : Z) : Q :=
  match c with
  | Z0 => 0
  | Zpos k => Pos.iter (fun x => p * x + a) 0 k
  | Zneg k => Pos.iter (fun x => q * x + b) 0 k
  end.

Section Function.

Variables p q a b : Q.
Hypothesis inverse : p * q == 1.
Hypothesis opposite : b == - (q * a).

Local Notation F := (function_of p q a b).

Lemma undone x : p * (q * x + b) + a == x.
Proof. rewrite opposite. transitivity (p * q * x - p * q * a + a); [ring|]. rewrite inverse. ring. Qed.

Lemma function_after c : F (c + 1) == p * F c + a.
Proof.
  destruct c as [|k|k].
  - reflexivity.
  - cbn [function_of Z.add]. rewrite Pos.add_1_r, Pos.iter_succ. reflexivity.
  - destruct (Pos.eq_dec k 1) as [->|more].
    + cbn. symmetry. apply undone.
    + replace (Zneg k + 1)%Z with (Zneg (Pos.pred k)) by lia.
      cbn [function_of]. rewrite <- (Pos.succ_pred k more) at 2. rewrite Pos.iter_succ. symmetry. apply undone.
Qed.

Lemma function_before c : F (c - 1) == q * F c + b.
Proof.
  assert (F c == p * F (c - 1) + a) as step by (rewrite <- function_after; now replace (c - 1 + 1)%Z with c by lia).
  set (x := F (c - 1)) in *. set (y := F c) in *. clearbody x y. rewrite step, opposite.
  transitivity (p * q * x + q * a - q * a); [rewrite inverse; ring | ring].
Qed.

End Function.

(** * The checks *)

(** A row with its factors by `(` and `)`. *)
Definition eigen := (list Q * (Q * Q))%type.

Definition scaled (c : Q) (r : list Q) : list Q := map (add_times c 0) r.

(** No token moves the initial state for it. *)
Definition is_still (n : network) (r : list Q) : bool :=
  forallb (fun x => Qnum (dot r (moved n x)) =? 0)%Z [Open; Close].

Definition is_eigen (n : network) (a : affine) (e : eigen) : bool :=
  let '(r, (p, q)) := e in
  no_row (row_minus (row_before (opening a) r) (scaled p r)) &&
  no_row (row_minus (row_before (closing a) r) (scaled q r)) &&
  (is_still n r || Qeq_bool (p * q) 1 && Qeq_bool (dot r (moved n Close)) (- (q * dot r (moved n Open)))).

(** What a row adds to a line at least, on strings whose count has some sign; None where it falls there. *)
Definition adds (n : network) (which : lengths) (side : Datatypes.comparison) (c : Q) (e : eigen) : option Q :=
  let '(r, (p, q)) := e in
  let a := c * dot r (moved n Open) in
  let b := c * dot r (moved n Close) in
  if is_still n r then Some 0 else
  let '(p, q, a, b) := match which with AllLengths => (p, q, a, b) | EvenLengths => (p * p, q * q, p * a + a, q * b + b) end in
  match side with
  | Eq => Some 0
  | Gt => if Qle_bool 0 a && negb (Qle_bool p 0) && negb (Qle_bool q 0) then Some a else None
  | Lt => if Qle_bool a 0 && negb (Qle_bool p 0) && negb (Qle_bool q 0) then Some b else None
  end.

Fixpoint adds_all (n : network) (which : lengths) (side : Datatypes.comparison) (cs : list Q) (es : list eigen) : option Q :=
  match cs, es with
  | c :: cs, e :: es =>
      match adds n which side c e, adds_all n which side cs es with Some x, Some y => Some (x + y) | _, _ => None end
  | _, _ => Some 0
  end.

Definition is_met_by_rising (n : network) (which : lengths) (l : line) (cs : list Q) (es : list eigen) (question : ask) : bool :=
  match adds_all n which (fst question) cs es with
  | Some x => let least := output l (initial n) + x in
              is_above_zero (snd question) least
  | None => false
  end.

Definition is_made_of (l : line) (cs : list Q) (es : list eigen) : bool :=
  no_row (row_minus (fst l) (combination cs (map fst es))).

(** * Soundness *)

Section Sound.

Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.

(** What a row has seen, times a factor. *)
Definition seen (c : Q) (r : list Q) (s : string) : Q := c * (dot r (state_after n s) - dot r (initial n)).

Lemma eigen_step r p q x c s : is_eigen n a (r, (p, q)) = true ->
  seen c r (s ++ [x]) == match x with Open => p | Close => q end * seen c r s + c * dot r (moved n x).
Proof.
  unfold is_eigen. rewrite !Bool.andb_true_iff. intros [[opened closed] _]. unfold seen.
  rewrite (row_step n a is_affine).
  destruct x; cbn [lines_after].
  - pose proof (no_row_is _ (state_after n s) opened) as now_. pose proof (no_row_is _ (initial n) opened) as first_.
    rewrite dot_minus in now_, first_. unfold scaled in now_, first_. rewrite dot_scaled in now_, first_.
    assert (dot (row_before (opening a) r) (state_after n s) == p * dot r (state_after n s)) as -> by lra.
    assert (dot (row_before (opening a) r) (initial n) == p * dot r (initial n)) as -> by lra. ring.
  - pose proof (no_row_is _ (state_after n s) closed) as now_. pose proof (no_row_is _ (initial n) closed) as first_.
    rewrite dot_minus in now_, first_. unfold scaled in now_, first_. rewrite dot_scaled in now_, first_.
    assert (dot (row_before (closing a) r) (state_after n s) == q * dot r (state_after n s)) as -> by lra.
    assert (dot (row_before (closing a) r) (initial n) == q * dot r (initial n)) as -> by lra. ring.
Qed.

Lemma still_sees_nothing r p q c s : is_eigen n a (r, (p, q)) = true -> is_still n r = true -> seen c r s == 0.
Proof.
  intros is_one still. unfold is_still in still. rewrite forallb_forall in still.
  induction s as [|x s IH] using rev_ind; [unfold seen; cbn; ring|].
  assert (In x [Open; Close]) as either by (destruct x; cbn; auto). apply still, Z.eqb_eq in either.
  assert (dot r (moved n x) == 0) as zero by (unfold Qeq; cbn; lia).
  rewrite (eigen_step _ _ _ _ _ _ is_one), IH, zero. ring.
Qed.

Lemma eigen_function r p q c s : is_eigen n a (r, (p, q)) = true -> is_still n r = false ->
  seen c r s == function_of p q (c * dot r (moved n Open)) (c * dot r (moved n Close)) (count false s).
Proof.
  intros is_one moving. pose proof is_one as facts. unfold is_eigen in facts. rewrite moving in facts.
  cbn [orb] in facts. rewrite !Bool.andb_true_iff in facts. destruct facts as [_ [inverse opposite]]. apply Qeq_bool_iff in inverse, opposite.
  assert (c * dot r (moved n Close) == - (q * (c * dot r (moved n Open)))) as opposite' by (rewrite opposite; ring).
  induction s as [|x s IH] using rev_ind.
  - unfold seen. cbn. ring.
  - rewrite (eigen_step _ _ _ _ _ _ is_one), IH, count_snoc. destruct x; cbn [count_after].
    + now rewrite (function_after _ _ _ _ inverse opposite').
    + now rewrite (function_before _ _ _ _ inverse opposite').
Qed.

Lemma even_count which s : counted which s -> which = EvenLengths -> exists k, count false s = (2 * k)%Z.
Proof. intros [_ [k divides]] ->. cbn in divides. rewrite count_by_opens, divides. exists (opens (rev s) - k)%Z. lia. Qed.

Lemma adds_sound which side c e x s : is_eigen n a e = true -> adds n which side c e = Some x -> counted which s ->
  (count false s ?= 0)%Z = side -> x <= seen c (fst e) s.
Proof.
  destruct e as [r [p q]]. intros is_one found is_counted sign. cbn [fst]. unfold adds in found.
  destruct (is_still n r) eqn:moving.
  { injection found as <-. rewrite (still_sees_nothing _ _ _ _ _ is_one moving). lra. }
  rewrite (eigen_function _ _ _ _ _ is_one moving).
  pose proof is_one as facts. unfold is_eigen in facts. rewrite moving in facts. cbn [orb] in facts.
  rewrite !Bool.andb_true_iff in facts. destruct facts as [_ [inverse opposite]]. apply Qeq_bool_iff in inverse, opposite.
  set (u := c * dot r (moved n Open)) in *. set (v := c * dot r (moved n Close)) in *.
  assert (v == - (q * u)) as opposite' by (unfold u, v; rewrite opposite; ring).
  pose proof (function_after p q u v inverse opposite') as after. pose proof (function_before p q u v inverse opposite') as before.
  set (F := function_of p q u v) in *. assert (F 0%Z == 0) as zero by reflexivity.
  fold u v in found. destruct which.
  - destruct side.
    + injection found as <-. apply Z.compare_eq_iff in sign. rewrite sign, zero. lra.
    + destruct (Qle_bool u 0 && negb (Qle_bool p 0) && negb (Qle_bool q 0)) eqn:tests; [injection found as <- | discriminate].
      rewrite !Bool.andb_true_iff in tests. destruct tests as [[falls positive] positive']. apply Qle_bool_iff in falls.
      apply positive_test in positive, positive'. rewrite Z.compare_lt_iff in sign.
      apply (proj2 (sequence_bounds F p q u v positive positive' opposite' zero after before)); [exact falls | lia].
    + destruct (Qle_bool 0 u && negb (Qle_bool p 0) && negb (Qle_bool q 0)) eqn:tests; [injection found as <- | discriminate].
      rewrite !Bool.andb_true_iff in tests. destruct tests as [[rises positive] positive']. apply Qle_bool_iff in rises.
      apply positive_test in positive, positive'. rewrite Z.compare_gt_iff in sign.
      apply (proj1 (sequence_bounds F p q u v positive positive' opposite' zero after before)); [exact rises | lia].
  - destruct (even_count _ _ is_counted eq_refl) as [k even]. rewrite even in *.
    set (F2 := fun k => F (2 * k)%Z). change (F (2 * k)%Z) with (F2 k).
    assert (forall c, F2 (c + 1)%Z == p * p * F2 c + (p * u + u)) as after2.
    { intros d. unfold F2. replace (2 * (d + 1))%Z with (2 * d + 1 + 1)%Z by lia. rewrite !after. ring. }
    assert (forall c, F2 (c - 1)%Z == q * q * F2 c + (q * v + v)) as before2.
    { intros d. unfold F2. replace (2 * (d - 1))%Z with (2 * d - 1 - 1)%Z by lia. rewrite !before. ring. }
    assert (q * v + v == - (q * q * (p * u + u))) as opposite2.
    { rewrite opposite'. transitivity (- (q * q * u) - q * (p * q) * u); [rewrite inverse; ring | ring]. }
    destruct side.
    + injection found as <-. apply Z.compare_eq_iff in sign. assert (k = 0%Z) as -> by lia. unfold F2. rewrite zero. lra.
    + destruct (Qle_bool (p * u + u) 0 && negb (Qle_bool (p * p) 0) && negb (Qle_bool (q * q) 0)) eqn:tests;
        [injection found as <- | discriminate].
      rewrite !Bool.andb_true_iff in tests. destruct tests as [[falls positive] positive']. apply Qle_bool_iff in falls.
      apply positive_test in positive, positive'. rewrite Z.compare_lt_iff in sign.
      apply (proj2 (sequence_bounds F2 _ _ _ _ positive positive' opposite2 zero after2 before2)); [exact falls | lia].
    + destruct (Qle_bool 0 (p * u + u) && negb (Qle_bool (p * p) 0) && negb (Qle_bool (q * q) 0)) eqn:tests;
        [injection found as <- | discriminate].
      rewrite !Bool.andb_true_iff in tests. destruct tests as [[rises positive] positive']. apply Qle_bool_iff in rises.
      apply positive_test in positive, positive'. rewrite Z.compare_gt_iff in sign.
      apply (proj1 (sequence_bounds F2 _ _ _ _ positive positive' opposite2 zero after2 before2)); [exact rises | lia].
Qed.

Lemma adds_all_sound which side cs es x s : forallb (is_eigen n a) es = true -> adds_all n which side cs es = Some x ->
  counted which s -> (count false s ?= 0)%Z = side ->
  x <= dot (combination cs (map fst es)) (state_after n s) - dot (combination cs (map fst es)) (initial n).
Proof.
  intros all found is_counted sign. revert es x all found. induction cs as [|c cs IH]; intros [|e es] x all; cbn [adds_all combination map];
    try (intros [= <-]; cbn; destruct (state_after n s), (initial n); cbn; lra).
  cbn [forallb] in all. apply Bool.andb_true_iff in all. destruct all as [one all].
  destruct (adds n which side c e) as [y|] eqn:y_is; [|discriminate].
  destruct (adds_all n which side cs es) as [z|] eqn:z_is; [intros [= <-] | discriminate].
  pose proof (adds_sound _ _ _ _ _ _ one y_is is_counted sign) as first_. pose proof (IH _ _ all z_is) as rest.
  rewrite !dot_plus. unfold seen in first_. lra.
Qed.

Lemma rising_sound which l cs es asks s : forallb (is_eigen n a) es = true -> is_made_of l cs es = true ->
  forallb (is_met_by_rising n which l cs es) asks = true -> counted which s -> Forall (answers n l s) asks.
Proof.
  intros all made_of met is_counted. rewrite forallb_forall in met. apply Forall_forall. intros [side strictly] member sign.
  apply met in member. unfold is_met_by_rising in member. cbn [fst snd] in *.
  destruct (adds_all n which side cs es) as [x|] eqn:found; [|discriminate].
  pose proof (adds_all_sound _ _ _ _ _ _ all found is_counted sign) as bound.
  unfold is_made_of in made_of. pose proof (no_row_is _ (state_after n s) made_of) as now_.
  pose proof (no_row_is _ (initial n) made_of) as first_. rewrite dot_minus in now_, first_.
  assert (output l (initial n) + x <= output l (state_after n s)) as least by (unfold output; lra).
  apply above_test in member. eapply above_more; [|exact member]. lra.
Qed.

End Sound.
