(** Dyck-1 and the state: a machine with one state and one counter accepts Dyck-1 only if its update looks at the zero check and
    some step is larger than 1; with both, steps of 2 suffice. *)

From Coq Require Import ZArith.
From Coq Require Vector.
From Tallystick Require Import Brackets Counter Verdict.

(** As many brackets of each kind, and no prefix that closes more than it opens. *)
Definition Dyck1 (s : string) : Prop :=
  BB s /\ forall t, (count Close (firstn t s) <= count Open (firstn t s))%nat.

(** * The counter that is odd once a prefix has closed too much *)

Definition parity_update (x : token) (nonzero : bool) : change :=
  match x, nonzero with
  | Open, _ => Add 2
  | Close, false => Add 1
  | Close, true => Add (-2)
  end.

Definition parity_counter : counter_machine token unit 1.
Proof.
  refine {|
    initial_state := tt;
    update := fun x _ check => one (parity_update x (Vector.hd check));
    transition := fun _ q _ => q;
    accepting := fun _ check => check = one false;
  |}.
  - exists [Open; Close]. intros []; cbn; tauto.
  - exists [tt]. intros []; cbn; tauto.
Defined.

Definition value {Q} (M : counter_machine token Q 1) (s : string) : Z := Vector.hd (snd (computation M s)).

Lemma one_is_all {A} (v : Vector.t A 1) : v = one (Vector.hd v).
Proof.
  apply (Vector.caseS' v (fun v => v = one (Vector.hd v))). intros x rest. unfold one. cbn. f_equal.
  now apply (Vector.case0 (fun v => v = Vector.nil A)).
Qed.

Lemma value_snoc (M : counter_machine token unit 1) s x :
  value M (s ++ [x]) = changed (Vector.hd (update M x tt (one (negb (Z.eqb (value M s) 0))))) (value M s).
Proof.
  unfold value, computation. rewrite fold_left_app. cbn [fold_left].
  destruct (fold_left (step M) s _) as [q c]. cbn [snd fst step]. destruct q. rewrite (one_is_all c).
  unfold zero_check. cbn [Vector.map one Vector.hd Vector.caseS snd].
  now rewrite (one_is_all (update M x tt _)).
Qed.

Lemma accepts_by_value (M : counter_machine token unit 1) s :
  machine_accepts M s <-> accepting M tt (one (negb (Z.eqb (value M s) 0))).
Proof.
  unfold machine_accepts, value. destruct (computation M s) as [q c]. destruct q. cbn [snd].
  now rewrite (one_is_all c) at 1.
Qed.

(** No prefix has closed too much, and the counter is twice the count; or one has, and the counter is odd. *)
Lemma parity_invariant s :
  (forall t, (count Close (firstn t s) <= count Open (firstn t s))%nat) /\ value parity_counter s = (2 * difference s)%Z \/
  (exists t, (count Open (firstn t s) < count Close (firstn t s))%nat) /\ Z.odd (value parity_counter s) = true.
Proof.
  induction s as [|x s IH] using rev_ind; [left; split; [now intros [] | reflexivity]|].
  rewrite value_snoc. set (c := value parity_counter s) in *. cbn [update parity_counter Vector.hd one Vector.caseS].
  destruct IH as [[fine twice] | [[t bad] odd]].
  - assert (0 <= difference s)%Z as nonneg.
    { specialize (fine (length s)). rewrite firstn_all in fine. unfold difference. lia. }
    assert (forall t, (t <= length s)%nat -> firstn t (s ++ [x]) = firstn t s) as shorter.
    { intros t small. rewrite firstn_app. replace (t - length s)%nat with 0%nat by lia. cbn. apply app_nil_r. }
    destruct (Z.eqb_spec c 0) as [zero | not_zero]; destruct x; cbn [parity_update negb changed].
    + left. split; [|unfold difference in *; autorewrite with snoc; lia]. intros t.
      destruct (Nat.le_gt_cases t (length s)); [now rewrite shorter|].
      rewrite firstn_all2 by (rewrite app_length; cbn; lia). autorewrite with snoc. unfold difference in *. lia.
    + right. split; [|now rewrite zero]. exists (length (s ++ [Close])). rewrite firstn_all. autorewrite with snoc.
      unfold difference in *. lia.
    + left. split; [|unfold difference in *; autorewrite with snoc; lia]. intros t.
      destruct (Nat.le_gt_cases t (length s)); [now rewrite shorter|].
      rewrite firstn_all2 by (rewrite app_length; cbn; lia). autorewrite with snoc. unfold difference in *. lia.
    + left. split; [|unfold difference in *; autorewrite with snoc; lia]. intros t.
      destruct (Nat.le_gt_cases t (length s)); [now rewrite shorter|].
      rewrite firstn_all2 by (rewrite app_length; cbn; lia). autorewrite with snoc. unfold difference in *. lia.
  - right. split.
    + destruct (Nat.le_gt_cases t (length s)).
      * exists t. rewrite firstn_app. replace (t - length s)%nat with 0%nat by lia. cbn. now rewrite app_nil_r.
      * exists (length s). rewrite firstn_app, Nat.sub_diag, firstn_all. cbn. rewrite app_nil_r.
        now rewrite firstn_all2 in bad by lia.
    + destruct (Z.eqb_spec c 0) as [zero | not_zero]; [rewrite zero in odd; discriminate|].
      destruct x; cbn [parity_update negb changed]; rewrite Z.odd_add; now rewrite odd.
Qed.

Theorem parity_counter_accepts_dyck1 : forall s, machine_accepts parity_counter s <-> Dyck1 s.
Proof.
  intros s. rewrite accepts_by_value. cbn [accepting parity_counter]. unfold Dyck1, BB.
  destruct (parity_invariant s) as [[fine twice] | [[t bad] odd]].
  - unfold difference in twice. destruct (Z.eqb_spec (value parity_counter s) 0) as [zero | not_zero]; cbn [negb]; split.
    + intros _. split; [lia | exact fine].
    + reflexivity.
    + intros wrong. apply (f_equal Vector.hd) in wrong. discriminate.
    + intros [equal _]. lia.
  - destruct (Z.eqb_spec (value parity_counter s) 0) as [zero | not_zero]; [rewrite zero in odd; discriminate|].
    cbn [negb]. split.
    + intros wrong. apply (f_equal Vector.hd) in wrong. discriminate.
    + intros [_ fine]. specialize (fine t). lia.
Qed.

(** * Neither can be spared *)

(** The update sees the token alone. *)
Definition blind (M : counter_machine token unit 1) : Prop := forall x q check check', update M x q check = update M x q check'.

(** Steps are -1, 0, 1 or times 0. *)
Definition unit_steps (M : counter_machine token unit 1) : Prop :=
  forall x q check m, Vector.hd (update M x q check) = Add m -> (-1 <= m <= 1)%Z.

Section Impossible.

Variable M : counter_machine token unit 1.
Hypothesis right : forall s, (length s <= 3)%nat -> (machine_accepts M s <-> Dyck1 s).

Local Notation u x nonzero := (Vector.hd (update M x tt (one nonzero))).

Lemma accepts_at_zero_alone s : (length s <= 3)%nat -> value M s = 0%Z <-> Dyck1 s.
Proof.
  assert (accepting M tt (one false)) as zero.
  { apply (accepts_by_value M []), right; [cbn; lia|]. split; [reflexivity | now intros []]. }
  assert (~ accepting M tt (one true)) as nonzero.
  { intros accepted. assert (~ Dyck1 [Open]) as outside by (intros [unequal _]; discriminate).
    apply outside, right; [cbn; lia|]. apply accepts_by_value. now destruct (Z.eqb _ _). }
  intros short. rewrite <- right, accepts_by_value by assumption. destruct (Z.eqb_spec (value M s) 0); cbn [negb]; tauto.
Qed.

Lemma values : value M [] = 0%Z /\ value M [Open] <> 0%Z /\ value M [Close] <> 0%Z /\ value M [Open; Close] = 0%Z /\
  value M [Open; Open] <> 0%Z /\ value M [Close; Open] <> 0%Z /\ value M [Close; Close] <> 0%Z /\
  value M [Open; Open; Close] <> 0%Z.
Proof.
  repeat split; try (intros zero; apply accepts_at_zero_alone in zero; [|cbn; lia]; destruct zero as [equal fine];
    (discriminate equal) || (specialize (fine 1%nat); cbv in fine; lia)).
  apply accepts_at_zero_alone; [cbn; lia|]. split; [reflexivity|]. intros [|[|[|t]]]; cbv; lia.
Qed.

Lemma first_values x : value M [x] = changed (u x false) 0%Z.
Proof. apply (value_snoc M []). Qed.

Lemma second_values x y : value M [x; y] = changed (u y (negb (Z.eqb (value M [x]) 0))) (value M [x]).
Proof. apply (value_snoc M [x]). Qed.

Lemma third_values x y z : value M [x; y; z] = changed (u z (negb (Z.eqb (value M [x; y]) 0))) (value M [x; y]).
Proof. apply (value_snoc M [x; y]). Qed.

Lemma not_blind : ~ blind M.
Proof.
  intros same. destruct values as (_ & o & c & oc & _ & co & _). rewrite second_values in oc, co.
  rewrite first_values in *.
  assert (forall x z, u x z = u x false) as blind_u by (intros; f_equal; apply same). rewrite !blind_u in *.
  destruct (u Open false) as [m|], (u Close false) as [k|]; cbn in *; lia.
Qed.

Lemma not_unit_steps : ~ unit_steps M.
Proof.
  intros small. destruct values as (_ & o & c & oc & oo & co & cc & ooc).
  rewrite third_values in ooc. rewrite second_values in *.
  assert (forall x, value M [x] <> 0%Z -> negb (Z.eqb (value M [x]) 0) = true) as nonzero
    by (intros x other; destruct (Z.eqb_spec (value M [x]) 0); [contradiction | reflexivity]).
  rewrite !(nonzero Open o), ?(nonzero Close c) in *. rewrite first_values in *.
  assert (forall x z m, u x z = Add m -> (-1 <= m <= 1)%Z) as steps by (intros x z m; apply small).
  pose proof (steps Open false) as s1. pose proof (steps Close false) as s2.
  pose proof (steps Open true) as s3. pose proof (steps Close true) as s4.
  assert (negb (Z.eqb (changed (u Open true) (changed (u Open false) 0)) 0) = true) as again
    by (destruct (Z.eqb_spec (changed (u Open true) (changed (u Open false) 0)) 0); [contradiction | reflexivity]).
  rewrite again in ooc.
  destruct (u Open false) as [m1|]; [specialize (s1 _ eq_refl) | cbn in *; lia].
  destruct (u Close false) as [m2|]; [specialize (s2 _ eq_refl) | cbn in *; lia].
  destruct (u Open true) as [m3|]; [specialize (s3 _ eq_refl) | cbn in *; lia].
  destruct (u Close true) as [m4|]; [specialize (s4 _ eq_refl) | cbn in *; lia].
  cbn in *. lia.
Qed.

End Impossible.

Theorem stateless_dyck1_needs_both : forall M : counter_machine token unit 1,
  (forall s, (length s <= 3)%nat -> (machine_accepts M s <-> Dyck1 s)) -> ~ blind M /\ ~ unit_steps M.
Proof. intros M right. split; [now apply not_blind | now apply not_unit_steps]. Qed.
