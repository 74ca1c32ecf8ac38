(** The least and greatest h over all strings with given numbers of brackets, by a recursion over these numbers. *)

From Tallystick Require Import Brackets.

(** A map may rise or fall; the map of each token may do either. *)
Definition monotone (f : R -> R) : Prop :=
  (forall x y, x <= y -> f x <= f y) \/ (forall x y, x <= y -> f y <= f x).

(** * The recursion *)

(** Apply a map to both ends, and keep the outermost. *)
Definition image (f : R -> R) (ends : R * R) : R * R :=
  (Rmin (f (fst ends)) (f (snd ends)), Rmax (f (fst ends)) (f (snd ends))).

Definition union (e e' : R * R) : R * R := (Rmin (fst e) (fst e'), Rmax (snd e) (snd e')).

(** A string with n opening and m closing brackets ends in `(` after one with n - 1 and m,
    or in `)` after one with n and m - 1. *)
Fixpoint extremes (f : cell) (n : nat) : nat -> R * R :=
  fix with_closings (m : nat) : R * R :=
    match n, m with
    | O, O => (0, 0)
    | S n', O => image (f Open) (extremes f n' O)
    | O, S m' => image (f Close) (with_closings m')
    | S n', S m' => union (image (f Open) (extremes f n' m)) (image (f Close) (with_closings m'))
    end.

(** * What it gives *)

(** h is reached with n opening and m closing brackets. *)
Definition reached (f : cell) (n m : nat) (h : R) : Prop :=
  exists s, count Open s = n /\ count Close s = m /\ run f s = h.

Definition is_least (among : R -> Prop) (h : R) : Prop := among h /\ forall h', among h' -> h <= h'.
Definition is_greatest (among : R -> Prop) (h : R) : Prop := among h /\ forall h', among h' -> h' <= h.

Section Extremes.

Variable f : cell.
Hypothesis monotone_open : monotone (f Open).
Hypothesis monotone_close : monotone (f Close).

(** ** The ends are attained *)

Lemma reached_open n m h : reached f n m h -> reached f (S n) m (f Open h).
Proof. intros (s & <- & <- & <-). exists (s ++ [Open]). now autorewrite with snoc. Qed.

Lemma reached_close n m h : reached f n m h -> reached f n (S m) (f Close h).
Proof. intros (s & <- & <- & <-). exists (s ++ [Close]). now autorewrite with snoc. Qed.

Lemma reached_min n m x y : reached f n m x -> reached f n m y -> reached f n m (Rmin x y).
Proof. intros. now apply Rmin_case. Qed.

Lemma reached_max n m x y : reached f n m x -> reached f n m y -> reached f n m (Rmax x y).
Proof. intros. now apply Rmax_case. Qed.

Lemma ends_are_reached n m : reached f n m (fst (extremes f n m)) /\ reached f n m (snd (extremes f n m)).
Proof.
  revert m. induction n as [|n IHn]; intros m; induction m as [|m [IHl IHg]].
  - split; now exists [].
  - cbn. auto using reached_min, reached_max, reached_close.
  - destruct (IHn O). cbn. auto using reached_min, reached_max, reached_open.
  - destruct (IHn (S m)). change (extremes f (S n) (S m)) with
      (union (image (f Open) (extremes f n (S m))) (image (f Close) (extremes f (S n) m))).
    cbn -[extremes]. auto 8 using reached_min, reached_max, reached_open, reached_close.
Qed.

(** ** No string leaves them *)

Definition within (h : R) (ends : R * R) : Prop := fst ends <= h <= snd ends.

Lemma within_image g h ends : monotone g -> within h ends -> within (g h) (image g ends).
Proof.
  intros [rises | falls] [above below]; split; cbn.
  - eapply Rle_trans; [apply Rmin_l | auto].
  - eapply Rle_trans; [|apply Rmax_r]. auto.
  - eapply Rle_trans; [apply Rmin_r | auto].
  - eapply Rle_trans; [|apply Rmax_l]. auto.
Qed.

Lemma within_union_l h e e' : within h e -> within h (union e e').
Proof.
  intros [above below]. split; cbn.
  - eapply Rle_trans; [apply Rmin_l | exact above].
  - eapply Rle_trans; [exact below | apply Rmax_l].
Qed.

Lemma within_union_r h e e' : within h e' -> within h (union e e').
Proof.
  intros [above below]. split; cbn.
  - eapply Rle_trans; [apply Rmin_r | exact above].
  - eapply Rle_trans; [exact below | apply Rmax_r].
Qed.

Lemma run_is_within s : within (run f s) (extremes f (count Open s) (count Close s)).
Proof.
  induction s as [|x s IH] using rev_ind; [split; apply Rle_refl|].
  destruct x; autorewrite with snoc.
  - apply (within_image _ _ _ monotone_open) in IH. destruct (count Close s); [exact IH | now apply within_union_l].
  - apply (within_image _ _ _ monotone_close) in IH. destruct (count Open s); [exact IH | now apply within_union_r].
Qed.

End Extremes.

Theorem extremes_are_exact : forall f : cell, monotone (f Open) -> monotone (f Close) ->
  forall n m,
    is_least (reached f n m) (fst (extremes f n m)) /\ is_greatest (reached f n m) (snd (extremes f n m)).
Proof.
  intros f monotone_open monotone_close n m. destruct (ends_are_reached f n m) as [least greatest].
  repeat split; try assumption; intros h (s & <- & <- & <-); apply run_is_within; assumption.
Qed.

(** * Which cells have monotone maps *)

(** An affine map followed by one that rises: linear and selective cells (nothing follows), ReLU (the maximum with 0), tanh. *)
Theorem rising_after_affine_is_monotone : forall g : R -> R, (forall x y, x <= y -> g x <= g y) ->
  forall p q, monotone (fun h => g (p * h + q)).
Proof.
  intros g rises p q. destruct (Rle_or_lt 0 p); [left | right]; intros x y less; apply rises; nra.
Qed.

(** Rounding rises too, so the recursion run in the network's own arithmetic gives the extremes of the network as executed:
    here the linear cell that rounds the product and then the sum, as long as nothing overflows. *)
Theorem extremes_as_executed : forall (round : R -> R) (a b U : R), (forall x y, x <= y -> round x <= round y) ->
  let f : cell := fun x h => round (round (U * h) + match x with Open => a | Close => b end) in
  forall n m,
    is_least (reached f n m) (fst (extremes f n m)) /\ is_greatest (reached f n m) (snd (extremes f n m)).
Proof.
  intros round a b U rises f. apply extremes_are_exact; destruct (Rle_or_lt 0 U);
    [left | right | left | right]; intros x y less; apply rises, Rplus_le_compat_r, rises; nra.
Qed.
