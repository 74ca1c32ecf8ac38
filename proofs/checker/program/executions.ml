(* Cells with one unit in floating point, as the proof speaks of them. *)

open Answers
open Json
open Checker
module Z = Answers.Whole

type string = Answers.text

let formats = [ ("float16", float16); ("bfloat16", bfloat16); ("float32", float32); ("float64", float64) ]
let fused_suffix = "-fused"

(* The name of the format, and whether U·h + c is rounded once. *)
let parts name =
  if String.ends_with ~suffix:fused_suffix name then
    (String.sub name 0 (String.length name - String.length fused_suffix), true)
  else (name, false)

let covers name = List.mem_assoc (fst (parts name)) formats

let network (subject : Models.model_read) arithmetic =
  let name, fused = parts arithmetic in
  match subject.model with
  | Programs _ | Counting _ ->
      raise (Not_covered (Printf.sprintf "a network of more than one unit, or asked for the count, in %s arithmetic" arithmetic))
  | Unit (cell, lines, decision) ->
      let line (slopes, bias) = (List.hd slopes, bias) in
      { form = List.assoc name formats; fused; cell; float_lines = List.map line lines; float_decision = decision }

(* The states along the failing string, which the package writes for its readers; the claim does not speak of them. *)
let check_trace network runs value =
  let states = List.map Models.number_of (list_of value) in
  let size = List.fold_left (fun total (_, size) -> Z.add total size) Z.zero runs in
  require (Z.equal (Z.of_int (List.length states)) (Z.succ size)) "the trace is not the string's";
  let equal h found = Z.equal (Z.shift_left found.qnum (Z.to_int network.form.places)) (Z.mul h found.qden) in
  let tokens = List.concat_map (fun (token, size) -> List.init (Z.to_int size) (fun _ -> token)) runs in
  require (equal Z.zero (List.hd states)) "the trace is not the string's";
  let follow h token found =
    let h = float_step network token h in
    require (equal h found) "the trace is not the string's";
    h in
  ignore (List.fold_left2 follow Z.zero tokens (List.tl states))
