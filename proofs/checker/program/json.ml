(* JSON as certificates use it: whole numbers alone, no field twice, nothing nested deeply. *)

open Answers

type t = Null | Bool of bool | Int of Z.t | Text of string | List of t list | Object of (string * t) list

let largest = 16 * 1024 * 1024
let deepest = 65
let most_digits = 4300

(* --- Characters ------------------------------------------------------------------------------------------------------- *)

let bad place what = raise (Unreadable (Printf.sprintf "byte %d: not JSON: %s" place what))

(* One character of UTF-8: its code and how many bytes it has. *)
let character text place =
  let byte i = if i < String.length text then Char.code text.[i] else 0 in
  let next i = if byte i land 0xC0 = 0x80 then byte i land 0x3F else raise (Unreadable (Printf.sprintf "not UTF-8 text (byte %d)" place)) in
  let first = byte place in
  let code, size =
    if first < 0x80 then (first, 1)
    else if first land 0xE0 = 0xC0 then (((first land 0x1F) lsl 6) lor next (place + 1), 2)
    else if first land 0xF0 = 0xE0 then (((first land 0x0F) lsl 12) lor (next (place + 1) lsl 6) lor next (place + 2), 3)
    else
      (((first land 0x07) lsl 18) lor (next (place + 1) lsl 12) lor (next (place + 2) lsl 6) lor next (place + 3), 4)
  in
  let least = [| 0; 0; 0x80; 0x800; 0x10000 |] in
  let fine = (first < 0x80 || first >= 0xC0) && first < 0xF8 && code >= least.(size) && code <= 0x10FFFF
             && not (code >= 0xD800 && code <= 0xDFFF) in
  if not fine then raise (Unreadable (Printf.sprintf "not UTF-8 text (byte %d)" place));
  (code, size)

let require_utf8 text =
  let place = ref 0 in
  while !place < String.length text do
    place := !place + snd (character text !place)
  done

(* Write a code as UTF-8; half of a pair, which JSON may hold alone, as if it were a character. *)
let add_character buffer code =
  let add x = Buffer.add_char buffer (Char.chr x) in
  if code < 0x80 then add code
  else if code < 0x800 then (add (0xC0 lor (code lsr 6)); add (0x80 lor (code land 0x3F)))
  else if code < 0x10000 then (
    add (0xE0 lor (code lsr 12)); add (0x80 lor ((code lsr 6) land 0x3F)); add (0x80 lor (code land 0x3F)))
  else (
    add (0xF0 lor (code lsr 18)); add (0x80 lor ((code lsr 12) land 0x3F));
    add (0x80 lor ((code lsr 6) land 0x3F)); add (0x80 lor (code land 0x3F)))

(* --- Values ----------------------------------------------------------------------------------------------------------- *)

let parse text =
  if String.length text > largest then raise (Unreadable "larger than 16 MiB, the most that is read");
  require_utf8 text;
  let length = String.length text in
  let place = ref (if length >= 3 && String.sub text 0 3 = "\xEF\xBB\xBF" then 3 else 0) in
  let peek () = if !place < length then text.[!place] else '\000' in
  let fail what = bad !place what in
  let rec skip () =
    match peek () with (' ' | '\t' | '\n' | '\r') when !place < length -> incr place; skip () | _ -> () in
  let expect character = if !place < length && peek () = character then incr place else fail (Printf.sprintf "%C is missing" character) in
  let word name value =
    let size = String.length name in
    if !place + size <= length && String.sub text !place size = name then (place := !place + size; value)
    else fail "no value" in
  let hex () =
    if !place + 4 > length then fail "an escape is cut off";
    let digits = String.sub text !place 4 in
    let is_digit = function '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' -> true | _ -> false in
    if not (String.for_all is_digit digits) then fail "an escape is not four digits";
    place := !place + 4;
    int_of_string ("0x" ^ digits) in
  let escape buffer =
    let after = peek () in
    incr place;
    match after with
    | '"' | '\\' | '/' -> Buffer.add_char buffer after
    | 'b' -> Buffer.add_char buffer '\b'
    | 'f' -> Buffer.add_char buffer '\012'
    | 'n' -> Buffer.add_char buffer '\n'
    | 'r' -> Buffer.add_char buffer '\r'
    | 't' -> Buffer.add_char buffer '\t'
    | 'u' ->
        let first = hex () in
        let paired = first >= 0xD800 && first <= 0xDBFF && !place + 6 <= length && String.sub text !place 2 = "\\u" in
        if not paired then add_character buffer first
        else begin
          let back = !place in
          place := !place + 2;
          let second = hex () in
          if second >= 0xDC00 && second <= 0xDFFF then
            add_character buffer (0x10000 + ((first - 0xD800) lsl 10) + (second - 0xDC00))
          else (place := back; add_character buffer first)
        end
    | _ -> fail "an unknown escape" in
  let string () =
    expect '"';
    let buffer = Buffer.create 16 in
    let rec go () =
      if !place >= length then fail "a text without an end";
      match text.[!place] with
      | '"' -> incr place
      | '\\' -> incr place; escape buffer; go ()
      | c when Char.code c < 0x20 -> fail "a control character"
      | c -> Buffer.add_char buffer c; incr place; go () in
    go ();
    Buffer.contents buffer in
  let number () =
    let from = !place in
    if peek () = '-' then incr place;
    let digits = !place in
    while (match peek () with '0' .. '9' -> true | _ -> false) do incr place done;
    let size = !place - digits in
    if size = 0 || (size > 1 && text.[digits] = '0') then fail "no number";
    (match peek () with '.' | 'e' | 'E' -> raise (Unreadable "a number is not exact") | _ -> ());
    if size > most_digits then raise (Unreadable "a number has too many digits");
    Int (Z.of_string (String.sub text from (!place - from))) in
  let rec value depth =
    if depth > deepest then raise (Unreadable "nested too deeply: at most 64 lists and objects inside each other are read");
    skip ();
    let found =
      match peek () with
      | '{' -> incr place; Object (fields depth)
      | '[' -> incr place; List (entries depth)
      | '"' -> Text (string ())
      | 't' -> word "true" (Bool true)
      | 'f' -> word "false" (Bool false)
      | 'n' -> word "null" Null
      | '-' | '0' .. '9' -> number ()
      | _ -> fail "no value" in
    skip ();
    found
  and entries depth =
    skip ();
    if peek () = ']' then (incr place; [])
    else
      let rec go found =
        let one = value (depth + 1) in
        match peek () with
        | ',' -> incr place; go (one :: found)
        | _ -> expect ']'; List.rev (one :: found) in
      go []
  and fields depth =
    skip ();
    if peek () = '}' then (incr place; [])
    else
      let names = Hashtbl.create 16 in
      let rec go found =
        skip ();
        let name = string () in
        if Hashtbl.mem names name then raise (Unreadable "a field stands twice in one object");
        Hashtbl.add names name ();
        skip ();
        expect ':';
        let one = value (depth + 1) in
        match peek () with
        | ',' -> incr place; go ((name, one) :: found)
        | _ -> expect '}'; List.rev ((name, one) :: found) in
      go [] in
  let found = value 1 in
  if !place < length then fail "something follows the value";
  found

(* --- The one spelling of a value that its digest is made of -------------------------------------------------------------- *)

(* Texts in ASCII, fields in the order of their names, no spaces. *)
let spell value =
  let buffer = Buffer.create 4096 in
  let put = Buffer.add_string buffer in
  let unit code = put (Printf.sprintf "\\u%04x" code) in
  let text name =
    put "\"";
    let place = ref 0 in
    while !place < String.length name do
      let code, size =
        match character name !place with
        | found -> found
        | exception Unreadable _ -> (* half of a pair *)
            let byte i = Char.code name.[!place + i] in
            (((byte 0 land 0x0F) lsl 12) lor ((byte 1 land 0x3F) lsl 6) lor (byte 2 land 0x3F), 3) in
      place := !place + size;
      match code with
      | 0x22 -> put "\\\""
      | 0x5C -> put "\\\\"
      | 0x08 -> put "\\b"
      | 0x0C -> put "\\f"
      | 0x0A -> put "\\n"
      | 0x0D -> put "\\r"
      | 0x09 -> put "\\t"
      | code when code < 0x20 || (code >= 0x7F && code < 0x10000) -> unit code
      | code when code >= 0x10000 ->
          unit (0xD800 + ((code - 0x10000) lsr 10));
          unit (0xDC00 + ((code - 0x10000) land 0x3FF))
      | code -> Buffer.add_char buffer (Char.chr code)
    done;
    put "\"" in
  let listed opening closing one = function
    | [] -> put opening; put closing
    | first :: rest -> put opening; one first; List.iter (fun x -> put ","; one x) rest; put closing in
  let rec spell = function
    | Null -> put "null"
    | Bool truth -> put (string_of_bool truth)
    | Int number -> put (Z.to_string number)
    | Text name -> text name
    | List entries -> listed "[" "]" spell entries
    | Object fields ->
        let ordered = List.sort (fun (x, _) (y, _) -> compare x y) fields in
        listed "{" "}" (fun (name, one) -> text name; put ":"; spell one) ordered in
  spell value;
  Buffer.contents buffer

(* --- Parts of a value --------------------------------------------------------------------------------------------------- *)

let fields_of value names =
  match value with
  | Object found ->
      let wanted = String.split_on_char ' ' names in
      let same = List.length found = List.length wanted && List.for_all (fun name -> List.mem_assoc name found) wanted in
      require same (Printf.sprintf "the fields are not %s" names);
      fun name -> List.assoc name found
  | _ -> raise (Refused "an object is missing")

let has value name = match value with Object found -> List.mem_assoc name found | _ -> false

let list_of ?size ?most value =
  match value with
  | List found ->
      Option.iter (fun n -> require (List.length found = n) (Printf.sprintf "a list has not %d entries" n)) size;
      Option.iter (fun n -> require (List.length found <= n) (Printf.sprintf "a list has more than %d entries" n)) most;
      found
  | _ -> raise (Refused "a list is missing")

let one_of value names =
  match value with
  | Text name when List.mem name names -> name
  | _ -> raise (Refused (Printf.sprintf "not one of %s" (String.concat ", " names)))

let whole_of value = match value with Int number -> Some number | _ -> None
