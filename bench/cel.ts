/**
 * The CEL engine: typical admission expressions over one Deployment (test/vectors/cel/bench.jsonl), and such that work on texts (bench-strings.jsonl).
 *
 * Method: each contender evaluates one expression in rounds of many, after a warm-up; shown are the median and the spread of the rounds' nanoseconds per
 * evaluation. Ours counts cost. cel-go takes part when CEL_ORACLE names a program that reads `{"expr": …}` lines and writes `nsPerEval`
 * (`$CEL_ORACLE -object object.json -bench N`); it counts cost, too.
 *
 * | what | goal |
 * | --- | --- |
 * | geometric mean against cel-go, each of the two | 20 times faster |
 * | geometric mean against JavaScript written by hand | within 5 times |
 * | 10,000 expressions parsed, checked and compiled | 2 s |
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { celEnv, isCelError, parse as parseBufbuild, plan } from "@bufbuild/cel";
import { Environment as Marcbachmann } from "@marcbachmann/cel-js";
import { evaluate as evaluateCelJs, parse as parseCelJs } from "cel-js";
import { CelError, createEnvironment, type Result } from "../src/cel/index.js";
import { readVariables } from "../src/offline/cases/cel/variables.js";
import { BY_HAND } from "./support/cel-by-hand.js";
import { STRINGS_BY_HAND } from "./support/cel-strings-by-hand.js";
import { median, spread } from "./support/statistics.js";

const ROUNDS = 7;
const EVALUATIONS = 20_000;
const COMPILED = 10_000;

const vectors = new URL("../../test/vectors/cel/", import.meta.url);
/** The expressions of a file, one a line. */
function read(file: string): readonly string[] {
  const lines = readFileSync(new URL(file, vectors), "utf8").trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { readonly expr: string }).expr);
}

/** What is measured, with what it is by hand, and told by itself. */
const groups = [
  { name: "typical expressions", expressions: read("bench.jsonl"), byHand: BY_HAND },
  { name: "string functions", expressions: read("bench-strings.jsonl"), byHand: STRINGS_BY_HAND },
];
const expressions = groups.flatMap((group) => group.expressions);
const { bindings, ...declarations } = await readVariables(fileURLToPath(new URL("variables.json", vectors)));
const environment = createEnvironment({ flavour: "kubernetes" }).extend(declarations);
const object = JSON.parse(readFileSync(new URL("object.json", vectors), "utf8")) as unknown;
const plain = { object, params: { data: { max: "5", team: "blue" } }, ts: new Date("2024-02-29T12:00:00Z") };

/** Nanoseconds per call, by round; `undefined` when the contender can't do it. */
function measure(run: () => unknown, evaluations = EVALUATIONS): number[] | undefined {
  try {
    for (let i = 0; i < evaluations / 10; i++) run();
  } catch {
    return undefined;
  }
  return Array.from({ length: ROUNDS }, () => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < evaluations; i++) run();
    return Number(process.hrtime.bigint() - start) / evaluations;
  });
}

function ours(expression: string): () => unknown {
  const compiled = environment.compile(expression);
  if (!compiled.ok) throw new Error(compiled.text);
  const result = compiled.program.evaluate(bindings).result as Result;
  if (result instanceof CelError) throw new Error(`${expression}: ${result.message}`);
  return () => compiled.program.evaluate(bindings);
}

const marcbachmann = new Marcbachmann({ unlistedVariablesAreDyn: true });

/** Other libraries: a function that evaluates, or an exception. */
const PEERS: Readonly<Record<string, (expression: string) => () => unknown>> = {
  "@marcbachmann/cel-js": (expression) => {
    const program = marcbachmann.parse(expression);
    return () => program(plain);
  },
  "@bufbuild/cel": (expression) => {
    const program = plan(celEnv(), parseBufbuild(expression));
    return () => {
      const result = program(plain as unknown as Parameters<typeof program>[0]);
      if (isCelError(result)) throw result;
      return result;
    };
  },
  "cel-js": (expression) => {
    const parsed = parseCelJs(expression);
    if (!parsed.isSuccess) throw new Error("not parsed");
    return () => evaluateCelJs(parsed.cst, plain);
  },
};

/** cel-go's nanoseconds, by expression. */
function goTimes(): ReadonlyMap<string, number> {
  const program = process.env.CEL_ORACLE;
  if (program === undefined) return new Map();
  const args = ["-object", fileURLToPath(new URL("object.json", vectors)), "-bench", String(EVALUATIONS)];
  const input = expressions.map((expr) => JSON.stringify({ expr })).join("\n");
  const { stdout } = spawnSync(program, args, { input, encoding: "utf8" });
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly expr: string; readonly nsPerEval: number });
  return new Map(answers.map(({ expr, nsPerEval }) => [expr, nsPerEval]));
}

const mean = (ratios: readonly number[]): string =>
  `${Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length).toFixed(1)} (${ratios.length} expressions)`;

function measurePeer(prepare: (expression: string) => () => unknown, expression: string): number[] | undefined {
  try {
    return measure(prepare(expression), EVALUATIONS / 20);
  } catch {
    return undefined;
  }
}

const go = goTimes();
for (const { name: title, expressions, byHand } of groups) {
  const ratios = new Map<string, number[]>();
  expressions.forEach((expression, index) => {
    console.log(expression);
    const times = measure(ours(expression)) as number[];
    console.log(`  ours: ${spread(times, 0)} ns`);
    const compare = (name: string, other: number): void => {
      ratios.set(name, [...(ratios.get(name) ?? []), other / median(times)]);
    };
    const hand = byHand[index];
    if (hand !== undefined) {
      const written = measure(() => hand(plain)) as number[];
      console.log(`  by hand: ${spread(written, 1)} ns`);
      compare("JavaScript by hand", median(written));
    }
    for (const [name, prepare] of Object.entries(PEERS)) {
      const peer = measurePeer(prepare, expression);
      console.log(`  ${name}: ${peer === undefined ? "cannot" : `${spread(peer, 0)} ns`}`);
      if (peer !== undefined) compare(name, median(peer));
    }
    const reference = go.get(expression);
    if (reference !== undefined) {
      console.log(`  cel-go: ${reference.toFixed(0)} ns`);
      compare("cel-go", reference);
    }
  });
  console.log(`\n${title}, geometric means: how many times as long as ours`);
  for (const [name, each] of ratios) console.log(`  ${name}: ${mean(each)}`);
  console.log("");
}

const start = performance.now();
for (let i = 0; i < COMPILED; i++) environment.compile(expressions[i % expressions.length] as string);
console.log(`${COMPILED} expressions compiled: ${(performance.now() - start).toFixed(0)} ms`);
