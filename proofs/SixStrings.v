(** Theorem 1, sharper: six strings decide whether a linear cell counts, and of these the four of length 2 suffice. *)

From Tallystick Require Import Brackets Theorem1.

(** `((` gives a <> 0 and U <> -1; `()` gives b = -U a, `)(` gives a = -U b, and together U U = 1. *)
Theorem length_two_decides : forall a b U : R,
  (forall s, length s = 2%nat -> right_on (linear a b U) BB s) -> accepts_exactly (linear a b U) BB.
Proof.
  intros a b U right.
  destruct (right [Open; Open] eq_refl) as [both_open _]. destruct (right [Open; Close] eq_refl) as [_ open_close].
  destruct (right [Close; Open] eq_refl) as [_ close_open].
  cbv in both_open, open_close, close_open. specialize (open_close eq_refl). specialize (close_open eq_refl).
  assert ((U + 1) * a <> 0) as not_zero by (intros zero; enough (2 = 0)%nat by lia; apply both_open; lra).
  assert ((U - 1) * ((U + 1) * a) = 0) as product by nra.
  apply Rmult_integral in product as [one | zero]; [|contradiction].
  assert (U = 1) as -> by lra. assert (b = - a) as -> by lra.
  apply exact_counter_accepts_BB. nra.
Qed.

Theorem six_strings_decide : forall a b U : R,
  (forall s, (length s <= 2)%nat -> right_on (linear a b U) BB s) -> accepts_exactly (linear a b U) BB.
Proof. intros a b U right. apply length_two_decides. intros s two. apply right. lia. Qed.
