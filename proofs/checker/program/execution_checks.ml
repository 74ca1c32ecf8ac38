(* Claims about floating point: which check of the extracted checker goes with which method. *)

open Answers
open Checker
module Z = Answers.Whole

type string = Answers.text

let longest_search = Z.of_int 20_000

(* No count has more than 12,870 strings of this length, and more states than that are listed. *)
let all_are_listed_to = Z.of_int 16

(* What makes a depth decide: a readout and a task of the usual kinds, of which Python's checker knows that length 2 decides. *)
let require_usual (read : Certificates.read) network =
  let task = read.claim.asked and kind = read.subject.kind and relu = network.cell.relu in
  let right = List.map Z.to_int [ task.below; task.at_zero; task.above ] in
  let usual =
    if kind = "zero" then right = [ 0; 1; 0 ] && task.floored = relu
    else
      List.mem kind [ "binary"; "ternary"; "class" ] && (not task.floored)
      && List.length (List.sort_uniq compare right) = List.length read.subject.classes in
  require usual "an exact depth does not speak of this readout and task";
  let slopes = List.map (fun (v, _) -> rounded network v) network.float_lines in
  let opposed i v = List.for_all Fun.id (List.mapi (fun j w -> j <= i || Z.sign v * Z.sign w <= 0) slopes) in
  require (List.for_all Fun.id (List.mapi opposed slopes)) "two outputs may change places more than once"

let verify (read : Certificates.read) =
  ignore (Json.fields_of read.evidence.fields "method" "method");
  Certificates.require_following read;
  let network = Executions.network read.subject read.arithmetic in
  let claim = { float_net = network; float_asked = read.claim.asked; float_which = read.claim.which; float_said = read.claim.said } in
  require (read.claim.said <> Proved && read.evidence.by <> "theorem") "no theorem holds in floating point";
  match read.evidence.by with
  | "search" ->
      let horizon = match read.claim.said with Bounded horizon | Refuted (horizon, _, _) -> horizon | Proved -> Z.zero in
      if Z.gt horizon longest_search then raise (Too_costly (Printf.sprintf "a search to length %s" (Z.to_string horizon)));
      (* The ends are states of strings, and classes of one output's sign are intervals of h: what the ends do not verify is false.
         Else all states are listed, and that is exact as long as there are not too many. *)
      let binary = read.subject.kind = "binary" in
      if not (check_float ByEnds claim || ((not binary) && check_float ByStates claim)) then
        raise (if binary || Z.leq horizon all_are_listed_to then Refused "the checker did not verify it"
               else Too_costly "the checker did not verify it, which does not make it false")
  | "sorted strings" -> raise (Refused "sorted strings decide only for a linear cell with U > 0 in real numbers")
  | "exact depth" ->
      require_usual read network;
      let short = { claim with float_said = Bounded (Z.of_int 2) } in
      require (check_float ByEnds short && check_float ByDepth claim) "the counter is not exact and right to this depth"
  | _ -> raise (Refused "not one of theorem, search, sorted strings, exact depth")
