(** Exact accuracy of a linear network: the strings whose output is above a threshold, counted by the sums of the two halves. *)

From Tallystick Require Import Brackets Sorting FiniteHorizon.

(** What the opening brackets of the strings of T tokens add, n of them opening: one number for each string. *)
Definition sums (delta : nat -> R) (T n : nat) : list R :=
  map (opened delta) (filter (fun s => Nat.eqb (count Open s) n) (strings T)).

Definition is_above (theta x : R) : bool := if Rlt_dec theta x then true else false.

(** The sum of whole numbers over a list. *)
Definition over {A} (l : list A) (f : A -> nat) : nat := list_sum (map f l).

Definition number {A} (P : A -> bool) (l : list A) : nat := length (filter P l).

Lemma over_cons {A} (x : A) l f : over (x :: l) f = (f x + over l f)%nat.
Proof. reflexivity. Qed.

Lemma over_app {A} (l l' : list A) f : over (l ++ l') f = (over l f + over l' f)%nat.
Proof. unfold over. now rewrite map_app, list_sum_app. Qed.

Lemma over_ext {A} (l : list A) f g : (forall x, In x l -> f x = g x) -> over l f = over l g.
Proof. intros same. unfold over. f_equal. now apply map_ext_in. Qed.

Lemma over_plus {A} (l : list A) f g : over l (fun x => f x + g x)%nat = (over l f + over l g)%nat.
Proof. induction l as [|x l IH]; [reflexivity|]. rewrite !over_cons, IH. lia. Qed.

Lemma over_zero {A} (l : list A) : over l (fun _ => 0%nat) = 0%nat.
Proof. induction l as [|x l IH]; [reflexivity|]. now rewrite over_cons, IH. Qed.

Lemma over_map {A B} (g : A -> B) (l : list A) f : over (map g l) f = over l (fun x => f (g x)).
Proof. unfold over. now rewrite map_map. Qed.

Lemma number_flat_map {A B} (P : B -> bool) (g : A -> list B) l : number P (flat_map g l) = over l (fun x => number P (g x)).
Proof.
  induction l as [|x l IH]; [reflexivity|]. cbn. unfold number in *. rewrite filter_app, app_length, IH. reflexivity.
Qed.

Lemma number_map {A B} (P : B -> bool) (g : A -> B) l : number P (map g l) = number (fun x => P (g x)) l.
Proof. unfold number. induction l as [|x l IH]; [reflexivity|]. cbn. destruct (P (g x)); cbn; now rewrite IH. Qed.

Lemma number_filter {A} (P Q : A -> bool) l : number P (filter Q l) = number (fun x => andb (Q x) (P x)) l.
Proof.
  unfold number. induction l as [|x l IH]; [reflexivity|]. cbn. destruct (Q x); cbn; [destruct (P x); cbn|]; now rewrite IH.
Qed.

Lemma number_ext {A} (P Q : A -> bool) l : (forall x, P x = Q x) -> number P l = number Q l.
Proof. intros same. unfold number. f_equal. now apply filter_ext. Qed.

Lemma number_none {A} (l : list A) : number (fun _ => false) l = 0%nat.
Proof. unfold number. now induction l. Qed.

(** A string is its older half and its younger half. *)
Lemma strings_in_halves T1 T2 : strings (T1 + T2) = flat_map (fun u => map (app u) (strings T2)) (strings T1).
Proof.
  induction T1 as [|T1 IH]; cbn [plus strings flat_map]; [cbn; now rewrite app_nil_r, map_id|].
  rewrite IH, flat_map_app.
  assert (forall x, map (cons x) (flat_map (fun u => map (app u) (strings T2)) (strings T1))
          = flat_map (fun u => map (app u) (strings T2)) (map (cons x) (strings T1))) as front; [|now rewrite !front].
  clear IH. intros x. induction (strings T1) as [|u l IHl]; [reflexivity|]. cbn. rewrite map_app, map_map. f_equal. exact IHl.
Qed.

Lemma opened_app delta u v : opened delta (u ++ v) = opened (fun k => delta (k + length v)%nat) u + opened delta v.
Proof.
  induction u as [|x u IH]; [cbn; lra|]. destruct x; cbn [app opened]; [rewrite app_length, IH; lra | exact IH].
Qed.

(** Older halves sorted by how many brackets open in them. *)
Lemma by_number_of_opens (l : list string) n (f : string -> nat) :
  over (seq 0 (S n)) (fun n1 => over (filter (fun u => Nat.eqb (count Open u) n1) l) f)
  = over l (fun u => if Nat.leb (count Open u) n then f u else 0%nat).
Proof.
  induction l as [|u l IH]; [apply over_zero|].
  transitivity (over (seq 0 (S n)) (fun n1 => (if Nat.eqb (count Open u) n1 then f u else 0)
    + over (filter (fun u => Nat.eqb (count Open u) n1) l) f)%nat).
  { apply over_ext. intros n1 _. cbn [filter]. destruct (Nat.eqb (count Open u) n1); reflexivity. }
  rewrite over_plus, IH, over_cons. f_equal.
  clear IH. generalize (count Open u) as k. intros k. induction n as [|n IHn].
  - cbn. destruct k; cbn; lia.
  - rewrite seq_S, over_app, IHn, over_cons. change (0 + S n)%nat with (S n). change (over [] _) with 0%nat.
    destruct (Nat.leb_spec k n), (Nat.leb_spec k (S n)), (Nat.eqb_spec k (S n)); cbn; lia.
Qed.

(** Each pair of a sum of the older half and one of the younger is a string: no other strings need to be gone through. *)
Theorem counted_by_halves : forall (delta : nat -> R) (theta : R) (T1 T2 n : nat),
  number (is_above theta) (sums delta (T1 + T2) n)
  = over (seq 0 (S n)) (fun n1 =>
      over (sums (fun k => delta (k + T2)%nat) T1 n1) (fun x =>
        number (fun y => is_above theta (x + y)) (sums delta T2 (n - n1)))).
Proof.
  intros delta theta T1 T2 n. unfold sums.
  rewrite number_map, number_filter, strings_in_halves, number_flat_map.
  transitivity (over (seq 0 (S n)) (fun n1 => over (filter (fun u => Nat.eqb (count Open u) n1) (strings T1)) (fun u =>
    number (fun y => is_above theta (opened (fun k => delta (k + T2)%nat) u + y))
      (map (opened delta) (filter (fun s => Nat.eqb (count Open s) (n - count Open u)) (strings T2)))))).
  - rewrite by_number_of_opens. apply over_ext. intros u _. rewrite number_map.
    destruct (Nat.leb_spec (count Open u) n) as [few | many].
    + rewrite number_map, number_filter.
      assert (forall v, In v (strings T2) -> length v = T2) as sizes.
      { clear. induction T2 as [|T IH]; intros v; cbn; [intros [<- | []]; reflexivity|].
        intros listed. apply in_app_or in listed as [listed | listed]; apply in_map_iff in listed as (w & <- & listed);
          cbn; now rewrite IH. }
      unfold number. f_equal. apply filter_ext_in. intros v listed. rewrite count_app, opened_app, (sizes v listed).
      f_equal. destruct (Nat.eqb_spec (count Open u + count Open v) n), (Nat.eqb_spec (count Open v) (n - count Open u));
        reflexivity || lia.
    + rewrite (number_ext _ (fun _ => false)); [apply number_none|]. intros v. rewrite count_app.
      destruct (Nat.eqb_spec (count Open u + count Open v) n); [lia | reflexivity].
  - apply over_ext. intros n1 _. rewrite over_map. apply over_ext. intros u listed. apply filter_In in listed as [_ opens].
    apply Nat.eqb_eq in opens. now rewrite opens.
Qed.
