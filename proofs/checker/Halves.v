(** The least that the opening brackets of a string can add, given what each would add and whether they are fewer than half.

    For every t the n least of some terms add up to at least n t + the sum of all min (term - t, 0). With t between the lesser and the
    greater half of the terms this is what the lesser half adds up to, and with t = 0 what the negative terms do. *)

From Tallystick.checker Require Import Claims Heaps.

(** * Strings from their end, and what their opening brackets add *)

Fixpoint opening_sum (ds : list Z) (rs : string) : Z :=
  match ds, rs with
  | d :: ds, x :: rs => match x with Open => d | Close => 0 end + opening_sum ds rs
  | _, _ => 0
  end.

Fixpoint opens (rs : string) : Z :=
  match rs with
  | [] => 0
  | x :: rs => match x with Open => 1 | Close => 0 end + opens rs
  end.

Definition low (t : Z) (ds : list Z) : Z := fold_right (fun d total => Z.min (d - t) 0 + total) 0 ds.

Lemma any_threshold t ds rs : length rs = length ds -> opens rs * t + low t ds <= opening_sum ds rs.
Proof.
  revert rs. induction ds as [|d ds IH]; intros [|x rs]; cbn [length opens low opening_sum fold_right]; intros same;
    try discriminate same.
  - lia.
  - injection same as same. specialize (IH rs same). unfold low in IH. destruct x; lia.
Qed.

Lemma opens_bounds rs : 0 <= opens rs <= Z.of_nat (length rs).
Proof. induction rs as [|[] rs IH]; cbn [opens length]; lia. Qed.

Lemma no_opens ds rs : opens rs = 0 -> opening_sum ds rs = 0.
Proof.
  revert ds. induction rs as [|x rs IH]; intros [|d ds]; cbn [opening_sum opens]; auto.
  pose proof (opens_bounds rs). destruct x; [lia|]. intros none. rewrite IH; lia.
Qed.

(** * Half of the terms *)

Record halves := { lesser : heap; greater : heap; of_lesser : Z; of_negative : Z; even : bool }.
(* The lesser half, as large as the other or one smaller, has its terms with the other sign, so that the greatest is on top. *)

Definition no_terms : halves := {| lesser := Empty; greater := Empty; of_lesser := 0; of_negative := 0; even := true |}.

Definition add_term (x : Z) (h : halves) : halves :=
  let negative := of_negative h + Z.min x 0 in
  if even h then
    let '(y, rest) := push_pop (- x) (lesser h) in
    {| lesser := rest; greater := push (- y) (greater h); of_lesser := of_lesser h + x + y;
       of_negative := negative; even := false |}
  else
    let '(y, rest) := push_pop x (greater h) in
    {| lesser := push (- y) (lesser h); greater := rest; of_lesser := of_lesser h + y;
       of_negative := negative; even := true |}.

(** The least that the opening brackets add, where they are fewer than half, half, or more. *)
Definition least (h : halves) (side : comparison) : Z :=
  match side with
  | Lt =>
      match lesser h with
      | Root t _ => if 0 <=? t then (if even h then of_lesser h + t else of_lesser h) else of_negative h
      | Empty => 0
      end
  | Eq => of_lesser h
  | Gt =>
      match greater h with
      | Root t _ => if 0 <=? t then of_lesser h + t else of_negative h
      | Empty => 0
      end
  end.

(** * They are what they are called *)

Definition sum (l : list Z) : Z := fold_right Z.add 0 l.

Record are_halves (h : halves) (ds : list Z) : Prop := {
  all_terms : Permutation (map Z.opp (in_heap (lesser h)) ++ in_heap (greater h)) ds;
  lesser_heap : is_heap (lesser h);
  greater_heap : is_heap (greater h);
  apart : forall x y, In x (map Z.opp (in_heap (lesser h))) -> In y (in_heap (greater h)) -> x <= y;
  of_lesser_is : of_lesser h = sum (map Z.opp (in_heap (lesser h)));
  of_negative_is : of_negative h = low 0 ds;
  half_length : length (in_heap (greater h)) = (length (in_heap (lesser h)) + if even h then 0 else 1)%nat;
}.

Lemma sum_perm l m : Permutation l m -> sum l = sum m.
Proof. unfold sum. induction 1; cbn [fold_right]; lia. Qed.

Lemma low_perm t l m : Permutation l m -> low t l = low t m.
Proof. unfold low. induction 1; cbn [fold_right]; lia. Qed.

Lemma low_app t l m : low t (l ++ m) = low t l + low t m.
Proof. unfold low. induction l; cbn [fold_right app]; lia. Qed.

Lemma low_snoc t l d : low t (l ++ [d]) = low t l + Z.min (d - t) 0.
Proof. rewrite low_app. unfold low. cbn [fold_right]. lia. Qed.

Lemma low_below t l : Forall (fun x => x <= t) l -> low t l = sum l - Z.of_nat (length l) * t.
Proof. induction 1; cbn [low sum fold_right length]; [lia|]. unfold low, sum in *. lia. Qed.

Lemma low_above t l : Forall (Z.le t) l -> low t l = 0.
Proof. induction 1; cbn [low fold_right]; [lia|]. unfold low in *. lia. Qed.

Lemma no_terms_are_halves : are_halves no_terms [].
Proof. split; cbn; auto; contradiction. Qed.

Lemma in_opp x l : In x (map Z.opp l) <-> In (- x) l.
Proof.
  rewrite in_map_iff. split.
  - intros (y & <- & member). now rewrite Z.opp_involutive.
  - intros member. exists (- x). split; [lia | exact member].
Qed.

Lemma add_term_halves x h ds : are_halves h ds -> are_halves (add_term x h) (ds ++ [x]).
Proof.
  intros [terms lheap gheap apart_ lsum nsum half]. unfold add_term.
  assert (of_negative h + Z.min x 0 = low 0 (ds ++ [x])) as negative by (rewrite low_snoc, nsum; lia).
  destruct (even h).
  - destruct (push_pop (- x) (lesser h)) as [y rest] eqn:popped.
    pose proof (in_push_pop _ _ _ _ popped) as same. destruct (push_pop_is_heap _ _ _ _ lheap popped) as [heap_rest top].
    pose proof (Permutation_length same) as long. cbn [length] in long.
    assert (Permutation (- y :: map Z.opp (in_heap rest)) (x :: map Z.opp (in_heap (lesser h)))) as same'.
    { apply (Permutation_map Z.opp) in same. cbn [map] in same. now rewrite Z.opp_involutive in same. }
    assert (forall u, In u (map Z.opp (in_heap rest)) -> u <= - y) as below.
    { intros u member. apply in_opp in member. unfold below_all in top. rewrite Forall_forall in top.
      apply top in member. lia. }
    split; cbn [lesser greater of_lesser of_negative even]; auto using push_is_heap.
    + rewrite in_push, <- terms, <- Permutation_middle, app_comm_cons, same', <- Permutation_cons_append. reflexivity.
    + intros u v member. rewrite in_push. intros [<- | other]; [now apply below|].
      assert (In (- y) (x :: map Z.opp (in_heap (lesser h)))) as [equal | old] by (rewrite <- same'; now left).
      * rewrite <- equal in same'. apply Permutation_cons_inv in same'. apply apart_; [now rewrite <- same' | exact other].
      * pose proof (apart_ _ _ old other). pose proof (below _ member). lia.
    + apply sum_perm in same'. cbn [sum fold_right] in same'. unfold sum in *. lia.
    + rewrite (Permutation_length (in_push _ _)). cbn [length]. lia.
  - destruct (push_pop x (greater h)) as [y rest] eqn:popped.
    pose proof (in_push_pop _ _ _ _ popped) as same. destruct (push_pop_is_heap _ _ _ _ gheap popped) as [heap_rest top].
    pose proof (Permutation_length same) as long. cbn [length] in long.
    unfold below_all in top. rewrite Forall_forall in top.
    assert (Permutation (map Z.opp (in_heap (push (- y) (lesser h)))) (y :: map Z.opp (in_heap (lesser h)))) as pushed.
    { rewrite in_push. cbn [map]. now rewrite Z.opp_involutive. }
    split; cbn [lesser greater of_lesser of_negative even]; auto using push_is_heap.
    + rewrite pushed, <- terms. cbn. rewrite Permutation_middle, same, <- Permutation_middle, Permutation_cons_append. reflexivity.
    + intros u v. rewrite pushed. intros [<- | old] member; [now apply top|].
      assert (In y (x :: in_heap (greater h))) as [equal | other] by (rewrite <- same; now left).
      * rewrite <- equal in same. apply Permutation_cons_inv in same. apply apart_; [exact old | now rewrite <- same].
      * pose proof (apart_ _ _ old other). pose proof (top _ member). lia.
    + apply sum_perm in pushed. cbn [sum fold_right] in pushed. unfold sum in *. lia.
    + rewrite (Permutation_length (in_push _ _)). cbn [length]. lia.
Qed.

(** * The least is least *)

Definition side_of (rs : string) : comparison := 2 * opens rs ?= Z.of_nat (length rs).

Section Least.

Variable h : halves.
Variable ds : list Z.
Hypothesis are : are_halves h ds.
Variable rs : string.
Hypothesis same_size : length rs = length ds.

Local Notation L := (map Z.opp (in_heap (lesser h))).
Local Notation G := (in_heap (greater h)).

Lemma sizes_of_halves : Z.of_nat (length rs) = 2 * Z.of_nat (length L) + if even h then 0 else 1.
Proof.
  rewrite same_size, <- (Permutation_length (all_terms _ _ are)), app_length, map_length, (half_length _ _ are).
  destruct (even h); lia.
Qed.

(** Any t between the halves. *)
Lemma between t : Forall (fun x => x <= t) L -> Forall (Z.le t) G ->
  of_lesser h + (opens rs - Z.of_nat (length L)) * t <= opening_sum ds rs.
Proof.
  intros below above. pose proof (any_threshold t ds rs same_size) as bound.
  rewrite <- (low_perm t _ _ (all_terms _ _ are)), low_app, (low_below _ _ below), (low_above _ _ above) in bound.
  rewrite (of_lesser_is _ _ are). lia.
Qed.

Lemma negative_bound : of_negative h <= opening_sum ds rs.
Proof. pose proof (any_threshold 0 ds rs same_size) as bound. rewrite (of_negative_is _ _ are). lia. Qed.

Lemma greater_top t c : greater h = Root t c -> Forall (fun x => x <= t) L /\ Forall (Z.le t) G.
Proof.
  intros top. pose proof (greater_heap _ _ are) as heap_. rewrite top in heap_. apply root_is_least in heap_.
  rewrite <- top in heap_. split; [|exact heap_].
  apply Forall_forall. intros x member. apply (apart _ _ are); [exact member|]. rewrite top. now left.
Qed.

Lemma lesser_top t c : lesser h = Root t c -> Forall (fun x => x <= - t) L /\ Forall (Z.le (- t)) G /\ L <> [].
Proof.
  intros top. pose proof (lesser_heap _ _ are) as heap_. rewrite top in heap_. apply root_is_least in heap_.
  rewrite <- top in heap_. unfold below_all in heap_. rewrite Forall_forall in heap_. repeat split.
  - apply Forall_forall. intros x member. apply in_opp, heap_ in member. lia.
  - apply Forall_forall. intros x member. apply (apart _ _ are); [|exact member]. rewrite top. now left.
  - rewrite top. discriminate.
Qed.

Lemma least_sound : least h (side_of rs) <= opening_sum ds rs.
Proof.
  pose proof sizes_of_halves as sizes. pose proof (opens_bounds rs) as bounds. unfold side_of, least.
  destruct (Z.compare_spec (2 * opens rs) (Z.of_nat (length rs))) as [half | fewer | more].
  - (* half of the brackets open *)
    destruct (even h); [|lia].
    destruct (greater h) as [|t c] eqn:top.
    + assert (of_lesser h + (opens rs - Z.of_nat (length L)) * 0 <= opening_sum ds rs); [|lia].
      pose proof (half_length _ _ are) as none. rewrite top in none. cbn in none.
      assert (in_heap (lesser h) = []) as empty by (destruct (in_heap (lesser h)); [reflexivity | cbn in none; lia]).
      apply between; [rewrite empty | rewrite top]; constructor.
    + destruct (greater_top _ _ top) as [below above]. pose proof (between t below above) as bound.
      assert (opens rs - Z.of_nat (length L) = 0) as zero by lia. rewrite zero in bound. lia.
  - destruct (lesser h) as [|t c] eqn:top.
    + cbn in sizes. rewrite no_opens; [lia | destruct (even h); lia].
    + destruct (lesser_top _ _ top) as (below & above & some).
      destruct (Z.leb_spec 0 t) as [sign | sign]; [|exact negative_bound].
      pose proof (between (- t) below above) as bound. rewrite <- top in sizes.
      destruct (even h); nia.
  - destruct (greater h) as [|t c] eqn:top.
    + pose proof (half_length _ _ are) as none. rewrite top in none. cbn in none.
      rewrite map_length in sizes. destruct (even h); lia.
    + destruct (greater_top _ _ top) as [below above].
      destruct (Z.leb_spec 0 t) as [sign | sign]; [|exact negative_bound].
      pose proof (between t below above) as bound. destruct (even h); nia.
Qed.

End Least.
