(** Lines pulled back along a string, in whole numbers with a bound on their errors.

    The value of a line l after a string follows token by token, the last one first: what is l after a token is another line before it.
    Rows are kept in units of 1 / U, rounded where they must be; the error counts only what was rounded. *)

From Coq Require Import Lqa.
From Tallystick.checker Require Import Networks Classes Boxes Affine.

(** * Whole numbers near rational ones *)

(** x is at most e away from z. *)
Definition close (x : Q) (z e : Z) : Prop := inject_Z z - inject_Z e <= x <= inject_Z z + inject_Z e.

(** Every entry of a row in units of 1 / U; what is not there is 0. *)
Definition near (U : Q) (R : list Z) (r : list Q) (E : Z) : Prop := forall j, close (nth j r 0 * U) (nth j R 0%Z) E.

Lemma near_tail U R r E : near U R r E -> near U (tl R) (tl r) E.
Proof.
  intros all j. specialize (all (S j)). destruct R, r; cbn in *; try exact all; destruct j; exact all.
Qed.

Lemma near_head U R r E : near U R r E -> close (hd 0 r * U) (hd 0%Z R) E.
Proof. intros all. specialize (all 0%nat). now destruct R, r. Qed.

(** Sizes of integers, added up. *)
Definition sizes (v : list Z) : Z := fold_right (fun z total => Z.abs z + total)%Z 0%Z v.

Fixpoint dotZ (R v : list Z) : Z :=
  match R, v with
  | x :: R, y :: v => (x * y + dotZ R v)%Z
  | _, _ => 0%Z
  end.

(** Numbers times S are whole. *)
Definition whole (S : Q) : list Z -> list Q -> Prop := Forall2 (fun z x => inject_Z z == x * S).

Lemma dot_total r x v : dot r (x :: v) == hd 0 r * x + dot (tl r) v.
Proof. destruct r; cbn; ring. Qed.

Lemma dotZ_total R z v : dotZ R (z :: v) = (hd 0 R * z + dotZ (tl R) v)%Z.
Proof. destruct R; cbn; [destruct v|]; lia. Qed.

Lemma sizes_nonneg v : (0 <= sizes v)%Z.
Proof. induction v; cbn [sizes fold_right]; [|unfold sizes in *]; lia. Qed.

Lemma inject_abs z : inject_Z z <= inject_Z (Z.abs z) /\ - inject_Z z <= inject_Z (Z.abs z) /\ 0 <= inject_Z (Z.abs z).
Proof. rewrite <- inject_Z_opp. change 0 with (inject_Z 0). rewrite <- !Zle_Qle. lia. Qed.

(** A product with something exact is off by its size times the error. *)
Lemma close_product x z e w : close x z e -> close (x * inject_Z w) (z * w) (e * Z.abs w).
Proof.
  unfold close. rewrite !inject_Z_mult. intros [above below]. destruct (inject_abs w) as (up & down & positive).
  destruct (Z_le_gt_dec 0 w) as [sign | sign].
  - assert (0 <= inject_Z w) by (change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
    rewrite Z.abs_eq by lia. split; nra.
  - assert (inject_Z w <= 0) by (change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
    rewrite Z.abs_neq by lia. rewrite inject_Z_opp. split; nra.
Qed.

Lemma close_plus x z e y u f : close x z e -> close y u f -> close (x + y) (z + u) (e + f).
Proof. unfold close. rewrite !inject_Z_plus. lra. Qed.

Lemma close_weaken x z e f : (e <= f)%Z -> close x z e -> close x z f.
Proof. rewrite Zle_Qle. unfold close. lra. Qed.

Lemma close_eq x y z e : x == y -> close x z e -> close y z e.
Proof. unfold close. intros ->. auto. Qed.

Lemma near_dot U S R r E vZ v : near U R r E -> whole S vZ v -> close (dot r v * (U * S)) (dotZ R vZ) (E * sizes vZ).
Proof.
  intros all exact. revert R r all. induction exact as [|z x vZ v same _ IH]; intros R r all.
  - unfold close. replace (dotZ R []) with 0%Z by now destruct R. cbn [sizes fold_right]. rewrite Z.mul_0_r.
    assert (dot r [] == 0) as -> by (destruct r; reflexivity). change (inject_Z 0) with 0. lra.
  - rewrite dotZ_total. cbn [sizes fold_right]. fold (sizes vZ). rewrite Z.mul_add_distr_l.
    apply (close_eq (hd 0 r * U * inject_Z z + dot (tl r) v * (U * S))).
    + rewrite dot_total, same. ring.
    + apply close_plus; [apply close_product, near_head, all | apply IH, near_tail, all].
Qed.

(** * One token further back *)

Fixpoint row_plusZ (w : Z) (u v : list Z) : list Z :=
  match u, v with
  | x :: u, y :: v => (x + w * y)%Z :: row_plusZ w u v
  | [], v => map (Z.mul w) v
  | u, [] => u
  end.

Fixpoint combineZ (R : list Z) (M : list (list Z)) : list Z :=
  match R, M with
  | x :: R, m :: M => row_plusZ x (combineZ R M) m
  | _, _ => []
  end.

Lemma nth_row_plusZ w u v j : nth j (row_plusZ w u v) 0%Z = (nth j u 0 + w * nth j v 0)%Z.
Proof.
  revert v j. induction u as [|x u IH]; intros [|y v] [|j]; cbn; try lia; [|apply IH].
  rewrite <- (Z.mul_0_r w) at 1. rewrite map_nth. lia.
Qed.

Lemma nth_scaled w v j : nth j (map (add_times w 0) v) 0 == w * nth j v 0.
Proof. revert j. induction v as [|z v IH]; intros [|j]; cbn; try ring; [rewrite add_times_is; ring | apply IH]. Qed.

Lemma nth_row_plus w u v j : nth j (row_plus w u v) 0 == nth j u 0 + w * nth j v 0.
Proof.
  revert v j. induction u as [|x u IH]; intros v j.
  - change (row_plus w [] v) with (map (add_times w 0) v). rewrite nth_scaled. destruct j; cbn; ring.
  - destruct v as [|y v], j as [|j]; cbn; try ring; [apply add_times_is | apply IH].
Qed.

(** A column of the rows, in whole numbers and as it is. *)
Definition column (M : list (list Z)) (j : nat) : list Z := map (fun m => nth j m 0%Z) M.
Definition column_of (ls : list line) (j : nat) : list Q := map (fun l => nth j (fst l) 0) ls.

Lemma nth_combineZ R M j : nth j (combineZ R M) 0%Z = dotZ R (column M j).
Proof.
  revert M. induction R as [|x R IH]; intros [|m M]; cbn; try (now destruct j). rewrite nth_row_plusZ, IH. unfold column. lia.
Qed.

Lemma nth_line_plus w l m j : nth j (fst (line_plus w l m)) 0 == nth j (fst l) 0 + w * nth j (fst m) 0.
Proof.
  unfold line_plus. destruct (Z.eqb_spec (Qnum w) 0) as [none|]; [|apply nth_row_plus].
  assert (w == 0) as -> by (unfold Qeq; cbn; lia). ring.
Qed.

Lemma nth_combine_lines v ls c j : nth j (fst (combine_lines v ls c)) 0 == dot v (column_of ls j).
Proof.
  revert ls. induction v as [|x v IH]; intros [|l ls]; cbn [combine_lines dot column_of map]; try (now destruct j).
  rewrite nth_line_plus, IH. unfold column_of. ring.
Qed.

(** M is D times the rows of lines. *)
Definition is_matrix (D : Q) (M : list (list Z)) (ls : list line) : Prop :=
  Forall2 (fun m l => forall j, inject_Z (nth j m 0%Z) == nth j (fst l) 0 * D) M ls.

Lemma whole_column D M ls j : is_matrix D M ls -> whole D (column M j) (column_of ls j).
Proof. intros all. induction all as [|m l M ls same _ IH]; cbn; constructor; [apply same | exact IH]. Qed.

(** Division, rounded down: the error is counted only where something was left. *)
Fixpoint divide (D : Z) (v : list Z) : list Z * bool :=
  match v with
  | [] => ([], true)
  | x :: v => let '(q, r) := Z.div_eucl x D in let '(qs, exact) := divide D v in (q :: qs, (r =? 0)%Z && exact)
  end.

Definition quotient_up (x D : Z) : Z := (- (- x / D))%Z.

(** The most that a column's sizes add up to. *)
Definition growth (M : list (list Z)) : Z :=
  fold_right Z.max 0%Z (fold_right (fun m total => row_plusZ 1 total (map Z.abs m)) [] M).

Record row := { entries : list Z; off : Z }.

Definition next_row (D : Z) (M : list (list Z)) (G : Z) (R : row) : row :=
  let '(entries, exact) := divide D (combineZ (entries R) M) in
  {| entries := entries; off := quotient_up (off R * G) D + (if exact then 0 else 1) |}.

Lemma divide_near D v qs exact j : (0 < D)%Z -> divide D v = (qs, exact) ->
  (nth j qs 0 * D <= nth j v 0 <= nth j qs 0 * D + (if exact then 0 else D))%Z.
Proof.
  intros positive. revert qs exact j. induction v as [|x v IH]; cbn; intros qs exact j.
  - intros [= <- <-]. destruct j; cbn; lia.
  - pose proof (Z_div_mod x D ltac:(lia)) as division. destruct (Z.div_eucl x D) as [q r].
    destruct (divide D v) as [qs' exact']. intros [= <- <-].
    specialize (IH _ _ (pred j) eq_refl). destruct j as [|j]; cbn [nth pred] in *.
    + destruct (Z.eqb_spec r 0); cbn; [destruct exact'|]; lia.
    + destruct (Z.eqb_spec r 0), exact'; cbn in *; lia.
Qed.

Lemma column_sizes M j : sizes (column M j) = nth j (fold_right (fun m total => row_plusZ 1 total (map Z.abs m)) [] M) 0%Z.
Proof.
  induction M as [|m M IH]; [now destruct j|]. cbn [fold_right]. rewrite nth_row_plusZ, <- IH.
  assert (nth j (map Z.abs m) 0 = Z.abs (nth j m 0))%Z as -> by exact (map_nth Z.abs m 0%Z j).
  unfold sizes, column. cbn [map fold_right]. lia.
Qed.

Lemma growth_bounds M j : (sizes (column M j) <= growth M)%Z.
Proof.
  rewrite column_sizes. unfold growth.
  generalize (fold_right (fun m total => row_plusZ 1 total (map Z.abs m)) [] M) as v.
  intros v. revert j. induction v as [|x v IH]; intros [|j]; cbn; try lia. specialize (IH j). lia.
Qed.

Lemma quotient_up_above x D : (0 < D)%Z -> (x <= quotient_up x D * D)%Z.
Proof. intros positive. unfold quotient_up. pose proof (Z.mul_div_le (- x) D positive). lia. Qed.

Lemma next_row_near U D M G R l ls : (0 < D)%Z -> (0 <= off R)%Z -> is_matrix (inject_Z D) M ls -> (growth M <= G)%Z ->
  near U (entries R) (fst l) (off R) -> near U (entries (next_row D M G R)) (fst (pull ls l)) (off (next_row D M G R)).
Proof.
  intros positive some matrix bound all j. unfold next_row, pull.
  destruct (divide D (combineZ (entries R) M)) as [qs exact] eqn:divided. cbn [entries off].
  pose proof (divide_near _ _ _ _ j positive divided) as [below above].
  rewrite nth_combineZ in below, above.
  pose proof (near_dot _ _ _ _ _ _ _ all (whole_column _ _ _ j matrix)) as [low high].
  pose proof (growth_bounds M j) as small.
  assert (off R * sizes (column M j) <= quotient_up (off R * G) D * D)%Z as error.
  { eapply Z.le_trans; [|now apply quotient_up_above]. nia. }
  assert (0 < inject_Z D) as positive' by (change 0 with (inject_Z 0); now rewrite <- Zlt_Qlt).
  rewrite Zle_Qle in below, above, error. rewrite !inject_Z_mult in error. rewrite inject_Z_mult in below.
  rewrite inject_Z_plus, inject_Z_mult in above. rewrite inject_Z_mult in low, high.
  unfold close. rewrite nth_combine_lines, inject_Z_plus.
  set (x := dot (fst l) (column_of ls j)) in *. set (q := inject_Z (nth j qs 0%Z)) in *.
  set (b := inject_Z (quotient_up (off R * G) D)) in *.
  assert (inject_Z (if exact then 0 else D)%Z == inject_Z (if exact then 0 else 1)%Z * inject_Z D) as left.
  { destruct exact; [change (inject_Z 0) with 0 | change (inject_Z 1) with 1]; ring. }
  rewrite left in above. clearbody x q b.
  assert (0 <= inject_Z (if exact then 0 else 1)%Z) by (destruct exact; discriminate).
  assert (0 <= inject_Z (if exact then 0 else 1)%Z * inject_Z D) by (apply Qmult_le_0_compat; lra).
  split; apply (Qmult_le_r _ _ _ positive'); lra.
Qed.

(** The first row. *)
Definition is_exact (U : positive) (x : Q) : bool := (Qnum x * Zpos U mod Zpos (Qden x) =? 0)%Z.

Definition first_row (U : positive) (r : list Q) : row :=
  {| entries := map (fun x => times_down x (Zpos U)) r; off := if forallb (is_exact U) r then 0 else 1 |}.

Lemma times_down_exact U x : is_exact U x = true -> inject_Z (times_down x (Zpos U)) == x * inject_Z (Zpos U).
Proof.
  unfold is_exact. rewrite Z.eqb_eq. intros none. destruct x as [n d]. cbn [Qnum Qden] in none.
  Transparent times_down. unfold times_down. Opaque times_down. cbn [Qnum Qden].
  pose proof (Z.div_mod (n * Zpos U) (Zpos d) ltac:(lia)) as division. rewrite none in division.
  unfold Qeq, inject_Z, Qmult. cbn [Qnum Qden]. rewrite Pos.mul_1_r. lia.
Qed.

Lemma times_down_near x U : inject_Z (times_down x U) <= x * inject_Z U <= inject_Z (times_down x U) + 1.
Proof.
  split; [apply times_down_below|].
  Transparent times_down. unfold times_down. Opaque times_down. destruct x as [n d]. cbn [Qnum Qden].
  pose proof (Z.mul_succ_div_gt (n * U) (Zpos d) ltac:(lia)) as above.
  unfold Qle, inject_Z, Qmult, Qplus. cbn [Qnum Qden]. rewrite !Pos.mul_1_r. lia.
Qed.

Lemma first_row_near U r : near (inject_Z (Zpos U)) (entries (first_row U r)) r (off (first_row U r)).
Proof.
  intros j. cbn [entries off first_row].
  assert (forall x, (forallb (is_exact U) r = true -> is_exact U x = true) ->
    close (x * inject_Z (Zpos U)) (times_down x (Zpos U)) (if forallb (is_exact U) r then 0 else 1)) as each.
  { intros x known. unfold close. destruct (forallb (is_exact U) r).
    - rewrite (times_down_exact U x (known eq_refl)). change (inject_Z 0) with 0. lra.
    - pose proof (times_down_near x (Zpos U)). change (inject_Z 1) with 1. lra. }
  destruct (Nat.lt_ge_cases j (length r)) as [inside | outside].
  - rewrite (nth_indep _ 0%Z (times_down 0 (Zpos U))) by now rewrite map_length.
    rewrite (map_nth (fun x => times_down x (Zpos U))). apply each. rewrite forallb_forall. intros all. apply all, nth_In, inside.
  - rewrite !nth_overflow by (rewrite ?map_length; exact outside).
    unfold close. destruct (forallb (is_exact U) r); [change (inject_Z 0) with 0 | change (inject_Z 1) with 1];
      change (inject_Z 0) with 0; lra.
Qed.

Lemma quotient_up_nonneg x D : (0 <= x)%Z -> (0 < D)%Z -> (0 <= quotient_up x D)%Z.
Proof. intros. unfold quotient_up. assert (- x / D <= 0)%Z; [|lia]. apply Z.div_le_upper_bound; lia. Qed.

Lemma growth_nonneg M : (0 <= growth M)%Z.
Proof. unfold growth. induction (fold_right _ [] M); cbn; lia. Qed.

Lemma next_row_off D' M G r : (0 < D')%Z -> (0 <= G)%Z -> (0 <= off r)%Z -> (0 <= off (next_row D' M G r))%Z.
Proof.
  intros positive bound some. unfold next_row. destruct (divide _ _) as [? exact]. cbn.
  pose proof (quotient_up_nonneg (off r * G) D' ltac:(nia) positive). destruct exact; lia.
Qed.
