(* The proven checker: reads a certificate, lets the extracted checker verify it, and says in words what it has verified. *)

open Answers
open Checker
module Z = Answers.Whole

type string = Answers.text

let usage = "usage: proven-checker [--minutes N] CERTIFICATE ..."

(* --- The claim in words ----------------------------------------------------------------------------------------------------------- *)

let shown_runs runs =
  let run (token, size) = Printf.sprintf "%s^%s" (match token with Open -> "(" | Close -> ")") (Z.to_string size) in
  let number = List.length runs in
  let shown = String.concat " " (List.map run (List.filteri (fun i _ -> i < 20) runs)) in
  if number > 20 then Printf.sprintf "%s … (%d runs)" shown number else shown

let words (read : Certificates.read) =
  let claim = read.claim in
  let counting = read.subject.kind = "count" in
  let names =
    match claim.said with
    | Refuted (_, runs, _) when counting -> Certificates.count_names runs
    | _ -> read.subject.classes in
  let name k = List.nth names (Z.to_int k) in
  let length = match claim.which with AllLengths -> "" | EvenLengths -> " of even length" in
  let told =
    match claim.said with
    | Proved -> Printf.sprintf "PROVED: every string%s but the empty one gets its right class" length
    | Bounded horizon -> Printf.sprintf "BOUNDED: every string%s of 1 to %s tokens gets its right class" length (Z.to_string horizon)
    | Refuted (horizon, runs, given) ->
        Printf.sprintf "REFUTED: every string%s of 1 to %s tokens gets its right class, and %s of %s tokens gets %s instead of %s"
          length (Z.to_string horizon) (shown_runs runs)
          (Z.to_string (size_of_runs runs))
          (name given)
          (name (right_class_of_runs claim.asked runs)) in
  let told = if counting then told ^ ", where the class is the whole number nearest to the output, and right if that is the number of ( less that of )" else told in
  let task = claim.asked in
  let counted = if task.floored then "the count that never falls below 0" else "the number of ( less that of )" in
  let right =
    if counting then ""
    else Printf.sprintf "; right by %s: %s below 0, %s at 0, %s above 0" counted (name task.below) (name task.at_zero) (name task.above) in
  Printf.sprintf "%s%s; a %s network whose state has %d number%s, %s" told right read.subject.cell read.subject.units
    (if read.subject.units = 1 then "" else "s")
    (if read.gated <> None then "in real numbers" else if read.arithmetic = "real" then "in exact arithmetic" else "as executed in " ^ read.arithmetic)

(* --- Answers ------------------------------------------------------------------------------------------------------------------ *)

let read_file path =
  try
    let channel = open_in_bin path in
    Fun.protect ~finally:(fun () -> close_in channel) (fun () ->
        let buffer = Buffer.create 65536 in
        (try
           while Buffer.length buffer <= Json.largest do
             Buffer.add_channel buffer channel 1
           done
         with End_of_file -> ());
        Buffer.contents buffer)
  with Sys_error reason -> raise (Unreadable reason)

let verify path =
  let read = Certificates.claim_of (Json.parse (read_file path)) in
  (match (read.claim.said, read.right_said) with
  | Refuted (_, runs, _), Some right ->
      require (Z.equal right (right_class_of_runs read.claim.asked runs)) "the right class is not the string's"
  | _ -> ());
  if read.arithmetic <> "real" then begin Execution_checks.verify read; words read end else
  match Gated_checks.decided_in_boxes read with
  | Some network -> Gated_checks.verify read network; words read
  | None ->
  let plan = Plans.plan read in
  let rec attempt = function
    | [] -> raise (Too_costly "the checker did not verify it, which does not make it false")
    | one :: rest ->
        let certificate = Lazy.force one in
        if check certificate then words read
        else if plan.fails certificate then raise (Refused "the checker did not verify it")
        else attempt rest in
  attempt plan.attempts

let minutes_of text =
  match float_of_string_opt text with Some minutes when minutes >= 0. && minutes <= 1e6 -> minutes | _ -> prerr_endline usage; exit 2

let answer minutes path =
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = max 0.001 (60. *. minutes) });
  match verify path with
  | told -> (0, "holds: " ^ told)
  | exception Refused reason -> (1, "does not hold: " ^ reason)
  | exception Unreadable reason -> (2, "bad input: " ^ reason)
  | exception Models.Squashes -> (3, "not covered: a step that squashes, in floating point")
  | exception Not_covered reason -> (3, "not covered: " ^ reason)
  | exception Too_costly reason -> (3, "too costly: " ^ reason)
  | exception (Out_of_memory | Stack_overflow | Z.Overflow) -> (3, "too costly: there is not enough memory for this")

let () =
  let rec options minutes paths = function
    | [] -> (minutes, List.rev paths)
    | "--minutes" :: value :: rest -> options (minutes_of value) paths rest
    | path :: rest -> options minutes (path :: paths) rest in
  let minutes, paths = options 5. [] (List.tl (Array.to_list Sys.argv)) in
  if paths = [] then (prerr_endline usage; exit 2);
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> raise (Too_costly "stopped at the limit; --minutes raises it")));
  let several = List.length paths > 1 in
  let show path =
    let status, line = answer minutes path in
    print_endline (if several then path ^ ": " ^ line else line);
    status in
  exit (List.fold_left (fun worst path -> max worst (show path)) 0 paths)
