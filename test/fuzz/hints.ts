/** Hints for broken conditions: none that is given as a whole expression is constant, an error, or without a negation that was there. */
import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  CelError,
  createEnvironment,
  DYN,
  type Program,
  type Value,
  walk,
} from "../../src/cel/index.js";
import { broken, Conditions, wildlyBroken } from "./broken-expressions.js";
import type { Fuzzer } from "./fuzzer.js";
import { pick, type Random, random } from "./random.js";

const environment = createEnvironment({
  flavour: "kubernetes",
  objectTypes: ADMISSION_TYPES,
  variables: [
    { name: "object", type: DYN },
    { name: "request", type: ADMISSION_REQUEST },
  ],
});

/** Conditions of one form of objects, before another form is made. */
const PER_FORM = 50;
/** Objects that a hint is evaluated on, at most: rare conditions together are true for few. */
const OBJECTS = 20_000;
/** Time of the processor that hints for one expression may take, in milliseconds. */
const SLOW_MILLISECONDS = 100;

/** What a run came to. */
export interface HintRun {
  readonly expressions: number;
  readonly hints: number;
  readonly faults: readonly string[];
}

/** Breaks conditions, so many of them, and looks at their hints. */
export function run(expressions: number, seed: number): HintRun {
  const next = random(seed);
  const faults: string[] = [];
  let hints = 0;
  let conditions = new Conditions(next);
  for (let count = 0; count < expressions; ) {
    const isWild = next(2) === 0;
    const source = (isWild ? wildlyBroken : broken)(conditions.condition(), next);
    const checked = environment.check(source);
    if (checked.ok) continue;
    count += 1;
    const start = process.cpuUsage();
    const given = environment.hints(source, checked);
    const { user, system } = process.cpuUsage(start);
    if ((user + system) / 1_000 > SLOW_MILLISECONDS) faults.push(`hints took ${(user + system) / 1_000} ms: ${source}`);
    for (const fixed of new Set(given.flatMap((hint) => hint?.fixed ?? []))) {
      hints += 1;
      // Where it looks at something else the whole may be constant by that.
      const fault = faultOf(source, fixed, isWild ? undefined : conditions, next);
      if (fault !== undefined) faults.push(`${fault}: ${source}\n  hint: ${fixed}`);
    }
    if (count % PER_FORM === 0) conditions = new Conditions(next);
  }
  return { expressions, hints, faults };
}

function faultOf(source: string, fixed: string, conditions: Conditions | undefined, next: Random): string | undefined {
  const compiled = environment.compile(fixed);
  if (!compiled.ok) return `does not compile, ${compiled.text}`;
  if (compiled.program.constant !== undefined) return "is constant";
  if (negationsIn(fixed) < negationsIn(source)) return "has lost a negation";
  return conditions !== undefined && isConstant(compiled.program, conditions, next)
    ? "is the same for all objects"
    : undefined;
}

/** Whether all that it comes to for objects of the form is one value. Where most objects lack what it asks for a word was broken, and nothing is known. */
function isConstant(program: Program, conditions: Conditions, next: Random): boolean {
  const odd = literalsIn(program);
  const values = new Set<string>();
  let known = 0;
  for (let i = 0; i < OBJECTS && values.size < 2; i++) {
    const request = {
      operation: pick(next, ["CREATE", "UPDATE", "DELETE", ...odd]),
      userInfo: { username: conditions.word(odd), groups: Array.from({ length: next(4) }, () => conditions.word(odd)) },
    };
    const { result } = program.evaluate({ object: conditions.object(odd), request });
    if (result instanceof CelError) continue;
    known += 1;
    values.add(JSON.stringify(result));
  }
  return values.size === 1 && known > OBJECTS / 4;
}

/** The texts and numbers of an expression: a broken one may ask for what no object has. */
function literalsIn(program: Program): readonly Value[] {
  const found: Value[] = [];
  walk(program.parsed.expr, (part) => {
    const value = part.kind === "literal" ? part.value : null;
    if (typeof value === "string") found.push(value, `x${value}`);
    else if (typeof value === "number") found.push(value, value + 1);
  });
  // What they come to together is compared with as well.
  const [first, , second] = found;
  return second === undefined ? found : [...found, `${first}${second}`];
}

/** Two of them in a row are none. */
const negationsIn = (text: string): number =>
  text
    .replaceAll(/'[^'\n]*'|"[^"\n]*"/g, "")
    .replaceAll(/\bnot\b\s*|<>/g, "!")
    .replaceAll("!!", "")
    .match(/!/g)?.length ?? 0;

/** Broken expressions of a run, however long it is. */
const LEAST = 20_000;

/** `npm run fuzz -- hints`: 20,000 broken expressions and more. */
export const hintFuzzer: Fuzzer = {
  name: "hints",
  run(milliseconds, seed) {
    const end = performance.now() + milliseconds;
    let expressions = 0;
    let hints = 0;
    const faults: string[] = [];
    for (let round = 0; expressions < LEAST || (performance.now() < end && faults.length < 10); round++) {
      const found = run(1_000, seed + round);
      expressions += found.expressions;
      hints += found.hints;
      faults.push(...found.faults);
    }
    console.log(`${expressions} broken expressions, ${hints} hints`);
    return faults;
  },
};
