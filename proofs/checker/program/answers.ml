(* The answers that are not "holds", as exceptions; each carries its reason in one line. *)

exception Unreadable of string (* bad input: no certificate at all *)
exception Refused of string (* the certificate does not hold *)
exception Not_covered of string (* the proof does not speak of such a claim *)
exception Too_costly of string

let require holds otherwise = if not holds then raise (Refused otherwise)

(* The extracted checker has modules and types of these names too. *)
module Whole = Z

type text = string
