/**
 * Requests whose keys are written with escapes, put to all that reads them: each must answer as it does to the same request without. Before each of them the built-in parser reads what
 * makes some versions of Node take such keys for others (test/data/support/escaped-keys.ts). `npm run fuzz` runs it on other versions of Node as well.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { parseJson, parsePlainJson, readJsonInSteps } from "../../src/data/json.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { KnownKinds } from "../../src/offline/scan/known-kinds.js";
import { readResources } from "../../src/offline/scan/resource.js";
import { split } from "../../src/offline/scan/split/split.js";
import { type KeyReaders, keyReaders, REVIEW, WITH_KIT } from "../support/key-readers.js";
import type { Fuzzer } from "./fuzzer.js";
import { pick, type Random, random } from "./random.js";

const MOST_FAULTS = 5;

/** A text in two ways. */
interface Written {
  /** What misleads the built-in parser of some versions, if it reads it before. */
  readonly before: string;
  readonly text: string;
}

/** Prints a value; its strings, and keys above all, may have escapes, and there may be white space. */
export function escapedText(next: Random, value: unknown): Written {
  let [before, text] = ["", ""];
  const both = (written: string, other = written): void => {
    text += written;
    before += other;
  };
  const print = (item: unknown): void => {
    if (typeof item === "string") both(next(3) === 0 ? escapedString(next, item) : JSON.stringify(item));
    else if (Array.isArray(item)) {
      both("[");
      for (const [index, each] of item.entries()) {
        if (index > 0) both(",");
        print(each);
      }
      both("]");
    } else if (typeof item === "object" && item !== null) {
      both("{");
      for (const [index, [key, member]] of Object.entries(item).entries()) {
        if (index > 0) both(",");
        const written = next(3) === 0 ? escapedString(next, key) : JSON.stringify(key);
        both(written, written.includes("\\") ? JSON.stringify(written.slice(1, 1 + key.length)) : written);
        both(pick(next, [":", ":", ": "]));
        print(member);
      }
      both("}");
    } else both(JSON.stringify(item));
  };
  print(value);
  return { before, text };
}

function escapedString(next: Random, value: string): string {
  const one = next(Math.max(1, value.length));
  const all = next(8) === 0;
  return `"${value
    .split("")
    .map((letter, i) => (all || i === one ? escaped(next, letter) : JSON.stringify(letter).slice(1, -1)))
    .join("")}"`;
}

function escaped(next: Random, letter: string): string {
  if (letter === "/" && next(2) === 0) return "\\/";
  const printed = JSON.stringify(letter).slice(1, -1);
  if (printed.startsWith("\\") && next(2) === 0) return printed;
  const digits = letter.charCodeAt(0).toString(16).padStart(4, "0");
  return `\\u${next(2) === 0 ? digits : digits.toUpperCase()}`;
}

/** Objects with keys that no reader of policies is asked about. */
function someObject(next: Random, depth = 0): unknown {
  const word = (): string => Array.from({ length: next(9) }, () => pick(next, LETTERS)).join("");
  const members = Array.from({ length: 1 + next(4) }, () => [
    `${word()}x`,
    depth < 3 && next(3) === 0 ? someObject(next, depth + 1) : next(3) === 0 ? next(100) : word(),
  ]);
  return next(5) === 0 ? members.map(([, value]) => value) : Object.fromEntries(members);
}
const LETTERS = [...'abcdefgh/\\"\n\tü€🙂0.'];

/** A review with more in it than the readers look at. */
function someReview(next: Random): typeof REVIEW {
  const { request } = REVIEW;
  const { object } = request;
  const managedFields = [{ manager: "m", fieldsV1: someObject(next) }];
  const metadata = { more: someObject(next), ...object.metadata, ...(next(2) === 0 && { managedFields }) };
  const spec = { ...(next(2) === 0 && { before: someObject(next) }), ...object.spec };
  return { ...REVIEW, request: { ...request, object: { ...object, metadata, spec } } };
}

/** What reads any text of JSON. Numbers here are small and whole, so that all of them give the same. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  parseJson: (text) => parseJson(text),
  parsePlainJson,
  readJsonInSteps: (text) => {
    const steps = readJsonInSteps(text, {}, Buffer.from(text));
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value.value;
    }
  },
  parseYamlDocuments: (text) => parseYamlDocuments(text)[0],
};

async function ofFile(text: string): Promise<unknown> {
  const chunks = async function* () {
    yield Buffer.from(text);
  };
  for await (const batch of split("f", chunks())) return readResources(batch, new KnownKinds())[0]?.object;
  return undefined;
}

/** Tries until the time is over. @returns what it found */
export async function run(
  milliseconds: number,
  seed: number,
  most = Number.POSITIVE_INFINITY,
): Promise<{ readonly cases: number; readonly faults: readonly string[] }> {
  const next = random(seed);
  const readers = await keyReaders();
  const faults: string[] = [];
  let cases = 0;
  try {
    const expected = await answers(readers, (name) => readers.ask(name, Buffer.from(JSON.stringify(REVIEW))));
    const end = performance.now() + milliseconds;
    for (; performance.now() < end && cases < most && faults.length < MOST_FAULTS; cases++) {
      const review = someReview(next);
      const written = escapedText(next, review);
      JSON.parse(written.before);
      for (const [name, parse] of Object.entries(PARSERS))
        if (!isDeepStrictEqual(parse(written.text), review)) faults.push(`${name}: ${written.text}`);
      const plain = JSON.stringify(review);
      if (!isDeepStrictEqual(await ofFile(written.text), await ofFile(plain))) faults.push(`a file: ${written.text}`);
      const { object, ...others } = review.request;
      const request = escapedText(next, { ...others, object });
      JSON.parse(request.before);
      const found = await answers(readers, (name) => readers.ask(name, Buffer.from(written.text)));
      const raw = await answers(readers, (name) => readers.askRaw(name, request.text), WITH_KIT);
      for (const [name, answer] of expected) {
        if (!isDeepStrictEqual(found.get(name), answer)) faults.push(`${name}: ${written.text}`);
        if (raw.has(name) && !isDeepStrictEqual(raw.get(name), answer)) faults.push(`${name}, alone: ${request.text}`);
      }
    }
  } finally {
    await readers.close();
  }
  return { cases, faults };
}

async function answers<T>(
  { names }: KeyReaders,
  ask: (name: string) => Promise<T>,
  asked = names,
): Promise<ReadonlyMap<string, T>> {
  return new Map(await Promise.all(asked.map(async (name) => [name, await ask(name)] as const)));
}

const ITSELF = fileURLToPath(import.meta.url);
const NODES = fileURLToPath(new URL("../../../scripts/nodes.mjs", import.meta.url));

/** `escaped-keys`: see {@link run}. On the oldest version of Node, on the last one whose parser is wrong, and on the newest. */
export const escapedKeyFuzzer: Fuzzer = {
  name: "escaped-keys",
  run(milliseconds, seed) {
    const found = spawnSync(process.execPath, [NODES, "oldest", "wrong", "newest"], { encoding: "utf8" });
    if (found.status !== 0) console.log(found.stderr.trim());
    const nodes = found.stdout.split("\n").filter((path) => path !== "");
    return (nodes.length === 0 ? [process.execPath] : nodes).flatMap((node, _, { length }) => {
      const each = [ITSELF, String(Math.floor(milliseconds / length)), String(seed)];
      const { stdout, stderr, status } = spawnSync(node, each, { encoding: "utf8" });
      if (status !== 0) return [`${node}: ${stderr}`];
      const { version, cases, faults } = JSON.parse(stdout) as Ran;
      console.log(`${cases} requests on Node ${version}`);
      return faults.map((fault) => `${version}: ${fault}`);
    });
  },
};

/** What a version of Node found. */
interface Ran {
  readonly version: string;
  readonly cases: number;
  readonly faults: readonly string[];
}

if (process.argv[1] === ITSELF) {
  const [, , milliseconds, seed] = process.argv;
  const ran: Ran = { version: process.version, ...(await run(Number(milliseconds), Number(seed))) };
  console.log(JSON.stringify(ran));
}
