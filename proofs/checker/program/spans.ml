(* Hints for lines that follow the count: rows that see nothing move, and how each row is made of them. *)

open Checker
module Ratio = Q
module Z = Answers.Whole


let ratio x = Ratio.make x.qnum x.qden
let number x = { qnum = Ratio.num x; qden = Ratio.den x }

(* Rows of one length, as arrays of rationals. *)
let dense size row =
  let entries = Array.make size Ratio.zero in
  List.iteri (fun i x -> if i < size then entries.(i) <- ratio x) row;
  entries

let times row matrix =
  let size = Array.length row in
  let found = Array.make size Ratio.zero in
  Array.iteri
    (fun i x -> if Ratio.sign x <> 0 then Array.iteri (fun j y -> if Ratio.sign y <> 0 then found.(j) <- Ratio.add found.(j) (Ratio.mul x y)) matrix.(i))
    row;
  found

let minus x y = Array.map2 Ratio.sub x y

(* Take away the multiples of a basis in echelon form, whose rows have a 1 at their pivot and 0 at all others'. *)
let reduce basis row =
  List.fold_left
    (fun row (pivot, other) ->
      let factor = row.(pivot) in
      if Ratio.sign factor = 0 then row else Array.map2 (fun x y -> Ratio.sub x (Ratio.mul factor y)) row other)
    row basis

let pivot_of row =
  let rec go i = if i = Array.length row then None else if Ratio.sign row.(i) <> 0 then Some i else go (i + 1) in
  go 0

let insert basis row =
  let row = reduce basis row in
  match pivot_of row with
  | None -> None
  | Some pivot ->
      let one = Array.map (fun x -> Ratio.div x row.(pivot)) row in
      let cleared = List.map (fun (p, other) -> (p, reduce [ (pivot, one) ] other)) basis in
      Some ((pivot, one) :: cleared)

(* All rows that some rows become by the matrices. *)
let rec close matrices basis = function
  | [] -> basis
  | row :: rest -> (
      match insert basis row with
      | None -> close matrices basis rest
      | Some basis -> close matrices basis (List.map (fun matrix -> times row matrix) matrices @ rest))

let coefficients basis row = List.map (fun (pivot, _) -> number row.(pivot)) basis

(* The evidence of lines that follow the count; where they do not, the checker refuses it. *)
let counting network affine tracks =
  let size = List.length network.start in
  let matrix lines = Array.of_list (List.map (fun (row, _) -> dense size row) lines) in
  let opened = matrix affine.opening and closed = matrix affine.closing in
  let row_of (comparison, _) = dense size (fst (line_of_track network affine comparison)) in
  let starts = List.concat_map (fun track -> let row = row_of track in [ minus (times row opened) row; minus (times row closed) row ]) tracks in
  let basis = close [ opened; closed ] [] starts in
  let multiples own row =
    let change matrix = let after = times row matrix in if own then minus after row else after in
    (coefficients basis (change opened), coefficients basis (change closed)) in
  let kept = List.map (fun (_, row) -> (List.map number (Array.to_list row), multiples false row)) basis in
  ByCounting (List.map (fun track -> (track, multiples true (row_of track))) tracks, kept)

(* The evidence of lines that rise or fall with the count: of matrices that have only factors of their own for each unit. *)
let rising network affine tracks =
  let size = List.length network.start in
  let unit place = List.init size (fun i -> if i = place then Models.one else Models.zero) in
  let factor lines place =
    match List.nth_opt (fst (List.nth lines place)) place with Some x -> x | None -> Models.zero in
  let row_of (comparison, _) = fst (line_of_track network affine comparison) in
  let places = List.init size Fun.id in
  let rows = List.map (fun place -> (unit place, (factor affine.opening place, factor affine.closing place))) places in
  let used row = List.exists (fun track -> match List.nth_opt (row_of track) row with Some x -> Z.sign x.qnum <> 0 | None -> false) tracks in
  let rows = List.filteri (fun place _ -> used place) rows and places = List.filter used places in
  let coefficients track =
    List.map (fun place -> match List.nth_opt (row_of track) place with Some x -> x | None -> Models.zero) places in
  ByRising (List.map (fun track -> (track, coefficients track)) tracks, rows)

(* The evidence of units that count or fade: for each track the row that counts, and a box that no unit which fades leaves. *)
let fading network affine tracks =
  let size = List.length network.start in
  let entry row place = match List.nth_opt row place with Some x -> ratio x | None -> Ratio.zero in
  let factors place = List.map (fun lines -> entry (fst (List.nth lines place)) place) [ affine.opening; affine.closing ] in
  let counts place = List.for_all (Ratio.equal Ratio.one) (factors place) in
  let bound place =
    let greatest numbers = List.fold_left (fun most x -> Ratio.max most (Ratio.abs x)) Ratio.zero numbers in
    let theta = greatest (factors place) and step = greatest (List.map (fun token -> entry (moved network token) place) [ Open; Close ]) in
    if Ratio.lt theta Ratio.one then Some (number (Ratio.div step (Ratio.sub Ratio.one theta)))
    else if Ratio.sign step = 0 then Some Models.zero
    else None in
  let places = List.init size Fun.id in
  let rho track =
    let row = fst (line_of_track network affine (fst track)) in
    List.map (fun place -> if counts place then number (entry row place) else Models.zero) places in
  (List.map (fun track -> (track, rho track)) tracks, List.map bound places)

let is_diagonal lines =
  List.for_all Fun.id
    (List.mapi (fun i (row, _) -> List.for_all Fun.id (List.mapi (fun j x -> i = j || Z.sign x.qnum = 0) row)) lines)

(* Whether a matrix is one to which powers of the network's matrix may converge: U·E = E·U = E·E = E. *)
let is_limit network affine limit =
  let size = List.length network.start in
  let matrix lines = Array.of_list (List.map (fun (row, _) -> dense size row) lines) in
  let step = matrix affine.opening and limit = matrix limit in
  let product first second = Array.map (fun row -> times row second) first in
  let same first second = Array.for_all2 (Array.for_all2 Ratio.equal) first second in
  List.for_all (fun found -> same found limit) [ product step limit; product limit step; product limit limit ]
