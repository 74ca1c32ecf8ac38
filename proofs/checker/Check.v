(** The checker: a claim and what is to prove it, which may come from anywhere, and the theorem that what it lets pass holds. *)

From Tallystick.checker Require Import Networks Search Affine Whole Sorting Tracks Along.

(** How a claim about lengths to a horizon is to be checked, with hints on which nothing rests. *)
Inductive way :=
  | ByBoxes (unit : positive)
  | BySorting (unit divisor scale : positive) (tracks : list track).

Record certificate := { claimed : claim; to_horizon : way; of_string : way }.

Definition sorted_tracks (U D S : positive) (tracks : list track) (n : network) (t : task) (which : lengths) (horizon : Z) : bool :=
  match affine_of n with
  | Some a =>
      match whole_network_of D S n a with
      | Some w =>
          same_matrix (M_open w) (M_close w) && tracks_suffice n t tracks &&
          forallb (fun tr => sorted U D S n w which (line_of_track n a (fst tr)) (questions tr) horizon) tracks
      | None => false
      end
  | None => false
  end.

(** Every counted string to the horizon gets its right class. *)
Definition check_lengths (w : way) (c : claim) (horizon : Z) : bool :=
  match w with
  | ByBoxes U => search U (network_of (its c)) (asked c) (which c) horizon
  | BySorting U D T tracks => sorted_tracks U D T tracks (network_of (its c)) (asked c) (which c) horizon
  end.

(** A string gets a class. *)
Definition check_string (w : way) (c : claim) (s : string) (k : class) : bool :=
  match w with
  | ByBoxes U => string_gets U (network_of (its c)) s k
  | BySorting U D T _ => gets_along U D T (network_of (its c)) s k
  end.

Definition size_of_runs (r : runs) : Z := fold_right (fun run total => (Z.max 0 (snd run) + total)%Z) 0%Z r.

Definition check_failing (w : way) (c : claim) (horizon : Z) (failing : runs) (given : class) : bool :=
  let s := string_of failing in
  (0 <=? horizon)%Z && (horizon mod stride (which c) =? 0)%Z && (size_of_runs failing =? horizon + stride (which c))%Z &&
  negb (given =? right_class (asked c) s)%Z && check_string w c s given.

Definition check (c : certificate) : bool :=
  match said (claimed c) with
  | Proved => false
  | Bounded horizon => check_lengths (to_horizon c) (claimed c) horizon
  | Refuted horizon failing given =>
      check_failing (of_string c) (claimed c) horizon failing given &&
      check_lengths (to_horizon c) (claimed c) horizon
  end.

(** * Soundness *)

Lemma sorted_tracks_sound U D S tracks n t which horizon : sorted_tracks U D S tracks n t which horizon = true ->
  right_to (gives n) t which horizon.
Proof.
  unfold sorted_tracks. destruct (affine_of n) as [a|] eqn:is_affine; [|discriminate].
  destruct (whole_network_of D S n a) as [w|] eqn:is_whole; [|discriminate].
  rewrite !Bool.andb_true_iff, forallb_forall. intros [[one suffice] all] s is_counted short.
  eapply tracks_give; [exact is_affine | exact suffice|]. apply Forall_forall. intros tr member.
  apply all in member. eapply sorted_sound in member; eauto.
Qed.

Lemma check_lengths_sound w c horizon : check_lengths w c horizon = true ->
  right_to (gives (network_of (its c))) (asked c) (which c) horizon.
Proof.
  destruct w as [U | U D T tracks]; cbn; [apply search_sound | apply sorted_tracks_sound].
Qed.

Lemma check_string_sound w c s k : check_string w c s k = true -> gives (network_of (its c)) s k.
Proof.
  destruct w as [U | U D T tracks]; cbn; [apply string_gets_sound | apply gets_along_sound].
Qed.

Lemma size_of_iter n x s : size (Z.iter n (cons x) s) = (Z.max 0 n + size s)%Z.
Proof.
  unfold size. destruct n as [|p|p]; cbn [Z.iter]; [lia | | lia].
  rewrite Pos2Nat.inj_iter, Z.max_r, <- positive_nat_Z, <- Nat2Z.inj_add by lia. f_equal.
  induction (Pos.to_nat p) as [|k IH]; cbn; lia.
Qed.

Lemma size_of_runs_is_size r : size (string_of r) = size_of_runs r.
Proof.
  induction r as [|[x n] r IH]; cbn [string_of size_of_runs fold_right snd]; [reflexivity|].
  rewrite size_of_iter. unfold size_of_runs in IH. lia.
Qed.

Theorem check_sound : forall c : certificate, check c = true -> holds (claimed c).
Proof.
  intros c. unfold check, holds. destruct (said (claimed c)) as [|horizon failing given|horizon]; cbn [claim_holds].
  - discriminate.
  - unfold check_failing. rewrite !Bool.andb_true_iff, Z.leb_le, !Z.eqb_eq, Bool.negb_true_iff, Z.eqb_neq.
    intros [[[[[positive whole] long] wrong] gets] right].
    rewrite size_of_runs_is_size, long. repeat split.
    + now apply check_lengths_sound in right.
    + intros empty. apply (f_equal size) in empty. rewrite size_of_runs_is_size, long in empty.
      unfold size in empty. destruct (which (claimed c)); cbn in empty; lia.
    + rewrite size_of_runs_is_size, long. apply Z.divide_add_r; [|apply Z.divide_refl].
      apply Z.mod_divide; [destruct (which (claimed c)); discriminate | exact whole].
    + now apply check_string_sound in gets.
    + exact wrong.
  - apply check_lengths_sound.
Qed.
