;; One pass over a JSON text (json-scan.ts says what for). In WebAssembly, because most of a text is the insides of strings, of which sixteen bytes are looked
;; at at once here, and because JSON.parse is quick: a loop in JavaScript takes half of its time again.
;;
;; The text comes in windows that begin with a token. What is found is kept from one window to the next.
(module
  ;; (depth, where the last string begins, where the value begins, keys before it) -> 0: its text is not wanted; 1: it is, and keys in it do not count;
  ;; 2: it is, and they do
  (import "scan" "open" (func $open (param i32 i32 i32 i32) (result i32)))
  ;; (where the value ends, keys before) of one that is wanted
  (import "scan" "close" (func $close (param i32 i32)))

  ;; A window of 256 KiB
  (memory (export "memory") 5)

  (global $depth (mut i32) (i32.const 0))
  ;; Keys that count.
  (global $keys (mut i32) (i32.const 0))
  (global $all_keys (mut i32) (i32.const 0))
  (global $last_string (mut i32) (i32.const 0))
  (global $in_wanted (mut i32) (i32.const 0))
  (global $unicode (mut i32) (i32.const 0))

  (func (export "begin")
    (global.set $depth (i32.const 0))
    (global.set $keys (i32.const 0))
    (global.set $all_keys (i32.const 0))
    (global.set $in_wanted (i32.const 0))
    (global.set $unicode (i32.const 0)))

  (func (export "keys") (result i32) (global.get $keys))

  ;; Whether there may be escapes such as \u00e4.
  (func (export "unicode") (result i32) (global.get $unicode))

  ;; A string that begins there is passed over by the host.
  (func (export "passed") (param $at i32) (global.set $last_string (local.get $at)))

  (func $is_digit (param $c i32) (result i32)
    (i32.lt_u (i32.sub (local.get $c) (i32.const 0x30)) (i32.const 10)))

  (func $is_exponent (param $c i32) (result i32)
    (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x65)))

  (func $digits_end (param $at i32) (result i32)
    (loop $more
      (if (call $is_digit (i32.load8_u (local.get $at)))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $more))))
    (local.get $at))

  ;; The end of a number that the built-in parser reads exactly and prints as it is written here; -1 of any other.
  (func $number_end (param $from i32) (result i32)
    (local $digits i32) (local $end i32) (local $c i32) (local $fraction i32)
    (local.set $digits
      (i32.add (local.get $from) (i32.eq (i32.load8_u (local.get $from)) (i32.const 0x2d))))
    (local.set $end (call $digits_end (local.get $digits)))
    (local.set $c (i32.load8_u (local.get $end)))
    (if (i32.eq (local.get $c) (i32.const 0x2e))
      (then
        (local.set $fraction (i32.add (local.get $end) (i32.const 1)))
        (local.set $end (call $digits_end (local.get $fraction)))
        (if (i32.eq (local.get $end) (local.get $fraction)) (then (return (i32.const -1))))
        ;; A last digit of 0 may be the last of many.
        (if (i32.eq (i32.load8_u (i32.sub (local.get $end) (i32.const 1))) (i32.const 0x30))
          (then (return (i32.const -1))))
        (if (call $is_exponent (i32.load8_u (local.get $end))) (then (return (i32.const -1))))
        ;; Below 0.000001 it is printed with an exponent: 0.0000 and 00.
        (if (i32.and
              (i32.and
                (i32.eq (i32.load8_u (local.get $digits)) (i32.const 0x30))
                (i32.eq (i32.load align=1 (local.get $fraction)) (i32.const 0x30303030)))
              (i32.eq (i32.load16_u offset=4 align=1 (local.get $fraction)) (i32.const 0x3030)))
          (then (return (i32.const -1)))))
      (else
        (if (call $is_exponent (local.get $c)) (then (return (i32.const -1))))
        ;; -0
        (if (i32.and
              (i32.ne (local.get $digits) (local.get $from))
              (i32.eq (i32.load8_u (local.get $digits)) (i32.const 0x30)))
          (then (return (i32.const -1))))))
    ;; More digits may make an integer beyond 2^53, or a fraction that is read as a whole number.
    (if (i32.gt_u (i32.sub (local.get $end) (local.get $digits)) (i32.const 15))
      (then (return (i32.const -1))))
    (local.get $end))

  ;; The index behind the quote that ends the string whose content starts there; -1 when it does not end within so many bytes.
  (func $string_end (param $at i32) (param $length i32) (result i32)
    (local $block v128) (local $quotes i32) (local $backslashes i32) (local $escaped i32)
    ;; Whether the first byte of the block is escaped by the last one of the block before.
    (local $carry i32)
    (local $starts i32)
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $length)) (then (return (i32.const -1))))
      (local.set $block (v128.load align=1 (local.get $at)))
      (local.set $quotes (i8x16.bitmask (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x22)))))
      (local.set $backslashes (i8x16.bitmask (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x5c)))))
      (if (i32.or (local.get $backslashes) (local.get $carry))
        (then
          ;; Every other backslash of a run begins an escape. A run that begins at an even bit is told from one at an odd bit by a subtraction that
          ;; carries through it (as in simdjson).
          (local.set $starts (i32.and (local.get $backslashes) (i32.xor (local.get $carry) (i32.const -1))))
          (local.set $starts
            (i32.xor
              (i32.sub
                (i32.or (i32.shl (local.get $starts) (i32.const 1)) (i32.const 0xaaaaaaaa))
                (local.get $starts))
              (i32.const 0xaaaaaaaa)))
          (local.set $escaped
            (i32.xor (local.get $starts) (i32.or (local.get $backslashes) (local.get $carry))))
          (local.set $carry
            (i32.and
              (i32.shr_u (i32.and (local.get $starts) (local.get $backslashes)) (i32.const 15))
              (i32.const 1)))
          (local.set $quotes
            (i32.and (local.get $quotes) (i32.xor (local.get $escaped) (i32.const -1))))
          ;; What comes behind the string's end may count, too: whoever is told looks closer.
          (if (i32.and
                (local.get $escaped)
                (i8x16.bitmask (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x75)))))
            (then (global.set $unicode (i32.const 1))))))
      (if (i32.eqz (local.get $quotes))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next))))
    (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $quotes))))
    (if (i32.ge_u (local.get $at) (local.get $length)) (then (return (i32.const -1))))
    (i32.add (local.get $at) (i32.const 1)))

  ;; Scans the window.
  ;; base: where it begins in the text; is_last: whether nothing follows; key_depth: how deep keys count; wanted_depth: of the values whose text may be
  ;; wanted; most: how deep values may be nested.
  ;; -> how far it got: the window's length, or where a token begins that does not end in it; -1: the exact reader must read the text.
  (func (export "scan")
    (param $length i32) (param $base i32) (param $is_last i32)
    (param $key_depth i32) (param $wanted_depth i32) (param $most i32)
    (result i32)
    (local $at i32) (local $c i32) (local $end i32)
    ;; A byte that is no digit ends the last number.
    (i32.store8 (local.get $length) (i32.const 0))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $c (i32.load8_u (local.get $at)))
        (if (i32.eq (local.get $c) (i32.const 0x22))
          (then
            (local.set $end
              (call $string_end (i32.add (local.get $at) (i32.const 1)) (local.get $length)))
            (br_if $done (i32.lt_s (local.get $end) (i32.const 0)))
            (global.set $last_string (i32.add (local.get $base) (local.get $at)))
            (local.set $at (local.get $end))
            (br $next)))
        (if (i32.le_u (local.get $c) (i32.const 0x20))
          (then
            (local.set $end
              (i8x16.bitmask
                (i8x16.gt_u (v128.load align=1 (local.get $at)) (i8x16.splat (i32.const 0x20)))))
            (local.set $at
              (i32.add
                (local.get $at)
                (select (i32.ctz (local.get $end)) (i32.const 16) (local.get $end))))
            (br $next)))
        (if (i32.eq (local.get $c) (i32.const 0x3a))
          (then
            (global.set $all_keys (i32.add (global.get $all_keys) (i32.const 1)))
            (global.set $keys
              (i32.add
                (global.get $keys)
                (i32.and
                  (i32.le_s (global.get $depth) (local.get $key_depth))
                  (i32.ne (global.get $in_wanted) (i32.const 1)))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next)))
        ;; { and [ differ in one bit, as } and ] do.
        (if (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x7b))
          (then
            (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
            (if (i32.gt_s (global.get $depth) (local.get $most)) (then (return (i32.const -1))))
            (if (i32.le_s (global.get $depth) (local.get $wanted_depth))
              (then
                (global.set $in_wanted
                  (call $open
                    (global.get $depth)
                    (global.get $last_string)
                    (i32.add (local.get $base) (local.get $at))
                    (global.get $all_keys)))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next)))
        (if (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x7d))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (if (i32.and
                  (i32.ne (global.get $in_wanted) (i32.const 0))
                  (i32.eq (global.get $depth) (local.get $wanted_depth)))
              (then
                (global.set $in_wanted (i32.const 0))
                (call $close (i32.add (local.get $base) (local.get $at)) (global.get $all_keys))))
            (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))
            (br $next)))
        (if (i32.or
              (call $is_digit (local.get $c))
              (i32.eq (local.get $c) (i32.const 0x2d)))
          (then
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
            (local.set $at (local.get $end))
            (br $next)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (select
      (local.get $at)
      (local.get $length)
      (i32.lt_u (local.get $at) (local.get $length)))))
