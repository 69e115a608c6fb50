/**
 * One Deployment asked about at a hundred of Kyverno's policies about pods (autogen's variants judge it), warm, beside the same rules written by hand as
 * ValidatingAdmissionPolicies about Deployments. All validations differ.
 *
 * Method: through the policy set, in this process; rounds of both sides take turns. Times are those of the process's CPU, which does not count what other
 * processes took; the percentiles are of all requests. Message expressions are evaluated by the API server's rules whether a validation fails or not, by
 * Kyverno's only when it does.
 *
 * | what | goal |
 * | --- | --- |
 * | 100 policies with autogen, one Deployment | 1 ms |
 */
import { loadavg } from "node:os";
import { createCompilers } from "../src/kinds/kyverno/dialect.js";
import { KyvernoPolicySet } from "../src/kinds/kyverno/policy.js";
import { prepareDocuments as prepareKyverno } from "../src/kinds/kyverno/prepare-documents.js";
import { createExpressionCompiler, prepareDocuments } from "../src/kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../src/kubernetes/object.js";
import type { AdmissionQuestion, Policy } from "../src/policy/index.js";
import { NO_OPINION } from "../src/world/authorizer/authorizer.js";
import { worldOf } from "../src/world/world.js";
import { admissionPolicies, kyvernoPolicies } from "./support/pod-rules.js";
import { deployment } from "./support/pods.js";
import { median, spread } from "./support/statistics.js";

const POLICIES = 100;
const ROUNDS = 15;
const REQUESTS = 200;
/** Rounds before those that count: the engine compiles functions that run once a request after some thousand of them. */
const WARM_UP = 30;

const now = (): number => performance.now();
const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-0" } };

const review = (object: JsonObject): AdmissionQuestion => {
  const kind = { group: "apps", version: "v1", kind: "Deployment" };
  const resource = { group: "apps", version: "v1", resource: "deployments" };
  const request = {
    ...{ uid: "u", kind, resource, requestKind: kind, requestResource: resource, name: "app", namespace: "team-0" },
    ...{ operation: "CREATE", userInfo: { username: "alice" }, object, oldObject: null, dryRun: false },
  };
  return { kind: "admission", request, requestBytes: () => new Uint8Array() } as AdmissionQuestion;
};

const place = { file: "bench", line: 1, column: 1, path: [] };
const documentsOf = (values: readonly JsonObject[]) =>
  values.map((value) => ({
    value,
    problem: (severity: "error" | "warning", _: unknown, message: string) => ({ severity, message, ...place }),
  }));

function kyverno(): Policy {
  const documents = documentsOf([...kyvernoPolicies(POLICIES), namespace]);
  const { policies, objects, problems } = prepareKyverno(documents, { compilers: createCompilers(), now: Date.now() });
  if (problems.length > 0) throw new Error(JSON.stringify(problems[0]));
  return new KyvernoPolicySet(policies, { id: "kyverno", world: worldOf(objects, { authorizer: NO_OPINION, now }) });
}

function byHand(): Policy {
  const documents = documentsOf([...admissionPolicies(POLICIES), namespace]);
  const prepared = prepareDocuments(documents, { compiler: createExpressionCompiler() });
  const [problem] = prepared.problems;
  if (problem !== undefined) throw new Error(JSON.stringify(problem));
  return prepared.policy("by hand", worldOf(prepared.objects, { authorizer: NO_OPINION, now }));
}

interface Side {
  readonly name: string;
  readonly policy: Policy;
  /** Milliseconds of CPU a request, by round. */
  readonly cpu: number[];
  /** The same of each request. */
  readonly times: number[];
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

function round({ policy, cpu, times }: Side, question: AdmissionQuestion, counts: boolean): void {
  const before = process.cpuUsage();
  for (let i = 0; i < REQUESTS; i++) {
    const start = process.cpuUsage();
    const outcome = policy.evaluate(question, context);
    if (counts) times.push(milliseconds(process.cpuUsage(start)));
    if (outcome instanceof Promise || outcome.verdict !== "allow") throw new Error(JSON.stringify(outcome));
  }
  if (counts) cpu.push(milliseconds(process.cpuUsage(before)) / REQUESTS);
}

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;

const timed = (make: () => Policy): readonly [Policy, number] => {
  const start = process.cpuUsage();
  const policy = make();
  return [policy, milliseconds(process.cpuUsage(start))];
};
const sides = (
  [
    ["Kyverno's policies, autogen", kyverno],
    ["ValidatingAdmissionPolicies", byHand],
  ] as const
).map(([name, make]): Side => {
  const [policy, took] = timed(make);
  console.log(`${name}: ${POLICIES} loaded in ${took.toFixed(0)} ms of CPU`);
  return { name, policy, cpu: [], times: [] };
});

// Rules that nothing breaks because nothing matches would be fast.
for (const { name, policy } of sides) {
  const outcome = await policy.evaluate(review(deployment(true)), context);
  if (outcome.verdict !== "deny")
    throw new Error(`${name}: a Deployment that breaks rules: ${JSON.stringify(outcome)}`);
}

const good = review(deployment(false));
for (let i = 0; i < WARM_UP + ROUNDS; i++) for (const side of sides) round(side, good, i >= WARM_UP);
for (const { name, cpu, times } of sides) {
  console.log(
    `${name}: ${spread(cpu, 3)} ms of CPU a request; median ${median(times).toFixed(3)} ms, p99 ${percentile(times, 0.99).toFixed(3)} ms`,
  );
}
const [ours, theirs] = sides;
console.log(`ratio: ${(median(ours?.cpu ?? []) / median(theirs?.cpu ?? [])).toFixed(2)}`);
console.log(
  `load average: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(" ")}`,
);
