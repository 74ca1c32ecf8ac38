(* Which way to check a claim, and with which hints. Nothing rests on what is chosen here: a wrong hint makes the checker refuse a
   claim that holds, and never the other way round. *)

open Answers
open Checker
module Z = Answers.Whole

type string = Answers.text

type plan = {
  attempts : certificate Lazy.t list; (* coarse and quick ones first *)
  fails : certificate -> bool; (* whether an attempt that did not verify the claim shows that it is false *)
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

let horizon_of claim = match claim.said with Bounded horizon | Refuted (horizon, _, _) -> horizon | Proved -> Z.zero

let search (read : Certificates.read) =
  let network = network_of read.claim.its in
  let horizon = horizon_of read.claim in
  if Z.gt horizon longest_search then raise (Too_costly (Printf.sprintf "a search to length %s" (Z.to_string horizon)));
  let length = Z.add horizon (stride read.claim.which) in
  let attempt unit = lazy (let unit = ByBoxes (Lazy.force unit) in { claimed = read.claim; evidence_of = ToHorizon (unit, unit) }) in
  List.map attempt (units network length)

(* --- Affine networks -------------------------------------------------------------------------------------------------------------- *)

let affine_network network =
  match affine_of network with
  | Some affine -> affine
  | None -> raise (Refused "the method decides only for a step that adds up multiples of the state")

(* The comparisons that make the right class of each sign of the count, each with its signs. *)
let tracks_of (subject : Models.model_read) network =
  let known = List.mem subject.kind [ "binary"; "ternary"; "class"; "count" ] && not subject.task.floored in
  require known "the method decides only for the sign of n − m, by one output or the greatest of several";
  let needs = subject.first_needs :: network.decision in
  let of_side (side, right) = List.map (fun comparison -> (comparison, side)) (List.nth needs (Z.to_int right)) in
  let wanted = List.concat_map of_side [ (Lt, subject.task.below); (Eq, subject.task.at_zero); (Gt, subject.task.above) ] in
  let comparisons = List.sort_uniq compare (List.map fst wanted) in
  List.map (fun one -> (one, List.filter_map (fun (other, side) -> if other = one then Some side else None) wanted)) comparisons

let common numbers = List.fold_left (fun found x -> Z.lcm found x.qden) Z.one numbers

type scales = { divisor : Z.t; scale : Z.t; around : Z.t; lost : int; size : int; largest : int }

(* D and S, the denominator of all lines that are compared, and about how many binary digits errors grow by in 64 tokens. *)
let scales_of network affine tracks =
  let rows = List.map fst (affine.opening @ affine.closing) in
  let divisor = common (List.concat rows) in
  let scale = common (moved network Open @ moved network Close) in
  let around = List.fold_left (fun found (c, _) -> let v, b = line_of_track network affine c in Z.lcm found (common (b :: v))) Z.one tracks in
  let around = Z.lcm around (common (initial network)) in
  let whole lines =
    match whole_matrix divisor lines with Some matrix -> matrix | None -> raise (Refused "a matrix that is not whole") in
  let matrices = [ whole affine.opening; whole affine.closing ] in
  let greatest = List.fold_left (fun found matrix -> Z.max found (growth matrix)) Z.zero matrices in
  let ratio = Z.cdiv (Z.shift_left greatest 32) divisor in
  let lost = max 0 (Z.numbits (Z.pow ratio 64) - (64 * 32)) in
  let largest = List.fold_left (fun found z -> max found (Z.numbits z)) 0 (List.concat (List.concat matrices)) in
  { divisor; scale; around; lost; size = List.length network.start; largest }

let most_digits = 1 lsl 33
let longest_tail = 1 lsl 16
let longest_walk = Z.of_int 5_000_000

(* Units for strings of a length; the exact one only where its numbers fit into the memory. *)
let row_units scales length =
  let exact = length * bits scales.divisor in
  let places = 96 + (length * scales.lost / 64) + bits scales.scale + (2 * bits (Z.of_int length)) in
  if length * min exact places > most_digits then raise (Too_costly (Printf.sprintf "the terms of length %d" length));
  let rounded = lazy (Z.shift_left scales.around places) in
  let whole = lazy (Z.mul scales.around (Z.pow scales.divisor length)) in
  if exact <= places then [ whole ] else if length * exact > most_digits then [ rounded ] else [ rounded; whole ]

(* Whether a length surely fails: what the checker saw last is below zero by more than its error. Not proved, nor needed. *)
let surely_fails claim certificate =
  match certificate.evidence_of with
  | ToHorizon (BySorting (unit, divisor, scale, tracks), _) ->
      let network = network_of claim.its in
      let affine = affine_network network in
      let fails (comparison, sides) =
        match whole_network_of divisor scale network affine with
        | None -> false
        | Some whole ->
            let line = line_of_track network affine comparison in
            let last = walk_to unit divisor scale network whole claim.which line (questions (comparison, sides)) (horizon_of claim) in
            let below side =
              (side <> Eq || last.terms.even)
              &&
              let least = Z.add last.value (least last.terms side) in
              Z.lt least (Z.neg last.error) || (comparison.strict && Z.equal least (Z.neg last.error)) in
            (not last.good) && List.exists below sides in
      List.exists fails tracks
  | _ -> false

let sorting ?tracks ?(only_exact = false) (read : Certificates.read) =
  let network = network_of read.claim.its in
  let affine = affine_network network in
  let tracks = match tracks with Some tracks -> tracks | None -> tracks_of read.subject network in
  let scales = scales_of network affine tracks in
  (match whole_network_of scales.divisor scales.scale network affine with
  | Some whole -> require (same_matrix whole.m_open whole.m_close) "sorting decides only for a step with one matrix for both tokens"
  | None -> ());
  let horizon = horizon_of read.claim in
  if Z.gt horizon longest_walk then raise (Too_costly (Printf.sprintf "length %s" (Z.to_string horizon)));
  let length = Z.to_int horizon + Z.to_int (stride read.claim.which) in
  let units = row_units scales length in
  let units = if only_exact then [ List.nth units (List.length units - 1) ] else units in
  let attempt unit =
    lazy
      (let way = BySorting (Lazy.force unit, scales.divisor, scales.scale, tracks) in
       { claimed = read.claim; evidence_of = ToHorizon (way, way) }) in
  let is_exact certificate =
    match certificate.evidence_of with ToHorizon (BySorting (unit, _, _, _), _) -> Z.divisible unit (Z.pow scales.divisor (length - 1)) | _ -> false in
  { attempts = List.map attempt units;
    fails = (fun certificate -> is_exact certificate || surely_fails read.claim certificate) }

(* --- Bisection ------------------------------------------------------------------------------------------------------------------- *)

let shortest_power = 2048
let longest_power = 1 lsl 16
let largest_power = Z.of_int (1 lsl 24)

(* Units for one linear unit with U = p/q: those that round to so many binary digits, and one with which nothing is rounded. *)
let power_units network cell length =
  let p = (fst cell.weights).qnum and q = (fst cell.weights).qden in
  let growth = Z.mul length (Z.of_int (max 0 (Z.numbits (Z.pow p 64) - Z.numbits (Z.pow q 64)))) in
  if Z.gt growth (Z.mul largest_power (Z.of_int 64)) then raise (Too_costly "powers of so many digits");
  let exact = if Z.equal q Z.one then Z.zero else Z.mul length (Z.of_int (bits q)) in
  let whole =
    lazy
      (let steps, around = denominators network in
       let gap = Z.max Z.one (Z.abs (Z.sub p q)) in
       Z.mul (Z.mul (Z.mul (Z.of_int 2) p) (Z.mul gap (Z.pow (Z.mul steps around) 3))) (if Z.equal q Z.one then q else Z.pow q (Z.to_int length + 3))) in
  let rounded factor = lazy (Z.shift_left Z.one (factor * (192 + bits length + (3 * bits q)))) in
  if Z.leq exact (Z.of_int shortest_power) then ([], [ whole ])
  else ([ rounded 1; rounded 4 ], if Z.leq exact (Z.of_int longest_power) then [ whole ] else [])

(* Whether the failing string surely does not fail as it is said to: its length, or a class that it surely gets instead. *)
let other_string claim way =
  match claim.said with
  | Refuted (horizon, runs, given) ->
      let classes = List.init (1 + List.length (network_of claim.its).decision) Z.of_int in
      (not (fails_after claim.asked claim.which horizon runs given))
      || List.exists (fun k -> (not (Z.equal k given)) && check_string way claim runs k) classes
  | _ -> false

(* Few strings and few lengths; where roundings leave something open that cannot be had exactly, sorting length by length. *)
let bisection (read : Certificates.read) cell =
  let claim = read.claim in
  let network = network_of claim.its in
  let tracks = tracks_of read.subject network in
  let horizon = horizon_of claim in
  let rounded, exact = power_units network cell (Z.add horizon (stride claim.which)) in
  let attempt unit =
    lazy (let way = ByBisection (Lazy.force unit, tracks) in { claimed = claim; evidence_of = ToHorizon (way, way) }) in
  let coarse = List.map attempt rounded and fine = List.map attempt exact in
  let slow = lazy (sorting read) in
  let slow_attempt i =
    lazy
      (match List.nth_opt (Lazy.force slow).attempts i with
      | Some one -> Lazy.force one
      | None -> raise (Too_costly "powers of so many digits")) in
  let fails certificate =
    match certificate.evidence_of with
    | ToHorizon ((ByBisection (unit, _) as way), _) ->
        List.exists (fun one -> Lazy.is_val one && Lazy.force one == certificate) fine
        || bisected unit tracks claim.its claim.asked claim.which horizon = Some false
        || other_string claim way
    | _ -> (Lazy.force slow).fails certificate in
  { attempts = coarse @ (if fine = [] then List.map slow_attempt [ 0; 1 ] else fine); fails }

(* --- Lattice paths ------------------------------------------------------------------------------------------------------------------- *)

let longest_paths = 3000

let paths (read : Certificates.read) =
  let network = network_of read.claim.its in
  let affine = affine_network network in
  let tracks = tracks_of read.subject network in
  require (commute affine) "lattice paths decide only for matrices that commute";
  let scales = scales_of network affine tracks in
  let horizon = horizon_of read.claim in
  if Z.gt horizon (Z.of_int longest_paths) then raise (Too_costly (Printf.sprintf "all paths of length %s" (Z.to_string horizon)));
  let length = Z.to_int horizon + Z.to_int (stride read.claim.which) in
  let attempt unit =
    lazy
      (let way = ByPaths (Lazy.force unit, scales.divisor, scales.scale, tracks) in
       { claimed = read.claim; evidence_of = ToHorizon (way, way) }) in
  let is_exact certificate =
    match certificate.evidence_of with
    | ToHorizon (ByPaths (unit, _, _, _), _) -> Z.divisible unit (Z.pow scales.divisor (length - 1))
    | _ -> false in
  { attempts = List.map attempt (row_units scales length); fails = is_exact }

(* --- All lengths --------------------------------------------------------------------------------------------------------------------- *)

(* The tracks of a zero check: a balanced string ends at 0, and the others above it on one side and below it on the other. *)
let zero_tracks rising =
  let output = Some Z.zero in
  let above = { greater = output; less = None; strict = true } and below = { greater = None; less = output; strict = true } in
  [ ({ above with strict = false }, [ Eq ]); ({ below with strict = false }, [ Eq ]);
    (above, [ (if rising then Gt else Lt) ]); (below, [ (if rising then Lt else Gt) ]) ]

let require_balanced (subject : Models.model_read) =
  let task = subject.task in
  let known = (not task.floored) && List.map Z.to_int [ task.below; task.at_zero; task.above ] = [ 0; 1; 0 ] in
  require (known && subject.kind = "zero") "the zero check decides only for balanced strings"

(* Whether exact numbers show that the failing string does not fail as it is said to. *)
let failing_string claim certificate =
  match (claim.said, certificate.evidence_of) with
  | Refuted (horizon, runs, given), ToHorizon (_, way) -> not (check_failing way claim horizon runs given)
  | _ -> false

(* A zero check to a horizon, where the outputs have one sign on either side of zero; where they do not, it is left open. *)
let zero_check (read : Certificates.read) =
  require_balanced read.subject;
  let attempts rising = (sorting ~tracks:(zero_tracks rising) ~only_exact:true read).attempts in
  { attempts = attempts true @ attempts false; fails = failing_string read.claim }

(* A ReLU unit that counts without ever falling below zero. *)
let relu_counter (read : Certificates.read) =
  let output = Some Z.zero in
  let above = { greater = output; less = None; strict = true } and below = { greater = None; less = output; strict = false } in
  let tracks = [ ({ above with strict = false }, [ Eq ]); (below, [ Eq ]); (above, [ Gt ]) ] in
  { attempts = [ lazy { claimed = read.claim; evidence_of = ForEver (ByRelu tracks) } ]; fails = (fun _ -> true) }

let counting (read : Certificates.read) =
  let network = network_of read.claim.its in
  let affine = affine_network network in
  let ways = [ Spans.counting; Spans.rising ] in
  let of_tracks tracks = List.map (fun way -> lazy { claimed = read.claim; evidence_of = ForEver (way network affine tracks) }) ways in
  let attempts =
    if read.subject.kind = "zero" then begin
      require_balanced read.subject;
      List.concat_map (fun rising -> of_tracks (zero_tracks rising)) [ true; false ]
    end
    else of_tracks (tracks_of read.subject network) in
  let last = List.nth attempts (List.length attempts - 1) in
  { attempts; fails = (fun certificate -> certificate == Lazy.force last) }

(* Units that count or fade, with the number of last tokens that are looked at. *)
let fading (read : Certificates.read) value =
  let start =
    match value with
    | Json.Int n when Z.sign n > 0 && Z.leq n (Z.of_int longest_tail) -> n
    | _ -> raise (Refused (Printf.sprintf "a start is not 1 to %d" longest_tail)) in
  let network = network_of read.claim.its in
  let affine = affine_network network in
  require (List.for_all Spans.is_diagonal [ affine.opening; affine.closing ]) "only units with factors of their own are known to fade";
  if Z.gt start (Z.of_int longest_paths) then raise (Too_costly (Printf.sprintf "all paths of length %s" (Z.to_string start)));
  let tracks = tracks_of read.subject network in
  let scales = scales_of network affine tracks in
  let tracks, box = Spans.fading network affine tracks in
  let unit = Z.mul scales.around (Z.pow scales.divisor (Z.to_int start)) in
  let evidence = ByFading (unit, scales.divisor, scales.scale, tracks, box, start) in
  { attempts = [ lazy { claimed = read.claim; evidence_of = ForEver evidence } ]; fails = (fun _ -> true) }

let require_one_matrix network =
  let affine = affine_network network in
  require (one_matrix affine) "sorting decides only for a step with one matrix for both tokens"

(* The limit of the powers of the matrix; a network that carries the count has it last in the file and first here. *)
let tail (read : Certificates.read) value =
  let field = Json.fields_of value "limit power start" in
  let network = network_of read.claim.its in
  let size = List.length network.start in
  let whole name =
    match field name with
    | Json.Int n when Z.sign n > 0 && Z.leq n (Z.of_int longest_tail) -> n
    | _ -> raise (Refused (Printf.sprintf "a power or a start is not 1 to %d" longest_tail)) in
  let power = whole "power" and start = whole "start" in
  let rows = Models.matrix_of (field "limit") size size in
  let to_front entries = match List.rev entries with last :: rest -> last :: List.rev rest | [] -> [] in
  let ordered = if read.subject.kind = "count" then to_front (List.map to_front rows) else rows in
  let limit = List.map (fun row -> (row, Models.zero)) ordered in
  let affine = affine_network network in
  require (Spans.is_limit network affine limit) "the limit is not one of the powers of U";
  let tracks = tracks_of read.subject network in
  let scales = scales_of network affine tracks in
  let attempt unit =
    lazy { claimed = read.claim; evidence_of = ForEver (ByTail (Lazy.force unit, scales.divisor, scales.scale, tracks, limit, power, start)) } in
  let attempts = List.map attempt (row_units scales (Z.to_int start)) in
  let last = List.nth attempts (List.length attempts - 1) in
  { attempts; fails = (fun certificate -> certificate == Lazy.force last) }

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
      | "theorem" when cell.relu -> require (subject.kind = "zero") "the ReLU cell does not count"; relu_counter read
      | "theorem" ->
          let negative = Z.sign (fst cell.weights).qnum < 0 && read.claim.which = AllLengths in
          if negative && subject.kind = "zero" then raise (Not_covered "a zero check whose state changes sides with every token");
          counting read
      | "search" | "sorted strings" ->
          let sortable =
            List.mem subject.kind [ "binary"; "ternary"; "class" ] && (not subject.task.floored) && (not cell.relu)
            && subject.cell = "linear" && Z.sign (fst cell.weights).qnum > 0 in
          require (sortable || read.evidence.by = "search") "sorted strings decide only for a linear cell with U > 0 in real numbers";
          let intervals = List.mem subject.kind [ "binary"; "ternary"; "class" ] || cell.relu || not subject.task.floored in
          if (not cell.relu) && subject.cell = "linear" && List.mem subject.kind [ "binary"; "ternary"; "class" ] && not subject.task.floored then
            if sortable then bisection read cell else sorting read
          else
            let attempts = search read in
            let last = List.nth attempts (List.length attempts - 1) in
            { attempts; fails = (fun certificate -> intervals && certificate == Lazy.force last) }
      | "exact depth" -> raise (Refused "exact depth bounds a counter in floating point")
      | _ -> raise (Refused "not one of theorem, search, sorted strings, exact depth"))
  | Programs _ | Counting _ -> (
      match read.evidence.by with
      | "sorting" when not proved -> only read "method"; sorting read
      | "sorting" ->
          let found = Json.fields_of read.evidence.fields "method tail" "tail" in
          require_one_matrix (network_of read.claim.its);
          if found = Json.Null then counting read else tail read found
      | "lattice paths" when not proved -> only read "method"; paths read
      | "lattice paths" -> fading read (Json.fields_of read.evidence.fields "method start" "start")
      | "zero check" when not proved -> only read "method"; zero_check read
      | "matrices" -> only read "method"; require proved "matrices prove all lengths"; counting read
      | "zero check" when proved ->
          let rest = Json.fields_of read.evidence.fields "method rest" "rest" in
          if rest = Json.Null && read.claim.which = AllLengths then counting read else raise (Not_covered "a zero check that is no counter")
      | "boxes" when not proved -> only read "method"; { attempts = search read; fails = (fun _ -> false) }
      | "boxes" -> raise (Refused "no theorem speaks of a program")
      | _ -> raise (Refused "an unknown method"))
