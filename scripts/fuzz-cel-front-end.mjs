// Hostile and broken expressions through CEL's parser, checker, validators and cost estimate, in any number.
//
//   npm run build && node scripts/fuzz-cel-front-end.mjs 1000000 42
//   node scripts/fuzz-cel-front-end.mjs 10000 42 cel-oracle -object test/vectors/cel/object.json
//
// Without a command it looks for crashes, hangs and errors of the wrong kind. A command that reads {"expr": …} lines and answers in the form
// of test/vectors/cel is asked too, and every difference printed.
import { spawnSync } from "node:child_process";

const from = (path) => import(new URL(`../dist/${path}`, import.meta.url).href);
const { mutate, noise, Random, repetition, seedExpressions, soup } = await from("test/cel/support/mutations.js");
const { vectorDeclarations } = await from("test/cel/support/vectors.js");
const { TypeChecker } = await from("src/cel/checker/index.js");
const { validate } = await from("src/cel/checker/validators/index.js");
const { estimateCost } = await from("src/cel/cost/estimate.js");
const { parserOptions } = await from("src/cel/macros/macro-sets.js");
const { parse } = await from("src/cel/parser/index.js");
const { formatLongType } = await from("src/cel/types.js");

const [count = "10000", seed = "1", command, ...args] = process.argv.slice(2);
const SLOW_MILLISECONDS = 5_000;

const declarations = vectorDeclarations();
const checker = new TypeChecker(declarations);
const options = parserOptions("kubernetes", declarations.version);
const random = new Random(Number(seed));
const seeds = seedExpressions();

function next() {
  const kind = random.below(100);
  if (kind < 80 || command !== undefined) return mutate(random, seeds).toWellFormed();
  if (kind < 90) return soup(random);
  return kind < 99 ? noise(random) : repetition(random);
}

function frontEnd(expr) {
  const parsed = parse(expr, options);
  if (!parsed.ok) return { issuesText: parsed.text };
  const checked = checker.check(parsed.parsed);
  if (!checked.ok) return { issuesText: checked.text };
  const invalid = validate(checked.checked, declarations);
  if (invalid !== undefined) return { issuesText: invalid.text };
  const { min, max } = estimateCost(checked.checked);
  return { type: formatLongType(checked.checked.type), estimateMin: `${min}`, estimateMax: `${max}` };
}

function attempt(expr) {
  const start = process.cpuUsage();
  const result = frontEnd(expr);
  const { user, system } = process.cpuUsage(start);
  const took = (user + system) / 1_000;
  if (took > SLOW_MILLISECONDS) throw new Error(`took ${took} ms`);
  return result;
}

let bad = 0;
function complain(expr, what) {
  bad += 1;
  if (bad <= 20) console.log(`${JSON.stringify(expr.slice(0, 500))}\n${what}\n`);
}

const expressions = [];
for (let index = 0; index < Number(count); index += 1) {
  const expr = next();
  try {
    attempt(expr);
  } catch (error) {
    complain(expr, error.stack);
  }
  if (command !== undefined) expressions.push(expr);
}

if (command !== undefined) {
  const input = expressions.map((expr) => `${JSON.stringify({ expr })}\n`).join("");
  const { stdout, error } = spawnSync(command, args, { input, encoding: "utf8", maxBuffer: 2 ** 31 });
  if (error !== undefined) throw error;
  for (const line of stdout.split("\n").filter((each) => each !== "")) {
    const wanted = JSON.parse(line);
    const found = frontEnd(wanted.expr);
    const keys = wanted.issuesText !== undefined ? ["issuesText"] : ["issuesText", "type"];
    if (wanted.estimateMin !== undefined) keys.push("estimateMin", "estimateMax");
    for (const key of keys) {
      if (wanted[key] !== found[key]) {
        complain(wanted.expr, `${key}\n--- reference\n${wanted[key]}\n--- here\n${found[key]}`);
        break;
      }
    }
  }
}
console.log(`${count} expressions, seed ${seed}: ${bad} bad`);
process.exitCode = bad > 0 ? 1 : 0;
