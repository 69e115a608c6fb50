/**
 * Whatever a guest answers, the main thread is not held by it: random and constructed answers of every protocol, through real threads, up to the bytes that
 * the server sends. The guests of `test/fixtures/mirror` answer with the request that they are asked about.
 */
import { encodeAdmissionReview } from "../../src/admission/encode.js";
import type { Review } from "../../src/policy/review.js";
import { createEvaluator } from "../../src/policy/served/evaluator.js";
import { createPolicySet, type ServedPolicy } from "../../src/policy/served/policy-set.js";
import type { ExecutionMode } from "../../src/wasm/index.js";
import { Random } from "../cel/support/mutations.js";
import { hasMainThreadTime, longestHold } from "../support/main-thread-time.js";
import { file, testRuntime } from "../wasm/support.js";
import type { Fuzzer } from "./fuzzer.js";

/** Milliseconds that nothing may hold the main thread. */
export const LIMIT_MS = 100;
/** Times the limit, for the time of garbage collections and of a machine that computes slowly. */
export const ALLOWANCE = 2.5;
/** Milliseconds for one answer; it may end as a time-out. */
const PATIENCE_MS = 5_000;

const MODES: readonly (readonly [ExecutionMode, string])[] = [
  ["kubewarden-wapc", "wapc"],
  ["wasi", "wasi"],
  ["extism", "extism"],
  ["opa", "rego"],
  ["gatekeeper", "rego"],
];

/** Longest of the answers, in characters; the limit of answers to requests of this length is above. */
const LARGE = 8_000_000;

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join();
const textOf = (length: number, character = "x"): string => `"${character.repeat(length)}"`;
const listOf = (count: number, make = String as (index: number) => string): string => `[${times(count, make)}]`;
const mapOf = (count: number, value: (index: number) => string): string =>
  `{${times(count, (index) => `"key${index}":${value(index)}`)}}`;
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** JSON values that are large in one way each, of about so many characters. */
const SHAPES: readonly ((size: number) => string)[] = [
  (size) => textOf(size),
  (size) => textOf(size / 2, "é"),
  (size) => textOf(size / 6, "\\ud800"),
  (size) => textOf(size / 2, "\\n"),
  (size) => listOf(size / 8),
  (size) => listOf(size / 8, (index) => `${index}.5`),
  (size) => listOf(size / 3, () => "{}"),
  (size) => listOf(size / 20, (index) => `{"a":{"b":${index}}}`),
  (size) => listOf(size / 20, () => "9007199254740993e0"),
  (size) => mapOf(size / 16, (index) => `${index}`),
  (size) => mapOf(size / 24, (index) => `"value${index}"`),
  (size) => `{${textOf(size / 2)}:${listOf(Math.min(size / 16, 1_000))}}`,
  (size) => listOf(size / 1_000, () => nested(490)),
  () => nested(100_000),
  (size) => "9".repeat(size / 10),
  (size) => `{"a":1,${times(size / 8, () => '"a":1')}}`,
  (size) => '{"a":'.repeat(size / 5),
];

/** Answers with a value in some place of them, beside the object of the request. */
type Answer = (value: string, other: string) => string;
const CALLED: readonly Answer[] = [
  (value, other) => `{"accepted":true,"mutated_object":${value},"object":${other}}`,
  (value) => `{"accepted":true,"mutated_object":${value},"object":${value}}`,
  (value) => `{"accepted":true,"mutated_object":{},"object":${value}}`,
  (value) => `{"accepted":true,"mutated_object":{"l":${value.replaceAll("1", "2")}},"object":{"l":${value}}}`,
  (value) => `{"accepted":false,"message":${value},"object":{}}`,
  (value) => `{"accepted":false,"message":"no","warnings":[${value}],"object":{}}`,
  (value) => `{"accepted":true,"warnings":${value},"object":{}}`,
  (value) => `{"accepted":true,"audit_annotations":${value},"object":{}}`,
  (value) => `{"accepted":true,"code":${value},"object":{}}`,
  (value) => `{"accepted":${value},"object":{}}`,
  (value) => value,
];
const OPA: readonly Answer[] = [
  (value) => `[{"result":{"response":{"uid":"u","allowed":false,"status":{"message":${value}}}}}]`,
  (value) => `[{"result":{"response":{"uid":"u","allowed":false,"status":{"details":${value}}}}}]`,
  (value) => `[{"result":{"response":{"uid":"u","allowed":true,"warnings":[${value},${value}]}}}]`,
  (value) => `[{"result":{"response":{"uid":"u","allowed":true,"auditAnnotations":${value}}}}]`,
  (value) => {
    const patch = `[{"op":"add","path":"/a","value":${value.slice(0, 4_000_000)}}]`;
    return `[{"result":{"response":{"uid":"u","allowed":true,"patch":"${Buffer.from(patch).toString("base64")}"}}}]`;
  },
  (value) => `[{"result":${value}}]`,
];
const GATEKEEPER: readonly Answer[] = [
  (value) => `[{"result":[{"msg":${value}}]}]`,
  (value) => `[{"result":${value}}]`,
  (value) => `[{"result":${listOf(value.length / 16, () => '{"msg":"no"}')}}]`,
];
const ANSWERS = (mode: ExecutionMode) => (mode === "opa" ? OPA : mode === "gatekeeper" ? GATEKEEPER : CALLED);

/** A review whose text for guests is the answer. Only guests look at it. */
function reviewOf(answer: string): Review {
  const request = {
    uid: "u",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    userInfo: {},
    object: {},
  };
  return { kind: "admission", request, requestBytes: () => Buffer.from(answer) };
}

/** What a run found. */
export interface StallsOfAnswers {
  readonly answers: number;
  /** Those that were an acceptance or a denial. */
  readonly read: number;
  /** The answer that held the main thread longest: its protocol, beginning and length. */
  readonly worst: { readonly milliseconds: number; readonly answer: string };
}

/** Asks about answers for so many seconds, and about so many at least. */
export async function run(seconds: number, seed: number, least = 0): Promise<StallsOfAnswers> {
  const random = new Random(seed);
  const { runtime } = testRuntime({ workers: 1, defaultTimeoutMs: PATIENCE_MS });
  const found = { answers: 0, read: 0, worst: { milliseconds: 0, answer: "" } };
  try {
    const entries: ServedPolicy[] = [];
    for (const [mode, name] of MODES) {
      const bytes = file(`test/fixtures/mirror/${name}.wasm`);
      const policy = await runtime.load({ id: mode, bytes, settings: {}, executionMode: mode });
      entries.push({ id: mode, policy, mode: "protect", allowedToMutate: true });
    }
    const evaluator = createEvaluator(createPolicySet(entries), { policyTimeout: PATIENCE_MS });
    // What comes once, such as the first call's code, is no answer's fault.
    for (const entry of entries) await evaluator.evaluate(entry, { review: reviewOf("{}"), origin: "validate" });
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end || found.answers < least) {
      const entry = random.pick(entries);
      const mode = entry.id as ExecutionMode;
      const size = LARGE / 4 ** random.below(6);
      const answer = random.pick(ANSWERS(mode))(random.pick(SHAPES)(size), random.pick(SHAPES)(size));
      // In one piece, as the server's own text is.
      const review = reviewOf(Buffer.from(answer).toString());
      const milliseconds = await longestHold(async () => {
        const { outcome, response } = await evaluator.evaluate(entry, { review, origin: "validate" });
        Buffer.from(encodeAdmissionReview(response));
        if (outcome.verdict !== "error") found.read++;
      });
      found.answers++;
      if (milliseconds > found.worst.milliseconds)
        found.worst = { milliseconds, answer: `${mode}: ${answer.slice(0, 100)}… (${answer.length} characters)` };
    }
  } finally {
    runtime.close();
  }
  return found;
}

/** `answers`: see {@link run}. */
export const answerFuzzer: Fuzzer = {
  name: "answers",
  async run(milliseconds, seed) {
    if (!hasMainThreadTime()) return ["answers: this system does not tell a thread's time"];
    const { answers, read, worst } = await run(milliseconds / 1_000, seed);
    console.log(`${answers} answers, ${read} of them read, ${Math.round(worst.milliseconds)} ms at most`);
    return worst.milliseconds < LIMIT_MS * ALLOWANCE ? [] : [`${worst.milliseconds} ms: ${worst.answer}`];
  },
};
