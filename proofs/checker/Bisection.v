(** All strings of a linear unit with one factor U > 0 for both tokens, without going through the lengths: at each length one string
    decides, and ranges of lengths are halved. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Boxes Affine Sorting Tracks FewStrings Powers.

(** * What is asked of a line *)

Fixpoint all_settled {A} (settle : A -> option bool) (l : list A) : option bool :=
  match l with
  | [] => Some true
  | x :: l => match settle x with Some true => all_settled settle l | unsettled => unsettled end
  end.

Lemma all_settled_sound {A} (settle : A -> option bool) l : all_settled settle l = Some true ->
  forall x, In x l -> settle x = Some true.
Proof.
  induction l as [|y l IH]; cbn; [intros _ x []|]. destruct (settle y) as [[]|] eqn:one; try discriminate.
  intros rest x [<- | member]; auto.
Qed.

Section Asked.

Variable S : positive.
Variable U : Q.
Variable step : token -> Q.

Definition fixed (x : token) : Q := Qred (step x / (U - 1)).

(** Lines that a `(` pulls up, or a `)`. *)
Definition upward (w : Q) (per : token -> Q) : token := if Qle_bool 0 (w * (per Open - per Close)) then Open else Close.

(** The lengths 2 k + r for all k between two, with the powers of U to these. *)
Definition settle_question (w b : Q) (r i : Z) (x : box) (k : Z) (y : box) (question : ask) : option bool :=
  match fst question, r with
  | Eq, Zpos _ => Some true
  | side, _ =>
      if Qeq_bool U 1 then
        let z := upward w step in
        let at_length j := line_number step w b z (spot_of true (side_of_token z side) r) j r in
        Some (is_above_zero (snd question) (at_length i) && is_above_zero (snd question) (at_length k))
      else
        let z := upward w fixed in
        let q := line_quadratic U fixed w b z (spot_of (Qle_bool 1 U) (side_of_token z side) r) r in
        settle_range S U q (snd question) i x k y
  end.

Variable weight : token -> Q.
Hypothesis positive : 0 < U.
Hypothesis one_weight : forall x, weight x == U.

Lemma upward_is w per : 0 <= w * (per (upward w per) - per (other (upward w per))).
Proof.
  unfold upward. destruct (Qle_bool 0 (w * (per Open - per Close))) eqn:sign; cbn [other].
  - now apply Qle_bool_iff.
  - apply Bool.not_true_iff_false in sign. rewrite Qle_bool_iff in sign. lra.
Qed.

(** Where both ends of a line in k are fine, all between them are. *)
Lemma line_between w b z p r i j k : (i <= j <= k)%Z ->
  (0 < line_number step w b z p i r -> 0 < line_number step w b z p k r -> 0 < line_number step w b z p j r) /\
  (0 <= line_number step w b z p i r -> 0 <= line_number step w b z p k r -> 0 <= line_number step w b z p j r).
Proof.
  intros [first last]. assert (exists m c, forall n, line_number step w b z p n r == m * inject_Z n + c) as (m & c & is_line).
  { unfold line_number. set (A := w * step (other z)). set (B := w * (step z - step (other z))).
    destruct p as [| |d]; cbn [number_at].
    - exists (A * 2), (A * inject_Z r + b). intros n. rewrite inject_Z_plus, inject_Z_mult. change (inject_Z 2) with 2. change (inject_Z 0) with 0. ring.
    - exists ((A + B) * 2), ((A + B) * inject_Z r + b). intros n. rewrite !inject_Z_plus, inject_Z_mult. change (inject_Z 2) with 2. ring.
    - exists (A * 2 + B), (A * inject_Z r + B * inject_Z d + b). intros n.
      rewrite !inject_Z_plus, inject_Z_mult. change (inject_Z 2) with 2. ring. }
  rewrite !is_line. rewrite Zle_Qle in first, last. destruct (Qlt_le_dec m 0); split; nra.
Qed.

Lemma settle_question_sound w b r i x k y question s j :
  (r = 0 \/ r = 1)%Z -> (0 <= i)%Z -> within S (U ^ i) x -> within S (U ^ k) y -> (i <= j <= k)%Z -> size s = (2 * j + r)%Z ->
  settle_question w b r i x k y question = Some true ->
  (count false s ?= 0)%Z = fst question -> above_zero (snd question) (w * state_from weight step 0 s + b).
Proof.
  intros parity some in_x in_y order long settled sign. destruct question as [side strictly]. cbn [fst snd] in *.
  assert (side = Eq -> r = 1%Z -> False) as odd_.
  { intros -> ->. rewrite Z.compare_eq_iff, count_by_tally, long in sign. lia. }
  unfold settle_question in settled. cbn [fst snd] in settled.
  destruct (Qeq_bool U 1) eqn:one.
  - apply Qeq_bool_iff in one. set (z := upward w step) in *.
    eapply above_more; [apply (line_without_factor U weight step one_weight w b z side j r s); auto; apply upward_is|].
    set (at_length j := line_number step w b z (spot_of true (side_of_token z side) r) j r) in *.
    assert (is_above_zero strictly (at_length i) && is_above_zero strictly (at_length k) = true) as both.
    { destruct side, parity as [-> | ->]; try (exfalso; now apply odd_); now injection settled. }
    apply Bool.andb_true_iff in both. destruct both as [at_i at_k]. apply above_test in at_i, at_k.
    pose proof (line_between w b z (spot_of true (side_of_token z side) r) r i j k order) as [strict_ weak].
    unfold above_zero in *. destruct strictly; auto.
  - assert (~ U == 1) as not_one by (rewrite <- Qeq_bool_iff, one; discriminate). set (z := upward w fixed) in *.
    assert (forall x, step x == (U - 1) * fixed x) as fixed_is.
    { intros t. unfold fixed. rewrite Qred_correct. field. intros zero. apply not_one. lra. }
    set (rises := Qle_bool 1 U) in *.
    assert (if rises then 1 <= U else U <= 1) as way.
    { unfold rises. destruct (Qle_bool 1 U) eqn:large; [now apply Qle_bool_iff|].
      apply Bool.not_true_iff_false in large. rewrite Qle_bool_iff in large. lra. }
    eapply above_more; [apply (line_at_least U positive weight step one_weight fixed w b z side j r s fixed_is (upward_is w fixed) parity long sign rises way)|].
    set (q := line_quadratic U fixed w b z (spot_of rises (side_of_token z side) r) r) in *.
    assert (settle_range S U q strictly i x k y = Some true) as ranged.
    { destruct side, parity as [-> | ->]; try (exfalso; now apply odd_); exact settled. }
    exact (settle_range_sound S U q strictly positive i x k y some in_x in_y ranged j order).
Qed.

End Asked.

(** * Every counted length to a horizon *)

Definition weight_after (c : unit_cell) (x : token) : Q := match x with Open => fst (weights c) | Close => snd (weights c) end.
Definition step_after (c : unit_cell) (x : token) : Q := match x with Open => fst (steps c) | Close => snd (steps c) end.

(** One factor above zero for both tokens. *)
Definition has_one_factor (c : unit_cell) : bool :=
  negb (relu c) && Qeq_bool (weight_after c Close) (weight_after c Open) && negb (Qle_bool (weight_after c Open) 0).

Definition parities (which : lengths) : list Z := match which with AllLengths => [0; 1]%Z | EvenLengths => [0%Z] end.

Definition bisect (S : positive) (tracks : list track) (c : unit_cell) (ls : list line) (d : list (list comparison)) (t : task)
    (which : lengths) (horizon : Z) : option bool :=
  let n := network_of_unit c ls d in
  let U := weight_after c Open in
  match affine_of n with
  | Some a =>
      if has_one_factor c && tracks_suffice n t tracks then
        all_settled (fun r =>
          let i := (1 - r)%Z in
          let k := ((horizon - r) / 2)%Z in
          if (k <? i)%Z then Some true
          else
            let x := power S U i in
            let y := power S U k in
            all_settled (fun tr =>
              let l := line_of_track n a (fst tr) in
              all_settled (settle_question S U (step_after c) (hd 0 (fst l)) (snd l) r i x k y) (questions tr)) tracks)
          (parities which)
      else None
  | None => None
  end.

(** ** Soundness *)

Lemma unit_state c ls d s : relu c = false ->
  state_after (network_of_unit c ls d) s = [state_from (weight_after c) (step_after c) 0 s].
Proof.
  intros plain. induction s as [|x s IH] using rev_ind; [reflexivity|].
  rewrite state_snoc, IH. unfold state_from. rewrite fold_left_app. unfold step, network_of_unit, unit_step, run_program.
  destruct x; cbn [step_open step_close]; rewrite plain; reflexivity.
Qed.

Lemma unit_output c ls d s l : relu c = false -> output l (state_after (network_of_unit c ls d) s) ==
  hd 0 (fst l) * state_from (weight_after c) (step_after c) 0 s + snd l.
Proof.
  intros plain. rewrite unit_state by exact plain. destruct l as [[|w v] b]; unfold output; cbn [fst snd hd dot]; [ring|].
  destruct v; cbn [dot]; ring.
Qed.

Lemma has_one_factor_is c : has_one_factor c = true ->
  relu c = false /\ (forall x, weight_after c x == weight_after c Open) /\ 0 < weight_after c Open.
Proof.
  unfold has_one_factor. rewrite !Bool.andb_true_iff, !Bool.negb_true_iff. intros [[plain same] sign].
  apply Qeq_bool_iff in same. apply Bool.not_true_iff_false in sign. rewrite Qle_bool_iff in sign.
  repeat split; [exact plain | intros []; [reflexivity | exact same] | now apply Qnot_le_lt].
Qed.

Lemma bisect_sound S tracks c ls d t which horizon : bisect S tracks c ls d t which horizon = Some true ->
  right_to (gives (network_of_unit c ls d)) t which horizon.
Proof.
  unfold bisect. set (n := network_of_unit c ls d). destruct (affine_of n) as [a|] eqn:is_affine; [|discriminate].
  destruct (has_one_factor c) eqn:factor; [|discriminate]. destruct (tracks_suffice n t tracks) eqn:suffice; [|discriminate].
  cbn [andb]. destruct (has_one_factor_is c factor) as (plain & one_weight & positive). intros settled s [some divides] short.
  eapply tracks_give; [exact is_affine | exact suffice|]. apply Forall_forall. intros tr member. apply Forall_forall. intros question asked_.
  set (r := (size s mod 2)%Z). set (j := (size s / 2)%Z).
  assert (size s = 2 * j + r)%Z as long by (apply Z.div_mod; discriminate).
  assert (r = 0 \/ r = 1)%Z as parity by (pose proof (Z.mod_pos_bound (size s) 2 ltac:(lia)); fold r in H; lia).
  assert (1 <= size s)%Z as not_empty by (destruct s; [now destruct some | rewrite size_cons; unfold size; lia]).
  assert (In r (parities which)) as listed.
  { destruct which; cbn in *; [lia|]. apply Z.mod_divide in divides; [|discriminate]. fold r in divides. lia. }
  pose proof (all_settled_sound _ _ settled r listed) as by_parity. cbv beta zeta in by_parity.
  assert (1 - r <= j)%Z as first_ by lia.
  assert (j <= (horizon - r) / 2)%Z as last_ by (apply Z.div_le_lower_bound; lia).
  destruct (Z.ltb_spec ((horizon - r) / 2) (1 - r)); [lia|].
  pose proof (all_settled_sound _ _ by_parity tr member) as by_track. cbv beta zeta in by_track.
  pose proof (all_settled_sound _ _ by_track question asked_) as by_question.
  intros sign. assert (above_zero (snd question) (hd 0 (fst (line_of_track n a (fst tr))) * state_from (weight_after c) (step_after c) 0 s
    + snd (line_of_track n a (fst tr)))) as found.
  { eapply (settle_question_sound S (weight_after c Open) (step_after c) (weight_after c) positive one_weight); [exact parity | | | | | exact long | exact by_question | exact sign].
    - lia.
    - apply within_power; [exact positive | lia].
    - apply within_power; [exact positive | lia].
    - lia. }
  pose proof (unit_output c ls d s (line_of_track n a (fst tr)) plain) as same. fold n in same.
  unfold above_zero in *. destruct (snd question); rewrite same; exact found.
Qed.
