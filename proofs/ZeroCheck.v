(** The zero check of a linear network of any dimension: output 0 on balanced strings alone. Three conditions are necessary and
    sufficient, and the strings of at most 2 d + 2 tokens decide all even lengths. *)

Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_algebra.
From Tallystick Require Brackets.
From Tallystick Require Import LinearNetworks.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** * What opening brackets add, from the front of a string *)

Definition opened (F : fieldType) (D : nat -> F) (s : seq token) : F := \sum_(k < size s | opening s k) D k.

Lemma opening_cons x s k : (k <= size s)%N -> opening (x :: s) k = if k == size s then is_open x else opening s k.
Proof.
by move=> k_s; rewrite /opening rev_cons nth_rcons size_rev; case: ltngtP k_s => // ->.
Qed.

Lemma opened_cons (F : fieldType) (D : nat -> F) x s : opened D (x :: s) = opened D s + D (size s) *+ is_open x.
Proof.
rewrite /opened /= big_mkcond big_ord_recr /= opening_cons // eqxx [X in _ = X + _]big_mkcond; congr (_ + _).
  by apply: eq_bigr => k _; rewrite opening_cons ?ltn_eqF // ltnW.
by case: is_open.
Qed.

Lemma opened_cat (F : fieldType) (D : nat -> F) u s : opened D (u ++ s) = opened (fun k => D (k + size s)%N) u + opened D s.
Proof.
elim: u => [|x u IH]; first by rewrite {2}/opened big_ord0 add0r.
by rewrite cat_cons !opened_cons IH size_cat addrAC.
Qed.

Lemma opened_closes (F : fieldType) (D : nat -> F) k : opened D (nseq k Close) = 0.
Proof. by elim: k => [|k IH]; rewrite /= ?opened_cons ?IH ?addr0 // /opened big_ord0. Qed.

Lemma opened_constant (F : fieldType) (D : nat -> F) e s : (forall k, (k < size s)%N -> D k = e) -> opened D s = e *+ opens s.
Proof.
elim: s => [|x s IH] same; first by rewrite /opened big_ord0.
rewrite opened_cons IH => [|k k_s]; last by rewrite same //= ltnW.
by rewrite same //= -mulrnDr addnC.
Qed.

Section ZeroCheck.

Variables (F : numFieldType) (d' : nat) (N : network F d').
Local Notation d := d'.+1.
Hypothesis linear : is_linear N.

(** The output of T closing brackets. *)
Definition drifted (T : nat) : F := output N [::] + \sum_(k < T) gamma N k.

Definition accepts_rightly (s : seq token) : Prop := output N s = 0 <-> opens s = closes s.

Lemma output_is s : output N s = drifted (size s) + opened (delta N) s.
Proof. by rewrite unrolled. Qed.

Lemma opens_nseq x k : opens (nseq k x) = (is_open x * k)%N.
Proof. by rewrite /opens count_nseq. Qed.

Lemma closes_nseq x k : closes (nseq k x) = (~~ is_open x * k)%N.
Proof. by rewrite /closes count_nseq. Qed.

Lemma opens_cons x s : opens (x :: s) = (is_open x + opens s)%N. Proof. by []. Qed.
Lemma closes_cons x s : closes (x :: s) = (~~ is_open x + closes s)%N. Proof. by []. Qed.
Lemma opens_cat s t : opens (s ++ t) = (opens s + opens t)%N. Proof. exact: count_cat. Qed.
Lemma closes_cat s t : closes (s ++ t) = (closes s + closes t)%N. Proof. exact: count_cat. Qed.

(** ** Necessary *)

Section Necessary.

Variable B : nat.
Hypothesis right : forall s, s <> [::] -> ~~ odd (size s) -> (size s <= B.*2)%N -> accepts_rightly s.

(** Two brackets of a balanced string change places. *)
Lemma terms_equal k : (k <= B)%N -> delta N k = delta N 0.
Proof.
case: k => // k k_B.
pose t x := nseq k Open ++ [:: x]; pose s x y := nseq k Close ++ x :: t y.
have size_t x : size (t x) = k.+1 by rewrite size_cat size_nseq addn1.
have size_s x y : size (s x y) = k.+1.*2 by rewrite size_cat /= size_t size_nseq -addnn addSnnS.
have zero x y : opens (s x y) = closes (s x y) -> output N (s x y) = 0.
  move=> balanced; apply/right; rewrite ?size_s ?odd_double ?leq_double //.
  by rewrite /s; case: (k).
have counts x y : opens (s x y) = (is_open x + is_open y + k)%N /\ closes (s x y) = (~~ is_open x + ~~ is_open y + k)%N.
  rewrite /s /t !(opens_cat, closes_cat, opens_cons, closes_cons, opens_nseq, closes_nseq) /= !mul0n !mul1n !addn0 !add0n.
  by rewrite -!addnA; split; [rewrite [(k + _)%N]addnC | rewrite addnCA [(k + _)%N]addnC].
have open_close : output N (s Open Close) = 0 by apply: zero; case: (counts Open Close) => -> ->.
have close_open : output N (s Close Open) = 0 by apply: zero; case: (counts Close Open) => -> ->.
move: close_open; rewrite -open_close !output_is !size_s => /addrI.
rewrite /s !opened_cat !opened_closes !add0r !opened_cons /= !size_t mulr0n mulr1n addr0 /t !opened_cat.
rewrite !opened_cons /= !mulr0n !mulr1n {2 4}/opened !big_ord0 !add0r addr0 => /esym.
by move=> /(canRL (addKr _)) ->; rewrite addrA addNr add0r.
Qed.

Lemma drift_cancels j : (0 < j <= B)%N -> drifted j.*2 = - (delta N 0 *+ j).
Proof.
case/andP=> j_0 j_B; pose s := nseq j Close ++ nseq j Open.
have size_s : size s = j.*2 by rewrite size_cat !size_nseq addnn.
have : output N s = 0.
  apply/right; rewrite ?size_s ?odd_double ?leq_double //; first by rewrite /s; case: (j) j_0.
  by rewrite /s opens_cat closes_cat !(opens_nseq, closes_nseq) /= !mul0n !mul1n addn0.
rewrite output_is size_s opened_cat opened_closes add0r (@opened_constant _ _ (delta N 0)).
  by rewrite opens_nseq mul1n => /eqP; rewrite addr_eq0 => /eqP.
by move=> k; rewrite size_nseq => k_j; rewrite terms_equal // ltnW // (leq_trans k_j).
Qed.

Lemma term_not_zero : (0 < B)%N -> delta N 0 != 0.
Proof.
move=> B_0; apply/eqP => zero.
have two : (1.*2 <= B.*2)%N by rewrite leq_double.
have [] : accepts_rightly [:: Open; Open] by apply: right.
rewrite output_is (drift_cancels (j := 1%N)) // (@opened_constant _ _ (delta N 0)) ?zero ?mul0rn ?oppr0 ?addr0.
  by move=> /(_ erefl).
by move=> k k_2; rewrite terms_equal // (leq_trans _ B_0).
Qed.

End Necessary.

(** ** Sufficient *)

Lemma even_lengths_right e : e != 0 -> (forall k, delta N k = e) -> (forall j, (0 < j)%N -> drifted j.*2 = - (e *+ j)) ->
  forall s, s <> [::] -> ~~ odd (size s) -> accepts_rightly s.
Proof.
move=> e_0 equal cancels s some even.
have [h size_s] : exists h, size s = h.*2 by exists (size s)./2; rewrite -[LHS]odd_double_half (negPf even).
have h_0 : (0 < h)%N by rewrite -double_gt0 -size_s; case: (s) some.
have ends_at : output N s = e *+ opens s - e *+ h.
  by rewrite output_is (opened_constant (fun k _ => equal k)) size_s cancels // addrC.
have both : (opens s + closes s = h + h)%N by rewrite -size_is_both size_s addnn.
rewrite /accepts_rightly ends_at; split=> [/eqP|balanced].
  rewrite subr_eq0 -(mulr_natr e (opens s)) -(mulr_natr e h) => /eqP /(mulfI e_0) /eqP; rewrite eqr_nat => /eqP opens_h.
  by move: both; rewrite opens_h => /addnI ->.
have -> : opens s = h by apply: double_inj; rewrite -!addnn -both -balanced.
by rewrite subrr.
Qed.

(** ** Finitely many lengths decide all even ones *)

Lemma finitely_many_terms :
  (forall k, (k <= d)%N -> delta N k = delta N 0) ->
  (forall j, (0 < j <= d.+1)%N -> drifted j.*2 = - (delta N 0 *+ j)) ->
  (forall k, delta N k = delta N 0) /\ (forall j, (0 < j)%N -> drifted j.*2 = - (delta N 0 *+ j)).
Proof.
move=> equal cancels; set U := matrix N Open.
have delta_next k : delta N k.+1 - delta N k = dot (weight N) (U ^+ k *m ((U - 1) *m (step N Open - step N Close))).
  by rewrite /delta exprSr -mulmxE -mulmxA [in RHS]mulmxBl mul1mx [in RHS]mulmxBr dotB.
have all_equal k : delta N k = delta N 0.
  elim: k => // k IH; apply/eqP; rewrite -[X in _ == X]IH -subr_eq0 delta_next d_zeros_make_all // => i i_d.
  by rewrite -delta_next !equal ?subrr // ltnW.
split=> //.
pose z := step N Close + (U - 1) *m start N; pose x := z + U *m z + (step N Open - step N Close).
have one_more T : drifted T.+1 = drifted T + gamma N T by rewrite /drifted big_ord_recr addrA.
have next j : drifted j.+1.*2 - drifted j.*2 + delta N 0 = dot (weight N) ((U ^+ 2) ^+ j *m x).
  rewrite doubleS !one_more -[drifted _ + _ + _]addrA [drifted _ + _]addrC addrK.
  rewrite -(all_equal j.*2) -exprM mul2n /x mulmxDr dotD mulmxDr dotD; congr (_ + _ + _).
  by rewrite mulmxA mulmxE -exprSr.
have no_drift j : dot (weight N) ((U ^+ 2) ^+ j.+1 *m x) = 0.
  rewrite exprSr -mulmxE -mulmxA d_zeros_make_all // => i i_d.
  have power : (U ^+ 2) ^+ i *m (U ^+ 2 *m x) = (U ^+ 2) ^+ i.+1 *m x by rewrite mulmxA mulmxE -exprSr.
  have i_range : (0 < i.+1 <= d.+1)%N by apply/andP; split => //; apply: (leqW i_d).
  have next_range : (0 < i.+2 <= d.+1)%N by apply/andP; split => //; exact: i_d.
  rewrite power -next (cancels _ next_range) (cancels _ i_range) [delta N 0 *+ i.+2]mulrSr.
  by rewrite opprD opprK addrAC subrK addNr.
elim=> // -[_ _|j IH _]; first exact: cancels.
have := no_drift j; rewrite -next IH // opprK => /eqP; rewrite addr_eq0 => /eqP.
by move/(canRL (addrK _)) => ->; rewrite [in RHS]mulrSr opprD addrC.
Qed.

End ZeroCheck.

Theorem zero_check_in_d_dimensions : forall (F : numFieldType) (d' : nat) (N : network F d'), is_linear N ->
  (forall s, s <> [::] -> (output N s = 0 <-> opens s = closes s)) <->
  exists e, [/\ e != 0, forall k, delta N k = e, forall j, (0 < j)%N -> drifted N j.*2 = - (e *+ j)
    & forall j n, (n <= j.*2.+1)%N -> drifted N j.*2.+1 + e *+ n != 0].
Proof.
move=> F d' N linear; split=> [right|[e [e_0 equal cancels odd_lengths]] s some].
  have even B s : s <> [::] -> ~~ odd (size s) -> (size s <= B.*2)%N -> accepts_rightly N s by move=> some _ _; apply: right.
  exists (delta N 0); have equal k : delta N k = delta N 0 by apply: (terms_equal linear (even k)).
  split=> // [|j j_0|j n n_j].
  - exact: (term_not_zero linear (even 1%N)).
  - by apply: (drift_cancels linear (even j)); rewrite j_0 /=.
  - pose s := nseq (j.*2.+1 - n) Close ++ nseq n Open.
    have size_s : size s = j.*2.+1 by rewrite size_cat !size_nseq subnK.
    have opens_s : opens s = n by rewrite opens_cat !opens_nseq mul0n mul1n.
    rewrite -[X in _ *+ X]opens_s -(@opened_constant _ (delta N)) // -size_s -output_is //.
    apply/eqP => /right balanced.
    have /balanced same : s <> [::] by move=> empty; rewrite empty in size_s.
    by move: (size_is_both s); rewrite -same addnn size_s => /(congr1 odd); rewrite /= !odd_double.
case odd_s: (odd (size s)); last by apply: (even_lengths_right linear e_0 equal cancels) => //; rewrite odd_s.
have [h size_s] : exists h, size s = h.*2.+1 by exists (size s)./2; rewrite -[LHS]odd_double_half odd_s.
split=> [|balanced].
  rewrite output_is // (opened_constant (fun k _ => equal k)) size_s => zero.
  have opens_s : (opens s <= h.*2.+1)%N by rewrite -size_s /opens count_size.
  by move: (odd_lengths h (opens s) opens_s); rewrite zero eqxx.
by move: odd_s; rewrite size_is_both -balanced addnn odd_double.
Qed.

(** The strings of at most 2 d + 2 tokens, d = d'.+1, decide all even lengths. *)
Theorem even_lengths_of_the_zero_check : forall (F : numFieldType) (d' : nat) (N : network F d'), is_linear N ->
  (forall s, s <> [::] -> ~~ odd (size s) -> (size s <= d'.+2.*2)%N -> (output N s = 0 <-> opens s = closes s)) ->
  forall s, s <> [::] -> ~~ odd (size s) -> (output N s = 0 <-> opens s = closes s).
Proof.
move=> F d' N linear right.
have equal k : (k <= d'.+1)%N -> delta N k = delta N 0.
  by move=> k_d; apply: (terms_equal linear right); rewrite ltnW.
have cancels j : (0 < j <= d'.+2)%N -> drifted N j.*2 = - (delta N 0 *+ j) by apply: (drift_cancels linear right).
have [all_equal all_cancel] := finitely_many_terms equal cancels.
by apply: even_lengths_right all_cancel => //; apply: (term_not_zero linear right).
Qed.
