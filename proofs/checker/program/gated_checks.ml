(* Claims about networks in real numbers that are checked in boxes: with how many digits, and how many last tokens told apart. *)

open Answers
open Checker
module Z = Answers.Whole

type string = Answers.text

let longest_search = Z.of_int 5_000

(* Coarse and quick boxes first. Nothing rests on this. *)
let digits = [ 96; 384; 1536; 6144 ]
let ways = [ (96, 1); (96, 4); (96, 8); (96, 11); (384, 1); (384, 8); (96, 14); (384, 14); (96, 16); (1536, 11); (6144, 1) ]

(* One unit has a map for each token that rises or falls, so that the count alone is told apart. *)
let ways_of_one_unit = [ (128, 0); (512, 0); (2048, 0); (8192, 0) ]

(* The network and the method that decides it, or None for what is checked otherwise. *)
let decided_in_boxes (read : Certificates.read) =
  match (read.gated, read.claim.its) with
  | Some gated, _ -> Some gated
  | None, (Programs _ as model) when List.mem read.evidence.by [ "boxes"; "gated boxes" ] ->
      let by = if List.mem_assoc read.subject.cell Models.gates then "gated boxes" else "boxes" in
      Some (Gated_models.from_network (network_of model), by)
  | None, _ -> None

let not_verified = Too_costly "the checker did not verify it, which does not make it false"

(* Whether a string surely gets another class than the right one, or than the one that it is said to get. Not proved, nor needed: a
   claim that the checker does not verify may be false, and then this says so. *)
let surely_fails claim horizon (places, suffix) =
  let places = Z.of_int places and codes = Z.shift_left Z.one suffix in
  let ready = ready_network_of places claim.gated_net in
  let classes = List.init (1 + List.length claim.gated_net.gated_decision) Z.of_int in
  let gets_another k boxes = List.exists (fun other -> (not (Z.equal other k)) && class_in_boxes places ready boxes other) classes in
  let example =
    match claim.gated_said with
    | Refuted (_, failing, given) -> gets_another given (boxes_of_runs ready failing)
    | _ -> false in
  let rec from length groups =
    Z.lt length horizon
    &&
    match longer_groups claim.gated_asked.floored codes ready.box_step groups with
    | None -> false
    | Some next ->
        let length = Z.succ length in
        let wrong (key, boxes) = gets_another (class_of_count claim.gated_asked (Z.fdiv key codes)) boxes in
        (Z.divisible length (stride claim.gated_which) && List.exists wrong (Groups.elements next)) || from length next in
  example || from Z.zero (Groups.add Z.zero ready.box_start Groups.empty)

let verify (read : Certificates.read) (network, decided_by) =
  require (read.evidence.by = decided_by) (Printf.sprintf "not %s" decided_by);
  let scalar = decided_by = "enclosures" in
  let fields = Json.fields_of read.evidence.fields (if scalar then "method tanh_neighbours" else "method") in
  require ((not scalar) || fields "tanh_neighbours" = Json.Null) "not what may be assumed of tanh";
  Certificates.require_following read;
  let claim = { gated_net = network; gated_asked = read.claim.asked; gated_which = read.claim.which; gated_said = read.claim.said } in
  let horizon =
    match read.claim.said with
    | Proved -> raise (Refused "no theorem speaks of a program")
    | Bounded horizon | Refuted (horizon, _, _) -> horizon in
  if Z.gt horizon longest_search then raise (Too_costly (Printf.sprintf "length %s" (Z.to_string horizon)));
  let ways = if scalar then ways_of_one_unit else ways in
  let fails places =
    match read.claim.said with
    | Refuted (horizon, failing, given) ->
        let places = Z.of_int places in
        check_gated_failing places (ready_network_of places network) claim.gated_asked claim.gated_which horizon failing given
    | _ -> true in
  let refuse_if_false way = if surely_fails claim horizon way then raise (Refused "the checker did not verify it") in
  if not (fails (fst (List.hd ways))) then refuse_if_false (List.hd ways);
  match List.find_opt fails (if scalar then List.map fst ways else digits) with
  | None -> List.iter refuse_if_false ways; raise not_verified
  | Some of_string ->
      let verified (places, suffix) =
        check_gated { digits_to_horizon = Z.of_int places; suffix_to_horizon = Z.of_int suffix; digits_of_string = Z.of_int of_string } claim in
      let rec attempt = function
        | [] -> raise not_verified
        | way :: rest -> if not (verified way) then begin refuse_if_false way; attempt rest end in
      (* More last tokens than a string has tell nothing more. *)
      attempt (List.filter (fun (_, suffix) -> suffix <= 4 || Z.gt horizon (Z.of_int (suffix / 2))) ways)
