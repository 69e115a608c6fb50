;; Makes a guest's memory all zeros again by searching for non-zero parts: most pages of most guests were never written to (the stack that a compiler
;; reserves has a MiB). Reading takes a third of the time of writing, and pages that are never written to take no memory of the machine.
(module
  (import "guest" "memory" (memory 0))

  ;; Whether the memory from `at` up to `end`, both multiples of 4096, is all zeros.
  (func (export "is_empty") (param $at i32) (param $end i32) (result i32)
    (local $found v128)
    (loop $parts
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (i32.eqz (v128.any_true (local.get $found))))))
      (local.set $found
        (v128.or
          (v128.or
            (v128.or (v128.load (local.get $at)) (v128.load offset=16 (local.get $at)))
            (v128.or (v128.load offset=32 (local.get $at)) (v128.load offset=48 (local.get $at))))
          (local.get $found)))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br $parts))
    (unreachable))

  ;; Wipes the memory from `page` up to `end`, both multiples of 4096.
  (func (export "wipe") (param $page i32) (param $end i32)
    (local $at i32)
    (local $found v128)
    (loop $pages
      (if (i32.ge_u (local.get $page) (local.get $end)) (then (return)))
      (local.set $found (v128.const i32x4 0 0 0 0))
      (local.set $at (local.get $page))
      (loop $parts
        (local.set $found
          (v128.or
            (v128.or
              (v128.or
                (v128.or (v128.load (local.get $at)) (v128.load offset=16 (local.get $at)))
                (v128.or (v128.load offset=32 (local.get $at)) (v128.load offset=48 (local.get $at))))
              (v128.or
                (v128.or (v128.load offset=64 (local.get $at)) (v128.load offset=80 (local.get $at)))
                (v128.or (v128.load offset=96 (local.get $at)) (v128.load offset=112 (local.get $at)))))
            (local.get $found)))
        (local.set $at (i32.add (local.get $at) (i32.const 128)))
        (br_if $parts (i32.and (local.get $at) (i32.const 4095))))
      (if (v128.any_true (local.get $found))
        (then (memory.fill (local.get $page) (i32.const 0) (i32.const 4096))))
      (local.set $page (local.get $at))
      (br $pages))))
