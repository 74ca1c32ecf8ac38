(** Affine networks with one matrix per token that are right at every length, because what tokens leave fades.

    The last K tokens of a string are a lattice path; the row that is left before them is a row rho that counts exactly, and a rest that
    sees only numbers of the state which never leave a box. The box is a hint, and has no bounds for numbers that the rest does not see. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Boxes Affine Rows Whole Halves Sorting Counting Along Paths Monotone ReluCounter Limits Tails.

(** * A box around the initial state that no token leaves *)

Definition bounds := list (option Q).

Definition inside (g : bounds) (u : list Q) : Prop :=
  Forall2 (fun b x => match b with Some b => - b <= x <= b | None => True end) g u.

(** The most that a row can see of what is inside. *)
Fixpoint loss (d : list Q) (g : bounds) : option Q :=
  match d, g with
  | [], _ => Some 0
  | x :: d, b :: g =>
      match loss d g, b with
      | Some rest, Some b => Some (Qred (size_of x * b + rest))
      | Some rest, None => if (Qnum x =? 0)%Z then Some rest else None
      | None, _ => None
      end
  | _ :: _, [] => Some 0
  end.

Lemma loss_bounds d g u q : loss d g = Some q -> inside g u -> - q <= dot d u <= q.
Proof.
  intros found all. revert d q found. induction all as [|b x g u within_ _ IH]; intros [|y d] q; cbn [loss dot];
    try (intros [= <-]; lra).
  destruct (loss d g) as [rest|] eqn:rest_is; [|discriminate]. specialize (IH d rest rest_is). destruct b as [b|].
  - intros found. assert (q == size_of y * b + rest) as equal by (assert (Qred (size_of y * b + rest) = q) as <- by congruence; apply Qred_correct). clear found.
    pose proof (size_of_is y) as (up & down & some).
    assert (- (size_of y * b) <= y * x <= size_of y * b) by (split; nra). lra.
  - destruct (Z.eqb_spec (Qnum y) 0) as [none|]; [intros [= <-] | discriminate].
    assert (y == 0) as -> by (unfold Qeq; cbn; lia). lra.
Qed.

Fixpoint stays_inside (whole : bounds) (ls : list line) (g : bounds) (v : list Q) : bool :=
  match ls, g, v with
  | [], [], [] => true
  | l :: ls, b :: g, x :: v =>
      match b with
      | None => true
      | Some b => match loss (fst l) whole with Some q => Qle_bool (q + size_of x) b | None => false end
      end && stays_inside whole ls g v
  | _, _, _ => false
  end.

Definition is_box (n : network) (a : affine) (g : bounds) : bool :=
  forallb (fun b => match b with Some b => Qle_bool 0 b | None => true end) g && same_length g (initial n) &&
  stays_inside g (opening a) g (moved n Open) && stays_inside g (closing a) g (moved n Close).

Section Box.

Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.
Variable g : bounds.
Hypothesis box_is : is_box n a g = true.

Lemma step_inside ls s h' h1 base : says (state_after n s) ls h' -> says (initial n) ls h1 ->
  inside g (row_minus (state_after n s) (initial n)) ->
  forall part, stays_inside g ls part (row_minus h1 base) = true -> length base = length h1 -> inside part (row_minus h' base).
Proof.
  intros now_ first_ within_. revert h1 base first_. induction now_ as [|l x ls h' said _ IH]; intros h1 base first_ part; inversion first_; subst.
  - destruct base; [|discriminate]. cbn. destruct part; [constructor | discriminate].
  - destruct base as [|b base]; [discriminate|]. cbn [row_minus]. destruct part as [|[bound|] part]; cbn [stays_inside]; try discriminate.
    + destruct (loss (fst l) g) as [q|] eqn:lost; [|discriminate]. rewrite Bool.andb_true_iff, Qle_bool_iff. intros [small rest] long.
      constructor; [|eapply IH; [eassumption | exact rest | cbn in long; lia]].
      pose proof (loss_bounds _ _ _ _ lost within_) as [low high]. rewrite (dot_comm (fst l)), dot_minus, !(dot_comm _ (fst l)) in low, high.
      unfold output in *. pose proof (size_of_is (y - b)) as (up & down & _). split; lra.
    + cbn [andb]. intros rest long. constructor; [exact I|]. eapply IH; [eassumption | exact rest | cbn in long; lia].
Qed.

Lemma always_inside s : inside g (row_minus (state_after n s) (initial n)).
Proof.
  unfold is_box in box_is. rewrite !Bool.andb_true_iff in box_is. destruct box_is as [[[signs long] opened] closed].
  apply same_length_is in long. rewrite forallb_forall in signs.
  induction s as [|x s IH] using rev_ind.
  - change (state_after n []) with (initial n). revert long. generalize (initial n). clear - signs.
    induction g as [|b g' IH]; intros [|x u]; cbn; try discriminate; [constructor|]. intros [= long]. constructor.
    + pose proof (signs b (or_introl eq_refl)) as sign. destruct b as [b|]; [|exact I]. apply Qle_bool_iff in sign. split; lra.
    + apply IH; [|exact long]. intros c member. apply signs. now right.
  - pose proof (affine_step n a is_affine s x) as now_. pose proof (affine_step n a is_affine [] x) as first_.
    change (state_after n ([] ++ [x])) with (step n (initial n) x) in first_. change (state_after n []) with (initial n) in first_.
    eapply step_inside; [exact now_ | exact first_ | exact IH | |].
    + unfold moved in opened, closed. destruct x; assumption.
    + change (length (state_after n []) = length (state_after n [x])). now rewrite !(affine_length n a is_affine).
Qed.

End Box.

(** * The check *)

Definition rational_row (U : positive) (r : row) : list Q := map (fun z => z # U) (entries r).

(** What a node of the last K tokens leaves is enough, whatever stood before them. *)
Definition node_fades (U T : positive) (n : network) (which : lengths) (K : Z) (rho : list Q) (g : bounds) (questions : list ask)
    (e : node) : bool :=
  let s := dot rho (moved n Open) in
  let d := row_minus (rational_row U (node_row e)) rho in
  match loss d g with
  | None => false
  | Some lost =>
      (off (node_row e) =? 0)%Z &&
      let kept := (low_value e # (U * T)) - s * inject_Z (2 * opened e - K) - lost in
      forallb (fun question : ask =>
        leads_away s (fst question) && is_above_zero (snd question) (kept + s * inject_Z (nearest which (fst question)))) questions
  end.

(** A row that counts exactly. *)
Definition is_counting_row (n : network) (a : affine) (rho : list Q) : bool :=
  no_row (row_minus (row_before (opening a) rho) rho) && no_row (row_minus (row_before (closing a) rho) rho) &&
  Qeq_bool (dot rho (moved n Close)) (- dot rho (moved n Open)).

Definition fades (U D T : positive) (n : network) (a : affine) (w : whole_network) (which : lengths) (g : bounds) (K : positive)
    (rho : list Q) (l : line) (questions : list ask) : bool :=
  let k := trail_to U D T n w which l questions (Zpos K) in
  all_good k && (Zpos K =? far k)%Z && is_counting_row n a rho &&
  forallb (node_fades U T n which (Zpos K) rho g questions) (table k).

(** * Soundness *)

Lemma rows_by_entries r r' : (forall j, nth j r 0 == nth j r' 0) -> same_rows r r'.
Proof.
  intros all u. revert r r' all. induction u as [|y u IH]; intros r r' all; [now destruct r, r'|].
  rewrite !dot_total, (IH (tl r) (tl r')).
  - assert (hd 0 r == hd 0 r') as -> by (pose proof (all 0%nat) as first_; destruct r, r'; exact first_). reflexivity.
  - intros j. specialize (all (S j)). destruct r, r'; cbn in *; auto; destruct j; auto.
Qed.

Lemma exact_row U R r : near (inject_Z (Zpos U)) R r 0 -> same_rows r (map (fun z => z # U) R).
Proof.
  intros all. apply rows_by_entries. intros j. destruct (all j) as [low high].
  assert (nth j (map (fun z => z # U) R) 0 == (nth j R 0%Z # U)) as ->.
  { clear. revert j. induction R as [|z R IH]; intros [|j]; cbn; try reflexivity. apply IH. }
  change (inject_Z 0) with 0 in low, high. assert (nth j r 0 * inject_Z (Zpos U) == inject_Z (nth j R 0%Z)) as equal by lra.
  assert (0 < inject_Z (Zpos U)) by reflexivity.
  apply (Qmult_inj_r _ _ (inject_Z (Zpos U))); [lra|]. rewrite equal. unfold Qeq, Qmult, inject_Z. cbn. lia.
Qed.

Section Sound.

Variables U D T : positive.
Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.
Hypothesis commuting : commute a = true.
Variable w : whole_network.
Hypothesis is_whole : whole_network_of D T n a = Some w.
Variable which : lengths.
Variable g : bounds.
Hypothesis box_is : is_box n a g = true.

Lemma counting_row_sees rho s : is_counting_row n a rho = true ->
  dot rho (state_after n s) == dot rho (initial n) + dot rho (moved n Open) * inject_Z (count false s).
Proof.
  unfold is_counting_row. rewrite !Bool.andb_true_iff. intros [[opened closed] opposite]. apply Qeq_bool_iff in opposite.
  induction s as [|x s IH] using rev_ind.
  - change (inject_Z (count false [])) with 0. change (state_after n []) with (initial n). ring.
  - assert (dot (row_before (lines_after a x) rho) (state_after n s) == dot rho (state_after n s)) as now_.
    { destruct x; [apply (no_row_is _ (state_after n s)) in opened | apply (no_row_is _ (state_after n s)) in closed];
        [rewrite dot_minus in opened | rewrite dot_minus in closed]; cbn [lines_after]; lra. }
    assert (dot (row_before (lines_after a x) rho) (initial n) == dot rho (initial n)) as first_.
    { destruct x; [apply (no_row_is _ (initial n)) in opened | apply (no_row_is _ (initial n)) in closed];
        [rewrite dot_minus in opened | rewrite dot_minus in closed]; cbn [lines_after]; lra. }
    rewrite (row_step n a is_affine), now_, first_, IH, count_snoc. destruct x; cbn [count_after].
    + rewrite inject_Z_plus. change (inject_Z 1) with 1. ring.
    + unfold Z.sub. rewrite inject_Z_plus, opposite. change (inject_Z (- (1))) with (- (1)). ring.
Qed.

Lemma fades_sound K rho l questions s : fades U D T n a w which g K rho l questions = true ->
  counted which s -> (Zpos K <= size s)%Z -> Forall (answers n l s) questions.
Proof.
  unfold fades. rewrite !Bool.andb_true_iff, Z.eqb_eq, forallb_forall. intros [[[good reached] counting] all] is_counted long.
  assert (sound_trail U T n a which l questions (trail_to U D T n w which l questions (Zpos K))) as sound.
  { unfold trail_to. apply iter_keeps; [now apply trail_on_sound | now apply trail_from_sound]. }
  destruct (sound good) as (tokens & far_is & chained & _).
  assert (tokens = Pos.to_nat K) as -> by lia.
  (* The string is what stands before, and the last K tokens. *)
  set (before := firstn (length s - Pos.to_nat K) s). set (last := skipn (length s - Pos.to_nat K) s).
  assert (s = before ++ last) as parts by (symmetry; apply firstn_skipn).
  assert (length (rev last) = Pos.to_nat K) as last_is.
  { rewrite rev_length. unfold last. rewrite skipn_length. unfold size in long. lia. }
  pose proof (opens_bounds (rev last)) as bounds_.
  destruct (chain_in U T n a l _ _ _ (opens (rev last)) chained ltac:(lia)) as (e & member & equal & [_ holds_e]).
  destruct (holds_e (rev last) last_is (eq_sym equal)) as [[_ row_near] low]. clear holds_e.
  apply all in member. unfold node_fades in member.
  destruct (loss (row_minus (rational_row U (node_row e)) rho) g) as [lost|] eqn:lost_is; [|discriminate].
  apply Bool.andb_true_iff in member. destruct member as [exactly met]. apply Z.eqb_eq in exactly. rewrite exactly in row_near.
  cbv zeta in met. rewrite forallb_forall in met.
  (* What stands before moves the line by what it counts, and by no more than is lost. *)
  set (l' := pulled a l (rev last)) in *.
  assert (output l (state_after n s) == output l' (state_after n before)) as moved_back.
  { rewrite !(pulled_is n a is_affine), parts, rev_app_distr. unfold l', pulled. now rewrite <- fold_left_app. }
  pose proof (always_inside n a is_affine g box_is before) as within_.
  pose proof (loss_bounds _ _ _ _ lost_is within_) as [lost_low _].
  rewrite dot_minus in lost_low. rewrite <- (exact_row _ _ _ row_near _) in lost_low.
  assert (forall r, dot r (row_minus (state_after n before) (initial n)) == dot r (state_after n before) - dot r (initial n)) as difference_.
  { intros r. rewrite dot_comm, dot_minus, (dot_comm _ r), (dot_comm (initial n) r). reflexivity. }
  rewrite !difference_, (counting_row_sees rho before counting) in lost_low.
  assert (count false s = (2 * opened e - Zpos K + count false before)%Z) as count_is.
  { rewrite parts, !count_by_opens, rev_app_distr, opens_app, equal. unfold size. rewrite app_length.
    rewrite rev_length in last_is. lia. }
  unfold low_holds in low.
  assert ((low_value e # (U * T)) <= output l' (initial n)) as low'.
  { assert (0 < inject_Z (Zpos (U * T))) as positive by reflexivity. apply (Qmult_le_r _ _ _ positive).
    eapply Qle_trans; [|exact low]. apply Qle_lteq. right. unfold Qeq, Qmult, inject_Z. cbn. lia. }
  apply Forall_forall. intros [side strictly] inside_ sign. apply met in inside_. cbn [fst snd] in *.
  apply Bool.andb_true_iff in inside_. destruct inside_ as [direction least].
  pose proof (nearest_is_least which s side (dot rho (moved n Open)) is_counted sign direction) as nearest_.
  assert (above_zero strictly (output l' (state_after n before)) -> above_zero strictly (output l (state_after n s))) as turn
    by (unfold above_zero; destruct strictly; rewrite moved_back; auto).
  apply turn. apply above_test in least. eapply above_more; [|exact least]. clear least turn moved_back.
  unfold output in low' |- *. set (c := dot rho (moved n Open)) in *. rewrite count_is in *.
  assert (inject_Z (2 * opened e - Zpos K) + inject_Z (count false before) == inject_Z (2 * opened e - Zpos K + count false before)) as sum_
    by now rewrite inject_Z_plus.
  set (p := inject_Z (2 * opened e - Zpos K)) in *. set (q := inject_Z (count false before)) in *.
  set (h := dot (fst l') (state_after n before)) in *. set (i := dot (fst l') (initial n)) in *.
  set (v := low_value e # (U * T)) in *. clearbody p q h i v c.
  nra.
Qed.

End Sound.
