(* From the model of a certificate to the network that the proof speaks of. Nothing here is proved: that a certificate's model
   becomes the network it stands for is part of what is trusted. *)

open Answers
open Json
open Checker
module Z = Answers.Whole

type string = Answers.text

type model_read = {
  cell : string;
  units : int; (* how many numbers a state has *)
  model : model;
  kind : string; (* of the readout *)
  first_needs : comparison0 list; (* sufficient for the first class, where the kind says so *)
  task : task;
  classes : string list;
}

let scalar_cells = [ "linear"; "selective"; "relu"; "tanh" ]
let gates = [ ("linear", 1); ("relu", 1); ("tanh", 1); ("gru", 3); ("lstm", 4) ]
let most_units, most_numbers, most_operations, most_terms, most_comparisons = (64, 1024, 4096, 1 lsl 15, 64)
let most_read_first = 16
let longest_name = 64

(* --- Numbers ------------------------------------------------------------------------------------------------------------ *)

let rational numerator denominator =
  let common = Z.gcd numerator denominator in
  { qnum = Z.divexact numerator common; qden = Z.divexact denominator common }

let zero = { qnum = Z.zero; qden = Z.one }
let one = { qnum = Z.one; qden = Z.one }
let half = { qnum = Z.one; qden = Z.of_int 2 }
let minus x = { x with qnum = Z.neg x.qnum }
let sum x y = rational Z.((x.qnum * y.qden) + (y.qnum * x.qden)) Z.(x.qden * y.qden)

let number_of value =
  let wrong () = raise (Refused "a number is neither whole nor p/q") in
  let digits text = text <> "" && String.length text <= most_digits && String.for_all (fun c -> c >= '0' && c <= '9') text in
  match value with
  | Int n -> { qnum = n; qden = Z.one }
  | Text text -> (
      match String.split_on_char '/' text with
      | [ p; q ] ->
          let negative = p <> "" && p.[0] = '-' in
          let size = if negative then String.sub p 1 (String.length p - 1) else p in
          if not (digits size && digits q) then wrong ();
          let denominator = Z.of_string q in
          require (Z.sign denominator > 0) "a number with the denominator 0";
          rational (Z.of_string p) denominator
      | _ -> wrong ())
  | _ -> wrong ()

let vector_of value size = List.map number_of (list_of ~size value)
let matrix_of value rows columns = List.map (fun row -> vector_of row columns) (list_of ~size:rows value)

(* --- Readouts ------------------------------------------------------------------------------------------------------------- *)

let comparing greater less strict = { greater; less; strict }

let greatest_of size =
  let places = List.init size Fun.id in
  let needs one =
    List.filter_map
      (fun other -> if other = one then None else Some (comparing (Some (Z.of_int one)) (Some (Z.of_int other)) (other < one)))
      places in
  List.map needs places

let first_output = Some Z.zero

(* The comparisons of each class, the first included, of the readouts that are known by name. *)
let known_kinds =
  [ ("zero", [ []; [ comparing first_output None false; comparing None first_output false ] ]);
    ("binary", [ [ comparing None first_output false ]; [ comparing first_output None true ] ]);
    ("ternary", greatest_of 3) ]

let usual_classes =
  [ ("zero", [ "rejected"; "accepted" ]); ("binary", [ "ZeroNeg"; "Pos" ]); ("ternary", [ "Neg"; "Zero"; "Pos" ]) ]

let usual_right = [ ("zero", (0, 1, 0)); ("binary", (0, 0, 1)); ("ternary", (0, 1, 2)) ]

let comparison_of outputs value =
  let place = function
    | Null -> None
    | Int n when Z.sign n >= 0 && Z.lt n (Z.of_int outputs) -> Some n
    | _ -> raise (Refused "a comparison of what is no output") in
  match list_of ~size:3 value with
  | [ greater; less; Bool strict ] ->
      let greater = place greater and less = place less in
      require (greater <> less) "a comparison of nothing";
      comparing greater less strict
  | _ -> raise (Refused "a comparison of nothing")

let decision_of value outputs =
  let classes = List.map (fun needed -> List.map (comparison_of outputs) (list_of needed)) (list_of value) in
  require (classes <> [] && not (List.mem [] classes)) "a class without comparisons";
  let number = List.fold_left (fun total needed -> total + List.length needed) 0 classes in
  require (number <= most_comparisons) (Printf.sprintf "more than %d comparisons" most_comparisons);
  [] :: classes

(* The kind, the lines, and the comparisons of each class. *)
let readout_of value units scalar =
  let kind =
    match value with
    | Object fields -> (
        match List.assoc_opt "kind" fields with Some (Text kind) -> kind | _ -> raise (Refused "a readout without a kind"))
    | _ -> raise (Refused "an object is missing") in
  if kind = "zero" && (scalar || not (has value "weight")) then begin
    ignore (fields_of value "kind" "kind");
    require (units = 1) "a zero check of h itself reads one unit";
    (kind, [ ([ one ], zero) ], List.assoc kind known_kinds)
  end
  else begin
    let by_name = List.mem_assoc kind known_kinds || kind = "class" || kind = "count" in
    let field = fields_of value ("kind weight bias" ^ if by_name then "" else " comparisons") in
    let size =
      match kind with
      | "zero" | "binary" | "count" -> 1
      | "ternary" -> 3
      | _ -> List.length (list_of ~most:most_units (field "bias")) in
    let flat = scalar && kind <> "class" && by_name in
    let rows = if flat then List (List.map (fun v -> List [ v ]) (list_of (field "weight"))) else field "weight" in
    let weight = matrix_of rows size units in
    let lines = List.combine weight (vector_of (field "bias") size) in
    require (lines <> []) "a readout without outputs";
    require (kind <> "class" || size > 1) "a greatest output of one";
    let needs =
      if List.mem_assoc kind known_kinds then List.assoc kind known_kinds
      else if kind = "class" || kind = "count" then greatest_of size
      else decision_of (field "comparisons") size in
    (kind, lines, needs)
  end

let place_in names name =
  let rec go i = function [] -> raise (Refused "a right class that is none") | x :: rest -> if x = name then i else go (i + 1) rest in
  go 0 names

let asked_for_count = { floored = false; below = Z.of_int 2; at_zero = Z.of_int 2; above = Z.of_int 2 }

(* What is right, and the names of the classes; the count itself has none, and its third class is right. *)
let task_of value kind needs ~scalar_relu =
  let of_places floored (below, at_zero, above) =
    { floored; below = Z.of_int below; at_zero = Z.of_int at_zero; above = Z.of_int above } in
  if kind = "count" then begin
    let fine =
      match value with
      | Object fields when List.mem_assoc "task" fields ->
          let field = fields_of (List.assoc "task" fields) "name machine classes right" in
          field "machine" = Text "bb" && field "classes" = List [] && field "right" = List []
      | _ -> true in
    require fine "a count is asked for the count n − m, which has no classes";
    (asked_for_count, [])
  end
  else if not (has value "task") then begin
    require (List.mem_assoc kind known_kinds) "a readout of its own needs a task";
    (of_places (scalar_relu && kind = "zero") (List.assoc kind usual_right), List.assoc kind usual_classes)
  end
  else begin
    let field = fields_of (match value with Object fields -> List.assoc "task" fields | _ -> Null) "name machine classes right" in
    let size = List.length needs in
    let name = function Text name -> name | _ -> raise (Refused "classes of one name, or of none") in
    let classes = List.map name (list_of ~size (field "classes")) in
    require (List.length (List.sort_uniq compare classes) = size) "classes of one name, or of none";
    let right = function Text name -> place_in classes name | _ -> raise (Refused "a right class that is none") in
    match List.map right (list_of ~size:3 (field "right")) with
    | [ below; at_zero; above ] ->
        let floored = one_of (field "machine") [ "bb"; "semidyck1" ] = "semidyck1" in
        (of_places floored (below, at_zero, above), classes)
    | _ -> raise (Refused "a right class that is none")
  end

(* --- Programs ------------------------------------------------------------------------------------------------------------- *)

let place_of before value =
  match value with
  | Int place when Z.sign place >= 0 && Z.lt place (Z.of_int before) -> place
  | _ -> raise (Refused "an operation takes a number that is not before it")

exception Transcendental of string

(* The step leaves the rational numbers: another module reads such a model. *)
exception Squashes

let operation_of value before =
  match list_of value with
  | Text "sum" :: taken -> (
      match list_of ~size:2 (List taken) with
      | [ terms; bias ] ->
          let term pair =
            match list_of ~size:2 pair with
            | [ weight; place ] -> (number_of weight, place_of before place)
            | _ -> assert false in
          Sum (List.map term (list_of ~most:most_terms terms), number_of bias)
      | _ -> assert false)
  | Text name :: taken -> (
      let takes n = List.map (place_of before) (list_of ~size:n (List taken)) in
      match (name, List.length taken) with
      | "product", _ -> ( match takes 2 with [ p; q ] -> Product (p, q) | _ -> assert false)
      | "positive_part", _ -> PositivePart (List.hd (takes 1))
      | "square", _ -> Square (List.hd (takes 1))
      | "step", _ -> Step (List.hd (takes 1))
      | "mean", _ -> ( match takes 3 with [ s; p; q ] -> Mean (s, p, q) | _ -> assert false)
      | ("tanh" | "sigmoid"), _ -> ignore (takes 1); raise (Transcendental name)
      | _ -> raise (Refused "an operation with an unknown name"))
  | _ -> raise (Refused "an operation without a name")

let taken_by = function
  | Sum (terms, _) -> List.length terms
  | PositivePart _ | Square _ | Step _ -> 1
  | Product _ -> 2
  | Mean _ -> 3

let program_of ?results value size =
  let field = fields_of value "operations results" in
  let listed = list_of ~most:most_operations (field "operations") in
  let operations = List.mapi (fun i entry -> operation_of entry (size + i)) listed in
  let terms = List.fold_left (fun total o -> total + taken_by o) 0 operations in
  require (terms <= most_terms) (Printf.sprintf "a program has more than %d terms" most_terms);
  let places = list_of ?size:results ~most:most_numbers (field "results") in
  require (places <> []) "a program without results";
  { operations; results = List.map (place_of (size + List.length operations)) places }

(* The model of a network with a readout, and what is enough for its first class. *)
let model_with kind needs lines network model =
  if kind = "count" then (Counting (network, List.hd lines), List.hd (greatest_of 3)) else (model, List.hd needs)

(* --- Models --------------------------------------------------------------------------------------------------------------- *)

let scalar_of value cell task =
  let field = fields_of value ("cell open_step close_step recurrent_weight readout" ^ task) in
  let recurrent = field "recurrent_weight" in
  let weights =
    match if cell = "selective" then list_of ~size:2 recurrent else [ recurrent; recurrent ] with
    | [ p; q ] -> (number_of p, number_of q)
    | _ -> assert false in
  let steps = (number_of (field "open_step"), number_of (field "close_step")) in
  let kind, lines, needs = readout_of (field "readout") 1 true in
  let task, classes = task_of value kind needs ~scalar_relu:(cell = "relu") in
  if cell = "tanh" then raise Squashes;
  let unit = { relu = cell = "relu"; weights; steps } in
  let network = network_of_unit unit lines (List.tl needs) in
  let model, first_needs = model_with kind needs lines network (Unit (unit, lines, List.tl needs)) in
  { cell; units = 1; model; kind; first_needs; task; classes }

(* A layer of matrices in PyTorch's layout: h' = U·h + W·x + both biases, cut off below zero by relu. *)
let layer_of value cell task =
  let field = fields_of value ("cell input_weight recurrent_weight input_bias recurrent_bias readout" ^ task) in
  let rows = List.length (list_of (field "recurrent_weight")) in
  let units = rows / List.assoc cell gates in
  require (units > 0 && units <= most_units) (Printf.sprintf "a cell of matrices has not 1 to %d units" most_units);
  if cell <> "linear" && cell <> "relu" then raise Squashes;
  let kind, lines, needs = readout_of (field "readout") units false in
  let task, classes = task_of value kind needs ~scalar_relu:false in
  let inputs = matrix_of (field "input_weight") units 2 and recurrent = matrix_of (field "recurrent_weight") units units in
  let input_bias = vector_of (field "input_bias") units and recurrent_bias = vector_of (field "recurrent_bias") units in
  let step token =
    let bias = List.map2 sum (List.map (fun row -> List.nth row token) inputs) (List.map2 sum input_bias recurrent_bias) in
    let terms row = List.mapi (fun place weight -> (weight, Z.of_int place)) row in
    let sums = List.map2 (fun row c -> Sum (terms row, c)) recurrent bias in
    let cut = if cell = "relu" then List.init units (fun i -> PositivePart (Z.of_int (units + i))) else [] in
    let from = units + List.length cut in
    { operations = sums @ cut; results = List.init units (fun i -> Z.of_int (from + i)) } in
  let hidden = { operations = []; results = List.init units Z.of_int } in
  let network =
    { start = List.init units (fun _ -> zero); first = []; step_open = step 0; step_close = step 1; hidden; lines; decision = List.tl needs } in
  let model, first_needs = model_with kind needs lines network (Programs network) in
  { cell; units; model; kind; first_needs; task; classes }

let programs_of value cell task =
  let field = fields_of value ("cell start step hidden readout" ^ (if has value "first" then " first" else "") ^ task) in
  let start = List.map number_of (list_of ~most:most_numbers (field "start")) in
  let units = List.length start in
  let steps = fields_of (field "step") "( )" in
  let program value = program_of ~results:units value units in
  let first = if has value "first" then List.map program (list_of ~most:most_read_first (field "first")) else [] in
  let step_open = program (steps "(") and step_close = program (steps ")") in
  let hidden = program_of (field "hidden") units in
  let kind, lines, needs = readout_of (field "readout") (List.length hidden.results) false in
  let task, classes = task_of value kind needs ~scalar_relu:false in
  let network = { start; first; step_open; step_close; hidden; lines; decision = List.tl needs } in
  let model, first_needs = model_with kind needs lines network (Programs network) in
  { cell; units; model; kind; first_needs; task; classes }

let model_of value =
  let cell =
    match value with
    | Object fields -> (
        match List.assoc_opt "cell" fields with
        | Some (Text cell) when String.length cell <= 4 * longest_name -> cell
        | Some _ -> raise (Refused "a cell's name is not a text of 64 letters at most")
        | None -> raise (Refused "a model without a cell"))
    | _ -> raise (Refused "a model without a cell") in
  let scalar = List.mem cell scalar_cells && not (has value "input_weight") && not (has value "step") in
  let named = scalar || List.mem_assoc cell gates in
  let task = if has value "task" || not named then " task" else "" in
  try
    if scalar then scalar_of value cell task
    else if named then layer_of value cell task
    else programs_of value cell task
  with Transcendental _ -> raise Squashes
