/**
 * ValidatingAdmissionPolicies in number, with what they should need at most.
 *
 * | what | goal |
 * | --- | --- |
 * | 100 policies with 3 validations over one Pod request | a tenth of what in-process admission needs (3.4 to 4.3 ms on the machine of the vectors) |
 * | the same with 300 validations that differ | the same |
 * | loading 1,000 policies | 2 s, 20 KiB each |
 * | 1,024 bindings of one policy, one request | 5 ms |
 */
import { readFileSync } from "node:fs";
import { parseJson } from "../src/data/json.js";
import { createExpressionCompiler, prepareDocuments } from "../src/kinds/validating-admission-policy/index.js";
import { isObject, type JsonObject } from "../src/kubernetes/object.js";
import type { AdmissionQuestion } from "../src/policy/review.js";
import { NO_OPINION } from "../src/world/authorizer/authorizer.js";
import { worldOf } from "../src/world/world.js";
import { spread } from "./support/statistics.js";

const now = (): number => performance.now();
const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
const ROUNDS = 15;
const REQUESTS = 200;
/** Rounds before those that count, where functions run once a request: the engine compiles them after some ten thousand requests, seconds of a server's life. */
const WARM_UP = 60;

const line = readFileSync(new URL("../../test/vectors/vap/bench.jsonl", import.meta.url), "utf8");
const written = parseJson(line) as JsonObject;
const request = written.request as unknown as AdmissionQuestion["request"];
const review: AdmissionQuestion = { kind: "admission", request, requestBytes: () => new Uint8Array() };

function load(documents: readonly unknown[]) {
  const place = { file: "bench", line: 1, column: 1, path: [] };
  const written = documents.map((value) => ({
    value,
    problem: (severity: "error" | "warning", _: unknown, message: string) => ({ severity, message, ...place }),
  }));
  const prepared = prepareDocuments(written, { compiler: createExpressionCompiler() });
  const { problems, objects } = prepared;
  return { problems, set: prepared.policy("bench", worldOf(objects, { authorizer: NO_OPINION, now })) };
}

/** Milliseconds of this process's CPU per request, by round: unlike the clock it does not count what other processes took. */
function measure(documents: readonly unknown[], warmUp = 0): number[] {
  const { set, problems } = load(documents);
  if (problems.length > 0) throw new Error(JSON.stringify(problems[0]));
  const times: number[] = [];
  for (let round = 0; round < warmUp + ROUNDS; round++) {
    const start = process.cpuUsage();
    for (let i = 0; i < REQUESTS; i++) {
      const outcome = set.evaluate(review, context);
      if (outcome instanceof Promise || outcome.verdict !== "allow") throw new Error(JSON.stringify(outcome));
    }
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000 / REQUESTS);
  }
  return times.slice(warmUp);
}

const policies = written.policies as readonly JsonObject[];
const bindings = written.bindings as readonly JsonObject[];
const namespaces = written.namespaces as readonly JsonObject[];

function report(name: string, times: readonly number[]): void {
  console.log(`${name}: best ${Math.min(...times).toFixed(4)} ms a request, ${spread(times)}`);
}

report("100 policies, 3 validations each", measure([...policies, ...bindings, ...namespaces]));

/** The same policies, every validation made different from all others. */
const distinct = policies.map((policy, i) => {
  const spec = policy.spec as JsonObject;
  const validations = (spec.validations as readonly JsonObject[]).map((validation, j) => ({
    ...validation,
    expression: `(${String(validation.expression)}) || ${i * 3 + j} < 0`,
  }));
  return { ...policy, spec: { ...spec, validations } };
});
const differing = [...distinct, ...bindings, ...namespaces];
report("100 policies, 300 different validations, the first 3,000 requests", measure(differing));
report("the same, warm", measure(differing, WARM_UP));

// Loading.
const many: JsonObject[] = [];
for (let i = 0; i < 1_000; i++) {
  const policy = distinct[i % distinct.length] as JsonObject;
  const name = `p${i}.acme.example`;
  const spec = policy.spec as JsonObject;
  const validations = (spec.validations as readonly JsonObject[]).map((validation) => ({
    ...validation,
    expression: `${String(validation.expression)} || ${i} < 0`,
  }));
  many.push({ ...policy, metadata: { name }, spec: { ...spec, validations } });
  many.push({
    ...(bindings[0] as JsonObject),
    metadata: { name: `b${i}` },
    spec: { policyName: name, validationActions: ["Deny"] },
  });
}
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
const start = process.cpuUsage();
const loaded = load(many);
const elapsed = process.cpuUsage(start).user / 1000;
globalThis.gc?.();
const bytes = (process.memoryUsage().heapUsed - before) / 1_000;
console.log(
  `1,000 policies with 3,000 different validations loaded in ${elapsed.toFixed(0)} ms of CPU, ${(bytes / 1024).toFixed(1)} KiB each (${loaded.problems.length} problems)`,
);

// Many bindings.
const [first] = policies;
if (!isObject(first)) throw new Error("no policy");
const wide = Array.from({ length: 1_024 }, (_, i) => ({
  ...(bindings[0] as JsonObject),
  metadata: { name: `b${i}` },
  spec: {
    policyName: "p00.acme.example",
    validationActions: ["Deny"],
    matchResources: { namespaceSelector: { matchLabels: { env: "prod" } } },
  },
}));
report("1,024 bindings of one policy", measure([first, ...wide, ...namespaces]));

/** Each binding with a parameter of its own. */
const withParams = {
  ...first,
  spec: {
    ...(first.spec as JsonObject),
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    validations: [{ expression: "object.spec.containers.size() <= int(params.data.max)" }],
  },
};
const params = wide.map((binding, i) => ({
  ...binding,
  spec: { ...binding.spec, paramRef: { name: `c${i}`, namespace: "ns", parameterNotFoundAction: "Deny" } },
}));
const maps = params.map((_, i) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `c${i}`, namespace: "ns" },
  data: { max: String(i + 5) },
}));
report("1,024 bindings with a parameter each", measure([withParams, ...params, ...maps, ...namespaces]));
