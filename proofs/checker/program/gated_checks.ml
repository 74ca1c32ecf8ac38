(* Claims about networks in real numbers that are checked in boxes: with how many digits, and how many last tokens told apart. *)

open Answers
open Checker
module Z = Answers.Whole

type string = Answers.text

let methods = [ "enclosures"; "gated boxes"; "boxes" ]
let longest_search = Z.of_int 5_000

(* Coarse and quick boxes first. Nothing rests on this. *)
let digits = [ 96; 384; 1536; 6144 ]
let ways = [ (96, 1); (96, 4); (384, 1); (96, 8); (384, 8); (96, 11); (96, 14); (384, 14); (96, 16); (1536, 11); (6144, 1) ]

(* One unit has a map for each token that rises or falls, so that the count alone is told apart. *)
let ways_of_one_unit = [ (128, 0); (512, 0); (2048, 0); (8192, 0) ]

let network_of_read (read : Certificates.read) =
  match (read.gated, read.claim.its) with
  | Some network, _ -> network
  | None, (Programs _ as model) -> Gated_models.from_network (network_of model)
  | None, _ -> raise (Not_covered (Printf.sprintf "evidence by %s" read.evidence.by))

let not_verified = Too_costly "the checker did not verify it, which does not make it false"

let verify (read : Certificates.read) =
  let scalar = read.evidence.by = "enclosures" in
  let fields = Json.fields_of read.evidence.fields (if scalar then "method tanh_neighbours" else "method") in
  require ((not scalar) || fields "tanh_neighbours" = Json.Null) "not what may be assumed of tanh";
  let network = network_of_read read in
  let claim = { gated_net = network; gated_asked = read.claim.asked; gated_which = read.claim.which; gated_said = read.claim.said } in
  let horizon =
    match read.claim.said with
    | Proved -> raise (Refused "no theorem speaks of a program")
    | Bounded horizon | Refuted (horizon, _, _) -> horizon in
  if Z.gt horizon longest_search then raise (Too_costly (Printf.sprintf "length %s" (Z.to_string horizon)));
  let fails places =
    match read.claim.said with
    | Refuted (horizon, failing, given) ->
        let places = Z.of_int places in
        check_gated_failing places (ready_network_of places network) claim.gated_asked claim.gated_which horizon failing given
    | _ -> true in
  match List.find_opt fails (if scalar then List.map fst ways_of_one_unit else digits) with
  | None -> raise not_verified
  | Some of_string ->
      let attempt (places, suffix) =
        (* More last tokens than a string has tell nothing more. *)
        (suffix <= 4 || Z.gt horizon (Z.of_int (suffix / 2)))
        && check_gated { digits_to_horizon = Z.of_int places; suffix_to_horizon = Z.of_int suffix; digits_of_string = Z.of_int of_string } claim in
      if not (List.exists attempt (if scalar then ways_of_one_unit else ways)) then raise not_verified
