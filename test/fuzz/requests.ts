/**
 * Certification requests that are broken in every way: reading them must neither throw nor take long. With `CSR_ORACLE`, a command that reads lines of base64
 * (of PEM) and answers each with what the vectors' decoding.jsonl calls `expect`, what is read and what is refused must also be the same, otherNames aside that are not UTF-8.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { firstPemBlock } from "../../src/x509/pem.js";
import { readCertificationRequest } from "../../src/x509/pkcs10/index.js";
import { comparable, expectedOf, type ReferenceAnswer } from "../x509/pkcs10/comparable.js";
import type { Fuzzer } from "./fuzzer.js";
import { random } from "./random.js";
import { brokenRequests } from "./request-mutations.js";

const VECTORS = new URL("../../../test/vectors/certificate-request-policy/", import.meta.url);
/** Requests from one file that are seeds; more of them make no other faults. */
const SEEDS = 150;
/** Cases that the oracle is asked about at once. */
const BATCH = 2_000;
const MOST_FAULTS = 5;
/** Reading takes 5 ms at most; the rest is for what else the machine does. */
const SLOW_MILLISECONDS = 100;

/** What a run found. */
export interface Broken {
  readonly cases: number;
  /** How many of them were read. */
  readonly sound: number;
  readonly faults: readonly string[];
}

/** Tries for so many seconds, or cases. */
export function run(
  seconds: number,
  seed: number,
  most = Number.POSITIVE_INFINITY,
  oracle = process.env.CSR_ORACLE,
): Broken {
  const requests = brokenRequests(random(seed), seeds());
  const faults: string[] = [];
  let [cases, sound] = [0, 0];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end && cases < most && faults.length < MOST_FAULTS) {
    const batch = Array.from({ length: Math.min(BATCH, most - cases) }, () => requests.next().value);
    const answers = batch.map((pem) => attempt(pem, faults));
    cases += batch.length;
    sound += answers.filter((answer) => answer !== undefined && !("error" in answer)).length;
    if (oracle !== undefined) compare(batch, answers, ask(oracle, batch), faults);
  }
  return { cases, sound, faults };
}

/** Sound requests as DER: those of the vectors. */
function seeds(): readonly Buffer[] {
  return ["curated.jsonl", "generated.jsonl"].flatMap((name) => {
    const lines = readFileSync(new URL(name, VECTORS), "utf8").trim().split("\n");
    const texts = new Set(lines.map((line) => (JSON.parse(line) as { csrPem?: string }).csrPem ?? ""));
    const blocks = [...texts].flatMap((text) => firstPemBlock(Buffer.from(text))?.content ?? []);
    const step = Math.max(1, Math.floor(blocks.length / SEEDS));
    // No huge ones: most of what would be changed in them is the same.
    return blocks.filter(({ length }, i) => i % step === 0 && length < 2_000);
  });
}

function attempt(pem: Buffer, faults: string[]): object | undefined {
  const start = process.cpuUsage();
  try {
    const answer = comparable(readCertificationRequest(pem));
    const { user, system } = process.cpuUsage(start);
    const milliseconds = (user + system) / 1_000;
    if (milliseconds > SLOW_MILLISECONDS) faults.push(`took ${milliseconds} ms: ${pem.toString("base64")}`);
    return answer;
  } catch (error) {
    faults.push(`${error instanceof Error ? error.stack : String(error)}: ${pem.toString("base64")}`);
    return undefined;
  }
}

function ask(oracle: string, batch: readonly Buffer[]): readonly string[] {
  const input = batch.map((pem) => `${pem.toString("base64")}\n`).join("");
  const { stdout, error } = spawnSync(oracle, { input, maxBuffer: 2 ** 28 });
  if (error !== undefined) throw error;
  const lines = stdout.toString("utf8").trimEnd().split("\n");
  if (lines.length !== batch.length) throw new Error(`${lines.length} answers to ${batch.length} requests`);
  return lines;
}

function compare(
  batch: readonly Buffer[],
  ours: readonly (object | undefined)[],
  theirs: readonly string[],
  faults: string[],
): void {
  for (const [i, pem] of batch.entries()) {
    const expected = expectedOf(JSON.parse(theirs[i] ?? "") as ReferenceAnswer, pem);
    if (isDeepStrictEqual(ours[i], expected)) continue;
    faults.push(`${JSON.stringify(ours[i])}, not ${theirs[i]}: ${pem.toString("base64")}`);
  }
}

/** `npm run fuzz -- requests`. */
export const requestFuzzer: Fuzzer = {
  name: "requests",
  run: (milliseconds, seed) => {
    const { cases, sound, faults } = run(milliseconds / 1_000, seed);
    console.log(`${cases} cases, ${sound} of them sound`);
    return faults;
  },
};
