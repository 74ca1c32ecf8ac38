(* Networks whose steps squash, as the proof speaks of them: tanh cells, GRUs and LSTMs by their weights, others by their programs. *)

open Answers
open Json
open Checker
module Z = Answers.Whole

type string = Answers.text

let gated_cells = [ "tanh"; "gru"; "lstm" ]

(* --- Programs ------------------------------------------------------------------------------------------------------------- *)

let from_rational = function
  | Sum (terms, bias) -> GSum (terms, bias)
  | PositivePart p -> GPositivePart p
  | Product (p, q) -> GProduct (p, q)
  | Square p -> GSquare p
  | Step p -> GStep p
  | Mean (s, p, q) -> GMean (s, p, q)

let program_from_rational program =
  { gated_operations = List.map from_rational program.operations; gated_results = program.results }

let lines_of lines = List.map (fun (weights, bias) -> (List.mapi (fun place w -> (w, Z.of_int place)) weights, bias)) lines

let from_network network =
  { gated_start = network.start; gated_first = List.map program_from_rational network.first;
    gated_open = program_from_rational network.step_open; gated_close = program_from_rational network.step_close;
    gated_hidden = program_from_rational network.hidden; gated_lines = lines_of network.lines; gated_decision = network.decision }

let operation_of value before =
  match list_of value with
  | [ Text "tanh"; place ] -> GTanh (Models.place_of before place)
  | [ Text "sigmoid"; place ] -> GSigmoid (Models.place_of before place)
  | _ -> from_rational (Models.operation_of value before)

let taken_by = function
  | GSum (terms, _) -> List.length terms
  | GPositivePart _ | GSquare _ | GStep _ | GTanh _ | GSigmoid _ -> 1
  | GProduct _ -> 2
  | GMean _ -> 3

let program_of ?results value size =
  let field = fields_of value "operations results" in
  let listed = list_of ~most:Models.most_operations (field "operations") in
  let gated_operations = List.mapi (fun i entry -> operation_of entry (size + i)) listed in
  let terms = List.fold_left (fun total o -> total + taken_by o) 0 gated_operations in
  require (terms <= Models.most_terms) (Printf.sprintf "a program has more than %d terms" Models.most_terms);
  let places = list_of ?size:results ~most:Models.most_numbers (field "results") in
  require (places <> []) "a program without results";
  { gated_operations; gated_results = List.map (Models.place_of (size + List.length gated_operations)) places }

(* --- Cells of matrices, in PyTorch's layout: a row per gate and unit, gate after gate ---------------------------------------------- *)

type writer = { size : int; mutable written : gated_operation list; mutable number : int }

let put writer operation =
  writer.written <- operation :: writer.written;
  writer.number <- writer.number + 1;
  Z.of_int (writer.size + writer.number - 1)

let written writer results = { gated_operations = List.rev writer.written; gated_results = results }
let total = List.fold_left Models.sum Models.zero
let row weights = List.mapi (fun place w -> (w, Z.of_int place)) weights
let units_of count = List.init count Fun.id

(* The next state is tanh(x + U·h). *)
let tanh_step units recurrent constants =
  let writer = { size = units; written = []; number = 0 } in
  let sums = List.map (fun unit -> put writer (GSum (row (List.nth recurrent unit), total (List.nth constants unit)))) (units_of units) in
  written writer (List.map (fun place -> put writer (GTanh place)) sums)

(* Next comes h' = (1 − z)·n + z·h with n = tanh(x_n + r·y_n) and y = U·h + c, where r and z are sigmoids of x + y. *)
let gru_step units recurrent inputs biases =
  let writer = { size = units; written = []; number = 0 } in
  let result unit =
    let gate g = put writer (GSigmoid (put writer (GSum (row (List.nth recurrent g), total [ List.nth inputs g; List.nth biases g ])))) in
    let n = (2 * units) + unit in
    let reset = gate unit in
    let keep = gate (units + unit) in
    let taken = put writer (GProduct (reset, put writer (GSum (row (List.nth recurrent n), List.nth biases n)))) in
    let fresh = put writer (GTanh (put writer (GSum ([ (Models.one, taken) ], List.nth inputs n)))) in
    put writer (GMean (keep, fresh, Z.of_int unit)) in
  let results = List.map result (units_of units) in
  written writer results

(* Next come c' = f·c + i·g and h' = o·tanh c', where g is the tanh and i, f and o are the sigmoids of x + U·h + c. *)
let lstm_step units recurrent constants =
  let writer = { size = 2 * units; written = []; number = 0 } in
  let result unit =
    let sum k = let g = (k * units) + unit in put writer (GSum (row (List.nth recurrent g), total (List.nth constants g))) in
    let i = put writer (GSigmoid (sum 0)) in
    let f = put writer (GSigmoid (sum 1)) in
    let g = put writer (GTanh (sum 2)) in
    let o = put writer (GSigmoid (sum 3)) in
    let kept = put writer (GProduct (f, Z.of_int (units + unit))) in
    let added = put writer (GProduct (i, g)) in
    let memory = put writer (GSum ([ (Models.one, kept); (Models.one, added) ], Models.zero)) in
    (put writer (GProduct (o, put writer (GTanh memory))), memory) in
  let results = List.map result (units_of units) in
  written writer (List.map fst results @ List.map snd results)

let matrices_of value cell task =
  let field = fields_of value ("cell input_weight recurrent_weight input_bias recurrent_bias readout" ^ task) in
  let gates = List.assoc cell Models.gates in
  let units = List.length (list_of (field "recurrent_weight")) / gates in
  require (units > 0 && units <= Models.most_units) (Printf.sprintf "a cell of matrices has not 1 to %d units" Models.most_units);
  let kind, lines, needs = Models.readout_of (field "readout") units false in
  let task, classes = Models.task_of value kind needs ~scalar_relu:false in
  let rows = units * gates in
  let inputs = Models.matrix_of (field "input_weight") rows 2 and recurrent = Models.matrix_of (field "recurrent_weight") rows units in
  let input_bias = Models.vector_of (field "input_bias") rows and recurrent_bias = Models.vector_of (field "recurrent_bias") rows in
  let step token =
    let from_token = List.map (fun weights -> List.nth weights token) inputs in
    let constants = List.map2 (fun x (b, c) -> [ x; b; c ]) from_token (List.combine input_bias recurrent_bias) in
    match cell with
    | "tanh" -> tanh_step units recurrent constants
    | "gru" -> gru_step units recurrent (List.map2 Models.sum from_token input_bias) recurrent_bias
    | _ -> lstm_step units recurrent constants in
  let numbers = if cell = "lstm" then 2 * units else units in
  let start = List.init numbers (fun _ -> Models.zero) in
  let hidden = { gated_operations = []; gated_results = List.init units Z.of_int } in
  (numbers, kind, needs, task, classes, { gated_start = start; gated_first = []; gated_open = step 0; gated_close = step 1;
     gated_hidden = hidden; gated_lines = lines_of lines; gated_decision = List.tl needs })

(* --- Models ------------------------------------------------------------------------------------------------------------------- *)

let scalar_of value task =
  let field = fields_of value ("cell open_step close_step recurrent_weight readout" ^ task) in
  let weight = Models.number_of (field "recurrent_weight") in
  let kind, lines, needs = Models.readout_of (field "readout") 1 true in
  let task, classes = Models.task_of value kind needs ~scalar_relu:false in
  let step name =
    { gated_operations = [ GSum ([ (weight, Z.zero) ], Models.number_of (field name)); GTanh Z.one ]; gated_results = [ Z.of_int 2 ] } in
  (1, kind, needs, task, classes, { gated_start = [ Models.zero ]; gated_first = []; gated_open = step "open_step"; gated_close = step "close_step";
     gated_hidden = { gated_operations = []; gated_results = [ Z.zero ] }; gated_lines = lines_of lines; gated_decision = List.tl needs })

let programs_of value task =
  let field = fields_of value ("cell start step hidden readout" ^ (if has value "first" then " first" else "") ^ task) in
  let start = List.map Models.number_of (list_of ~most:Models.most_numbers (field "start")) in
  let units = List.length start in
  let steps = fields_of (field "step") "( )" in
  let program value = program_of ~results:units value units in
  let first = if has value "first" then List.map program (list_of ~most:Models.most_read_first (field "first")) else [] in
  let opened = program (steps "(") and closed = program (steps ")") in
  let hidden = program_of (field "hidden") units in
  let kind, lines, needs = Models.readout_of (field "readout") (List.length hidden.gated_results) false in
  let task, classes = Models.task_of value kind needs ~scalar_relu:false in
  (units, kind, needs, task, classes, { gated_start = start; gated_first = first; gated_open = opened; gated_close = closed;
     gated_hidden = hidden; gated_lines = lines_of lines; gated_decision = List.tl needs })

(* What stands where other models have a rational network; no check that speaks of one gets to see it. *)
let no_network =
  let nothing = { operations = []; results = [] } in
  Programs { start = []; first = []; step_open = nothing; step_close = nothing; hidden = nothing; lines = []; decision = [] }

(* A model that other modules have refused to read, since its step squashes, and the method that decides it. *)
let read value =
  let cell = match value with Object fields -> (match List.assoc_opt "cell" fields with Some (Text cell) -> cell | _ -> "") | _ -> "" in
  let scalar = List.mem cell Models.scalar_cells && not (has value "input_weight") && not (has value "step") in
  let named = scalar || List.mem_assoc cell Models.gates in
  let task = if has value "task" || not named then " task" else "" in
  let units, kind, needs, task, classes, network =
    if scalar then scalar_of value task else if named then matrices_of value cell task else programs_of value task in
  if kind = "count" then raise (Not_covered "the count as an answer of a network that squashes");
  let decided_by = if scalar then "enclosures" else if named then "gated boxes" else "boxes" in
  ({ Models.cell; units; model = no_network; kind; first_needs = List.hd needs; task; classes }, network, decided_by)
