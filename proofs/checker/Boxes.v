(** Programs on boxes: bounds in whole numbers of one small unit, rounded outwards.

    The unit 1 / U is a hint from outside, on which nothing rests: a coarse one may leave a class open, and where U is a multiple of
    all denominators nothing is rounded at all. *)

From Coq Require Import Lqa.
From Coq Require Import Qround.
From Tallystick.checker Require Import Networks Classes.

Record box := { low : Z; high : Z }.

Section Unit.

Variable U : positive.

(** x, in units, lies in a box. *)
Definition within (x : Q) (b : box) : Prop := inject_Z (low b) <= x * inject_Z (Zpos U) <= inject_Z (high b).

(** * Rounding *)

Definition times_down (w : Q) (z : Z) : Z := (Qnum w * z / Zpos (Qden w))%Z.
Definition times_up (w : Q) (z : Z) : Z := (- (Qnum w * - z / Zpos (Qden w)))%Z.

Lemma times_down_below w z : inject_Z (times_down w z) <= w * inject_Z z.
Proof.
  apply Qle_trans with (inject_Z (Qfloor (w * inject_Z z))); [|apply Qfloor_le].
  unfold times_down, Qfloor, Qmult, inject_Z. destruct w as [n d]. cbn [Qnum Qden]. rewrite Pos.mul_1_r. apply Qle_refl.
Qed.

Lemma times_up_above w z : w * inject_Z z <= inject_Z (times_up w z).
Proof.
  pose proof (times_down_below w (- z)) as below. unfold times_up. fold (times_down w (- z)).
  rewrite inject_Z_opp in below |- *. lra.
Qed.

Global Opaque times_down times_up.

(** * Operations *)

Definition point (x : Q) : box := {| low := times_down x (Zpos U); high := times_up x (Zpos U) |}.

Definition plus (b c : box) : box := {| low := low b + low c; high := high b + high c |}.

Definition times (w : Q) (b : box) : box :=
  if (0 <=? Qnum w)%Z then {| low := times_down w (low b); high := times_up w (high b) |}
  else {| low := times_down w (high b); high := times_up w (low b) |}.

Lemma within_point x : within x (point x).
Proof. split; [apply times_down_below | apply times_up_above]. Qed.

Lemma within_plus x y b c : within x b -> within y c -> within (x + y) (plus b c).
Proof. unfold within, plus. cbn. rewrite !inject_Z_plus. lra. Qed.

Lemma within_times w x b : within x b -> within (w * x) (times w b).
Proof.
  unfold within, times. intros [above below].
  destruct (Z.leb_spec 0 (Qnum w)) as [positive | negative]; cbn [low high].
  - assert (0 <= w) by (unfold Qle; cbn; lia).
    pose proof (times_down_below w (low b)). pose proof (times_up_above w (high b)). split; nra.
  - assert (w <= 0) by (unfold Qle; cbn; lia).
    pose proof (times_down_below w (high b)). pose proof (times_up_above w (low b)). split; nra.
Qed.

Definition zero : box := {| low := 0; high := 0 |}.

Lemma within_zero : within 0 zero.
Proof. unfold within, zero. cbn [low high]. rewrite Qmult_0_l. split; apply Qle_refl. Qed.

Fixpoint box_at (boxes : list box) (p : place) : box :=
  match boxes with
  | [] => zero
  | b :: rest => if (p =? 0)%Z then b else box_at rest (p - 1)%Z
  end.

Definition all_within (xs : list Q) (bs : list box) : Prop := Forall2 within xs bs.

Lemma within_at xs bs p : all_within xs bs -> within (at_place xs p) (box_at bs p).
Proof.
  intros all. revert p. induction all as [|x b xs bs inside _ IH]; intros p; cbn; [apply within_zero|].
  destruct (p =? 0)%Z; [exact inside | apply IH].
Qed.

Definition positive_box (b : box) : box := {| low := Z.max 0 (low b); high := Z.max 0 (high b) |}.

Lemma within_positive x b : within x b -> within (positive_part x) (positive_box b).
Proof.
  unfold within, positive_part, positive_box. cbn [low high]. intros [above below].
  assert (0 < inject_Z (Zpos U)) by reflexivity.
  destruct (Qle_bool x 0) eqn:sign.
  - apply Qle_bool_iff in sign. rewrite Qmult_0_l. change 0 with (inject_Z 0). rewrite <- !Zle_Qle.
    assert (low b <= 0)%Z; [|lia]. rewrite Zle_Qle. change (inject_Z 0) with 0. nra.
  - assert (0 < x) by (apply Qnot_le_lt; rewrite <- Qle_bool_iff, sign; discriminate).
    assert (0 < x * inject_Z (Zpos U)) by nra.
    split.
    + destruct (Z.max_spec 0 (low b)) as [[_ ->]|[_ ->]]; [exact above | change (inject_Z 0) with 0; lra].
    + apply Qle_trans with (inject_Z (high b)); [exact below | rewrite <- Zle_Qle; lia].
Qed.

(** Sums and positive parts are all that rational cells are made of so far; a program with another operation is not covered. *)
Definition apply_boxes (o : operation) (boxes : list box) : option box :=
  match o with
  | Sum terms bias =>
      Some (fold_right (fun term total => plus (times (fst term) (box_at boxes (snd term))) total) (point bias) terms)
  | PositivePart p => Some (positive_box (box_at boxes p))
  | _ => None
  end.

Lemma apply_boxes_sound o xs bs b : all_within xs bs -> apply_boxes o bs = Some b -> within (apply o xs) b.
Proof.
  intros all. destruct o as [terms bias | p | | | |]; cbn; try discriminate; intros [= <-].
  - induction terms as [|[w p] terms IH]; cbn; [apply within_point|].
    apply within_plus; [apply within_times, within_at, all | exact IH].
  - apply within_positive, within_at, all.
Qed.

(** * Programs *)

Fixpoint operate_boxes (os : list operation) (boxes : list box) : option (list box) :=
  match os with
  | [] => Some boxes
  | o :: os => match apply_boxes o boxes with Some b => operate_boxes os (boxes ++ [b]) | None => None end
  end.

Definition run_boxes (p : program) (boxes : list box) : option (list box) :=
  match operate_boxes (operations p) boxes with
  | Some numbers => Some (map (box_at numbers) (results p))
  | None => None
  end.

Lemma operate_boxes_sound os xs bs cs : all_within xs bs -> operate_boxes os bs = Some cs ->
  all_within (fold_left (fun numbers o => numbers ++ [apply o numbers]) os xs) cs.
Proof.
  revert xs bs. induction os as [|o os IH]; cbn; intros xs bs all; [intros [= <-]; exact all|].
  destruct (apply_boxes o bs) as [b|] eqn:applied; [|discriminate]. apply IH.
  apply Forall2_app; [exact all | constructor; [|constructor]]. eapply apply_boxes_sound; eassumption.
Qed.

Lemma run_boxes_sound p xs bs cs : all_within xs bs -> run_boxes p bs = Some cs -> all_within (run_program p xs) cs.
Proof.
  unfold run_boxes, run_program. intros all.
  destruct (operate_boxes (operations p) bs) as [numbers|] eqn:operated; [intros [= <-] | discriminate].
  pose proof (operate_boxes_sound _ _ _ _ all operated) as inside.
  induction (results p) as [|q qs IH]; cbn; constructor; [apply within_at, inside | exact IH].
Qed.

(** * The class of all outputs in some boxes *)

Fixpoint dot_boxes (v : list Q) (bs : list box) : box :=
  match v, bs with
  | w :: v, b :: bs => plus (times w b) (dot_boxes v bs)
  | _, _ => zero
  end.

Definition output_box (l : line) (bs : list box) : box := plus (dot_boxes (fst l) bs) (point (snd l)).

Lemma within_output l xs bs : all_within xs bs -> within (output l xs) (output_box l bs).
Proof.
  intros all. apply within_plus; [|apply within_point]. generalize (fst l) as v.
  induction all as [|x b xs bs inside _ IH]; intros [|w v]; cbn; try apply within_zero.
  apply within_plus; [apply within_times, inside | apply IH].
Qed.

Definition sure_in (bs : list box) (ls : list line) (c : comparison) : bool :=
  let b := output_box (difference ls (greater c) (less c)) bs in
  if strict c then (0 <? low b)%Z else (0 <=? low b)%Z.

Definition sure_not_in (bs : list box) (ls : list line) (c : comparison) : bool :=
  let b := output_box (difference ls (greater c) (less c)) bs in
  if strict c then (high b <=? 0)%Z else (high b <? 0)%Z.

Definition given_in (n : network) (k : class) (state : list box) : bool :=
  match run_boxes (hidden n) state with
  | Some bs => surely_given (sure_in bs (lines n)) (sure_not_in bs (lines n)) (decision n) k
  | None => false
  end.

Lemma within_sign x b : within x b ->
  ((0 < low b)%Z -> 0 < x) /\ ((0 <= low b)%Z -> 0 <= x) /\ ((high b <= 0)%Z -> x <= 0) /\ ((high b < 0)%Z -> x < 0).
Proof.
  unfold within. intros [above below]. assert (0 < inject_Z (Zpos U)) by reflexivity.
  repeat split; intros sign; [rewrite Zlt_Qlt in sign | rewrite Zle_Qle in sign | rewrite Zle_Qle in sign |
    rewrite Zlt_Qlt in sign]; change (inject_Z 0) with 0 in sign; nra.
Qed.

Lemma given_in_sound n s k state : all_within (state_after n s) state -> given_in n k state = true -> gives n s k.
Proof.
  unfold given_in, gives, class_of, outputs. intros all.
  destruct (run_boxes (hidden n) state) as [bs|] eqn:shown; [|discriminate].
  pose proof (run_boxes_sound _ _ _ _ all shown) as inside.
  apply surely_given_sound; intros c sure; unfold sure_in, sure_not_in in sure;
    pose proof (within_sign _ _ (within_output (difference (lines n) (greater c) (less c)) _ _ inside)) as signs;
    destruct (strict c) eqn:is_strict.
  - apply compares_strict; [exact is_strict|]. apply signs. now apply Z.ltb_lt.
  - apply compares_weak; [exact is_strict|]. apply signs. now apply Z.leb_le.
  - apply compares_strict_not; [exact is_strict|]. apply signs. now apply Z.leb_le.
  - apply compares_weak_not; [exact is_strict|]. apply signs. now apply Z.ltb_lt.
Qed.

End Unit.
