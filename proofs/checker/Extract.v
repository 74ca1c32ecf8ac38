(** The checker as an OCaml program: whole numbers become those of zarith; lists, options, pairs and truth values OCaml's own. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Tallystick.checker Require Import Networks Affine Whole Sorting Paths Tails Counts Check.
From Tallystick.checker Require Import Floats FloatCheck Gated GatedCheck.

(** What ExtrOcamlZBigInt leaves to binary digits, and would be slow. *)
Extract Inlined Constant Z.leb => "Big_int_Z.le_big_int".
Extract Inlined Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Inlined Constant Z.geb => "Big_int_Z.ge_big_int".
Extract Inlined Constant Z.gtb => "Big_int_Z.gt_big_int".
Extract Inlined Constant Pos.eqb => "Big_int_Z.eq_big_int".
Extract Inlined Constant Pos.leb => "Big_int_Z.le_big_int".
Extract Inlined Constant Pos.ltb => "Big_int_Z.lt_big_int".

Extract Inlined Constant Z.add => "Big_int_Z.add_big_int".
Extract Inlined Constant Z.sub => "Big_int_Z.sub_big_int".
Extract Inlined Constant Z.mul => "Big_int_Z.mult_big_int".
Extract Inlined Constant Z.opp => "Big_int_Z.minus_big_int".
Extract Inlined Constant Z.eqb => "Big_int_Z.eq_big_int".
Extract Inlined Constant Z.min => "Big_int_Z.min_big_int".
Extract Inlined Constant Z.max => "Big_int_Z.max_big_int".
Extract Inlined Constant Z.abs => "Big_int_Z.abs_big_int".
Extract Constant Z.ggcd =>
 "(fun a b -> let g = Big_int_Z.gcd_big_int a b in
  if Big_int_Z.sign_big_int g = 0 then (g, (a, b)) else (g, (Big_int_Z.div_big_int a g, Big_int_Z.div_big_int b g)))".
Extract Inlined Constant rev' => "List.rev".

(** What rounding is made of. These stand in the module that Coq names Z as well, where Z is still that of zarith. *)
Extract Constant Z.log2 => "(fun z -> if Z.sign z <= 0 then Z.zero else Z.of_int (Z.numbits z - 1))".
Extract Constant Z.testbit => "(fun z place -> Z.sign place >= 0 && Z.testbit z (Z.to_int place))".
Extract Constant Z.land => "Z.logand".
Extract Constant Z.gcd => "Z.gcd".
Extract Constant Z.lcm => "Z.lcm".
Extract Constant Z.odd => "Z.is_odd".
Extract Constant Z.sgn => "(fun z -> Z.of_int (Z.sign z))".

Extraction "checker.ml" check bisected network_of affine_of whole_matrix walk_to commute one_matrix
  check_float float16 bfloat16 float32 float64 float_step rounded
  check_gated check_gated_failing ready_network_of.
