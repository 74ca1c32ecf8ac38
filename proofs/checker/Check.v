(** The checker: a claim and what is to prove it, which may come from anywhere, and the theorem that what it lets pass holds. *)

From Tallystick.checker Require Import Networks Search Affine Whole Sorting Tracks Along Counting Paths Monotone ReluCounter Tails Fading Counts
  Runs Bisection LongStrings.

(** How a claim about lengths to a horizon is to be checked, with hints on which nothing rests. *)
Inductive way :=
  | ByBoxes (unit : positive)
  | BySorting (unit divisor scale : positive) (tracks : list track)
  | ByPaths (unit divisor scale : positive) (tracks : list track)
  | ByBisection (unit : positive) (tracks : list track).

(** How a claim about all lengths is to be checked: for each track what its row becomes, and the rows that see nothing move; or which
    rows it is made of that rise or fall with the count. *)
Inductive always :=
  | ByCounting (tracks : list (track * (list Q * list Q))) (basis : list kept)
  | ByRising (tracks : list (track * list Q)) (rows : list eigen)
  | ByRelu (tracks : list track)
  | ByTail (unit divisor scale : positive) (tracks : list track) (limit : list line) (power start : positive)
  | ByFading (unit divisor scale : positive) (tracks : list (track * list Q)) (box : bounds) (start : positive).

Inductive evidence :=
  | ToHorizon (to_horizon of_string : way)
  | ForEver (how : always).

Record certificate := { claimed : claim; evidence_of : evidence }.

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

Definition path_tracks (U D S : positive) (tracks : list track) (n : network) (t : task) (which : lengths) (horizon : Z) : bool :=
  match affine_of n with
  | Some a =>
      match whole_network_of D S n a with
      | Some w =>
          commute a && tracks_suffice n t tracks &&
          forallb (fun tr => least_paths U D S n w which (line_of_track n a (fst tr)) (questions tr) horizon) tracks
      | None => false
      end
  | None => false
  end.

(** One linear unit, by a few strings at a few lengths. *)
Definition bisected (S : positive) (tracks : list track) (m : model) (t : task) (which : lengths) (horizon : Z) : option bool :=
  match m with Unit u ls d => bisect S tracks u ls d t which horizon | _ => None end.

(** Every counted string to the horizon gets its right class. *)
Definition check_lengths (w : way) (c : claim) (horizon : Z) : bool :=
  match w with
  | ByBoxes U => search U (network_of (its c)) (asked c) (which c) horizon
  | BySorting U D T tracks => sorted_tracks U D T tracks (network_of (its c)) (asked c) (which c) horizon
  | ByPaths U D T tracks => path_tracks U D T tracks (network_of (its c)) (asked c) (which c) horizon
  | ByBisection U tracks =>
      match bisected U tracks (its c) (asked c) (which c) horizon with Some yes => yes | None => false end
  end.

(** Every counted string gets its right class. *)
Definition counting_tracks (tracks : list (track * (list Q * list Q))) (basis : list kept) (n : network) (t : task)
    (which : lengths) : bool :=
  match affine_of n with
  | Some a =>
      tracks_suffice n t (map fst tracks) && forallb (is_kept n a (map fst basis)) basis &&
      forallb (fun tr => let l := line_of_track n a (fst (fst tr)) in
        follows n a (map fst basis) l (snd tr) && forallb (is_met n which l) (questions (fst tr))) tracks
  | None => false
  end.

Definition rising_tracks (tracks : list (track * list Q)) (rows : list eigen) (n : network) (t : task) (which : lengths) : bool :=
  match affine_of n with
  | Some a =>
      tracks_suffice n t (map fst tracks) && forallb (is_eigen n a) rows &&
      forallb (fun tr => let l := line_of_track n a (fst (fst tr)) in
        is_made_of l (snd tr) rows && forallb (is_met_by_rising n which l (snd tr) rows) (questions (fst tr))) tracks
  | None => false
  end.

(** Lengths to K one by one, and all others at once. *)
Definition tail_tracks (U D T : positive) (tracks : list track) (E : list line) (m K : positive) (n : network) (t : task)
    (which : lengths) : bool :=
  match affine_of n with
  | Some a =>
      tail_is_fine a E m && sorted_tracks U D T tracks n t which (Zpos K) &&
      let theta := tail_size a E m in
      forallb (fun tr => is_met_by_tail n a E m (Pos.to_nat K) theta which (line_of_track n a (fst tr)) (questions tr)) tracks
  | None => false
  end.

(** Lengths to K by lattice paths, and all others by what the last K tokens leave. *)
Definition fading_tracks (U D T : positive) (tracks : list (track * list Q)) (g : bounds) (K : positive) (n : network) (t : task)
    (which : lengths) : bool :=
  match affine_of n with
  | Some a =>
      match whole_network_of D T n a with
      | Some w =>
          commute a && tracks_suffice n t (map fst tracks) && is_box n a g &&
          forallb (fun tr => fades U D T n a w which g K (snd tr) (line_of_track n a (fst (fst tr))) (questions (fst tr))) tracks
      | None => false
      end
  | None => false
  end.

Definition check_always (how : always) (c : claim) : bool :=
  match how with
  | ByCounting tracks basis => counting_tracks tracks basis (network_of (its c)) (asked c) (which c)
  | ByRising tracks rows => rising_tracks tracks rows (network_of (its c)) (asked c) (which c)
  | ByRelu tracks => relu_tracks tracks (its c) (asked c)
  | ByTail U D T tracks E m K => tail_tracks U D T tracks E m K (network_of (its c)) (asked c) (which c)
  | ByFading U D T tracks g K => fading_tracks U D T tracks g K (network_of (its c)) (asked c) (which c)
  end.

(** A string gets a class. *)
Definition check_string (w : way) (c : claim) (r : runs) (k : class) : bool :=
  match w with
  | ByBoxes U => string_gets U (network_of (its c)) (string_of r) k
  | BySorting U D T _ | ByPaths U D T _ => gets_along U D T (network_of (its c)) (string_of r) k
  | ByBisection U _ => match its c with Unit u ls d => runs_get U u ls d r k | _ => false end
  end.

Definition check_failing (w : way) (c : claim) (horizon : Z) (failing : runs) (given : class) : bool :=
  fails_after (asked c) (which c) horizon failing given && check_string w c failing given.

Definition check (c : certificate) : bool :=
  is_fit (its (claimed c)) &&
  match said (claimed c), evidence_of c with
  | Proved, ForEver how => check_always how (claimed c)
  | Bounded horizon, ToHorizon w _ => check_lengths w (claimed c) horizon
  | Refuted horizon failing given, ToHorizon w v =>
      check_failing v (claimed c) horizon failing given && check_lengths w (claimed c) horizon
  | _, _ => false
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

Lemma path_tracks_sound U D S tracks n t which horizon : path_tracks U D S tracks n t which horizon = true ->
  right_to (gives n) t which horizon.
Proof.
  unfold path_tracks. destruct (affine_of n) as [a|] eqn:is_affine; [|discriminate].
  destruct (whole_network_of D S n a) as [w|] eqn:is_whole; [|discriminate].
  rewrite !Bool.andb_true_iff, forallb_forall. intros [[commuting suffice] all] s is_counted short.
  eapply tracks_give; [exact is_affine | exact suffice|]. apply Forall_forall. intros tr member.
  apply all in member. eapply least_paths_sound in member; eauto.
Qed.

Lemma check_lengths_sound w c horizon : check_lengths w c horizon = true ->
  right_to (gives (network_of (its c))) (asked c) (which c) horizon.
Proof.
  destruct w as [U | U D T tracks | U D T tracks | U tracks]; cbn;
    [apply search_sound | apply sorted_tracks_sound | apply path_tracks_sound |].
  unfold bisected. destruct (its c) as [u ls d | |]; try discriminate.
  destruct (bisect U tracks u ls d (asked c) (which c) horizon) as [[]|] eqn:settled; try discriminate.
  intros _. eapply bisect_sound, settled.
Qed.

Lemma counting_tracks_sound tracks basis n t which : counting_tracks tracks basis n t which = true ->
  forall s, counted which s -> gives n s (right_class t s).
Proof.
  unfold counting_tracks. destruct (affine_of n) as [a|] eqn:is_affine; [|discriminate].
  rewrite !Bool.andb_true_iff, (forallb_forall _ tracks). intros [[suffice all_kept] all] s is_counted.
  eapply tracks_give; [exact is_affine | exact suffice|]. apply Forall_map, Forall_forall. intros tr member.
  apply all in member. apply Bool.andb_true_iff in member. destruct member as [following met].
  eapply counts_sound; eauto.
Qed.

Lemma rising_tracks_sound tracks rows n t which : rising_tracks tracks rows n t which = true ->
  forall s, counted which s -> gives n s (right_class t s).
Proof.
  unfold rising_tracks. destruct (affine_of n) as [a|] eqn:is_affine; [|discriminate].
  rewrite !Bool.andb_true_iff, (forallb_forall _ tracks). intros [[suffice eigen_rows] all] s is_counted.
  eapply tracks_give; [exact is_affine | exact suffice|]. apply Forall_map, Forall_forall. intros tr member.
  apply all in member. apply Bool.andb_true_iff in member. destruct member as [made_of met].
  eapply rising_sound; eauto.
Qed.

Lemma tail_tracks_sound U D T tracks E m K n t which : tail_tracks U D T tracks E m K n t which = true ->
  forall s, counted which s -> gives n s (right_class t s).
Proof.
  unfold tail_tracks. destruct (affine_of n) as [a|] eqn:is_affine; [|discriminate]. cbv zeta.
  rewrite !Bool.andb_true_iff, forallb_forall. intros [[fine sorted_] all] s is_counted.
  destruct (Z_le_gt_dec (size s) (Zpos K)) as [short | long]; [eapply sorted_tracks_sound; eassumption|].
  assert (tracks_suffice n t tracks = true) as suffice.
  { unfold sorted_tracks in sorted_. rewrite is_affine in sorted_. destruct (whole_network_of D T n a); [|discriminate].
    rewrite !Bool.andb_true_iff in sorted_. tauto. }
  eapply tracks_give; [exact is_affine | exact suffice|]. apply Forall_forall. intros tr member.
  apply all in member. eapply tail_sound; eauto. rewrite positive_nat_Z. lia.
Qed.

Lemma fading_tracks_sound U D T tracks g K n t which : fading_tracks U D T tracks g K n t which = true ->
  forall s, counted which s -> gives n s (right_class t s).
Proof.
  unfold fading_tracks. destruct (affine_of n) as [a|] eqn:is_affine; [|discriminate].
  destruct (whole_network_of D T n a) as [w|] eqn:is_whole; [|discriminate].
  rewrite !Bool.andb_true_iff, forallb_forall. intros [[[commuting suffice] box_is] all] s is_counted.
  eapply tracks_give; [exact is_affine | exact suffice|]. apply Forall_map, Forall_forall. intros tr member. apply all in member.
  destruct (Z_le_gt_dec (Zpos K) (size s)) as [long | short]; [eapply fades_sound; eauto|].
  unfold fades in member. cbv zeta in member. rewrite !Bool.andb_true_iff, Z.eqb_eq in member. destruct member as [[[good reached] _] _].
  assert (least_paths U D T n w which (line_of_track n a (fst (fst tr))) (questions (fst tr)) (Zpos K) = true) as lengths_.
  { apply Bool.andb_true_iff. split; [exact good | apply Z.leb_le, Z.eq_le_incl; exact reached]. }
  eapply least_paths_sound in lengths_; eauto. apply lengths_; [exact is_counted | lia].
Qed.

Lemma check_always_sound how c : check_always how c = true ->
  forall s, counted (which c) s -> gives (network_of (its c)) s (right_class (asked c) s).
Proof.
  destruct how as [tracks basis | tracks rows | tracks | U D T tracks E m K | U D T tracks g K]; cbn;
    [apply counting_tracks_sound | apply rising_tracks_sound | | apply tail_tracks_sound | apply fading_tracks_sound].
  intros checked s _. destruct (its c) as [u ls d | |]; try discriminate. exact (relu_tracks_sound _ _ _ _ _ s checked).
Qed.

Lemma check_string_sound w c r k : check_string w c r k = true -> gives (network_of (its c)) (string_of r) k.
Proof.
  destruct w as [U | U D T tracks | U D T tracks | U tracks]; cbn;
    [apply string_gets_sound | apply gets_along_sound | apply gets_along_sound |].
  destruct (its c) as [u ls d | |]; try discriminate. apply runs_get_sound.
Qed.

Theorem check_sound : forall c : certificate, check c = true -> holds (claimed c).
Proof.
  intros c. unfold check, holds. rewrite Bool.andb_true_iff. intros [fit checked].
  apply (claim_from (gives (network_of (its (claimed c))))); [intros s k; now apply network_gives | revert checked].
  destruct (said (claimed c)) as [|horizon failing given|horizon], (evidence_of c) as [w v|how]; try discriminate;
    cbn [claim_holds].
  - apply check_always_sound.
  - unfold check_failing. rewrite !Bool.andb_true_iff. intros [[fails gets] right].
    apply check_lengths_sound in right. apply check_string_sound in gets. apply fails_after_sound in fails. tauto.
  - apply check_lengths_sound.
Qed.
