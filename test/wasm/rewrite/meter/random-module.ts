/** Random modules of nested blocks, loops, branches and calls that end by themselves, in the text format. */

import { type Random, random } from "../../../fuzz/random.js";

const FUNCTIONS = 4;
/** Blocks within one another. */
const DEPTH = 3;
/** Rounds of a loop. */
const ROUNDS = 3;

/** The same module for the same seed. */
export function randomModule(seed: number): string {
  const below = random(seed);
  const functions: string[] = [];
  for (let number = 0; number < FUNCTIONS; number++) functions.push(oneFunction(number, below));
  return `(module (import "host" "seen" (func $seen (param i32))) (memory (export "memory") 1)
    (global $g (export "g") (mut i32) (i32.const 1)) (type $t (func (param i32) (result i32)))
    (table funcref (elem ${functions.map((_, number) => `$f${number}`).join(" ")}))
    ${functions.join("\n")})`;
}

/** Functions only call those behind them, so that there is no recursion. */
function oneFunction(number: number, below: Random): string {
  let counters = 0;
  const callee = () => number + 1 + below(FUNCTIONS - number - 1);
  const value = (): string => {
    switch (below(number < FUNCTIONS - 1 ? 7 : 5)) {
      case 0:
        return "(local.get $p)";
      case 1:
        return "(global.get $g)";
      case 2:
        return `(i32.div_u ${value()} (i32.const ${1 + below(9)}))`;
      case 3:
        return `(i32.load8_u (i32.and ${value()} (i32.const 1023)))`;
      case 4:
        return `(i32.const ${below(1_000)})`;
      case 5:
        return `(call $f${callee()} ${value()})`;
      default:
        return `(call_indirect (type $t) ${value()} (i32.const ${callee()}))`;
    }
  };
  const statements = (depth: number): string => Array.from({ length: 1 + below(3) }, () => statement(depth)).join(" ");
  const statement = (depth: number): string => {
    switch (depth >= DEPTH ? below(4) : below(9)) {
      case 0:
        return `(global.set $g (i32.add (global.get $g) ${value()}))`;
      case 1:
        return `(i32.store8 (i32.and ${value()} (i32.const 1023)) ${value()})`;
      case 2:
        return `(memory.fill (i32.and ${value()} (i32.const 1023)) ${value()} (i32.const ${below(64)}))`;
      case 3:
        return depth > 0 ? `(br_if ${labelOutside(depth)} ${value()})` : `(call $seen ${value()})`;
      case 4:
      case 5:
        return `(block $b${depth} ${statements(depth + 1)})`;
      case 6:
        return `(block $b${depth} (if ${value()} (then ${statements(depth + 1)}) (else ${statements(depth + 1)})))`;
      default: {
        const counter = `$c${counters++}`;
        return `(local.set ${counter} (i32.const ${ROUNDS})) (block $b${depth} (loop $l${depth} ${statements(depth + 1)}
          (br_if $l${depth} (local.tee ${counter} (i32.sub (local.get ${counter}) (i32.const 1))))))`;
      }
    }
  };
  const labelOutside = (depth: number) => `$b${below(depth)}`;
  const body = statements(0);
  const locals = Array.from({ length: counters }, (_, each) => `(local $c${each} i32)`).join(" ");
  return `(func $f${number} (export "f${number}") (param $p i32) (result i32) ${locals} ${body} ${value()})`;
}
