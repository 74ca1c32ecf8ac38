(** All strings of a network with one matrix for both tokens, by sorting what each opening bracket adds.

    What a bracket adds to a line depends only on how many tokens follow it, so that the opening brackets of a string of length T add some
    of T terms, and those of the string with the least value the least ones. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Boxes Affine Rows Whole Halves.
From Tallystick.checker Require Export Asks.

(** * Going through the lengths *)

Record walk := { tokens : Z; its_row : row; value : Z; error : Z; terms : halves; good : bool }.

Definition meets (k : walk) (question : ask) : bool :=
  match fst question, even (terms k) with
  | Eq, false => true
  | side, _ =>
      let least_value := (value k + least (terms k) side)%Z in
      if snd question then (error k <? least_value)%Z else (error k <=? least_value)%Z
  end.

Definition reach (w : whole_network) : Z := Z.max (sizes (v_open w)) (sizes (v_close w)).

Definition walk_on (D : positive) (w : whole_network) (G R : Z) (which : lengths) (questions : list ask) (k : walk) : walk :=
  if good k then
    let r := its_row k in
    let opened := dotZ (entries r) (v_open w) in
    let closed := dotZ (entries r) (v_close w) in
    let next := {|
      tokens := tokens k + 1;
      its_row := next_row (Zpos D) (M_open w) G r;
      value := value k + closed;
      error := error k + off r * R;
      terms := add_term (opened - closed) (terms k);
      good := true;
    |} in
    if (tokens next mod stride which =? 0)%Z && negb (forallb (meets next) questions) then
      {| tokens := tokens next; its_row := its_row next; value := value next; error := error next;
         terms := terms next; good := false |}
    else next
  else k.

Definition walk_from (U S : positive) (n : network) (l : line) : walk :=
  let C := output l (initial n) in
  {| tokens := 0; its_row := first_row U (fst l); value := times_down C (Zpos (U * S));
     error := if is_exact (U * S) C then 0 else 1; terms := no_terms; good := true |}.

Definition walk_to (U D S : positive) (n : network) (w : whole_network) (which : lengths) (l : line) (questions : list ask)
    (horizon : Z) : walk :=
  Z.iter horizon (walk_on D w (growth (M_open w)) (reach w) which questions) (walk_from U S n l).

Definition sorted (U D S : positive) (n : network) (w : whole_network) (which : lengths) (l : line) (questions : list ask)
    (horizon : Z) : bool :=
  let k := walk_to U D S n w which l questions horizon in
  good k && (horizon <=? tokens k)%Z.

(** * Soundness *)

Lemma opens_app r s : opens (r ++ s) = (opens r + opens s)%Z.
Proof. induction r as [|[] r IH]; cbn [opens app]; lia. Qed.

Lemma count_by_opens s : count false s = (2 * opens (rev s) - size s)%Z.
Proof.
  induction s as [|x s IH] using rev_ind; [reflexivity|].
  rewrite count_snoc, size_snoc, IH, rev_unit. destruct x; cbn [count_after opens]; lia.
Qed.

Lemma side_of_rev s : side_of (rev s) = (count false s ?= 0)%Z.
Proof.
  rewrite count_by_opens. unfold side_of. rewrite rev_length. fold (size s).
  destruct (Z.compare_spec (2 * opens (rev s)) (size s)), (Z.compare_spec (2 * opens (rev s) - size s) 0); lia || reflexivity.
Qed.

Lemma opening_sum_snoc ds d rs x : length rs = length ds ->
  opening_sum (ds ++ [d]) (rs ++ [x]) = (opening_sum ds rs + match x with Open => d | Close => 0 end)%Z.
Proof.
  revert rs. induction ds as [|e ds IH]; intros [|y rs]; cbn [length app opening_sum]; try discriminate; intros same.
  - destruct x; lia.
  - injection same as same. rewrite IH by exact same. lia.
Qed.

Section Sound.

Variables U D S : positive.
Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.
Variable w : whole_network.
Hypothesis is_whole : whole_network_of D S n a = Some w.
Hypothesis one_matrix : same_matrix (M_open w) (M_close w) = true.
Variable which : lengths.
Variable l : line.
Variable questions : list ask.

Local Notation K := (inject_Z (Zpos (U * S))).
Local Notation UQ := (inject_Z (Zpos U)).

(** What is known of all strings of a length. *)
Definition known (k : walk) (ds : list Z) : Prop :=
  forall rs, length rs = length ds ->
    near UQ (entries (its_row k)) (fst (pulled a l rs)) (off (its_row k)) /\
    close (output (pulled a l rs) (initial n) * K) (value k + opening_sum ds rs) (error k).

Definition sound_walk (k : walk) : Prop :=
  (0 <= off (its_row k))%Z /\
  exists ds, tokens k = Z.of_nat (length ds) /\ are_halves (terms k) ds /\ known k ds /\
    (good k = true -> answers_to n which l questions (tokens k)).

Lemma matrix_is x : is_matrix (inject_Z (Zpos D)) (M_open w) (lines_after a x).
Proof.
  destruct (whole_network_is _ _ _ _ _ is_whole Open) as [first _].
  destruct (whole_network_is _ _ _ _ _ is_whole Close) as [second _].
  destruct x; [exact first | eapply same_matrix_is; eassumption].
Qed.

Lemma K_is : K == UQ * inject_Z (Zpos S).
Proof. now rewrite <- inject_Z_mult. Qed.

Lemma constant_close (x : Q) :
  close (x * K) (times_down x (Zpos (U * S))) (if is_exact (U * S) x then 0 else 1).
Proof.
  unfold close. destruct (is_exact (U * S) x) eqn:exact.
  - rewrite (times_down_exact _ _ exact). change (inject_Z 0) with 0. lra.
  - pose proof (times_down_near x (Zpos (U * S))). change (inject_Z 1) with 1. lra.
Qed.

Lemma nothing_to_answer : answers_to n which l questions 0.
Proof. intros s [not_empty _] short. destruct s; [now destruct not_empty | unfold size in short; cbn in short; lia]. Qed.

Lemma first_is_sound : sound_walk (walk_from U S n l).
Proof.
  split; [cbn; destruct (forallb _ _); lia|]. exists []. split; [reflexivity|].
  split; [apply no_terms_are_halves|]. split; [|intros _; apply nothing_to_answer].
  intros [|x rs]; [intros _ | discriminate]. split; [apply first_row_near|].
  cbn [walk_from value error opening_sum]. rewrite Z.add_0_r. apply constant_close.
Qed.

Lemma known_next k ds : (0 <= off (its_row k))%Z -> known k ds ->
  let r := its_row k in
  let opened := dotZ (entries r) (v_open w) in
  let closed := dotZ (entries r) (v_close w) in
  forall rs, length rs = length (ds ++ [(opened - closed)%Z]) ->
    near UQ (entries (next_row (Zpos D) (M_open w) (growth (M_open w)) r)) (fst (pulled a l rs))
      (off (next_row (Zpos D) (M_open w) (growth (M_open w)) r)) /\
    close (output (pulled a l rs) (initial n) * K)
      (value k + closed + opening_sum (ds ++ [(opened - closed)%Z]) rs) (error k + off r * reach w).
Proof.
  intros some before r opened closed rs long. rewrite app_length in long. cbn in long.
  destruct rs as [|x rs _] using rev_ind; [cbn in long; lia|]. rewrite app_length in long. cbn in long.
  assert (length rs = length ds) as same by lia. destruct (before rs same) as [row_near value_close].
  rewrite pulled_snoc. split.
  - apply next_row_near; [lia | exact some | apply matrix_is | lia | exact row_near].
  - rewrite opening_sum_snoc by exact same.
    apply (close_eq (output (pulled a l rs) (initial n) * K + dot (fst (pulled a l rs)) (moved n x) * (UQ * inject_Z (Zpos S)))).
    + rewrite (pull_moves n a is_affine), <- K_is. ring.
    + destruct (whole_network_is _ _ _ _ _ is_whole x) as [_ vector].
      pose proof (near_dot _ _ _ _ _ _ _ row_near vector) as moved_close.
      replace (value k + closed + (opening_sum ds rs + match x with Open => opened - closed | Close => 0 end))%Z
        with (value k + opening_sum ds rs + dotZ (entries r) (vector_of w x))%Z by (destruct x; cbn [vector_of]; lia).
      apply close_plus; [exact value_close|]. eapply close_weaken; [|exact moved_close].
      apply Z.mul_le_mono_nonneg_l; [exact some|]. unfold reach. destruct x; cbn [vector_of]; lia.
Qed.

Lemma meets_sound k ds question s : are_halves (terms k) ds -> known k ds -> length s = length ds ->
  meets k question = true -> answers n l s question.
Proof.
  intros halves_are known_k same met sign. destruct question as [side strictly]. cbn [fst snd] in *.
  assert (length (rev s) = length ds) as same' by now rewrite rev_length.
  destruct (known_k _ same') as [_ [bound _]]. rewrite <- (pulled_is n a is_affine) in bound.
  pose proof (least_sound _ _ halves_are _ same') as least_is. rewrite side_of_rev, sign in least_is.
  pose proof (sizes_of_halves _ _ halves_are _ same') as parity.
  assert (0 < K) as positive by reflexivity.
  assert ((if strictly then error k < value k + least (terms k) side else error k <= value k + least (terms k) side)%Z) as low.
  { unfold meets in met. cbn [fst snd] in met.
    destruct side, (even (terms k)); destruct strictly; try (now apply Z.ltb_lt); try (now apply Z.leb_le); exfalso.
    all: rewrite count_by_opens, Z.compare_eq_iff in sign; rewrite rev_length in parity; fold (size s) in parity; lia. }
  unfold above_zero. rewrite inject_Z_plus in bound. rewrite Zle_Qle in least_is. set (y := output l (state_after n s)) in *.
  destruct strictly; [rewrite Zlt_Qlt, inject_Z_plus in low | rewrite Zle_Qle, inject_Z_plus in low].
  - assert (0 < y * K) by lra. destruct (Qlt_le_dec 0 y) as [|negative]; [assumption | nra].
  - assert (0 <= y * K) by lra. destruct (Qlt_le_dec y 0) as [negative|]; [nra | assumption].
Qed.

Lemma walk_on_sound k : sound_walk k ->
  sound_walk (walk_on D w (growth (M_open w)) (reach w) which questions k).
Proof.
  intros before. unfold walk_on. destruct (good k) eqn:was_good; [|exact before].
  destruct before as (some & ds & long & halves_are & known_k & answered). specialize (answered was_good).
  set (x := (dotZ (entries (its_row k)) (v_open w) - dotZ (entries (its_row k)) (v_close w))%Z).
  set (next := {| tokens := tokens k + 1 |}).
  assert (0 <= off (its_row next))%Z as some'.
  { apply next_row_off; [lia | apply growth_nonneg | exact some]. }
  assert (tokens next = Z.of_nat (length (ds ++ [x]))) as long'.
  { rewrite app_length. cbn [next tokens length]. rewrite long. lia. }
  assert (are_halves (terms next) (ds ++ [x])) as halves' by (apply add_term_halves, halves_are).
  assert (known next (ds ++ [x])) as known' by exact (known_next k ds some known_k).
  assert ((tokens next mod stride which =? 0)%Z && negb (forallb (meets next) questions) = false ->
    answers_to n which l questions (tokens next)) as all.
  { intros fine s is_counted short. destruct (Z.eq_dec (size s) (tokens next)) as [last|].
    - destruct is_counted as [_ divides]. rewrite last in divides.
      apply Z.mod_divide in divides; [|destruct which; discriminate]. rewrite divides in fine. cbn in fine.
      apply Bool.negb_false_iff in fine. rewrite forallb_forall in fine. apply Forall_forall. intros question member.
      apply (meets_sound next (ds ++ [x])); auto. unfold size in last. rewrite long' in last. lia.
    - apply answered; [exact is_counted|]. cbn [next tokens] in *. lia. }
  destruct ((tokens next mod stride which =? 0)%Z && negb (forallb (meets next) questions)) eqn:judged.
  - split; [exact some'|]. exists (ds ++ [x]). split; [exact long'|]. split; [exact halves'|]. split; [exact known' | discriminate].
  - split; [exact some'|]. exists (ds ++ [x]). split; [exact long'|]. split; [exact halves'|]. split; [exact known' | intros _].
    now apply all.
Qed.

Lemma walk_to_sound horizon : sound_walk (walk_to U D S n w which l questions horizon).
Proof. unfold walk_to. apply iter_keeps; [exact walk_on_sound | exact first_is_sound]. Qed.

Lemma sorted_sound horizon : sorted U D S n w which l questions horizon = true -> answers_to n which l questions horizon.
Proof.
  unfold sorted. rewrite Bool.andb_true_iff, Z.leb_le. intros [is_good far].
  destruct (walk_to_sound horizon) as (_ & ds & _ & _ & _ & answered).
  intros s is_counted short. apply answered; [exact is_good | exact is_counted | lia].
Qed.

End Sound.
