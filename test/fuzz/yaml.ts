/**
 * YAML that is broken in every way: reading it must neither throw nor take long, and its places must lie in the text. With `YAML_ORACLE`, a command that reads
 * lines of `{id, text}` and answers each with `{id, docs, error}` as Kubernetes' decoder has them, what is read and what is refused must be the same too.
 * `YAML_SEEDS`, folders separated by colons, has more files to begin with.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { YamlNode } from "../../src/data/yaml/node.js";
import { readYamlStream } from "../../src/data/yaml/stream.js";
import { difference, type ReferenceAnswer } from "../data/yaml/reference.js";
import type { Fuzzer } from "./fuzzer.js";
import { type Random, random } from "./random.js";
import { mutated } from "./yaml-mutations.js";

const ROOT = new URL("../../../", import.meta.url);
const FOLDERS = ["policies", "groups", "deploy", "test/vectors/yaml", "test/fixtures"].map(
  (name) => new URL(name, ROOT).pathname,
);
/** Files of one folder that are seeds, and the longest: more make no other faults. */
const MOST_SEEDS = 4_000;
const LONGEST_SEED = 200_000;
/** Cases that the oracle is asked about at once. */
const BATCH = 2_000;
const MOST_FAULTS = 10;
/** Reading takes a millisecond; the rest is for what else the machine does. */
const SLOW_MILLISECONDS = 100;

/** What a run found. */
export interface Broken {
  readonly cases: number;
  /** How many of them were read to their end. */
  readonly sound: number;
  readonly faults: readonly string[];
}

/** Tries for so many seconds, or cases. */
export function run(
  seconds: number,
  seed: number,
  most = Number.POSITIVE_INFINITY,
  oracle = process.env.YAML_ORACLE,
): Broken {
  const next = random(seed);
  const files = seeds(next);
  const faults: string[] = [];
  let [cases, sound] = [0, 0];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end && cases < most && faults.length < MOST_FAULTS) {
    const batch = Array.from({ length: Math.min(BATCH, most - cases) }, () => mutated(next, files));
    cases += batch.length;
    for (const text of batch) if (attempt(text, faults)) sound++;
    if (oracle !== undefined) compare(batch, oracle, faults);
  }
  return { cases, sound, faults };
}

function seeds(next: Random): readonly string[] {
  const folders = [...FOLDERS, ...(process.env.YAML_SEEDS ?? "").split(":").filter((name) => name !== "")];
  return folders.flatMap((folder) => {
    const names = namesIn(folder).sort();
    const chosen =
      names.length <= MOST_SEEDS ? names : Array.from({ length: MOST_SEEDS }, () => names[next(names.length)] ?? "");
    return chosen
      .map((name) => readFileSync(name, "utf8"))
      .filter(({ length }) => length > 0 && length <= LONGEST_SEED);
  });
}

function namesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /\.(?:ya?ml|jsonl?)$/.test(entry.name));
  return files.map(({ parentPath, name }) => `${parentPath}/${name}`);
}

function attempt(text: string, faults: string[]): boolean {
  const start = process.cpuUsage();
  try {
    const { documents, error } = readYamlStream(text);
    const { user, system } = process.cpuUsage(start);
    const milliseconds = (user + system) / 1_000;
    if (milliseconds > SLOW_MILLISECONDS) faults.push(`took ${milliseconds} ms: ${JSON.stringify(text)}`);
    for (const { root } of documents) checkPlaces(root, text, faults);
    return error === undefined;
  } catch (error) {
    faults.push(`${error instanceof Error ? error.stack : String(error)}: ${JSON.stringify(text)}`);
    return false;
  }
}

/** Quotes and brackets stand where nodes that have them begin and end, and nodes lie within those around them. */
function checkPlaces(node: YamlNode, text: string, faults: string[]): void {
  const written = text.slice(node.start, node.end);
  if (node.start > node.end || node.end > text.length)
    faults.push(`${node.start} to ${node.end}: ${JSON.stringify(text)}`);
  const quote = node.kind === "scalar" ? QUOTES[node.style] : undefined;
  if (quote !== undefined && !(written.length > 1 && written.startsWith(quote) && written.endsWith(quote))) {
    faults.push(`${JSON.stringify(written)} for a text in ${quote}: ${JSON.stringify(text)}`);
  }
  if (node.kind === "scalar" && node.style === "plain" && /^\S*$/.test(node.text) && written !== node.text) {
    faults.push(`${JSON.stringify(written)} for ${node.text}: ${JSON.stringify(text)}`);
  }
  if (node.kind === "list") for (const item of node.items) checkPlaces(item, text, faults);
  if (node.kind !== "map") return;
  for (const { key, value } of node.pairs) {
    checkPlaces(key, text, faults);
    checkPlaces(value, text, faults);
  }
}

const QUOTES: Readonly<Record<string, string>> = { single: "'", double: '"' };

function compare(batch: readonly string[], oracle: string, faults: string[]): void {
  const input = batch.map((text, index) => `${JSON.stringify({ id: String(index), text })}\n`).join("");
  const { stdout, error } = spawnSync(oracle, { input, maxBuffer: 2 ** 30 });
  if (error !== undefined) throw error;
  const answers = stdout.toString("utf8").trimEnd().split("\n");
  if (answers.length !== batch.length) throw new Error(`${answers.length} answers to ${batch.length} texts`);
  for (const [index, text] of batch.entries()) {
    const found = difference(text, JSON.parse(answers[index] ?? "") as ReferenceAnswer);
    if (found !== undefined) faults.push(`${JSON.stringify(text)}: ${found}`);
  }
}

/** `npm run fuzz -- yaml`. */
export const yamlFuzzer: Fuzzer = {
  name: "yaml",
  run: (milliseconds, seed) => {
    const { cases, sound, faults } = run(milliseconds / 1_000, seed);
    console.log(`${cases} texts, ${sound} of them read to their end`);
    return faults;
  },
};
