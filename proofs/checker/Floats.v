(** Cells with one unit in floating point as executed, and what it is that they say about a string.

    All numbers are whole numbers of units of the format ([Rounding]). The weights are rounded once; U h is rounded, and the
    sum with the step is rounded again, or, fused, U h + c is rounded once. The readout is computed in the same way. *)

From Coq Require Export QArith.
From Tallystick.checker Require Export Claims Networks Rounding.
Open Scope Z_scope.

Record float_network := {
  form : format;
  fused : bool;
  cell : unit_cell;
  float_lines : list (Q * Q);  (* v and c of each output v h + c *)
  float_decision : list (list comparison);  (* of every class but the first *)
}.

(** * One operation *)

(** The number of the format nearest to a weight. *)
Definition rounded (n : float_network) (weight : Q) : Z := round_ratio (form n) (Qnum weight) (Zpos (Qden weight)).

(** The number w h + c as executed. A unit of w h is finer than one of h and c, by all places of the format. *)
Definition multiply_add (n : float_network) (w h c : Z) : Z :=
  let finer := places (form n) in
  if fused n then round (form n) (w * h + Z.shiftl c finer) finer
  else round (form n) (round (form n) (w * h) finer + c) 0.

(** * The state *)

Definition weight_of (n : float_network) (x : token) : Z :=
  rounded n match x with Open => fst (weights (cell n)) | Close => snd (weights (cell n)) end.

Definition step_of (n : float_network) (x : token) : Z :=
  rounded n match x with Open => fst (steps (cell n)) | Close => snd (steps (cell n)) end.

Definition float_step (n : float_network) (x : token) (h : Z) : Z :=
  let h := multiply_add n (weight_of n x) h (step_of n x) in
  if relu (cell n) then Z.max h 0 else h.

(** The state after a string, or None if it overflows on the way. *)
Definition float_after (n : float_network) (state : option Z) (x : token) : option Z :=
  match state with
  | None => None
  | Some h => let h := float_step n x h in if is_finite (form n) h then Some h else None
  end.

Definition float_state (n : float_network) (s : string) : option Z := fold_left (float_after n) s (Some 0).

(** * The class *)

(** An output that overflows is infinite, which is above every number, or below. *)
Definition float_outputs (n : float_network) (h : Z) : list Z :=
  map (fun line => multiply_add n (rounded n (fst line)) h (rounded n (snd line))) (float_lines n).

Definition float_at (outputs : list Z) (p : option place) : Z :=
  match p with Some p => nth (Z.to_nat p) outputs 0 | None => 0 end.

Definition float_compares (outputs : list Z) (c : comparison) : bool :=
  if strict c then float_at outputs (less c) <? float_at outputs (greater c)
  else float_at outputs (less c) <=? float_at outputs (greater c).

(** As for rational numbers: the class all of whose comparisons hold, the first class where there is none. *)
Fixpoint float_made (outputs : list Z) (k : class) (decision : list (list comparison)) : list class :=
  match decision with
  | [] => []
  | needed :: rest => (if forallb (float_compares outputs) needed then [k] else []) ++ float_made outputs (k + 1) rest
  end.

Definition float_class (n : float_network) (h : Z) : option class :=
  match float_made (float_outputs n h) 1 (float_decision n) with
  | [] => Some 0
  | [k] => Some k
  | _ => None
  end.

(** * What is claimed *)

(** No weight is too large for the format. *)
Definition loads (n : float_network) : bool :=
  forallb (fun w => is_finite (form n) (rounded n w))
    (fst (weights (cell n)) :: snd (weights (cell n)) :: fst (steps (cell n)) :: snd (steps (cell n))
      :: flat_map (fun line => [fst line; snd line]) (float_lines n)).

(** The network runs without an overflow of its state, and gives the string this class. *)
Definition float_gives (n : float_network) (s : string) (k : class) : Prop :=
  loads n = true /\ exists h, float_state n s = Some h /\ float_class n h = Some k.

Record float_claim := { float_net : float_network; float_asked : task; float_which : lengths; float_said : verdict }.

Definition float_holds (c : float_claim) : Prop :=
  claim_holds (float_gives (float_net c)) (float_asked c) (float_which c) (float_said c).

Lemma float_state_snoc n s x : float_state n (s ++ [x]) = float_after n (float_state n s) x.
Proof. unfold float_state. now rewrite fold_left_app. Qed.
