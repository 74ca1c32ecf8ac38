(** Networks with any two matrices, one for each token: whether the output counts exactly is decided by the rows that would see a
    difference, and products of less than d matrices suffice. *)

Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_algebra.
From Tallystick Require Brackets.
From Tallystick Require Import LinearNetworks.
Import GRing.Theory.
Local Open Scope ring_scope.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section TokenMatrices.

Variables (F : fieldType) (d' : nat) (N : network F d').
Local Notation d := d'.+1.

(** Seen from the start, what a token adds to the state. *)
Definition moved (x : token) : 'cV[F]_d := step N x + (matrix N x - 1) *m start N.

(** A row times the matrices of some tokens. *)
Definition row_after (u : 'rV[F]_d) (t : seq token) : 'rV[F]_d := foldl (fun u y => u *m matrix N y) u t.

Definition from_start (s : seq token) : 'cV[F]_d := state N s - start N.

Lemma from_start_rcons s x : from_start (rcons s x) = matrix N x *m from_start s + moved x.
Proof.
rewrite /from_start state_rcons /moved mulmxBr mulmxBl mul1mx [step N x + _]addrC -!addrA; congr (_ + _).
by rewrite addKr addrC.
Qed.

(** ** A row sees nothing of any state if its products with matrices see nothing of what tokens add *)

Lemma sees_nothing u : (forall t y, dot (row_after u t) (moved y) = 0) <-> (forall s, dot u (from_start s) = 0).
Proof.
split=> [zero s|zero t].
  elim/last_ind: s u zero => [|s y IH] u zero; first by rewrite /from_start /= subrr /dot mulmx0 mxE.
  rewrite from_start_rcons dotD -dotA IH ?add0r; first exact: (zero [::]).
  by move=> t z; apply: (zero (y :: t)).
elim: t u zero => [|x t IH] u zero y.
  have := zero [:: y]; rewrite -[[:: y]]/(rcons [::] y) from_start_rcons dotD /from_start /= subrr mulmx0.
  by rewrite {1}/dot mulmx0 mxE add0r.
rewrite /= -/(row_after _ _) IH // => s.
have := zero (rcons s x); rewrite from_start_rcons dotD -dotA.
have -> : dot u (moved x) = 0.
  have := zero [:: x]; rewrite -[[:: x]]/(rcons [::] x) from_start_rcons dotD /from_start /= subrr mulmx0.
  by rewrite {1}/dot mulmx0 mxE add0r.
by rewrite addr0.
Qed.

(** ** Fewer than d matrices suffice *)

(** The columns that products of at most k matrices make of what tokens add, as the rows of one matrix. *)
Definition seen_first : 'M[F]_d := ((moved Open)^T + (moved Close)^T)%MS.
Fixpoint seen (k : nat) : 'M[F]_d :=
  if k is k'.+1 then (seen_first + seen k' *m (matrix N Open)^T + seen k' *m (matrix N Close)^T)%MS else seen_first.

Lemma seen_grows k : (seen k <= seen k.+1)%MS.
Proof.
elim: k => [|k IH]; first by rewrite /= -addsmxA addsmxSl.
by rewrite /= !addsmxS ?submxMr.
Qed.

Lemma seen_rests k j : (seen k.+1 <= seen k)%MS -> (seen (k + j) <= seen k)%MS.
Proof.
move=> rests; elim: j => [|j IH]; first by rewrite addn0.
rewrite addnS; apply: submx_trans rests; rewrite /= !addsmxS ?submxMr //.
Qed.

Lemma seen_monotone i j : (i <= j)%N -> (seen i <= seen j)%MS.
Proof.
move/subnKC <-; elim: (j - i)%N => [|k IH]; rewrite ?addn0 // addnS.
exact: submx_trans IH (seen_grows _).
Qed.

Lemma all_is_seen k : (seen k <= seen d')%MS.
Proof.
suff [j j_d rests] : exists2 j, (j <= d')%N & (seen j.+1 <= seen j)%MS.
  apply: submx_trans (seen_monotone j_d).
  by case: (leqP k j) => [/seen_monotone //|/ltnW j_k]; rewrite -(subnKC j_k) seen_rests.
have [/existsP [j rests]|none] := boolP [exists j : 'I_d, (seen j.+1 <= seen j)%MS].
  by exists j => //; rewrite -ltnS.
move: none; rewrite negb_exists => /forallP none.
have some : (0 < \rank (seen 0))%N.
  rewrite lt0n mxrank_eq0; apply/eqP => /= zero; have := none ord0; apply/negP/negPn.
  by rewrite /= zero !mul0mx !addsmx0 sub0mx.
have ranks j : (j <= d)%N -> (j < \rank (seen j))%N.
  elim: j => // j IH j_d; apply: leq_ltn_trans (IH (ltnW j_d)) _.
  have : (seen j < seen j.+1)%MS by rewrite /ltmx seen_grows /=; apply: (none (Ordinal j_d)).
  by rewrite ltmxErank => /andP [].
by have := ranks d (leqnn d); rewrite ltnNge rank_leq_row.
Qed.

Lemma seen_by u k : (seen k *m u^T = 0) <-> (forall t y, (size t <= k)%N -> dot (row_after u t) (moved y) = 0).
Proof.
have kernel (A : 'M[F]_d) (w : 'rV[F]_d) : A *m w^T = 0 <-> (A <= kermx w^T)%MS.
  by split=> [/eqP|]; rewrite -?sub_kermx // => /sub_kermxP.
have first w : (seen_first <= kermx w^T)%MS <-> forall y, dot w (moved y) = 0.
  have one y : ((moved y)^T <= kermx w^T)%MS <-> dot w (moved y) = 0.
    rewrite /dot; split=> [/sub_kermxP|] zero.
      by rewrite -[w *m _]trmxK trmx_mul zero !mxE.
    apply/sub_kermxP; rewrite -trmx_mul; apply/matrixP => i j; rewrite !ord1 !mxE.
    by move: zero; rewrite mxE.
  rewrite /seen_first addsmx_sub; split=> [/andP [open close] y|zero].
    by apply: (proj1 (one y)); case: y.
  by apply/andP; split; apply: (proj2 (one _)).
elim: k u => [|k IH] u; rewrite kernel /=.
  rewrite first; split=> zero; last by move=> y; apply: (zero [::]).
  by case=> [|x t] y // _; apply: zero.
rewrite 2!addsmx_sub; split=> [/andP [/andP [sees_first]]|zero].
  have zero := proj1 (first u) sees_first.
  rewrite !sub_kermx -!mulmxA -!trmx_mul => /eqP sees_open /eqP sees_close.
  have open := proj1 (IH _) sees_open; have close := proj1 (IH _) sees_close.
  case=> [|x t] y; first by move=> _; apply: zero.
  by rewrite ltnS; case: x => t_k /=; [apply: open | apply: close].
apply/andP; split; first (apply/andP; split).
- by apply: (proj2 (first u)) => y; apply: (zero [::]).
- rewrite sub_kermx -mulmxA -trmx_mul; apply/eqP; apply: (proj2 (IH _)) => t y t_k; exact: (zero (Open :: t)).
- rewrite sub_kermx -mulmxA -trmx_mul; apply/eqP; apply: (proj2 (IH _)) => t y t_k; exact: (zero (Close :: t)).
Qed.

Lemma few_matrices_suffice u :
  (forall t y, (size t < d)%N -> dot (row_after u t) (moved y) = 0) -> forall t y, dot (row_after u t) (moved y) = 0.
Proof.
move=> few t y; have zero : seen d' *m u^T = 0 by apply/seen_by => s z s_d; apply: few.
have : seen (size t) *m u^T = 0 by apply/eqP; rewrite -sub_kermx (submx_trans (all_is_seen _)) // sub_kermx zero.
by move/seen_by; apply.
Qed.

(** ** Every token adds r, or takes it away *)

Lemma counts_by_tokens r : (forall s, counts_on N r s) <->
  [/\ dot (weight N) (moved Open) = r, dot (weight N) (moved Close) = - r
    & forall x s, dot (weight N *m (matrix N x - 1)) (from_start s) = 0].
Proof.
pose sign x : F := if is_open x then r else - r.
have one_more s x : output N (rcons s x) - output N s
    = dot (weight N) (moved x) + dot (weight N *m (matrix N x - 1)) (from_start s).
  rewrite /output opprD addrACA subrr addr0 -dotB.
  have -> : state N (rcons s x) - state N s = moved x + (matrix N x - 1) *m from_start s.
    have -> : state N (rcons s x) - state N s = from_start (rcons s x) - from_start s.
      by rewrite /from_start opprB addrA subrK.
    by rewrite from_start_rcons mulmxBl mul1mx [RHS]addrA [in RHS](addrC (moved x)).
  by rewrite dotD dotA.
have count_rcons s x : r * ((opens (rcons s x))%:R - (closes (rcons s x))%:R)
    = r * ((opens s)%:R - (closes s)%:R) + sign x.
  rewrite /opens /closes -cats1 !count_cat /= !addn0 !natrD /sign opprD addrACA mulrDr; congr (_ + _).
  by case: x; rewrite /= ?subr0 ?sub0r ?mulr1 ?mulrN1.
split=> [counts|[open close unseen] s].
  have every s x : dot (weight N) (moved x) + dot (weight N *m (matrix N x - 1)) (from_start s) = sign x.
    by rewrite -one_more (counts (rcons s x)) (counts s) count_rcons opprD addrACA subrr addr0 addrAC subrr add0r.
  have first x : dot (weight N) (moved x) = sign x.
    by rewrite -(every [::] x) /from_start /= subrr [X in _ + X]/dot mulmx0 mxE addr0.
  split=> [||x s]; [exact: (first Open) | exact: (first Close) |].
  by have := every s x; rewrite first => /(canRL (addKr _)) ->; rewrite addNr.
elim/last_ind: s => [|s x IH]; first by rewrite /counts_on /= subrr mulr0 add0r.
have adds : output N (rcons s x) = output N s + sign x.
  apply/eqP; rewrite addrC -subr_eq one_more unseen addr0; apply/eqP.
  by case: x; [rewrite open | rewrite close].
by rewrite /counts_on adds IH count_rcons addrAC.
Qed.

End TokenMatrices.

(** The output is r (n - m) and a constant on every string just when the first token adds r or takes it, and no product of less
    than d = d'.+1 matrices lets the rows v (A_x - 1) see what a token adds. *)
Theorem exact_counters_with_any_matrices : forall (F : fieldType) (d' : nat) (N : network F d') (r : F),
  (forall s, counts_on N r s) <->
  [/\ dot (weight N) (moved N Open) = r, dot (weight N) (moved N Close) = - r
    & forall x t y, (size t < d'.+1)%N -> dot (row_after N (weight N *m (matrix N x - 1)) t) (moved N y) = 0].
Proof.
move=> F d' N r; split=> [counts|[open close few]].
  have [open close unseen] := proj1 (counts_by_tokens N r) counts.
  by split=> // x t y _; apply: (proj2 (sees_nothing N _) (unseen x)).
apply: (proj2 (counts_by_tokens N r)); split=> // x; apply: (proj1 (sees_nothing N _)).
exact: few_matrices_suffice (few x).
Qed.
