(** The least and greatest h of groups of strings, length by length. A group is whatever a token changes in a known way and what
    is right follows from: the number of opening brackets, or the count that never falls below zero. *)

From Tallystick Require Import Brackets Extremes Verdict Relu.

Section Groups.

Variables (f : cell) (after : nat -> token -> nat).

Definition group_of (s : string) : nat := fold_left after s 0%nat.

(** h is reached by a string of a length and a group. *)
Definition reached_in (t g : nat) (h : R) : Prop := exists s, length s = t /\ group_of s = g /\ run f s = h.

(** * The ends of each group follow from those of the groups one token shorter that lead into it *)

Definition join (e e' : option (R * R)) : option (R * R) :=
  match e, e' with
  | Some e, Some e' => Some (union e e')
  | Some e, None => Some e
  | None, e' => e'
  end.

Definition lead (row : nat -> option (R * R)) (target source : nat) (x : token) : option (R * R) :=
  if Nat.eq_dec (after source x) target then option_map (image (f x)) (row source) else None.

Fixpoint ends (t : nat) (g : nat) : option (R * R) :=
  match t with
  | O => if Nat.eq_dec g 0 then Some (0, 0) else None
  | S t => fold_right join None (flat_map (fun source => map (lead (ends t) g source) [Open; Close]) (seq 0 (S t)))
  end.

(** Where the ends do not tell, all states of a group are listed. *)
Fixpoint states (t : nat) (g : nat) : list R :=
  match t with
  | O => if Nat.eq_dec g 0 then [0] else []
  | S t => flat_map (fun source => flat_map (fun x =>
             if Nat.eq_dec (after source x) g then map (f x) (states t source) else []) [Open; Close]) (seq 0 (S t))
  end.

Hypothesis group_grows_by_one_at_most : forall g x, (after g x <= S g)%nat.

Lemma group_snoc s x : group_of (s ++ [x]) = after (group_of s) x.
Proof. apply fold_left_app. Qed.

Lemma group_bounded s : (group_of s <= length s)%nat.
Proof.
  induction s as [|x s IH] using rev_ind; [cbn; lia|].
  rewrite group_snoc, app_length. cbn. specialize (group_grows_by_one_at_most (group_of s) x). lia.
Qed.

Lemma reached_one_more t g h x : reached_in t g h -> reached_in (S t) (after g x) (f x h).
Proof.
  intros (s & <- & <- & <-). exists (s ++ [x]). rewrite app_length, group_snoc, run_snoc. cbn. repeat split. lia.
Qed.

Lemma reached_last_token t g h : reached_in (S t) g h ->
  exists source x h', (source <= t)%nat /\ after source x = g /\ f x h' = h /\ reached_in t source h'.
Proof.
  intros (s & length_s & group_s & <-). destruct s as [|x s _] using rev_ind; [discriminate|].
  rewrite app_length in length_s. cbn in length_s. rewrite group_snoc in group_s.
  exists (group_of s), x, (run f s). rewrite run_snoc. pose proof (group_bounded s).
  repeat split; [lia | assumption | exists s; repeat split; lia].
Qed.

(** ** All states *)

Lemma states_are_reached t : forall g h, In h (states t g) <-> reached_in t g h.
Proof.
  induction t as [|t IH]; intros g h; cbn [states].
  - destruct (Nat.eq_dec g 0) as [-> | other]; split.
    + intros [<- | []]. now exists [].
    + intros (s & empty & _ & <-). apply length_zero_iff_nil in empty as ->. now left.
    + intros [].
    + intros (s & empty & group & _). apply length_zero_iff_nil in empty as ->. now apply other.
  - rewrite in_flat_map. split.
    + intros (source & _ & listed). apply in_flat_map in listed as (x & _ & listed).
      destruct (Nat.eq_dec (after source x) g) as [<- |]; [|destruct listed].
      apply in_map_iff in listed as (h' & <- & listed). now apply reached_one_more, IH.
    + intros reached. apply reached_last_token in reached as (source & x & h' & small & <- & <- & reached).
      exists source. split; [apply in_seq; lia|]. apply in_flat_map. exists x. split; [destruct x; cbn; auto|].
      destruct (Nat.eq_dec (after source x) (after source x)); [|contradiction]. now apply in_map, IH.
Qed.

(** ** The ends *)

Definition ends_reached (t g : nat) (e : option (R * R)) : Prop :=
  forall low high, e = Some (low, high) -> reached_in t g low /\ reached_in t g high.

Lemma join_reached t g e e' : ends_reached t g e -> ends_reached t g e' -> ends_reached t g (join e e').
Proof.
  intros first second low high. destruct e as [[l h]|], e' as [[l' h']|]; cbn; intros equal; inversion equal; subst;
    auto; destruct (first l h eq_refl), (second l' h' eq_refl); split.
  - now apply Rmin_case.
  - now apply Rmax_case.
Qed.

Lemma ends_are_attained t : forall g, ends_reached t g (ends t g).
Proof.
  induction t as [|t IH]; intros g; cbn [ends].
  - intros low high. destruct (Nat.eq_dec g 0) as [-> |]; [|discriminate]. intros equal. inversion equal. split; now exists [].
  - set (leads := flat_map _ _). assert (forall e, In e leads -> ends_reached (S t) g e) as all.
    { intros e listed. apply in_flat_map in listed as (source & _ & listed).
      apply in_map_iff in listed as (x & <- & _). intros low high. unfold lead.
      destruct (Nat.eq_dec (after source x) g) as [<- |]; [|discriminate].
      destruct (ends t source) as [[l h]|] eqn:before; [|discriminate]. cbn. intros equal. inversion equal.
      destruct (IH source l h before). split; [apply Rmin_case | apply Rmax_case]; now apply reached_one_more. }
    induction leads as [|e leads IHl]; [intros low high; discriminate|].
    apply join_reached; [apply all; now left | apply IHl; intros; apply all; now right].
Qed.

Hypothesis monotone_open : monotone (f Open).
Hypothesis monotone_close : monotone (f Close).

Definition holds (e : option (R * R)) (h : R) : Prop := exists low high, e = Some (low, high) /\ low <= h <= high.

Lemma join_holds e e' h : holds e h \/ holds e' h -> holds (join e e') h.
Proof.
  intros [(low & high & -> & inside) | (low & high & -> & inside)].
  - destruct e' as [[l' h']|]; [|exists low, high; auto]. do 2 eexists. split; [reflexivity|].
    now apply (within_union_l h (low, high)).
  - destruct e as [[l' h']|]; [|exists low, high; auto]. do 2 eexists. split; [reflexivity|].
    now apply (within_union_r h _ (low, high)).
Qed.

Lemma ends_hold_all t : forall g h, reached_in t g h -> holds (ends t g) h.
Proof.
  induction t as [|t IH]; intros g h reached; cbn [ends].
  - destruct reached as (s & empty & group & <-). apply length_zero_iff_nil in empty as ->. cbn in group. subst g.
    exists 0, 0. split; [reflexivity | cbn; lra].
  - apply reached_last_token in reached as (source & x & h' & small & <- & <- & reached).
    apply IH in reached as (low & high & before & inside). set (leads := flat_map _ _).
    assert (In (Some (image (f x) (low, high))) leads) as listed.
    { apply in_flat_map. exists source. split; [apply in_seq; lia|]. apply in_map_iff. exists x.
      split; [|destruct x; cbn; auto]. unfold lead. destruct (Nat.eq_dec (after source x) (after source x)); [|contradiction].
      now rewrite before. }
    assert (holds (Some (image (f x) (low, high))) (f x h')) as held.
    { do 2 eexists. split; [reflexivity|]. apply (within_image (f x) h' (low, high)); [destruct x; assumption | exact inside]. }
    induction leads as [|e leads IHl]; [destruct listed|]. cbn [fold_right]. apply join_holds.
    destruct listed as [-> | listed]; auto.
Qed.

End Groups.

(** * The theorems *)

Theorem groups_are_exact : forall (f : cell) (after : nat -> token -> nat),
  monotone (f Open) -> monotone (f Close) -> (forall g x, (after g x <= S g)%nat) ->
  forall t g, match ends f after t g with
    | Some (low, high) => is_least (reached_in f after t g) low /\ is_greatest (reached_in f after t g) high
    | None => forall h, ~ reached_in f after t g h
    end.
Proof.
  intros f after open close grows t g. pose proof (ends_hold_all f after grows open close t g) as hold.
  pose proof (ends_are_attained f after t g) as attained. destruct (ends f after t g) as [[low high]|].
  - destruct (attained low high eq_refl). repeat split; try assumption; intros h reached;
      destruct (hold h reached) as (l & u & equal & inside); inversion equal; subst; lra.
  - intros h reached. destruct (hold h reached) as (l & u & equal & _). discriminate.
Qed.

(** Whatever the readout: if all between the ends of each group, or all its states, are of the right class, then every string is right. *)
Theorem verdict_by_groups :
  forall (class : Type) (f : cell) (after : nat -> token -> nat) (readout : R -> class) (right : nat -> nat -> class),
  monotone (f Open) -> monotone (f Close) -> (forall g x, (after g x <= S g)%nat) ->
  forall (counted : nat -> Prop) (horizon : nat),
  (forall t g, counted t -> (t <= horizon)%nat ->
     (forall low high h, ends f after t g = Some (low, high) -> low <= h <= high -> readout h = right t g) \/
     (forall h, In h (states f after t g) -> readout h = right t g)) ->
  forall s, counted (length s) -> (length s <= horizon)%nat -> readout (run f s) = right (length s) (group_of after s).
Proof.
  intros class f after readout right open close grows counted horizon all s counts small.
  assert (reached_in f after (length s) (group_of after s) (run f s)) as reached by now exists s.
  destruct (all (length s) (group_of after s) counts small) as [between | listed].
  - destruct (ends_hold_all f after grows open close _ _ _ reached) as (low & high & equal & inside). eauto.
  - now apply listed, states_are_reached.
Qed.

(** The groups of semi-Dyck-1: kappa. *)
Definition after_kappa (k : nat) (x : token) : nat := match x with Open => S k | Close => pred k end.

Theorem kappa_is_a_group : (forall s, group_of after_kappa s = kappa s) /\ (forall k x, (after_kappa k x <= S k)%nat).
Proof. split; [reflexivity | intros k []; cbn; lia]. Qed.
