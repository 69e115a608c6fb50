/**
 * Random expressions of mutations: deciding them must not throw. With `MAP_ORACLE`, a command that adds `result` to cases of the vectors' form as the API
 * server's plugin decides them, results and messages must be the same too.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseJson, stringifyJson } from "../../src/data/json.js";
import { createMutationCompilers } from "../../src/kinds/mutating-admission-policy/compilers.js";
import type { JsonObject } from "../../src/kubernetes/object.js";
import { bundledSchemas } from "../../src/kubernetes/structured-merge/merge-schemas.js";
import { decideCase } from "../../src/offline/cases/mutating-admission-policy/case.js";
import type { Fuzzer } from "./fuzzer.js";
import { random } from "./random.js";
import { randomMutation } from "./random-mutations.js";

/** Cases that the oracle is asked about at once. */
const BATCH = 500;
const MOST_FAULTS = 10;

const ABOUT = new URL("../../../test/vectors/map/expressions.jsonl", import.meta.url);

/** What a run found. */
export interface Differing {
  readonly cases: number;
  /** How many of them were not refused. */
  readonly allowed: number;
  readonly faults: readonly string[];
}

/** Tries for so many seconds, or cases. */
export function run(
  seconds: number,
  seed: number,
  most = Number.POSITIVE_INFINITY,
  oracle = process.env.MAP_ORACLE,
): Differing {
  const next = random(seed);
  const [first = ""] = readFileSync(ABOUT, "utf8").split("\n", 1);
  const about = parseJson(first) as JsonObject;
  const tools = { compilers: createMutationCompilers(), schemas: bundledSchemas() };
  const faults: string[] = [];
  let [cases, allowed] = [0, 0];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end && cases < most && faults.length < MOST_FAULTS) {
    const batch = Array.from({ length: Math.min(BATCH, most - cases) }, () => {
      const { mutation, variables } = randomMutation(next);
      return caseOf(String(cases++), about, mutation, variables);
    });
    const answers = batch.map((each) => decideCase(each, tools) as JsonObject);
    allowed += answers.filter((answer) => answer.allowed === true).length;
    if (oracle === undefined) continue;
    for (const written of decided(batch, oracle)) {
      const answer = answers[Number(written.id) - cases + batch.length] as JsonObject;
      const { typed: _, ...expected } = written.result as JsonObject;
      const [ours, theirs] = [comparable(answer), comparable(expected)];
      if (ours !== theirs) faults.push(`${stringifyJson(written.policies)}:\n  ${ours}\nnot\n  ${theirs}`);
    }
  }
  return { cases, allowed, faults };
}

const API = "admissionregistration.k8s.io/v1";
const RULES = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }];
const PARAMS = { apiVersion: "v1", kind: "ConfigMap" };

function caseOf(id: string, about: JsonObject, mutation: unknown, variables: unknown): JsonObject {
  const spec = {
    matchConstraints: { resourceRules: RULES },
    paramKind: PARAMS,
    variables,
    mutations: [mutation],
    reinvocationPolicy: "Never",
  };
  const paramRef = { name: "one", parameterNotFoundAction: "Deny" };
  return {
    id,
    ...about,
    policies: [{ apiVersion: API, kind: "MutatingAdmissionPolicy", metadata: { name: "p" }, spec }],
    bindings: [
      {
        apiVersion: API,
        kind: "MutatingAdmissionPolicyBinding",
        metadata: { name: "b" },
        spec: { policyName: "p", paramRef },
      },
    ],
    params: [{ ...PARAMS, metadata: { name: "one", namespace: "ns" }, data: { v: "p1", w: "" } }],
  };
}

/** The cases with the oracle's results; it leaves out those that it answers differently each time. */
function decided(batch: readonly JsonObject[], oracle: string): readonly JsonObject[] {
  const input = batch.map((each) => `${stringifyJson(each)}\n`).join("");
  const [command = "", ...args] = oracle.split(" ");
  const { stdout, error } = spawnSync(command, args, { input, maxBuffer: 2 ** 30 });
  if (error !== undefined) throw error;
  const lines = stdout.toString("utf8").trimEnd().split("\n");
  return lines.filter((line) => line !== "").map((line) => parseJson(line) as JsonObject);
}

/** Lists inside of messages, whose order is random, sorted. Values that are shown hold addresses of memory, and of several that are no JSON any is named: left out. */
const comparable = (answer: JsonObject): string =>
  stringifyJson(
    JSON.parse(stringifyJson(answer), (_, part: unknown) => {
      if (typeof part !== "string") return inOrder(part);
      const shown = part
        .replaceAll(/got &.*$/gm, "got a value")
        .replace(/could not marshal to JSON: .*$/s, "could not marshal to JSON");
      const [head = "", atomics] = shown.split("may not mutate atomic arrays, maps or structs: ");
      return atomics === undefined ? shown.split("\n").sort().join("\n") : head + atomics.split(", ").sort().join(", ");
    }),
  );

const inOrder = (part: unknown): unknown =>
  typeof part !== "object" || part === null || Array.isArray(part)
    ? part
    : Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));

/** `npm run fuzz -- mutations`. */
export const mutationFuzzer: Fuzzer = {
  name: "mutations",
  run: (milliseconds, seed) => {
    const { cases, allowed, faults } = run(milliseconds / 1_000, seed);
    console.log(`${cases} mutations, ${allowed} of them not refused`);
    return faults;
  },
};
