(** The checker as an OCaml program: whole numbers become those of zarith; lists, options, pairs and truth values OCaml's own. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Tallystick.checker Require Import Networks Check.

(** What ExtrOcamlZBigInt leaves to binary digits, and would be slow. *)
Extract Inlined Constant Z.leb => "Big_int_Z.le_big_int".
Extract Inlined Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Inlined Constant Z.geb => "Big_int_Z.ge_big_int".
Extract Inlined Constant Z.gtb => "Big_int_Z.gt_big_int".
Extract Inlined Constant Pos.eqb => "Big_int_Z.eq_big_int".
Extract Inlined Constant Pos.leb => "Big_int_Z.le_big_int".
Extract Inlined Constant Pos.ltb => "Big_int_Z.lt_big_int".

Extraction "checker.ml" check network_of.
