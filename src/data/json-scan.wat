;; One pass over a JSON text (json-scan.ts says what for). In WebAssembly, because most of a text is the insides of strings, of which sixteen bytes are looked
;; at at once here, and because JSON.parse is quick: a loop in JavaScript takes half of its time again.
;;
;; The text comes in windows that begin with a token. What is found is kept from one window to the next.
(module
  ;; (depth, where its key begins, where the value begins, keys before it) -> 0: its text is not wanted; 1: it is, and keys in it do not count;
  ;; 2: it is, and they do. Asked of objects and lists that are members of objects, not of those in a wanted one, but for its members' members: there it says
  ;; whether close is to be told of its end.
  (import "scan" "open" (func $open (param i32 i32 i32 i32) (result i32)))
  ;; (where the value ends, keys before) of one that is wanted
  (import "scan" "close" (func $close (param i32 i32)))

  ;; A window of 256 KiB from 0 on; at 0x48000, by depth, where the hashes of the value's keys begin, with 1 for a list; at 0x50000 these hashes, those of
  ;; a value in another behind the other's. Behind the last one are 12 bytes of zeros.
  ;; From 0x70000 on a table of 2^18 hashes of keys of objects that have more than 512, with their objects' numbers in them. From 0x270000 on 2^20 bits, one for each
  ;; hash of the first 512 keys of these objects: most keys behind those are none of them, and are not compared with each.
  (memory (export "memory") 41)

  ;; The set of possible next tokens:
  ;; 1: a value; 3: a value, or the end of a list; 4: a key; 12: a key, or the end of an object; 16: a colon; 32: a comma, or the end of what is open
  (global $state (mut i32) (i32.const 1))
  (global $depth (mut i32) (i32.const 0))
  ;; Whether the value that is open is a list.
  (global $in_list (mut i32) (i32.const 0))
  ;; Keys that count.
  (global $keys (mut i32) (i32.const 0))
  (global $all_keys (mut i32) (i32.const 0))
  (global $last_key (mut i32) (i32.const 0))
  (global $in_wanted (mut i32) (i32.const 0))
  ;; Whether it is in a member's member of a wanted value whose end is to be told.
  (global $in_part (mut i32) (i32.const 0))
  ;; Whether there are escapes of surrogates.
  (global $surrogates (mut i32) (i32.const 0))
  ;; Of the last string: whether it has escapes, and whether its text can be written in another way: it has \u or \/.
  (global $escaped (mut i32) (i32.const 0))
  (global $ambiguous (mut i32) (i32.const 0))
  ;; Where keys have escapes: 1, beside the wanted values; 2, in them; 4, in the members' members whose ends are told.
  (global $escaped_keys (mut i32) (i32.const 0))
  ;; Whether there are numbers that the built-in parser does not read exactly, and whether the last one is.
  (global $inexact (mut i32) (i32.const 0))
  (global $last_inexact (mut i32) (i32.const 0))
  ;; Whether no object has a key twice; not known of all: 0.
  (global $unique (mut i32) (i32.const 1))
  ;; Hashes in the table, places that were found taken while theirs were looked for, and objects that have some.
  (global $in_table (mut i32) (i32.const 0))
  (global $taken (mut i32) (i32.const 0))
  (global $wide_objects (mut i32) (i32.const 0))
  ;; Behind the last hash, and where those of the object that is open begin.
  (global $hashes (mut i32) (i32.const 0x50000))
  (global $first_hash (mut i32) (i32.const 0x50000))

  (func (export "begin")
    (global.set $state (i32.const 1))
    (global.set $depth (i32.const 0))
    (global.set $in_list (i32.const 0))
    (global.set $keys (i32.const 0))
    (global.set $all_keys (i32.const 0))
    (global.set $in_wanted (i32.const 0))
    (global.set $in_part (i32.const 0))
    (global.set $surrogates (i32.const 0))
    (global.set $escaped_keys (i32.const 0))
    (global.set $inexact (i32.const 0))
    (global.set $unique (i32.const 1))
    (global.set $in_table (i32.const 0))
    (global.set $taken (i32.const 0))
    (global.set $wide_objects (i32.const 0))
    (global.set $first_hash (i32.const 0x50000))
    (call $forget_hashes (i32.const 0x50000)))

  (func (export "keys") (result i32) (global.get $keys))

  (func (export "surrogates") (result i32) (global.get $surrogates))

  (func (export "inexact") (result i32) (global.get $inexact))

  (func (export "escaped_keys") (result i32) (global.get $escaped_keys))

  (func (export "unique") (result i32) (global.get $unique))

  ;; Whether the text was a whole value.
  (func (export "complete") (result i32)
    (i32.and (i32.eq (global.get $state) (i32.const 32)) (i32.eqz (global.get $depth))))

  ;; A string that begins there is passed over by the host. What is in it is not known, but whether it has escapes.
  (func (export "passed") (param $at i32) (param $escaped i32)
    (global.set $unique (i32.const 0))
    (global.set $surrogates (i32.const 1))
    (if (i32.and (global.get $state) (i32.const 4))
      (then
        (if (local.get $escaped) (then (call $note_escaped_key (i32.const 1))))
        (global.set $last_key (local.get $at))
        (global.set $state (i32.const 16)))
      (else (global.set $state (i32.const 32)))))

  ;; Notes a key that has escapes. One that can be written in another way may be repeated unseen, and not every reader knows it for what it is: its text is not
  ;; to be handed on.
  (func $note_escaped_key (param $ambiguous i32)
    (global.set $escaped_keys
      (i32.or
        (global.get $escaped_keys)
        (select
          (i32.const 4)
          (i32.shl (i32.const 1) (i32.ne (global.get $in_wanted) (i32.const 0)))
          (global.get $in_part))))
    (if (local.get $ambiguous)
      (then
        (global.set $unique (i32.const 0))
        (global.set $inexact (i32.const 1)))))

  (func $forget_hashes (param $from i32)
    (global.set $hashes (local.get $from))
    (v128.store align=1 (local.get $from) (v128.const i32x4 0 0 0 0)))

  ;; Notes the key whose text stands there. One that has the hash of another of its object may be the same.
  (func $note_key (param $at i32) (param $end i32)
    (local $hash i64) (local $other i32) (local $last i32)
    (if (i32.eqz (global.get $unique)) (then (return)))
    (local.set $hash (i64.extend_i32_u (i32.sub (local.get $end) (local.get $at))))
    (block $last
      (loop $words
        (br_if $last (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 8)))
        (local.set $hash
          (i64.mul
            (i64.xor (local.get $hash) (i64.load align=1 (local.get $at)))
            (i64.const 0x9e3779b97f4a7c15)))
        (local.set $hash (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 29))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $words)))
    ;; The rest of it, less than eight bytes.
    (local.set $hash
      (i64.mul
        (i64.xor
          (local.get $hash)
          (i64.and
            (i64.load align=1 (local.get $at))
            (i64.sub
              (i64.shl
                (i64.const 1)
                (i64.extend_i32_u (i32.shl (i32.sub (local.get $end) (local.get $at)) (i32.const 3))))
              (i64.const 1))))
        (i64.const 0x9e3779b97f4a7c15)))
    (local.set $at (i32.wrap_i64 (i64.shr_u (local.get $hash) (i64.const 32))))
    ;; 0 is none.
    (local.set $at (i32.or (local.get $at) (i32.eqz (local.get $at))))
    (local.set $other (global.get $first_hash))
    (local.set $last (global.get $hashes))
    (if (i32.ge_u (i32.sub (local.get $last) (local.get $other)) (i32.const 2048))
      (then
        (if (i32.eq (i32.sub (local.get $last) (local.get $other)) (i32.const 2048)) (then (call $widen)))
        (if (i32.eqz
              (i32.and
                (i32.load8_u offset=0x270000 (i32.shr_u (i32.and (local.get $at) (i32.const 0xfffff)) (i32.const 3)))
                (i32.shl (i32.const 1) (i32.and (local.get $at) (i32.const 7)))))
          (then
            (call $note_in_table (local.get $hash))
            (return)))
        (local.set $last (i32.add (local.get $other) (i32.const 2048)))))
    (block $none
      (loop $others
        (br_if $none (i32.ge_u (local.get $other) (local.get $last)))
        (if (v128.any_true
              (i32x4.eq (v128.load align=1 (local.get $other)) (i32x4.splat (local.get $at))))
          (then
            (global.set $unique (i32.const 0))
            (return)))
        (local.set $other (i32.add (local.get $other) (i32.const 16)))
        (br $others)))
    (if (i32.ge_u (i32.sub (global.get $hashes) (global.get $first_hash)) (i32.const 2048))
      (then
        (call $note_in_table (local.get $hash))
        (return)))
    ;; Values in each other may have too many.
    (if (i32.ge_u (global.get $hashes) (i32.const 0x6ffe0))
      (then
        (global.set $unique (i32.const 0))
        (return)))
    (i32.store (global.get $hashes) (local.get $at))
    (call $forget_hashes (i32.add (global.get $hashes) (i32.const 4))))

  ;; The object that is open gets more keys than 512: behind its hashes stands its number from now on, and each of them has its bit.
  (func $widen
    (local $other i32) (local $at i32)
    (if (i32.eqz (global.get $wide_objects))
      (then (memory.fill (i32.const 0x70000) (i32.const 0) (i32.const 0x220000))))
    (local.set $other (global.get $first_hash))
    (loop $others
      (local.set $at (i32.load align=1 (local.get $other)))
      (i32.store8 offset=0x270000
        (i32.shr_u (i32.and (local.get $at) (i32.const 0xfffff)) (i32.const 3))
        (i32.or
          (i32.load8_u offset=0x270000 (i32.shr_u (i32.and (local.get $at) (i32.const 0xfffff)) (i32.const 3)))
          (i32.shl (i32.const 1) (i32.and (local.get $at) (i32.const 7)))))
      (local.set $other (i32.add (local.get $other) (i32.const 4)))
      (br_if $others (i32.lt_u (local.get $other) (global.get $hashes))))
    (global.set $wide_objects (i32.add (global.get $wide_objects) (i32.const 1)))
    (i32.store (global.get $hashes) (global.get $wide_objects))
    (call $forget_hashes (i32.add (global.get $hashes) (i32.const 4))))

  ;; Notes a key of an object that has 512 others, each of which would take longer than the one before.
  (func $note_in_table (param $hash i64)
    (local $at i32) (local $found i64)
    (global.set $in_table (i32.add (global.get $in_table) (i32.const 1)))
    (if (i32.gt_u (global.get $in_table) (i32.const 200000))
      (then
        (global.set $unique (i32.const 0))
        (return)))
    (local.set $hash
      (i64.mul
        (i64.xor
          (local.get $hash)
          (i64.extend_i32_u (i32.load offset=2048 (global.get $first_hash))))
        (i64.const 0xff51afd7ed558ccd)))
    (local.set $hash (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 32))))
    ;; 0 is none.
    (local.set $hash (i64.or (local.get $hash) (i64.extend_i32_u (i64.eqz (local.get $hash)))))
    (local.set $at (i32.wrap_i64 (local.get $hash)))
    (loop $next
      (local.set $at (i32.and (local.get $at) (i32.const 0x3ffff)))
      (local.set $found (i64.load offset=0x70000 (i32.shl (local.get $at) (i32.const 3))))
      (if (i64.eq (local.get $found) (local.get $hash))
        (then
          (global.set $unique (i32.const 0))
          (return)))
      (if (i64.ne (local.get $found) (i64.const 0))
        (then
          ;; 200,000 hashes find 320,000 places taken in the mean. More are found by keys that were made for it, of which each would take longer than the one before.
          (global.set $taken (i32.add (global.get $taken) (i32.const 1)))
          (if (i32.gt_u (global.get $taken) (i32.const 1000000))
            (then
              (global.set $unique (i32.const 0))
              (return)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (i64.store offset=0x70000 (i32.shl (local.get $at) (i32.const 3)) (local.get $hash)))

  (func $is_digit (param $c i32) (result i32)
    (i32.lt_u (i32.sub (local.get $c) (i32.const 0x30)) (i32.const 10)))

  (func $digits_end (param $at i32) (result i32)
    (loop $more
      (if (call $is_digit (i32.load8_u (local.get $at)))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $more))))
    (local.get $at))

  ;; The end of a number; -1 of what is none. Sets whether the built-in parser reads it exactly and prints it as it is written here.
  (func $number_end (param $from i32) (result i32)
    (local $digits i32) (local $end i32) (local $c i32) (local $fraction i32) (local $other i32)
    (local.set $digits
      (i32.add (local.get $from) (i32.eq (i32.load8_u (local.get $from)) (i32.const 0x2d))))
    (local.set $end (call $digits_end (local.get $digits)))
    (if (i32.eq (local.get $end) (local.get $digits)) (then (return (i32.const -1))))
    ;; 01
    (if (i32.and
          (i32.eq (i32.load8_u (local.get $digits)) (i32.const 0x30))
          (i32.gt_u (i32.sub (local.get $end) (local.get $digits)) (i32.const 1)))
      (then (return (i32.const -1))))
    (local.set $c (i32.load8_u (local.get $end)))
    (if (i32.eq (local.get $c) (i32.const 0x2e))
      (then
        (local.set $fraction (i32.add (local.get $end) (i32.const 1)))
        (local.set $end (call $digits_end (local.get $fraction)))
        (if (i32.eq (local.get $end) (local.get $fraction)) (then (return (i32.const -1))))
        (local.set $c (i32.load8_u (local.get $end)))
        (local.set $other
          (i32.or
            ;; A last digit of 0 may be the last of many.
            (i32.eq (i32.load8_u (i32.sub (local.get $end) (i32.const 1))) (i32.const 0x30))
            ;; Below 0.000001 it is printed with an exponent: 0.0000 and 00.
            (i32.and
              (i32.and
                (i32.eq (i32.load8_u (local.get $digits)) (i32.const 0x30))
                (i32.eq (i32.load align=1 (local.get $fraction)) (i32.const 0x30303030)))
              (i32.eq (i32.load16_u offset=4 align=1 (local.get $fraction)) (i32.const 0x3030))))))
      (else
        ;; -0
        (local.set $other
          (i32.and
            (i32.ne (local.get $digits) (local.get $from))
            (i32.eq (i32.load8_u (local.get $digits)) (i32.const 0x30))))))
    (if (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x65))
      (then
        (local.set $other (i32.const 1))
        (local.set $end (i32.add (local.get $end) (i32.const 1)))
        (local.set $c (i32.load8_u (local.get $end)))
        (local.set $fraction
          (i32.add
            (local.get $end)
            (i32.or
              (i32.eq (local.get $c) (i32.const 0x2b))
              (i32.eq (local.get $c) (i32.const 0x2d)))))
        (local.set $end (call $digits_end (local.get $fraction)))
        (if (i32.eq (local.get $end) (local.get $fraction)) (then (return (i32.const -1))))))
    ;; More digits may make an integer beyond 2^53, or a fraction that is read as a whole number.
    (global.set $last_inexact
      (i32.or (local.get $other) (i32.gt_u (i32.sub (local.get $end) (local.get $digits)) (i32.const 15))))
    (local.get $end))

  (func $is_hex (param $c i32) (result i32)
    (i32.or
      (call $is_digit (local.get $c))
      (i32.lt_u (i32.sub (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x61)) (i32.const 6))))

  ;; The index behind the escape that begins there; -1 when it does not end within so many bytes; -2 when it is none.
  (func $escape_end (param $at i32) (param $length i32) (result i32)
    (local $c i32)
    (if (i32.ge_u (i32.add (local.get $at) (i32.const 1)) (local.get $length)) (then (return (i32.const -1))))
    (global.set $escaped (i32.const 1))
    (local.set $c (i32.load8_u offset=1 (local.get $at)))
    (if (i32.eq (local.get $c) (i32.const 0x75))
      (then
        (if (i32.gt_u (i32.add (local.get $at) (i32.const 6)) (local.get $length)) (then (return (i32.const -1))))
        (if (i32.eqz
              (i32.and
                (i32.and
                  (call $is_hex (i32.load8_u offset=2 (local.get $at)))
                  (call $is_hex (i32.load8_u offset=3 (local.get $at))))
                (i32.and
                  (call $is_hex (i32.load8_u offset=4 (local.get $at)))
                  (call $is_hex (i32.load8_u offset=5 (local.get $at))))))
          (then (return (i32.const -2))))
        (global.set $ambiguous (i32.const 1))
        ;; \ud8 to \udf
        (if (i32.and
              (i32.eq (i32.or (i32.load8_u offset=2 (local.get $at)) (i32.const 0x20)) (i32.const 0x64))
              (i32.ge_u (i32.load8_u offset=3 (local.get $at)) (i32.const 0x38)))
          (then (global.set $surrogates (i32.const 1))))
        (return (i32.add (local.get $at) (i32.const 6)))))
    (if (i32.eq (local.get $c) (i32.const 0x2f))
      (then (global.set $ambiguous (i32.const 1)))
      (else
        ;; " \
        (if (i32.and (i32.ne (local.get $c) (i32.const 0x22)) (i32.ne (local.get $c) (i32.const 0x5c)))
          (then
            ;; b f n r t
            (if (i32.eqz
                  (i32.and
                    (i32.lt_u (i32.sub (local.get $c) (i32.const 0x60)) (i32.const 32))
                    (i32.and (i32.shr_u (i32.const 0x144044) (i32.sub (local.get $c) (i32.const 0x60))) (i32.const 1))))
              (then (return (i32.const -2))))))))
    (i32.add (local.get $at) (i32.const 2)))

  ;; The index behind the quote that ends the string whose content starts at `at`; -1 when it does not end within so many bytes; -2 when it is none.
  (func $string_end (param $at i32) (param $length i32) (result i32)
    (local $block v128) (local $found i32)
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $length)) (then (return (i32.const -1))))
      (local.set $block (v128.load align=1 (local.get $at)))
      (local.set $found
        (i8x16.bitmask
          (v128.or
            (v128.or
              (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x5c))))
            (i8x16.lt_u (local.get $block) (i8x16.splat (i32.const 0x20))))))
      (if (i32.eqz (local.get $found))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next)))
      (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
      (if (i32.ge_u (local.get $at) (local.get $length)) (then (return (i32.const -1))))
      (local.set $found (i32.load8_u (local.get $at)))
      (if (i32.eq (local.get $found) (i32.const 0x5c))
        (then
          (local.set $at (call $escape_end (local.get $at) (local.get $length)))
          (br_if $next (i32.ge_s (local.get $at) (i32.const 0)))
          (return (local.get $at)))))
    (select
      (i32.add (local.get $at) (i32.const 1))
      (i32.const -2)
      (i32.eq (local.get $found) (i32.const 0x22))))

  ;; Scans the window.
  ;; base: where it begins in the text; is_last: whether nothing follows; key_depth: how deep keys count; wanted_depth: of the values whose text may be
  ;; wanted; most: how deep values may be nested.
  ;; -> how far it got: the window's length, or where a token begins that does not end in it; -1: the text is not JSON.
  (func (export "scan")
    (param $length i32) (param $base i32) (param $is_last i32)
    (param $key_depth i32) (param $wanted_depth i32) (param $most i32)
    (result i32)
    (local $at i32) (local $c i32) (local $end i32) (local $state i32) (local $frame i32)
    (local.set $state (global.get $state))
    ;; A byte that is not a digit ends the last number, and is not part of another token.
    (i32.store8 (local.get $length) (i32.const 0))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $c (i32.load8_u (local.get $at)))
        (if (i32.eq (local.get $c) (i32.const 0x22))
          (then
            (global.set $escaped (i32.const 0))
            (global.set $ambiguous (i32.const 0))
            (local.set $end
              (call $string_end (i32.add (local.get $at) (i32.const 1)) (local.get $length)))
            (if (i32.lt_s (local.get $end) (i32.const 0))
              (then
                (br_if $done (i32.eq (local.get $end) (i32.const -1)))
                (return (i32.const -1))))
            (if (i32.and (local.get $state) (i32.const 4))
              (then
                (local.set $state (i32.const 16))
                (global.set $last_key (i32.add (local.get $base) (local.get $at)))
                (if (global.get $escaped) (then (call $note_escaped_key (global.get $ambiguous))))
                (call $note_key
                  (i32.add (local.get $at) (i32.const 1))
                  (i32.sub (local.get $end) (i32.const 1))))
              (else
                (if (i32.eqz (i32.and (local.get $state) (i32.const 1))) (then (return (i32.const -1))))
                (local.set $state (i32.const 32))))
            (local.set $at (local.get $end))
            (br $next)))
        (if (i32.eq (local.get $c) (i32.const 0x3a))
          (then
            (if (i32.ne (local.get $state) (i32.const 16)) (then (return (i32.const -1))))
            (local.set $state (i32.const 1))
            (global.set $all_keys (i32.add (global.get $all_keys) (i32.const 1)))
            (global.set $keys
              (i32.add
                (global.get $keys)
                (i32.and
                  (i32.le_s (global.get $depth) (local.get $key_depth))
                  (i32.ne (global.get $in_wanted) (i32.const 1)))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next)))
        (if (i32.eq (local.get $c) (i32.const 0x2c))
          (then
            (if (i32.or
                  (i32.ne (local.get $state) (i32.const 32))
                  (i32.eqz (global.get $depth)))
              (then (return (i32.const -1))))
            (local.set $state (select (i32.const 1) (i32.const 4) (global.get $in_list)))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next)))
        ;; { and [ differ in one bit, as } and ] do.
        (if (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x7b))
          (then
            (if (i32.eqz (i32.and (local.get $state) (i32.const 1))) (then (return (i32.const -1))))
            (local.set $frame (i32.or (global.get $first_hash) (global.get $in_list)))
            (i32.store offset=0x48000 (i32.shl (global.get $depth) (i32.const 2)) (local.get $frame))
            (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
            (if (i32.gt_s (global.get $depth) (local.get $most)) (then (return (i32.const -1))))
            (if (i32.and
                  (i32.le_s
                    (global.get $depth)
                    (i32.add (local.get $wanted_depth) (i32.shl (i32.ne (global.get $in_wanted) (i32.const 0)) (i32.const 1))))
                  (i32.and
                    (i32.gt_s (global.get $depth) (i32.const 1))
                    (i32.eqz (global.get $in_list))))
              (then
                (local.set $end
                  (call $open
                    (global.get $depth)
                    (global.get $last_key)
                    (i32.add (local.get $base) (local.get $at))
                    (global.get $all_keys)))
                (if (i32.le_s (global.get $depth) (local.get $wanted_depth))
                  (then (global.set $in_wanted (local.get $end)))
                  (else
                    (if (local.get $end) (then (global.set $in_part (global.get $depth))))))))
            (global.set $first_hash (global.get $hashes))
            (global.set $in_list (i32.eq (local.get $c) (i32.const 0x5b)))
            (local.set $state (select (i32.const 3) (i32.const 12) (global.get $in_list)))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next)))
        (if (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x7d))
          (then
            ;; Behind a value, or at once.
            (if (i32.eqz (i32.and (local.get $state) (i32.const 42))) (then (return (i32.const -1))))
            (if (i32.or
                  (i32.eqz (global.get $depth))
                  (i32.ne (i32.eq (local.get $c) (i32.const 0x5d)) (global.get $in_list)))
              (then (return (i32.const -1))))
            (local.set $state (i32.const 32))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (if (i32.and
                  (i32.ne (global.get $in_wanted) (i32.const 0))
                  (i32.eq (global.get $depth) (local.get $wanted_depth)))
              (then
                (global.set $in_wanted (i32.const 0))
                (call $close (i32.add (local.get $base) (local.get $at)) (global.get $all_keys))))
            (if (i32.eq (global.get $depth) (global.get $in_part))
              (then
                (global.set $in_part (i32.const 0))
                (call $close (i32.add (local.get $base) (local.get $at)) (global.get $all_keys))))
            (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))
            (if (i32.ne (global.get $hashes) (global.get $first_hash))
              (then (call $forget_hashes (global.get $first_hash))))
            (local.set $frame (i32.load offset=0x48000 (i32.shl (global.get $depth) (i32.const 2))))
            (global.set $in_list (i32.and (local.get $frame) (i32.const 1)))
            (global.set $first_hash (i32.and (local.get $frame) (i32.const -2)))
            (br $next)))
        (if (i32.or
              (call $is_digit (local.get $c))
              (i32.eq (local.get $c) (i32.const 0x2d)))
          (then
            (if (i32.eqz (i32.and (local.get $state) (i32.const 1))) (then (return (i32.const -1))))
            (local.set $end (call $number_end (local.get $at)))
            (if (i32.lt_s (local.get $end) (i32.const 0))
              (then
                ;; Its other half may be in the next window.
                (br_if $done
                  (i32.and
                    (i32.eqz (local.get $is_last))
                    (i32.gt_u (i32.add (local.get $at) (i32.const 32)) (local.get $length))))
                (return (i32.const -1))))
            (br_if $done
              (i32.and
                (i32.eqz (local.get $is_last))
                (i32.ge_u (local.get $end) (local.get $length))))
            (global.set $inexact (i32.or (global.get $inexact) (global.get $last_inexact)))
            (local.set $state (i32.const 32))
            (local.set $at (local.get $end))
            (br $next)))
        (if (i32.le_u (local.get $c) (i32.const 0x20))
          (then
            ;; A line's end, a tab, or spaces.
            (if (i32.eqz
                  (i64.ne
                    (i64.and
                      (i64.shr_u (i64.const 0x100002600) (i64.extend_i32_u (local.get $c)))
                      (i64.const 1))
                    (i64.const 0)))
              (then (return (i32.const -1))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $at
              (i32.add
                (local.get $at)
                (i32.ctz
                  (i32.or
                    (i32.xor
                      (i8x16.bitmask
                        (i8x16.eq (v128.load align=1 (local.get $at)) (i8x16.splat (i32.const 0x20))))
                      (i32.const 0xffff))
                    (i32.const 0x10000)))))
            (br $next)))
        ;; true, false, null
        (br_if $done
          (i32.and
            (i32.eqz (local.get $is_last))
            (i32.gt_u (i32.add (local.get $at) (i32.const 5)) (local.get $length))))
        (if (i32.eqz (i32.and (local.get $state) (i32.const 1))) (then (return (i32.const -1))))
        (local.set $state (i32.const 32))
        (local.set $end (i32.load align=1 (local.get $at)))
        (if (i32.or
              (i32.eq (local.get $end) (i32.const 0x65757274))
              (i32.eq (local.get $end) (i32.const 0x6c6c756e)))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 4)))
            (br $next)))
        (if (i32.and
              (i32.eq (local.get $end) (i32.const 0x736c6166))
              (i32.eq (i32.load8_u offset=4 (local.get $at)) (i32.const 0x65)))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 5)))
            (br $next)))
        (return (i32.const -1))))
    (global.set $state (local.get $state))
    (select
      (local.get $at)
      (local.get $length)
      (i32.lt_u (local.get $at) (local.get $length)))))
