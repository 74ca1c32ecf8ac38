(** Every linear cell with a threshold outside the criterion of AllLengths.v fails on some string: its horizon is finite.
    That a failing string exists says more than that not all strings are right. It takes no further axiom: searching
    through all lengths is what the real numbers themselves allow. *)

From Coq Require Import ClassicalDedekindReals.
From Tallystick Require Import Brackets AllLengths.

(** All strings of a length. *)
Fixpoint strings (length : nat) : list string :=
  match length with
  | O => [[]]
  | S k => map (cons Open) (strings k) ++ map (cons Close) (strings k)
  end.

Lemma strings_are_all s : In s (strings (length s)).
Proof.
  induction s as [|x s IH]; [now left|].
  cbn. apply in_or_app. destruct x; [left | right]; now apply in_map.
Qed.

(** Length by length, a decidable property fails somewhere or nowhere: an axiom of the real numbers. *)
Lemma fails_somewhere_or_nowhere (P : string -> Prop) :
  (forall s, {P s} + {~ P s}) -> (exists s, ~ P s) \/ (forall s, P s).
Proof.
  intros decide.
  destruct (sig_forall_dec (fun k => Forall P (strings k))) as [[k fails] | nowhere].
  - intros k. apply Forall_dec, decide.
  - left. apply neg_Forall_Exists_neg in fails; [|exact decide].
    apply Exists_exists in fails as (s & _ & fails). now exists s.
  - right. intros s. specialize (nowhere (length s)). rewrite Forall_forall in nowhere. apply nowhere, strings_are_all.
Qed.

Lemma threshold_right_dec a b U theta s : {threshold_right a b U theta s} + {~ threshold_right a b U theta s}.
Proof.
  unfold threshold_right.
  destruct (Rgt_dec (run (linear a b U) s) theta), (gt_dec (count Open s) (count Close s));
    (left; tauto) || (right; tauto).
Defined.

Lemma fails_on_a_counted_string a b U theta (counted : string -> Prop) :
  (forall s, {counted s} + {~ counted s}) -> ~ (forall s, counted s -> threshold_right a b U theta s) ->
  exists s, counted s /\ ~ threshold_right a b U theta s.
Proof.
  intros decide otherwise.
  destruct (fails_somewhere_or_nowhere (fun s => counted s -> threshold_right a b U theta s)) as [[s fails] | nowhere].
  - intros s. destruct (decide s), (threshold_right_dec a b U theta s); (left; tauto) || (right; tauto).
  - exists s. destruct (decide s), (threshold_right_dec a b U theta s); tauto.
  - contradiction.
Qed.

Theorem otherwise_some_string_fails : forall a b U theta : R,
  ~ (U = 1 /\ b = - a /\ 0 <= theta < a) -> exists s, s <> [] /\ ~ threshold_right a b U theta s.
Proof.
  intros a b U theta otherwise. rewrite <- all_lengths in otherwise.
  apply fails_on_a_counted_string; [|exact otherwise]. intros [|x s]; [right | left]; congruence.
Qed.

Theorem otherwise_some_even_string_fails : forall a b U theta : R,
  ~ (U = 1 /\ b = - a /\ 0 <= theta < 2 * a) ->
  exists s, (s <> [] /\ Nat.Even (length s)) /\ ~ threshold_right a b U theta s.
Proof.
  intros a b U theta otherwise. rewrite <- even_lengths in otherwise.
  apply fails_on_a_counted_string.
  - intros s. destruct (Nat.Even_Odd_dec (length s)) as [even | odd], s as [|x s]; intuition (try congruence).
    right. intros [_ even]. now apply (Nat.Even_Odd_False (length (x :: s))).
  - intros right. apply otherwise. auto.
Qed.
