;; The memory that an Extism plugin shares with its host, and every function of the import module `extism:host/env` (Extism 1.x) and of our own
;; `extism:host/user`. In WebAssembly, because a plugin moves its input and output eight bytes at a time: from here a call costs a nanosecond or two,
;; from JavaScript, with its BigInts, fifty times that. JavaScript's part (kernel.ts) only sees 32-bit numbers. An address is an offset in this
;; memory, as in Extism's own kernel, and never 0. Blocks lie one behind the other, each behind a header of eight bytes: its length, and a seal made
;; of length and address, which distinguishes a block from any other address. A plugin can overwrite its own headers: then the block is no longer one,
;; or has another length within the memory in use. Memory outside of that reads as 0 and ignores writes. The memory belongs to one call at a time and
;; is wiped before the next one.
(module
  ;; Each of the first three throws.
  (import "services" "passed_limit" (func $passed_limit))
  (import "services" "bad_output" (func $bad_output))
  (import "services" "bad_error" (func $bad_error))
  ;; (level, address, length); address 0: none.
  (import "services" "log" (func $log (param i32 i32 i32)))
  ;; Lines below this level are dropped.
  (import "services" "log_level" (func $log_level (result i32)))
  ;; (name, its length) -> a block, or 0
  (import "services" "config_get" (func $config_get (param i32 i32) (result i32)))
  ;; (request, its length, body, its length) -> a block, or 0; without a body its address is 0.
  (import "services" "http_request" (func $http_request (param i32 i32 i32 i32) (result i32)))
  (import "services" "http_status" (func $http_status (result i32)))
  ;; A block; 0 before the first answer.
  (import "services" "http_headers" (func $http_headers (result i32)))
  ;; (name, its length) -> a block, or 0
  (import "services" "variable_get" (func $variable_get (param i32 i32) (result i32)))
  ;; (name, its length, value, its length); value 0: the variable is removed.
  (import "services" "variable_set" (func $variable_set (param i32 i32 i32 i32)))
  (import "services" "bad_variable" (func $bad_variable))
  ;; (namespace, its length, operation, its length, payload, its length) -> a block
  (import "services" "host_call" (func $host_call (param i32 i32 i32 i32 i32 i32) (result i32)))

  ;; A MiB to start with: most calls never let it grow.
  (memory (export "memory") 16)

  ;; Place of the first header. Nothing is below it, so that neither 0 nor a small number is an address.
  (global $base i64 (i64.const 1024))
  (global $header i64 (i64.const 8))
  (global $seal i32 (i32.const 0x5eed0b10))
  ;; Pages by which the memory grows at least.
  (global $growth i64 (i64.const 16))
  ;; Ends beyond this are never given out, so that rounding up and growing stay within 32 bits.
  (global $end_of_memory i64 (i64.const 0xfff00000))

  ;; The end of the memory in use, always a multiple of 8.
  (global $top (mut i64) (i64.const 1024))
  ;; The limit of `top`.
  (global $ceiling (mut i64) (i64.const 1024))
  (global $input (mut i64) (i64.const 0))
  (global $input_length (mut i64) (i64.const 0))
  ;; Offsets of the input below this one have eight bytes before them.
  (global $input_words (mut i64) (i64.const 0))
  (global $output (mut i64) (i64.const 0))
  (global $output_length (mut i64) (i64.const 0))
  (global $error (mut i64) (i64.const 0))

  ;; ---- For the host ----

  ;; Wipes the last call's memory. `pages`: most memory that this call's blocks may take, in units of 64 KiB.
  (func (export "reset") (param $pages i32)
    (memory.fill
      (i32.wrap_i64 (global.get $base))
      (i32.const 0)
      (i32.wrap_i64 (i64.sub (global.get $top) (global.get $base))))
    (global.set $top (global.get $base))
    (global.set $ceiling (i64.add (global.get $base) (i64.shl (i64.extend_i32_u (local.get $pages)) (i64.const 16))))
    (call $forget)
    (global.set $input (i64.const 0))
    (global.set $input_length (i64.const 0))
    (global.set $input_words (i64.const 0)))

  ;; Makes the block of the input, which does not count against the limit, and discards the output of the plugin's start function.
  (func (export "input_set") (param $length i32) (result i32)
    (local $size i64)
    (local.set $size (i64.extend_i32_u (local.get $length)))
    (call $forget)
    (global.set $ceiling (i64.add (global.get $ceiling) (call $stride (local.get $size))))
    (global.set $input (call $alloc (local.get $size)))
    (global.set $input_length (local.get $size))
    (global.set $input_words
      (select
        (i64.sub (local.get $size) (i64.const 7))
        (i64.const 0)
        (i64.gt_u (local.get $size) (i64.const 7))))
    (i32.wrap_i64 (global.get $input)))

  (func (export "reserve") (param $length i32) (result i32)
    (i32.wrap_i64 (call $alloc (i64.extend_i32_u (local.get $length)))))

  ;; Bytes in use.
  (func (export "used") (result i32)
    (i32.wrap_i64 (global.get $top)))

  (func (export "output_offset") (result i32)
    (i32.wrap_i64 (global.get $output)))

  (func (export "output_length") (result i32)
    (i32.wrap_i64 (global.get $output_length)))

  ;; 0: there is no error.
  (func (export "error_offset") (result i32)
    (i32.wrap_i64 (global.get $error)))

  (func (export "error_length") (result i32)
    (i32.wrap_i64 (call $length (global.get $error))))

  ;; The host reports an error on the plugin's behalf.
  (func (export "fail") (param $block i32)
    (global.set $error (i64.extend_i32_u (local.get $block))))

  (func $forget
    (global.set $output (i64.const 0))
    (global.set $output_length (i64.const 0))
    (global.set $error (i64.const 0)))

  ;; ---- Blocks ----

  ;; Bytes of a block with its header.
  (func $stride (param $length i64) (result i64)
    (i64.add (global.get $header) (i64.and (i64.add (local.get $length) (i64.const 7)) (i64.const -8))))

  (func $alloc (export "alloc") (param $length i64) (result i64)
    (local $block i64)
    (local $end i64)
    ;; Empty bytes have no block: address and length are 0.
    (if (i64.eqz (local.get $length)) (then (return (i64.const 0))))
    ;; First, because the sum below must not overflow.
    (if (i64.gt_u (local.get $length) (global.get $end_of_memory)) (then (call $passed_limit)))
    (local.set $end (i64.add (global.get $top) (call $stride (local.get $length))))
    (if (i64.gt_u (local.get $end) (global.get $ceiling)) (then (call $passed_limit)))
    (if (i64.gt_u (local.get $end) (i64.shl (i64.extend_i32_u (memory.size)) (i64.const 16)))
      (then (call $grow (local.get $end))))
    (local.set $block (i64.add (global.get $top) (global.get $header)))
    (i32.store (i32.wrap_i64 (global.get $top)) (i32.wrap_i64 (local.get $length)))
    (i32.store offset=4
      (i32.wrap_i64 (global.get $top))
      (call $seal_of (i32.wrap_i64 (local.get $block)) (i32.wrap_i64 (local.get $length))))
    (global.set $top (local.get $end))
    (local.get $block))

  (func $grow (param $end i64)
    (local $missing i64)
    (if (i64.gt_u (local.get $end) (global.get $end_of_memory)) (then (call $passed_limit)))
    (local.set $missing
      (i64.sub
        (i64.shr_u (i64.add (local.get $end) (i64.const 0xffff)) (i64.const 16))
        (i64.extend_i32_u (memory.size))))
    (if (i64.lt_u (local.get $missing) (global.get $growth)) (then (local.set $missing (global.get $growth))))
    (if (i32.eq (memory.grow (i32.wrap_i64 (local.get $missing))) (i32.const -1)) (then (call $passed_limit))))

  (func $seal_of (param $block i32) (param $length i32) (result i32)
    (i32.xor (i32.xor (local.get $block) (local.get $length)) (global.get $seal)))

  ;; Whether a block begins at this address.
  (func $is_block (param $address i64) (result i32)
    (local $block i32)
    (local $length i32)
    (if (i64.ne (i64.and (local.get $address) (i64.const 7)) (i64.const 0)) (then (return (i32.const 0))))
    (if (i64.le_u (local.get $address) (global.get $base)) (then (return (i32.const 0))))
    (if (i64.gt_u (local.get $address) (global.get $top)) (then (return (i32.const 0))))
    (local.set $block (i32.wrap_i64 (local.get $address)))
    (local.set $length (i32.load (i32.sub (local.get $block) (i32.const 8))))
    (if
      (i32.ne
        (i32.load (i32.sub (local.get $block) (i32.const 4)))
        (call $seal_of (local.get $block) (local.get $length)))
      (then (return (i32.const 0))))
    (i64.le_u (i64.extend_i32_u (local.get $length)) (i64.sub (global.get $top) (local.get $address))))

  (func $length (export "length") (param $address i64) (result i64)
    (if (result i64) (call $is_block (local.get $address))
      (then (i64.load32_u (i32.sub (i32.wrap_i64 (local.get $address)) (i32.const 8))))
      (else (i64.const 0))))

  ;; As safe as `length`, because it need not be faster.
  (func (export "length_unsafe") (param $address i64) (result i64)
    (call $length (local.get $address)))

  ;; Frees a block. Its bytes stay until the call is over, since an output may be freed after `output_set`.
  (func $free (export "free") (param $address i64)
    (if (i32.eqz (call $is_block (local.get $address))) (then (return)))
    (i64.store (i32.sub (i32.wrap_i64 (local.get $address)) (i32.const 8)) (i64.const 0))
    (if (i64.eq (local.get $address) (global.get $input))
      (then
        (global.set $input_length (i64.const 0))
        (global.set $input_words (i64.const 0)))))

  ;; Whether this many bytes from this address on are in use.
  (func $in_use (param $address i64) (param $length i64) (result i32)
    (i32.and
      (i32.and
        (i64.gt_u (local.get $address) (global.get $base))
        (i64.le_u (local.get $address) (global.get $top)))
      (i64.le_u (local.get $length) (i64.sub (global.get $top) (local.get $address)))))

  ;; ---- Bytes ----

  (func (export "load_u8") (param $address i64) (result i32)
    (if (result i32) (call $in_use (local.get $address) (i64.const 1))
      (then (i32.load8_u (i32.wrap_i64 (local.get $address))))
      (else (i32.const 0))))

  (func (export "load_u64") (param $address i64) (result i64)
    (if (result i64) (call $in_use (local.get $address) (i64.const 8))
      (then (i64.load align=1 (i32.wrap_i64 (local.get $address))))
      (else (i64.const 0))))

  (func (export "store_u8") (param $address i64) (param $value i32)
    (if (call $in_use (local.get $address) (i64.const 1))
      (then (i32.store8 (i32.wrap_i64 (local.get $address)) (local.get $value)))))

  (func (export "store_u64") (param $address i64) (param $value i64)
    (if (call $in_use (local.get $address) (i64.const 8))
      (then (i64.store align=1 (i32.wrap_i64 (local.get $address)) (local.get $value)))))

  (func (export "input_offset") (result i64)
    (global.get $input))

  (func (export "input_length") (result i64)
    (global.get $input_length))

  (func (export "input_load_u8") (param $offset i64) (result i32)
    (if (result i32) (i64.lt_u (local.get $offset) (global.get $input_length))
      (then (i32.load8_u (i32.wrap_i64 (i64.add (global.get $input) (local.get $offset)))))
      (else (i32.const 0))))

  (func (export "input_load_u64") (param $offset i64) (result i64)
    (if (result i64) (i64.lt_u (local.get $offset) (global.get $input_words))
      (then (i64.load align=1 (i32.wrap_i64 (i64.add (global.get $input) (local.get $offset)))))
      (else (i64.const 0))))

  ;; ---- Output and error ----

  ;; Accepts any part of the memory in use; an empty output may be anywhere. Other addresses must fail, or an earlier output would be the answer.
  (func (export "output_set") (param $address i64) (param $length i64)
    (if (i32.eqz (i32.or (i64.eqz (local.get $length)) (call $in_use (local.get $address) (local.get $length))))
      (then (call $bad_output)))
    (global.set $output (local.get $address))
    (global.set $output_length (local.get $length)))

  ;; 0 removes the error.
  (func (export "error_set") (param $address i64)
    (if (i32.eqz (i32.or (i64.eqz (local.get $address)) (call $is_block (local.get $address))))
      (then (call $bad_error)))
    (global.set $error (local.get $address)))

  (func (export "error_get") (result i64)
    (global.get $error))

  ;; ---- Services for plugins; as in Extism, the blocks of names and log lines are freed by the call ----

  (func (export "config_get") (param $name i64) (result i64)
    (local $value i64)
    (if (i32.eqz (call $is_block (local.get $name))) (then (return (i64.const 0))))
    (local.set $value
      (i64.extend_i32_u
        (call $config_get (i32.wrap_i64 (local.get $name)) (i32.wrap_i64 (call $length (local.get $name))))))
    (call $free (local.get $name))
    (local.get $value))

  (func (export "var_get") (param $name i64) (result i64)
    (local $value i64)
    (if (i32.eqz (call $is_block (local.get $name))) (then (return (i64.const 0))))
    (local.set $value
      (i64.extend_i32_u
        (call $variable_get (i32.wrap_i64 (local.get $name)) (i32.wrap_i64 (call $length (local.get $name))))))
    (call $free (local.get $name))
    (local.get $value))

  (func (export "var_set") (param $name i64) (param $value i64)
    (if (i32.eqz (call $is_block (local.get $name)))
      (then (call $bad_variable) (return)))
    (if (i32.eqz (i32.or (i64.eqz (local.get $value)) (call $is_block (local.get $value))))
      (then (call $bad_variable) (return)))
    (call $variable_set
      (i32.wrap_i64 (local.get $name))
      (i32.wrap_i64 (call $length (local.get $name)))
      (i32.wrap_i64 (local.get $value))
      (i32.wrap_i64 (call $length (local.get $value)))))

  ;; A body that is not a block counts as none; the plugin keeps the blocks.
  (func (export "http_request") (param $request i64) (param $body i64) (result i64)
    (if (i32.eqz (call $is_block (local.get $request))) (then (return (i64.const 0))))
    (if (i32.eqz (call $is_block (local.get $body))) (then (local.set $body (i64.const 0))))
    (i64.extend_i32_u
      (call $http_request
        (i32.wrap_i64 (local.get $request))
        (i32.wrap_i64 (call $length (local.get $request)))
        (i32.wrap_i64 (local.get $body))
        (i32.wrap_i64 (call $length (local.get $body))))))

  (func (export "http_status_code") (result i32)
    (call $http_status))

  (func (export "http_headers") (result i64)
    (i64.extend_i32_u (call $http_headers)))

  (func $log_block (param $level i32) (param $address i64)
    (if (i32.eqz (call $is_block (local.get $address)))
      (then (call $log (local.get $level) (i32.const 0) (i32.const 0)) (return)))
    (call $log
      (local.get $level)
      (i32.wrap_i64 (local.get $address))
      (i32.wrap_i64 (call $length (local.get $address))))
    (call $free (local.get $address)))

  (func (export "log_trace") (param $address i64) (call $log_block (i32.const 0) (local.get $address)))
  (func (export "log_debug") (param $address i64) (call $log_block (i32.const 1) (local.get $address)))
  (func (export "log_info") (param $address i64) (call $log_block (i32.const 2) (local.get $address)))
  (func (export "log_warn") (param $address i64) (call $log_block (i32.const 3) (local.get $address)))
  (func (export "log_error") (param $address i64) (call $log_block (i32.const 4) (local.get $address)))

  (func (export "get_log_level") (result i32)
    (call $log_level))

  ;; An address without a block counts as empty.
  (func (export "host_call") (param $namespace i64) (param $operation i64) (param $payload i64) (result i64)
    (i64.extend_i32_u
      (call $host_call
        (i32.wrap_i64 (local.get $namespace))
        (i32.wrap_i64 (call $length (local.get $namespace)))
        (i32.wrap_i64 (local.get $operation))
        (i32.wrap_i64 (call $length (local.get $operation)))
        (i32.wrap_i64 (local.get $payload))
        (i32.wrap_i64 (call $length (local.get $payload)))))))
