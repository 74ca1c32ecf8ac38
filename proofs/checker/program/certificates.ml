(* From the fields of a certificate to its claim, its digest checked. *)

open Answers
open Json
open Checker
module Z = Answers.Whole

type string = Answers.text

type evidence = { by : string; fields : Json.t }

type read = {
  subject : Models.model_read;
  claim : claim;
  arithmetic : string;
  gated : (gated_network * string) option; (* of a network whose step squashes, with the method that decides it *)
  right_said : Z.t option; (* the right class that the certificate names for its failing string *)
  evidence : evidence;
}

let format = "tallystick certificate 1"
let fields = "format model readout lengths arithmetic verdict horizon counterexample evidence digest"

let formats = [ "float16"; "bfloat16"; "float32"; "float64" ]
let narrow = [ ""; "float16"; "bfloat16" ]

(* The arithmetics that certificates may name, besides the exact one. *)
let executed =
  let orders = List.concat_map (fun form -> List.map (fun order -> form ^ order) [ ""; "-fused"; "-any-order" ]) formats in
  let kept weights state =
    String.concat "-" ((if weights = "" then [] else [ weights ^ "-weights" ]) @ (if state = "" then [] else [ state ^ "-state" ]) @ [ "float32-any-order" ]) in
  orders @ List.concat_map (fun weights -> List.map (kept weights) narrow) (narrow @ [ "int8" ])

let runs_of value =
  let run value =
    match list_of ~size:2 value with
    | [ token; Int size ] when Z.sign size > 0 ->
        ((if one_of token [ "("; ")" ] = "(" then Open else Close), size)
    | [ token; _ ] -> ignore (one_of token [ "("; ")" ]); raise (Refused "a run of no tokens")
    | _ -> assert false in
  let runs = List.map run (list_of value) in
  let rec alternate = function (x, _) :: ((y, _) :: _ as rest) -> x <> y && alternate rest | _ -> true in
  require (alternate runs) "a run that goes on";
  runs

(* What a certificate calls the three classes of a network that is asked for the count. *)
let count_names runs =
  let count = Z.to_string (count_of_runs false runs) in
  [ "less than " ^ count; "more than " ^ count; count ]

let class_of names value =
  match value with
  | Text name when List.mem name names -> Z.of_int (Models.place_in names name)
  | _ -> raise (Refused "a class that is none")

(* The states along the failing string, which the package writes for its readers; the claim does not speak of them, and
   neither does the proof. *)
let longest_string = Z.of_int 5_000_000
let require_short runs = if Z.gt (size_of_runs runs) longest_string then raise (Too_costly "a string of so many tokens")

let check_trace (subject : Models.model_read) arithmetic runs value =
  match value with
  | Null -> ()
  | _ when (require_short runs; arithmetic <> "real") -> Executions.check_trace (Executions.network subject arithmetic) runs value
  | _ ->
      let network = match subject.model with Unit _ -> network_of subject.model | Programs _ | Counting _ -> raise (Refused "no state of this cell is an exact number") in
      let states = List.map Models.number_of (list_of value) in
      let string = string_of runs in
      require (List.length states = 1 + List.length string) "the trace is not the string's";
      let equal x y = Z.equal Z.(x.qnum * y.qden) Z.(y.qnum * x.qden) in
      let next state token = run_program (match token with Open -> network.step_open | Close -> network.step_close) [ state ] in
      let rec follow state tokens rest =
        match (tokens, rest) with
        | token :: tokens, found :: rest -> (
            match next state token with
            | [ expected ] -> require (equal expected found) "the trace is not the string's"; follow found tokens rest
            | _ -> assert false)
        | _ -> () in
      require (equal (List.hd states) Models.zero) "the trace is not the string's";
      follow (List.hd states) string (List.tl states)

(* Strings of one linear unit are followed run by run, however long the runs are. *)
let bisected_method by arithmetic = by = "sorted strings" && arithmetic = "real"

let claim_of content =
  let field =
    try
      let field = fields_of content fields in
      require (field "format" = Text format) "unknown format";
      field
    with Refused reason -> raise (Unreadable reason) in
  let rest = match content with Object fields -> Object (List.remove_assoc "digest" fields) | _ -> Null in
  require (field "digest" = Text (Sha256.hex (Json.spell rest))) "the digest does not fit the content";
  if has (field "model") "alphabet" then raise (Not_covered "a network that is asked about a language");
  let arithmetic =
    match field "arithmetic" with
    | Text ("real" as name) -> name
    | Text name when List.mem name executed ->
        if not (Executions.covers name) then raise (Not_covered (Printf.sprintf "%s arithmetic" name));
        name
    | _ -> raise (Refused "an unknown arithmetic") in
  let subject, gated =
    try (Models.model_of (field "model"), None)
    with Models.Squashes when arithmetic = "real" -> let subject, network, decided_by = Gated_models.read (field "model") in (subject, Some (network, decided_by)) in
  if arithmetic <> "real" then ignore (Executions.network subject arithmetic);
  require (field "readout" = Text subject.kind) "the readout is not the model's";
  let which = if one_of (field "lengths") [ "all"; "even" ] = "all" then AllLengths else EvenLengths in
  let verdict = one_of (field "verdict") [ "PROVED"; "REFUTED"; "BOUNDED" ] in
  let horizon =
    match (verdict, field "horizon") with
    | "PROVED", Text "unlimited" -> Z.zero
    | "PROVED", _ -> raise (Refused "what is proved has no horizon")
    | _, Int horizon ->
        require (Z.sign horizon >= 0) "the horizon is not a length";
        require (Z.divisible horizon (stride which)) "the horizon is not a counted length";
        horizon
    | _ -> raise (Refused "the horizon is not a length") in
  let example = field "counterexample" in
  require ((example = Null) = (verdict <> "REFUTED")) "a counterexample goes with REFUTED alone";
  let evidence = field "evidence" in
  let by = match evidence with Object fields -> (match List.assoc_opt "method" fields with Some (Text by) -> by | _ -> raise (Refused "evidence without a method")) | _ -> raise (Refused "an object is missing") in
  let said, right_said =
    match verdict with
    | "PROVED" -> (Proved, None)
    | "BOUNDED" -> (Bounded horizon, None)
    | _ ->
        let field = fields_of example "runs class right_class trace" in
        let runs = runs_of (field "runs") in
        if not (bisected_method by arithmetic) then require_short runs;
        let names = if subject.kind = "count" then count_names runs else subject.classes in
        let given = class_of names (field "class") and right = class_of names (field "right_class") in
        check_trace subject arithmetic runs (field "trace");
        (Refuted (horizon, runs, given), Some right) in
  { subject; claim = { its = subject.model; asked = subject.task; which; said }; arithmetic; gated; right_said; evidence = { by; fields = evidence } }

(* What a failing string must be in any case; the checker looks at this again. *)
let require_following read =
  match read.claim.said with
  | Refuted (horizon, runs, given) ->
      require (Z.equal (size_of_runs runs) (Z.add horizon (stride read.claim.which))) "the counterexample does not follow the horizon";
      require (read.right_said <> Some given) "the counterexample does not fail"
  | _ -> ()
