(* SHA-256 as FIPS 180-4 defines it, on 32 bits kept in OCaml's longer integers. *)

let mask = 0xFFFFFFFF

(* The first 32 bits of the fractional parts of roots of primes, exactly: of the square root for the first state, of the cube
   root for the constants. *)
let primes count =
  let rec go found n =
    if List.length found = count then List.rev found
    else go (if List.exists (fun p -> n mod p = 0) found then found else n :: found) (n + 1) in
  go [] 2

let fraction root power prime = Z.to_int (Z.logand (Z.root (Z.shift_left (Z.of_int prime) (32 * power)) root) (Z.of_int mask))
let initial = Array.of_list (List.map (fraction 2 2) (primes 8))
let constants = Array.of_list (List.map (fraction 3 3) (primes 64))

let rotate x n = ((x lsr n) lor (x lsl (32 - n))) land mask

let block state message from =
  let w = Array.make 64 0 in
  for i = 0 to 15 do
    w.(i) <- Int32.to_int (String.get_int32_be message (from + (4 * i))) land mask
  done;
  for i = 16 to 63 do
    let x = w.(i - 15) and y = w.(i - 2) in
    let s0 = rotate x 7 lxor rotate x 18 lxor (x lsr 3) and s1 = rotate y 17 lxor rotate y 19 lxor (y lsr 10) in
    w.(i) <- (w.(i - 16) + s0 + w.(i - 7) + s1) land mask
  done;
  let v = Array.copy state in
  for i = 0 to 63 do
    let a = v.(0) and e = v.(4) in
    let s1 = rotate e 6 lxor rotate e 11 lxor rotate e 25 in
    let chosen = (e land v.(5)) lxor (lnot e land mask land v.(6)) in
    let t1 = (v.(7) + s1 + chosen + constants.(i) + w.(i)) land mask in
    let s0 = rotate a 2 lxor rotate a 13 lxor rotate a 22 in
    let most = (a land v.(1)) lxor (a land v.(2)) lxor (v.(1) land v.(2)) in
    Array.blit v 0 v 1 7;
    v.(4) <- (v.(4) + t1) land mask;
    v.(0) <- (t1 + s0 + most) land mask
  done;
  Array.iteri (fun i x -> state.(i) <- (state.(i) + x) land mask) v

let hex text =
  let size = String.length text in
  let zeros = (55 - size) land 63 in
  let bits = Bytes.create 8 in
  Bytes.set_int64_be bits 0 (Int64.of_int (8 * size));
  let message = String.concat "" [ text; "\x80"; String.make zeros '\000'; Bytes.to_string bits ] in
  let state = Array.copy initial in
  for i = 0 to (String.length message / 64) - 1 do
    block state message (64 * i)
  done;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") state))
