(* Claims about floating point: which check of the extracted checker goes with which method. *)

open Answers
open Checker
module Z = Answers.Whole

type string = Answers.text

let longest_search = Z.of_int 20_000

let verify (read : Certificates.read) =
  ignore (Json.fields_of read.evidence.fields "method" "method");
  let network = Executions.network read.subject read.arithmetic in
  let claim = { float_net = network; float_asked = read.claim.asked; float_which = read.claim.which; float_said = read.claim.said } in
  require (read.claim.said <> Proved && read.evidence.by <> "theorem") "no theorem holds in floating point";
  match read.evidence.by with
  | "search" ->
      let horizon = match read.claim.said with Bounded horizon | Refuted (horizon, _, _) -> horizon | Proved -> Z.zero in
      if Z.gt horizon longest_search then raise (Too_costly (Printf.sprintf "a search to length %s" (Z.to_string horizon)));
      if not (check_float claim) then raise (Too_costly "the checker did not verify it, which does not make it false")
  | "sorted strings" -> raise (Refused "sorted strings decide only for a linear cell with U > 0 in real numbers")
  | "exact depth" -> raise (Not_covered "an exact depth")
  | _ -> raise (Refused "not one of theorem, search, sorted strings, exact depth")
