(** The class of one string of an affine network, by going along it from its end with each line that is compared. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Boxes Affine Rows Whole Sorting Tracks.

Record stand := { row_now : row; value_now : Z; error_now : Z }.

Definition go_back (D : positive) (w : whole_network) (G : token -> Z) (k : stand) (x : token) : stand :=
  let r := row_now k in
  let v := vector_of w x in
  {| row_now := next_row (Zpos D) (matrix_after w x) (G x) r;
     value_now := value_now k + dotZ (entries r) v;
     error_now := error_now k + off r * sizes v |}.

Definition along (U D S : positive) (n : network) (w : whole_network) (l : line) (rs : string) : stand :=
  let C := output l (initial n) in
  let opened := growth (M_open w) in
  let closed := growth (M_close w) in
  fold_left (go_back D w (fun x => match x with Open => opened | Close => closed end)) rs
    {| row_now := first_row U (fst l); value_now := times_down C (Zpos (U * S));
       error_now := if is_exact (U * S) C then 0 else 1 |}.

(** A comparison with the value of its line, and how far that may be off. *)
Definition compared := (comparison * (Z * Z))%type.

Definition compare_along (U D S : positive) (n : network) (a : affine) (w : whole_network) (rs : string) (c : comparison) :
    compared :=
  let k := along U D S n w (line_of_track n a c) rs in (c, (value_now k, error_now k)).

Definition surely_along (found : list compared) (c : comparison) : bool :=
  existsb (fun f => same_comparison c (fst f) &&
    if strict c then (snd (snd f) <? fst (snd f))%Z else (snd (snd f) <=? fst (snd f))%Z) found.

Definition surely_not_along (found : list compared) (c : comparison) : bool :=
  existsb (fun f => same_comparison c (fst f) &&
    if strict c then (fst (snd f) <=? - snd (snd f))%Z else (fst (snd f) <? - snd (snd f))%Z) found.

Definition gets_along (U D S : positive) (n : network) (s : string) (k : class) : bool :=
  match affine_of n with
  | Some a =>
      match whole_network_of D S n a with
      | Some w =>
          let found := map (compare_along U D S n a w (rev' s)) (concat (decision n)) in
          surely_given (surely_along found) (surely_not_along found) (decision n) k
      | None => false
      end
  | None => false
  end.

(** * Soundness *)

Section Sound.

Variables U D S : positive.
Variable n : network.
Variable a : affine.
Hypothesis is_affine : affine_of n = Some a.
Variable w : whole_network.
Hypothesis is_whole : whole_network_of D S n a = Some w.

Local Notation K := (inject_Z (Zpos (U * S))).
Local Notation UQ := (inject_Z (Zpos U)).

Lemma along_is l rs : let k := along U D S n w l rs in
  (0 <= off (row_now k))%Z /\ near UQ (entries (row_now k)) (fst (pulled a l rs)) (off (row_now k)) /\
  close (output (pulled a l rs) (initial n) * K) (value_now k) (error_now k).
Proof.
  induction rs as [|x rs IH] using rev_ind.
  - cbn. split; [destruct (forallb _ _); lia|]. split; [apply first_row_near|]. apply constant_close.
  - unfold along in *. rewrite fold_left_app. cbn [fold_left]. set (k := fold_left _ rs _) in *.
    destruct IH as (some & row_near & value_close). rewrite pulled_snoc. cbn zeta. cbn [go_back row_now value_now error_now].
    destruct (whole_network_is _ _ _ _ _ is_whole x) as [matrix vector]. split; [|split].
    + destruct x; apply next_row_off; auto using growth_nonneg; lia.
    + apply next_row_near; try assumption; [lia|]. destruct x; apply Z.le_refl.
    + apply (close_eq (output (pulled a l rs) (initial n) * K + dot (fst (pulled a l rs)) (moved n x) * (UQ * inject_Z (Zpos S)))).
      * rewrite (pull_moves n a is_affine), <- K_is. ring.
      * apply close_plus; [exact value_close | now apply near_dot].
Qed.

Lemma compare_along_is s c y e : compare_along U D S n a w (rev' s) c = (c, (y, e)) ->
  close (output (line_of_track n a c) (state_after n s) * K) y e.
Proof.
  unfold compare_along. intros [= <- <-]. destruct (along_is (line_of_track n a c) (rev' s)) as (_ & _ & value_close).
  unfold rev' in *. rewrite <- rev_alt in *. eapply close_eq; [|exact value_close]. now rewrite (pulled_is n a is_affine).
Qed.

Lemma gets_sound s k :
  let found := map (compare_along U D S n a w (rev' s)) (concat (decision n)) in
  surely_given (surely_along found) (surely_not_along found) (decision n) k = true -> gives n s k.
Proof.
  intros found. apply surely_given_sound; intros c; unfold surely_along, surely_not_along; rewrite existsb_exists;
    intros ([d [y e]] & member & sure); cbn [fst snd] in sure; apply Bool.andb_true_iff in sure; destruct sure as [same sign];
    apply same_comparison_is in same; subst d; apply in_map_iff in member; destruct member as (d & equal & _);
    assert (d = c) by (now injection equal); subst d; apply compare_along_is in equal;
    destruct equal as [low high]; rewrite (track_line n a is_affine) in low, high;
    unfold outputs; assert (0 < K) as positive by reflexivity;
    set (x := output (difference (lines n) (greater c) (less c)) _) in *; destruct (strict c) eqn:is_strict.
  - apply compares_strict; [exact is_strict|]. fold x. apply Z.ltb_lt in sign. rewrite Zlt_Qlt in sign.
    destruct (Qlt_le_dec 0 x); [assumption | nra].
  - apply compares_weak; [exact is_strict|]. fold x. apply Z.leb_le in sign. rewrite Zle_Qle in sign.
    destruct (Qlt_le_dec x 0); [nra | assumption].
  - apply compares_strict_not; [exact is_strict|]. fold x. apply Z.leb_le in sign. rewrite Zle_Qle, inject_Z_opp in sign.
    destruct (Qlt_le_dec 0 x); [nra | assumption].
  - apply compares_weak_not; [exact is_strict|]. fold x. apply Z.ltb_lt in sign. rewrite Zlt_Qlt, inject_Z_opp in sign.
    destruct (Qlt_le_dec x 0); [assumption | nra].
Qed.

End Sound.

Lemma gets_along_sound U D S n s k : gets_along U D S n s k = true -> gives n s k.
Proof.
  unfold gets_along. destruct (affine_of n) as [a|] eqn:is_affine; [|discriminate].
  destruct (whole_network_of D S n a) as [w|] eqn:is_whole; [|discriminate].
  now apply gets_sound.
Qed.
