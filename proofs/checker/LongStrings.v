(** The class that a linear unit gives to one string, run by run, however long its runs are. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Boxes FewStrings Powers Bisection Runs.

Section Unit.

Variable S : positive.
Variable c : unit_cell.

(** After n more tokens x: U^n (h + f) - f, with f the fixed point; and h + n c(x) where U is 1. *)
Definition run_box (h : box) (run : token * Z) : box :=
  let '(x, n) := run in
  let U := weight_after c Open in
  if Qeq_bool U 1 then plus h (point S (step_after c x * inject_Z n))
  else
    let f := fixed U (step_after c) x in
    plus (product S (power S U n) (plus h (point S f))) (point S (- f)).

Definition state_box (r : runs) : box := fold_left run_box (filter (fun run => (0 <? snd run)%Z) r) zero.

Definition runs_get (ls : list line) (d : list (list comparison)) (r : runs) (k : class) : bool :=
  has_one_factor c && given_in S (network_of_unit c ls d) k [state_box r].

Hypothesis factor : has_one_factor c = true.

Local Notation state := (state_from (weight_after c) (step_after c)).

Lemma state_app h s t : state h (s ++ t) = state (state h s) t.
Proof. apply fold_left_app. Qed.

Lemma tally_repeat x k : tally x (repeat x k) = Z.of_nat k /\ size (repeat x k) = Z.of_nat k.
Proof.
  split; [|unfold size; now rewrite repeat_length].
  induction k as [|k IH]; cbn [repeat tally]; [reflexivity|]. destruct x; cbn [is_token]; rewrite IH; lia.
Qed.

Lemma spread_other U x k : spread U (other x) (repeat x k) == 0.
Proof. induction k as [|k IH]; cbn [repeat spread]; [reflexivity|]. destruct x; cbn [is_token other] in *; rewrite IH; ring. Qed.

Lemma run_box_is h b x n : (0 < n)%Z -> within S h b -> within S (state h (repeat x (Z.to_nat n))) (run_box b (x, n)).
Proof.
  intros some inside. destruct (has_one_factor_is c factor) as (_ & one_weight & positive). unfold run_box.
  destruct (tally_repeat x (Z.to_nat n)) as [all long]. rewrite Z2Nat.id in all, long by lia.
  destruct (Qeq_bool (weight_after c Open) 1) eqn:one.
  - apply Qeq_bool_iff in one. apply within_eq with (h + step_after c x * inject_Z n).
    + rewrite (state_without_factor _ _ _ one_weight x h _ one), all, long. ring.
    + apply within_plus; [exact inside | apply within_point].
  - assert (~ weight_after c Open == 1) as not_one by (rewrite <- Qeq_bool_iff, one; discriminate).
    set (U := weight_after c Open) in *. set (f := fixed U (step_after c)).
    assert (forall x, step_after c x == (U - 1) * f x) as fixed_is.
    { intros t. unfold f, fixed. rewrite Qred_correct. field. intros none. apply not_one. lra. }
    apply within_eq with (U ^ n * (h + f x) + - f x).
    + rewrite (state_in_powers U positive _ _ one_weight f (other x) h _ fixed_is), spread_other, long.
      replace (other (other x)) with x by now destruct x. ring.
    + apply within_plus; [|apply within_point].
      apply within_product; [apply Qlt_le_weak, power_positive, positive | apply within_power; [exact positive | lia] |].
      apply within_plus; [exact inside | apply within_point].
Qed.

Lemma state_box_is r : within S (state 0 (string_of r)) (state_box r).
Proof.
  unfold state_box. assert (forall h b, within S h b ->
    within S (state h (string_of r)) (fold_left run_box (filter (fun run => (0 <? snd run)%Z) r) b)) as all;
    [|apply all, within_zero].
  induction r as [|[x n] r IH]; intros h b inside; cbn [string_of filter snd]; [exact inside|].
  rewrite run_is_repeated. destruct (Z.ltb_spec 0 n) as [some | none]; cbn [fold_left].
  - rewrite state_app. apply IH. now apply run_box_is.
  - replace (Z.to_nat n) with 0%nat by lia. now apply IH.
Qed.

End Unit.

Lemma runs_get_sound S c ls d r k : runs_get S c ls d r k = true -> gives (network_of_unit c ls d) (string_of r) k.
Proof.
  unfold runs_get. rewrite Bool.andb_true_iff. intros [factor given]. eapply given_in_sound; [|exact given].
  destruct (has_one_factor_is c factor) as (plain & _). rewrite unit_state by exact plain.
  constructor; [now apply state_box_is | constructor].
Qed.
