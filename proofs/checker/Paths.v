(** All strings of a network with one matrix for each token, where the two commute, by the least of all lattice paths.

    What a row becomes along a string depends only on how many of each bracket there are. So the least value of a line over all strings with
    given numbers of brackets follows from those that are one token shorter. *)

From Coq Require Import Lqa.
From Coq Require Import Permutation.
From Tallystick.checker Require Import Networks Classes Boxes Affine Rows Whole Halves Sorting Counting Along.

(** * Matrices that commute *)

Definition commute (a : affine) : bool :=
  same_length (opening a) (closing a) &&
  forallb (fun pair => no_row (row_minus (row_before (opening a) (fst (snd pair))) (row_before (closing a) (fst (fst pair)))))
    (combine (opening a) (closing a)).

(** What the rows of lines give. *)
Definition image (ls : list line) (u : list Q) : list Q := map (fun l => dot (fst l) u) ls.

Lemma dot_combine v ls c u : dot (fst (combine_lines v ls c)) u == dot v (image ls u).
Proof.
  revert ls. induction v as [|x v IH]; intros [|l ls]; cbn [combine_lines image map dot fst]; try (now destruct u).
  pose proof (output_plus x (combine_lines v ls c) l u) as same. unfold line_plus in *.
  destruct (Z.eqb_spec (Qnum x) 0) as [none|].
  - assert (x == 0) as -> by (unfold Qeq; cbn; lia). rewrite IH. unfold image. ring.
  - cbn [fst]. rewrite dot_plus, IH. unfold image. ring.
Qed.

Lemma dot_pull ls l u : dot (fst (pull ls l)) u == dot (fst l) (image ls u).
Proof. apply dot_combine. Qed.

Lemma dot_row_before_image ls r u : dot (row_before ls r) u == dot r (image ls u).
Proof. apply (dot_combine r ls 0 u). Qed.

Definition same_rows (r r' : list Q) : Prop := forall u, dot r u == dot r' u.

Lemma dot_image_same v A B : Forall2 (fun x y => x == y) A B -> dot v A == dot v B.
Proof. intros all. revert v. induction all as [|x y A B same _ IH]; intros [|z v]; cbn; try reflexivity. now rewrite IH, same. Qed.

Section Commuting.

Variable a : affine.
Hypothesis commuting : commute a = true.

Lemma images_commute u : Forall2 (fun x y => x == y) (image (opening a) (image (closing a) u)) (image (closing a) (image (opening a) u)).
Proof.
  unfold commute in commuting. apply Bool.andb_true_iff in commuting. destruct commuting as [same all].
  apply same_length_is in same. rewrite forallb_forall in all. unfold image at 1 3.
  remember (image (closing a) u) as bu. remember (image (opening a) u) as au.
  assert (forall l m, In (l, m) (combine (opening a) (closing a)) -> dot (fst l) bu == dot (fst m) au) as each.
  { intros l m member. apply all in member. cbn [fst snd] in member. apply (no_row_is _ u) in member.
    rewrite dot_minus, !dot_row_before_image in member. subst. lra. }
  clear all commuting Heqbu Heqau. revert same each. generalize (closing a). induction (opening a) as [|l ls IH]; intros [|m ms]; cbn; try discriminate.
  - constructor.
  - intros [= same] each. constructor; [apply each; now left | apply IH; auto].
Qed.

Lemma pulled_congruent l m rs : same_rows (fst l) (fst m) -> same_rows (fst (pulled a l rs)) (fst (pulled a m rs)).
Proof.
  revert l m. induction rs as [|x rs IH]; intros l m same; [exact same|]. cbn. apply IH. intros u. rewrite !dot_pull. apply same.
Qed.

Lemma pulled_permuted rs rs' : Permutation rs rs' -> forall l, same_rows (fst (pulled a l rs)) (fst (pulled a l rs')).
Proof.
  induction 1 as [| x rs rs' _ IH | x y rs | rs rs' rs'' _ IH _ IH']; intros l.
  - intros u. reflexivity.
  - cbn. apply IH.
  - cbn. apply pulled_congruent. intros u. rewrite !dot_pull.
    destruct x, y; try reflexivity; cbn [lines_after].
    + symmetry. apply dot_image_same, images_commute.
    + apply dot_image_same, images_commute.
  - intros u. transitivity (dot (fst (pulled a l rs')) u); [apply IH | apply IH'].
Qed.

End Commuting.

Lemma nth_by_dot r j : dot r (repeat 0 j ++ [1]) == nth j r 0.
Proof.
  revert r. induction j as [|j IH]; intros [|x r]; cbn; try reflexivity; [destruct r; cbn; ring|]. rewrite IH. ring.
Qed.

Lemma near_same U R r r' E : same_rows r r' -> near U R r E -> near U R r' E.
Proof.
  intros same all j. apply (close_eq (nth j r 0 * U)); [|apply all]. pose proof (same (repeat 0 j ++ [1])) as equal. rewrite !nth_by_dot in equal. now rewrite equal.
Qed.

(** Strings with as many of each bracket. *)
Lemma same_opens_permute rs rs' : length rs = length rs' -> opens rs = opens rs' -> Permutation rs rs'.
Proof.
  revert rs'. induction rs as [|x rs IH]; intros [|y rs']; try discriminate; [reflexivity|].
  intros [= same] equal. cbn [opens] in equal.
  destruct x, y; try (apply perm_skip, IH; lia).
  - destruct (in_dec (fun x y : token => ltac:(decide equality)) Open rs') as [member | none].
    + apply in_split in member. destruct member as (u & v & ->).
      rewrite (IH (u ++ Close :: v)).
      * rewrite <- Permutation_middle, <- (Permutation_middle u v Open). apply perm_swap.
      * rewrite app_length in *. cbn [length] in *. exact same.
      * rewrite opens_app in *. cbn [opens] in *. lia.
    + exfalso. assert (opens rs' = 0)%Z.
      { clear - none. induction rs' as [|y rs' IH]; [reflexivity|]. cbn [opens]. destruct y; [exfalso; apply none; now left|].
        rewrite IH; [reflexivity | intros member; apply none; now right]. }
      pose proof (opens_bounds rs). lia.
  - destruct (in_dec (fun x y : token => ltac:(decide equality)) Close rs') as [member | none].
    + apply in_split in member. destruct member as (u & v & ->).
      rewrite (IH (u ++ Open :: v)).
      * rewrite <- Permutation_middle, <- (Permutation_middle u v Close). apply perm_swap.
      * rewrite app_length in *. cbn [length] in *. exact same.
      * rewrite opens_app in *. cbn [opens] in *. lia.
    + exfalso. assert (opens rs' = Z.of_nat (length rs'))%Z.
      { clear - none. induction rs' as [|y rs' IH]; [reflexivity|]. cbn [opens length]. destruct y; [|exfalso; apply none; now left].
        rewrite IH; [lia | intros member; apply none; now right]. }
      pose proof (opens_bounds rs). lia.
Qed.

Lemma one_less rs : (1 <= opens rs)%Z -> exists rs', length rs' = length rs /\ opens rs' = (opens rs - 1)%Z.
Proof.
  induction rs as [|[] rs IH]; cbn [opens]; [lia | intros _ | intros some].
  - exists (Close :: rs). cbn [opens length]. lia.
  - destruct IH as (rs' & long & less); [lia|]. exists (Close :: rs'). cbn [opens length]. lia.
Qed.

(** * Tables *)

(** Of all strings with so many opening brackets: their row, and what the value is at least. *)
Record node := { opened : Z; node_row : row; low_value : Z }.

Section Tables.

Variable D : positive.
Variable w : whole_network.
Variables G_open G_close size_open size_close : Z.

Definition row_after (x : token) (e : node) : row :=
  next_row (Zpos D) (matrix_after w x) (match x with Open => G_open | Close => G_close end) (node_row e).

Definition low_after (x : token) (e : node) : Z :=
  let r := node_row e in
  (low_value e + dotZ (entries r) (vector_of w x) - off r * match x with Open => size_open | Close => size_close end)%Z.

Fixpoint next_from (prev : node) (rest : list node) : list node :=
  match rest with
  | [] => [{| opened := opened prev + 1; node_row := row_after Open prev; low_value := low_after Open prev |}]
  | e :: rest =>
      {| opened := opened prev + 1; node_row := row_after Open prev;
         low_value := Z.min (low_after Open prev) (low_after Close e) |} :: next_from e rest
  end.

Definition next_table (table : list node) : list node :=
  match table with
  | [] => []
  | e :: rest => {| opened := opened e; node_row := row_after Close e; low_value := low_after Close e |} :: next_from e rest
  end.

End Tables.

Record trail := { far : Z; table : list node; all_good : bool }.

Definition node_meets (tokens : Z) (questions : list ask) (e : node) : bool :=
  let side := (2 * opened e ?= tokens)%Z in
  forallb (fun question : ask =>
    match side, fst question with
    | Lt, Lt | Eq, Eq | Gt, Gt => if snd question then (0 <? low_value e)%Z else (0 <=? low_value e)%Z
    | _, _ => true
    end) questions.

Definition trail_on (D : positive) (w : whole_network) (G H s u : Z) (which : lengths) (questions : list ask) (k : trail) : trail :=
  if all_good k then
    let next := (far k + 1)%Z in
    let nodes := next_table D w G H s u (table k) in
    {| far := next; table := nodes;
       all_good := if (next mod stride which =? 0)%Z then forallb (node_meets next questions) nodes else true |}
  else k.

Definition trail_from (U T : positive) (n : network) (l : line) : trail :=
  let C := output l (initial n) in
  {| far := 0; table := [{| opened := 0; node_row := first_row U (fst l); low_value := times_down C (Zpos (U * T)) |}];
     all_good := true |}.

Definition trail_to (U D T : positive) (n : network) (w : whole_network) (which : lengths) (l : line) (questions : list ask)
    (horizon : Z) : trail :=
  Z.iter horizon
    (trail_on D w (growth (M_open w)) (growth (M_close w)) (sizes (v_open w)) (sizes (v_close w)) which questions)
    (trail_from U T n l).

Definition least_paths (U D T : positive) (n : network) (w : whole_network) (which : lengths) (l : line) (questions : list ask)
    (horizon : Z) : bool :=
  let k := trail_to U D T n w which l questions horizon in
  all_good k && (horizon <=? far k)%Z.

(** * Soundness *)

Section Sound.

Variables U D T : positive.
Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.
Hypothesis commuting : commute a = true.
Variable w : whole_network.
Hypothesis is_whole : whole_network_of D T n a = Some w.
Variable which : lengths.
Variable l : line.
Variable questions : list ask.

Local Notation K := (inject_Z (Zpos (U * T))).
Local Notation UQ := (inject_Z (Zpos U)).
Local Notation after := (row_after D w (growth (M_open w)) (growth (M_close w))).
Local Notation lowest := (low_after w (sizes (v_open w)) (sizes (v_close w))).
Local Notation next := (next_table D w (growth (M_open w)) (growth (M_close w)) (sizes (v_open w)) (sizes (v_close w))).
Local Notation nexts := (next_from D w (growth (M_open w)) (growth (M_close w)) (sizes (v_open w)) (sizes (v_close w))).

(** What a node says of a string. *)
Definition row_holds (r : row) (rs : string) : Prop :=
  (0 <= off r)%Z /\ near UQ (entries r) (fst (pulled a l rs)) (off r).

Definition low_holds (low : Z) (rs : string) : Prop := inject_Z low <= output (pulled a l rs) (initial n) * K.

Definition node_holds (tokens : nat) (e : node) : Prop :=
  (0 <= opened e)%Z /\
  forall rs, length rs = tokens -> opens rs = opened e -> row_holds (node_row e) rs /\ low_holds (low_value e) rs.

Lemma row_after_holds x e rs : row_holds (node_row e) rs -> row_holds (after x e) (rs ++ [x]).
Proof.
  intros [some row_near]. destruct (whole_network_is _ _ _ _ _ is_whole x) as [matrix _]. split.
  - destruct x; apply next_row_off; auto using growth_nonneg; lia.
  - rewrite pulled_snoc. destruct x; (apply next_row_near; [lia | exact some | exact matrix | apply Z.le_refl | exact row_near]).
Qed.

Lemma low_after_holds x e rs : row_holds (node_row e) rs -> low_holds (low_value e) rs -> low_holds (lowest x e) (rs ++ [x]).
Proof.
  intros [some row_near] low. destruct (whole_network_is _ _ _ _ _ is_whole x) as [_ vector].
  destruct (near_dot _ _ _ _ _ _ _ row_near vector) as [bound _]. unfold low_holds in *.
  rewrite pulled_snoc, (pull_moves n a is_affine), Qmult_plus_distr_l.
  assert (K == UQ * inject_Z (Zpos T)) as K_split by now rewrite <- inject_Z_mult.
  rewrite <- K_split in bound. unfold low_after.
  unfold Z.sub. rewrite !inject_Z_plus, inject_Z_opp. destruct x; cbn [vector_of] in *; lra.
Qed.

Lemma same_counts_same_row r rs rs' : length rs = length rs' -> opens rs = opens rs' -> row_holds r rs -> row_holds r rs'.
Proof.
  intros long equal [some row_near]. split; [exact some|]. eapply near_same; [|exact row_near].
  apply pulled_permuted; [exact commuting | now apply same_opens_permute].
Qed.

Lemma node_after tokens prev e : node_holds tokens prev -> (forall cur, e = Some cur -> node_holds tokens cur /\ opened cur = (opened prev + 1)%Z) ->
  (e = None -> opened prev = Z.of_nat tokens) ->
  node_holds (S tokens) {| opened := opened prev + 1; node_row := after Open prev;
    low_value := match e with Some cur => Z.min (lowest Open prev) (lowest Close cur) | None => lowest Open prev end |}.
Proof.
  intros [positive holds_prev] holds_cur last. split; cbn [opened node_row low_value]; [lia|].
  intros rs long equal. destruct rs as [|x rs _] using rev_ind; [discriminate|].
  rewrite app_length in long. cbn in long. rewrite opens_app in equal. cbn [opens] in equal.
  assert (length rs = tokens) as short by lia. destruct x.
  - destruct (holds_prev rs short ltac:(lia)) as [row_h low_h]. split; [now apply row_after_holds|].
    assert (low_holds (lowest Open prev) (rs ++ [Open])) as low_p by now apply low_after_holds.
    destruct e as [cur|]; [|exact low_p]. unfold low_holds in *. eapply Qle_trans; [|exact low_p]. rewrite <- Zle_Qle. lia.
  - destruct e as [cur|].
    + destruct (holds_cur cur eq_refl) as [[_ holds_c] follows_]. destruct (holds_c rs short ltac:(lia)) as [row_h low_h]. split.
      * destruct (one_less rs ltac:(lia)) as (rs' & long' & less').
        destruct (holds_prev rs' ltac:(lia) ltac:(lia)) as [row_p _].
        apply (same_counts_same_row _ (rs' ++ [Open])); [rewrite !app_length; cbn; lia | rewrite !opens_app; cbn [opens]; lia|].
        now apply row_after_holds.
      * assert (low_holds (lowest Close cur) (rs ++ [Close])) as low_c by now apply low_after_holds.
        unfold low_holds in *. eapply Qle_trans; [|exact low_c]. rewrite <- Zle_Qle. lia.
    + pose proof (opens_bounds rs). specialize (last eq_refl). lia.
Qed.

(** Nodes one after the other, to the last. *)
Fixpoint chain (k : Z) (nodes : list node) (tokens : nat) : Prop :=
  match nodes with
  | [] => k = (Z.of_nat tokens + 1)%Z
  | e :: rest => opened e = k /\ node_holds tokens e /\ chain (k + 1) rest tokens
  end.

Lemma nexts_chain tokens prev rest : node_holds tokens prev -> chain (opened prev + 1) rest tokens ->
  chain (opened prev + 1) (nexts prev rest) (S tokens).
Proof.
  revert prev. induction rest as [|e rest IH]; intros prev holds_prev chained; cbn [next_from].
  - cbn [chain] in *. split; [reflexivity|]. split; [|cbn [opened]; lia].
    apply (node_after tokens prev None); [exact holds_prev | discriminate | intros _; lia].
  - destruct chained as (place_ & holds_e & chained). cbn [chain]. split; [reflexivity|]. split.
    + apply (node_after tokens prev (Some e)); [exact holds_prev | intros cur [= <-]; now split | discriminate].
    + rewrite <- place_. apply IH; [exact holds_e | now rewrite place_].
Qed.

Lemma next_chain tokens nodes : chain 0 nodes tokens -> chain 0 (next nodes) (S tokens).
Proof.
  destruct nodes as [|e rest]; cbn [chain next_table]; [lia|]. intros (zero & [positive holds_e] & chained).
  split; [exact zero|]. split.
  - split; cbn [opened node_row low_value]; [lia|]. intros rs long equal.
    destruct rs as [|x rs _] using rev_ind; [discriminate|]. rewrite app_length in long. cbn in long.
    rewrite opens_app in equal. cbn [opens] in equal. pose proof (opens_bounds rs).
    destruct x; [lia|]. destruct (holds_e rs ltac:(lia) ltac:(lia)) as [row_h low_h].
    split; [now apply row_after_holds | now apply low_after_holds].
  - rewrite <- zero. replace (opened e + 1)%Z with (opened e + 1)%Z by reflexivity.
    apply nexts_chain; [now split | now rewrite zero].
Qed.

Lemma chain_in k nodes tokens o : chain k nodes tokens -> (k <= o <= Z.of_nat tokens)%Z ->
  exists e, In e nodes /\ opened e = o /\ node_holds tokens e.
Proof.
  revert k. induction nodes as [|e nodes IH]; cbn [chain]; intros k; [lia|]. intros (place_ & holds_e & chained) inside.
  destruct (Z.eq_dec o k) as [->|]; [exists e; cbn; auto|].
  destruct (IH _ chained ltac:(lia)) as (f & member & rest). exists f. cbn. auto.
Qed.

Definition sound_trail (k : trail) : Prop :=
  all_good k = true -> exists tokens, far k = Z.of_nat tokens /\ chain 0 (table k) tokens /\ answers_to n which l questions (far k).

Lemma meets_answers tokens nodes s : chain 0 nodes tokens -> length s = tokens ->
  forallb (node_meets (Z.of_nat tokens) questions) nodes = true -> Forall (answers n l s) questions.
Proof.
  intros chained long all. apply Forall_forall. intros [side strictly] member sign. cbn [fst snd] in *.
  assert (length (rev s) = tokens) as long' by now rewrite rev_length.
  pose proof (opens_bounds (rev s)) as bounds. rewrite long' in bounds.
  destruct (chain_in _ _ _ (opens (rev s)) chained ltac:(lia)) as (e & inside & equal & [_ holds_e]).
  destruct (holds_e _ long' (eq_sym equal)) as [_ low]. unfold low_holds in low. rewrite <- (pulled_is n a is_affine) in low.
  rewrite forallb_forall in all. apply all in inside. unfold node_meets in inside. rewrite forallb_forall in inside.
  apply inside in member. cbn [fst snd] in member. rewrite equal, <- long' in member.
  fold (side_of (rev s)) in member. rewrite side_of_rev, sign in member.
  assert ((if strictly then 0 <? low_value e else 0 <=? low_value e)%Z = true) as positive by (destruct side; exact member).
  assert (0 < K) by reflexivity. set (y := output l (state_after n s)) in *. unfold above_zero. destruct strictly.
  - apply Z.ltb_lt in positive. rewrite Zlt_Qlt in positive. change (inject_Z 0) with 0 in positive.
    destruct (Qlt_le_dec 0 y); [assumption | nra].
  - apply Z.leb_le in positive. rewrite Zle_Qle in positive. change (inject_Z 0) with 0 in positive.
    destruct (Qlt_le_dec y 0); [nra | assumption].
Qed.

Lemma trail_on_sound k : sound_trail k ->
  sound_trail (trail_on D w (growth (M_open w)) (growth (M_close w)) (sizes (v_open w)) (sizes (v_close w)) which questions k).
Proof.
  intros before. unfold trail_on. destruct (all_good k) eqn:was_good; [|intros now_good; congruence].
  destruct (before was_good) as (tokens & far_is & chained & answered). intros is_good. cbn [far table all_good] in *.
  exists (S tokens). split; [lia|]. apply next_chain in chained as chained'. split; [exact chained'|].
  intros s is_counted short. destruct (Z.eq_dec (size s) (far k + 1)) as [last|]; [|apply answered; [assumption | lia]].
  destruct is_counted as [_ divides]. rewrite last in divides. apply Z.mod_divide in divides; [|destruct which; discriminate].
  rewrite divides in is_good. cbn in is_good. unfold size in last.
  apply (meets_answers (S tokens) (next (table k))); [exact chained' | lia|].
  replace (Z.of_nat (S tokens)) with (far k + 1)%Z by lia. exact is_good.
Qed.

Lemma trail_from_sound : sound_trail (trail_from U T n l).
Proof.
  intros _. exists 0%nat. split; [reflexivity|]. split; [|apply nothing_to_answer].
  cbn [trail_from table chain opened]. split; [reflexivity|]. split; [|lia].
  split; cbn [opened node_row low_value]; [lia|]. intros [|x rs]; [intros _ _ | discriminate]. split.
  - split; [cbn; destruct (forallb _ _); lia | apply first_row_near].
  - apply times_down_below.
Qed.

Lemma least_paths_sound horizon : least_paths U D T n w which l questions horizon = true ->
  answers_to n which l questions horizon.
Proof.
  unfold least_paths. rewrite Bool.andb_true_iff, Z.leb_le. intros [is_good reached].
  assert (sound_trail (trail_to U D T n w which l questions horizon)) as sound.
  { unfold trail_to. apply iter_keeps; [exact trail_on_sound | exact trail_from_sound]. }
  destruct (sound is_good) as (tokens & _ & _ & answered). intros s is_counted short. apply answered; [exact is_counted | lia].
Qed.

End Sound.
