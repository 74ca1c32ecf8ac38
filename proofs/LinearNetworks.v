(** Linear networks of any dimension, over any field: what such a network does follows from two sequences of numbers, and the
    first terms of these decide whether it counts exactly (Theorem 1 in d dimensions). *)

Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_algebra.
From Tallystick Require Brackets.
Import GRing.Theory.
Local Open Scope ring_scope.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Notation token := Brackets.token.
Notation Open := Brackets.Open.
Notation Close := Brackets.Close.

Definition is_open (x : token) : bool := if x is Open then true else false.

(** The numbers of opening and of closing brackets. *)
Definition opens (s : seq token) : nat := count is_open s.
Definition closes (s : seq token) : nat := count (predC is_open) s.

Lemma size_is_both s : size s = (opens s + closes s)%N.
Proof. by rewrite /opens /closes count_predC. Qed.

(** Whether the bracket that k others follow is opening. *)
Definition opening (s : seq token) (k : nat) : bool := is_open (nth Close (rev s) k).

Lemma opening_rcons0 s x : opening (rcons s x) 0 = is_open x.
Proof. by rewrite /opening rev_rcons. Qed.

Lemma opening_rconsS s x k : opening (rcons s x) k.+1 = opening s k.
Proof. by rewrite /opening rev_rcons. Qed.

Lemma opens_sum s : opens s = (\sum_(k < size s) opening s k)%N.
Proof.
elim/last_ind: s => [|s x IH]; first by rewrite big_ord0.
rewrite size_rcons big_ord_recl opening_rcons0 /opens -cats1 count_cat /= addn0 addnC -/(opens s) IH cats1.
by congr addn; apply: eq_bigr => k _; rewrite /bump /= add1n opening_rconsS.
Qed.

Section Networks.

Variables (F : fieldType) (d' : nat).
Local Notation d := d'.+1.

(** The number that a row makes of a column. *)
Definition dot (w : 'rV[F]_d) (x : 'cV[F]_d) : F := (w *m x) 0 0.

Lemma dotD w x y : dot w (x + y) = dot w x + dot w y.
Proof. by rewrite /dot mulmxDr mxE. Qed.

Lemma dotN w x : dot w (- x) = - dot w x.
Proof. by rewrite /dot mulmxN mxE. Qed.

Lemma dotB w x y : dot w (x - y) = dot w x - dot w y.
Proof. by rewrite dotD dotN. Qed.

Lemma dotA w (A : 'M[F]_d) x : dot (w *m A) x = dot w (A *m x).
Proof. by rewrite /dot mulmxA. Qed.

(** * Networks: h' = A_x h + s_x from a start, and one output v h + c *)

Record network := Network {
  matrix : token -> 'M[F]_d;
  step : token -> 'cV[F]_d;
  start : 'cV[F]_d;
  weight : 'rV[F]_d;
  bias : F;
}.

Definition state (N : network) (s : seq token) : 'cV[F]_d :=
  foldl (fun h x => matrix N x *m h + step N x) (start N) s.

Definition output (N : network) (s : seq token) : F := dot (weight N) (state N s) + bias N.

(** Both tokens have one matrix. *)
Definition is_linear (N : network) : Prop := matrix N Close = matrix N Open.

(** With k tokens after a bracket, delta_k is what it adds if it opens instead of closing, and gamma_k what one more `)` at
    the front of k tokens adds. *)
Definition delta (N : network) (k : nat) : F :=
  dot (weight N) (matrix N Open ^+ k *m (step N Open - step N Close)).
Definition gamma (N : network) (k : nat) : F :=
  dot (weight N) (matrix N Open ^+ k *m (step N Close + (matrix N Open - 1) *m start N)).

Lemma state_rcons N s x : state N (rcons s x) = matrix N x *m state N s + step N x.
Proof. by rewrite /state foldl_rcons. Qed.

(** ** The step unrolled, as any row sees it *)

Lemma unroll_row N w s : is_linear N ->
  dot w (state N s) = dot w (start N) + \sum_(k < size s)
    (dot w (matrix N Open ^+ k *m (step N Close + (matrix N Open - 1) *m start N)) +
     dot w (matrix N Open ^+ k *m (step N Open - step N Close)) *+ opening s k).
Proof.
move=> linear; elim/last_ind: s w => [|s x IH] w; first by rewrite big_ord0 addr0.
have same : matrix N x = matrix N Open by case: x.
rewrite state_rcons same dotD -dotA IH size_rcons big_ord_recl opening_rcons0 expr0 !mul1mx.
set rest := \sum_(k < size s) _; rewrite [X in _ = _ + (_ + X)](_ : _ = rest); last first.
  by apply: eq_bigr => k _; rewrite lift0 opening_rconsS exprS -!mulmxA !dotA.
rewrite [RHS]addrA -[LHS]addrA [rest + _]addrC [LHS]addrA; congr (_ + _).
rewrite mulmxBl mul1mx !dotD !dotN dotA.
case: x {same} => /=; rewrite ?mulr1n ?mulr0n ?addr0.
  by rewrite [_ + (_ - dot w (start N))]addrC -addrA [dot w (step N Close) + _]addrC subrK addrA [dot w (start N) + _]addrC subrK.
by rewrite addrCA [dot w (start N) + _]addrC subrK addrC.
Qed.

Lemma unrolled_output N s : is_linear N ->
  output N s = output N [::] + \sum_(k < size s) gamma N k + \sum_(k < size s | opening s k) delta N k.
Proof.
move=> linear; rewrite /output /= unroll_row // big_split /= [X in _ + (_ + X)](_ : _ =
  \sum_(k < size s | opening s k) delta N k); last by rewrite [RHS]big_mkcond; apply: eq_bigr => k _; case: opening.
by rewrite !addrA [LHS]addrAC; congr (_ + _); rewrite [LHS]addrAC.
Qed.

(** * Finitely many terms decide, by the theorem of Cayley and Hamilton *)

(** Every power of U is a sum of multiples of the first d. *)
Lemma power_is_combination (U : 'M[F]_d) k : exists q : nat -> F, U ^+ k = \sum_(i < d) q i *: U ^+ i.
Proof.
pose r := ('X^k %% char_poly U)%R; exists (fun i => r`_i).
have size_r : (size r <= d)%N.
  by rewrite -ltnS -[X in (_ < X)%N](size_char_poly U) ltn_modp -size_poly_eq0 size_char_poly.
have -> : U ^+ k = horner_mx U 'X^k by rewrite rmorphX /= horner_mx_X.
rewrite (divp_eq 'X^k (char_poly U)) rmorphD rmorphM /= Cayley_Hamilton mulr0 add0r -/r.
have {1}-> : r = \poly_(i < d) r`_i.
  by apply/polyP => i; rewrite coef_poly; case: ltnP => // d_i; rewrite nth_default // (leq_trans size_r).
by rewrite poly_def rmorph_sum /=; apply: eq_bigr => i _; rewrite horner_mxZ rmorphX /= horner_mx_X.
Qed.

(** What is 0 for d terms in a row is 0 for all. *)
Lemma d_zeros_make_all (w : 'rV[F]_d) (U : 'M[F]_d) x :
  (forall k, (k < d)%N -> dot w (U ^+ k *m x) = 0) -> forall k, dot w (U ^+ k *m x) = 0.
Proof.
move=> zeros k; have [q ->] := power_is_combination U k.
rewrite /dot mulmx_suml mulmx_sumr summxE big1 // => i _.
by rewrite -scalemxAl -scalemxAr mxE -/(dot _ _) zeros // mulr0.
Qed.

(** * Theorem 1 in d dimensions *)

(** The output is r (n - m), and what it is at the start. *)
Definition counts_on (N : network) (r : F) (s : seq token) : Prop :=
  output N s = r * ((opens s)%:R - (closes s)%:R) + output N [::].

Lemma output_closes N k : is_linear N -> output N (nseq k Close) = output N [::] + \sum_(i < k) gamma N i.
Proof.
move=> linear; rewrite unrolled_output // size_nseq [X in _ + X]big1 ?addr0 // => i.
by rewrite /opening rev_nseq nth_nseq if_same.
Qed.

Lemma output_open_closes N k : is_linear N ->
  output N (Open :: nseq k Close) = output N [::] + \sum_(i < k.+1) gamma N i + delta N k.
Proof.
move=> linear; rewrite unrolled_output //= size_nseq; congr (_ + _).
have opened i : opening (Open :: nseq k Close) i = (i == k).
  rewrite /opening rev_cons rev_nseq nth_rcons size_nseq nth_nseq if_same; case: ltngtP => //.
by rewrite (big_pred1 ord_max) // => i; rewrite opened.
Qed.

Lemma first_terms N r : is_linear N -> (forall s, (size s <= d.+1)%N -> counts_on N r s) ->
  forall k, (k <= d)%N -> delta N k = r *+ 2 /\ gamma N k = - r.
Proof.
move=> linear counts k k_d; rewrite /counts_on in counts.
have closed i : (i <= d.+1)%N -> output N [::] + \sum_(j < i) gamma N j = output N [::] - r *+ i.
  move=> i_d; rewrite -output_closes // counts ?size_nseq // /opens /closes !count_nseq /= mul0n mul1n.
  by rewrite addrC sub0r mulrN mulr_natr.
have drift : gamma N k = - r.
  have := closed k.+1 k_d; rewrite big_ord_recr /= addrA closed ?(leq_trans k_d) // mulrSr opprD addrA.
  by move/addrI.
split=> //; have := counts (Open :: nseq k Close); rewrite /= size_nseq => /(_ k_d).
rewrite output_open_closes // closed // /opens /closes /= !count_nseq /= mul0n mul1n addn0 add0n addrC.
move/(canRL (addrK _)) => ->; rewrite mulrBr mulr1 opprD opprK addrA mulr_natr.
by rewrite addrK mulrSr addrA subrK -mulr2n.
Qed.

Lemma terms_suffice N r : is_linear N -> 2%:R != 0 :> F ->
  (forall k, (k <= d)%N -> delta N k = r *+ 2) -> (forall k, (k < d)%N -> gamma N k *+ 2 + delta N k = 0) ->
  forall s, counts_on N r s.
Proof.
move=> linear two equal no_drift s.
have delta_next k : delta N k.+1 - delta N k =
    dot (weight N) (matrix N Open ^+ k *m ((matrix N Open - 1) *m (step N Open - step N Close))).
  by rewrite /delta exprSr -mulmxE -mulmxA [in RHS]mulmxBl mul1mx [in RHS]mulmxBr dotB.
have all_equal k : delta N k = r *+ 2.
  elim: k => [|k IH]; first exact: equal.
  apply/eqP; rewrite -IH -subr_eq0 delta_next d_zeros_make_all // => i i_d.
  by rewrite -delta_next !equal ?subrr // ltnW.
have epsilon k : gamma N k *+ 2 + delta N k = dot (weight N) (matrix N Open ^+ k *m
    ((step N Close + (matrix N Open - 1) *m start N) *+ 2 + (step N Open - step N Close))).
  by rewrite mulmxDr dotD mulr2n [_ *+ 2 in RHS]mulr2n mulmxDr dotD.
have drift k : gamma N k = - r.
  have : gamma N k *+ 2 + delta N k = 0.
    by rewrite epsilon d_zeros_make_all // => i i_d; rewrite -epsilon no_drift.
  rewrite all_equal -mulrnDl -mulr_natr => /eqP; rewrite mulf_eq0 (negPf two) orbF addr_eq0.
  by move/eqP.
rewrite /counts_on unrolled_output // (eq_bigr (fun=> - r)) // sumr_const card_ord.
rewrite (_ : \sum_(_ < _ | _) _ = r *+ 2 *+ opens s); last first.
  by rewrite opens_sum -sumrMnr big_mkcond; apply: eq_bigr => k _; rewrite all_equal; case: opening.
rewrite mulrnAC size_is_both mulrnDr mulr2n !mulNrn mulrBr !mulr_natr -[LHS]addrA addrC; congr (_ + _).
by rewrite addrACA addNr add0r addrC.
Qed.

End Networks.

Theorem unrolled : forall (F : fieldType) (d' : nat) (N : network F d') (s : seq token), is_linear N ->
  output N s = output N [::] + \sum_(k < size s) gamma N k + \sum_(k < size s | opening s k) delta N k.
Proof. by move=> F d' N s; apply: unrolled_output. Qed.

(** With d = d'.+1 units, d + 1 terms of delta and d of the drift decide. *)
Theorem theorem_1_in_d_dimensions : forall (F : fieldType) (d' : nat) (N : network F d') (r : F),
  is_linear N -> 2%:R != 0 :> F ->
  (forall s, counts_on N r s) <->
  (forall k, (k <= d'.+1)%N -> delta N k = r *+ 2) /\ (forall k, (k < d'.+1)%N -> gamma N k *+ 2 + delta N k = 0).
Proof.
move=> F d' N r linear two; split=> [counts|[equal no_drift]]; last exact: terms_suffice.
have terms := first_terms linear (fun s _ => counts s); split=> k k_d; first by case: (terms k k_d).
by case: (terms k (ltnW k_d)) => -> ->; rewrite mulNrn addNr.
Qed.

Theorem strings_of_d_plus_one_tokens_decide : forall (F : fieldType) (d' : nat) (N : network F d') (r : F),
  is_linear N -> 2%:R != 0 :> F ->
  (forall s, (size s <= d'.+2)%N -> counts_on N r s) -> forall s, counts_on N r s.
Proof.
move=> F d' N r linear two counts; have terms := first_terms linear counts.
apply: terms_suffice => // k k_d; first by case: (terms k k_d).
by case: (terms k (ltnW k_d)) => -> ->; rewrite mulNrn addNr.
Qed.

(** A recurrence of any order that holds for d terms in a row of such a sequence holds for all. *)
Theorem d_terms_decide_a_recurrence :
  forall (F : fieldType) (d' : nat) (w : 'rV[F]_d'.+1) (U : 'M[F]_d'.+1) (x : 'cV[F]_d'.+1) (m : nat) (c : nat -> F),
  let f j := dot w (U ^+ j *m x) in
  (forall j, (j < d'.+1)%N -> f (j + m)%N = \sum_(i < m) c i * f (j + i)%N) ->
  forall j, f (j + m)%N = \sum_(i < m) c i * f (j + i)%N.
Proof.
move=> F d' w U x m c f first j; pose y := U ^+ m *m x - \sum_(i < m) c i *: (U ^+ i *m x).
have off k : f (k + m)%N - \sum_(i < m) c i * f (k + i)%N = dot w (U ^+ k *m y).
  rewrite /y mulmxBr dotB mulmxA mulmxE -exprD; congr (_ - _).
  rewrite mulmx_sumr /dot mulmx_sumr summxE; apply: eq_bigr => i _.
  by rewrite -!scalemxAr mxE /f /dot exprD -mulmxE !mulmxA.
by apply/eqP; rewrite -subr_eq0 off d_zeros_make_all // => k k_d; rewrite -off first ?subrr.
Qed.
