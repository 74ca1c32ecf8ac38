(* Which way to check a claim, and with which hints. Nothing rests on what is chosen here: a wrong hint makes the checker refuse a
   claim that holds, and never the other way round. *)

open Answers
open Checker
module Z = Answers.Whole

type string = Answers.text

type plan = {
  attempts : certificate Lazy.t list; (* coarse and quick ones first *)
  decisive : bool; (* whether a claim that none of them proves is false *)
}

let longest_search = Z.of_int 20_000
let short_digits = 2048

let bits z = Z.numbits z

(* --- Units of boxes --------------------------------------------------------------------------------------------------------- *)

let denominators network =
  let of_program program =
    List.concat_map
      (function Sum (terms, bias) -> bias.qden :: List.map (fun (w, _) -> w.qden) terms | _ -> [])
      program.operations in
  let steps = List.concat_map of_program [ network.step_open; network.step_close ] in
  let around =
    List.concat_map of_program (network.hidden :: network.first)
    @ List.map (fun x -> x.qden) network.start
    @ List.concat_map (fun (v, c) -> c.qden :: List.map (fun x -> x.qden) v) network.lines in
  (List.fold_left Z.lcm Z.one steps, List.fold_left Z.lcm Z.one around)

(* Units for strings of a length: one that rounds, and one with which nothing is rounded. *)
let units network length =
  let step, around = denominators network in
  let depth = List.length network.step_open.operations + List.length network.first + 1 in
  let exact = depth * Z.to_int length * bits step + (3 * bits around) in
  let coarse = 128 + (2 * Z.numbits length) in
  let rounded = lazy (Z.shift_left Z.one coarse) in
  let whole = lazy (Z.mul (Z.pow step (Z.to_int length + 1)) (Z.pow around 3)) in
  if exact <= short_digits then [ whole ] else [ rounded; whole ]

let search (read : Certificates.read) =
  let network = network_of read.claim.its in
  let horizon = match read.claim.said with Bounded horizon | Refuted (horizon, _, _) -> horizon | Proved -> Z.zero in
  if Z.gt horizon longest_search then raise (Too_costly (Printf.sprintf "a search to length %s" (Z.to_string horizon)));
  let length = Z.add horizon (stride read.claim.which) in
  let attempt unit = lazy (let unit = Lazy.force unit in { claimed = read.claim; to_horizon = unit; of_string = unit }) in
  List.map attempt (units network length)

(* --- By method ----------------------------------------------------------------------------------------------------------------- *)

let only read names = ignore (Json.fields_of read.Certificates.evidence.fields names "method")

let plan (read : Certificates.read) =
  let proved = read.claim.said = Proved in
  let subject = read.subject in
  match subject.model with
  | Unit (cell, _, _) -> (
      only read "method";
      require (proved = (read.evidence.by = "theorem")) "a theorem proves, and nothing else does";
      match read.evidence.by with
      | "theorem" -> raise (Not_covered "a theorem")
      | "search" | "sorted strings" ->
          let sortable =
            List.mem subject.kind [ "binary"; "ternary"; "class" ] && (not subject.task.floored) && (not cell.relu)
            && subject.cell = "linear" && Z.sign (fst cell.weights).qnum > 0 in
          require (sortable || read.evidence.by = "search") "sorted strings decide only for a linear cell with U > 0 in real numbers";
          let intervals = List.mem subject.kind [ "binary"; "ternary"; "class" ] || cell.relu || not subject.task.floored in
          { attempts = search read; decisive = intervals }
      | "exact depth" -> raise (Refused "exact depth bounds a counter in floating point")
      | _ -> raise (Refused "not one of theorem, search, sorted strings, exact depth"))
  | Programs _ -> raise (Not_covered (Printf.sprintf "evidence by %s" read.evidence.by))
