/**
 * CertificateRequests decided by CertificateRequestPolicies, warm, on one thread: the signing request is read for every decision, and Roles and bindings say
 * who may use a policy.
 *
 * Method: through the engine, in this process, from a request as it is decoded from JSON; rounds of all cases take turns. Times are those of the process's
 * CPU, garbage collection included, which does not count what other processes took.
 *
 * With `APPROVER_POLICY_PEER`, a program built of bench/peers/approver-policy (`go mod tidy && go build` there), each round is one of cert-manager's
 * approver-policy, too, on the CPU time of its process: its evaluators alone, policy by policy until one approves, and the whole review with a client
 * that answers at once. Selectors and the `use` check are part of the review only; ours has both in either comparison.
 *
 * | what | goal |
 * | --- | --- |
 * | 10 policies, one request | 10,000 decisions a second |
 * | 1,000 policies of which selectors leave ten | 1 ms |
 */
import { type ChildProcess, spawn } from "node:child_process";
import { loadavg } from "node:os";
import { createInterface } from "node:readline";
import {
  compilePolicy,
  createRuleCompiler,
  decodePolicy,
  Reviewer,
  readCertificateRequest,
} from "../src/kinds/certificate-request-policy/index.js";
import { RbacAuthorizer } from "../src/world/authorizer/rbac-authorizer.js";
import { type RbacObject, readRbacObject } from "../src/world/authorizer/rbac-objects.js";
import { FileResources } from "../src/world/resources/file-resources.js";
import { type RequestCase, TEN_POLICIES, THOUSAND_POLICIES } from "./support/certificate-requests.js";
import { median, spread } from "./support/statistics.js";

const ROUNDS = 11;
/** Rounds before those that count: the engine compiles functions that run once a request after some thousand of them. */
const WARM_UP = 4;
/** Decisions of a round. */
const TIMES = 1_000;
/** Policies that cost the peer most are asked less often. */
const PEER_TIMES = 300;

const API = "rbac.authorization.k8s.io";
const rbac = [
  {
    apiVersion: `${API}/v1`,
    kind: "ClusterRole",
    metadata: { name: "use-policies" },
    rules: [{ apiGroups: ["policy.cert-manager.io"], resources: ["certificaterequestpolicies"], verbs: ["use"] }],
  },
  {
    apiVersion: `${API}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "use-policies" },
    roleRef: { apiGroup: API, kind: "ClusterRole", name: "use-policies" },
    subjects: [{ kind: "ServiceAccount", name: "cert-manager", namespace: "cert-manager" }],
  },
].map((object): RbacObject => {
  const read = readRbacObject(object);
  if (!("kind" in read)) throw new Error(JSON.stringify(read));
  return read;
});
const world = {
  resources: new FileResources([]),
  authorizer: new RbacAuthorizer(rbac),
  now: () => performance.now(),
};
const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
const compiler = createRuleCompiler();

interface Side {
  readonly of: RequestCase;
  readonly decide: () => void;
  /** Milliseconds of CPU a decision, by round. */
  readonly cpu: number[];
  readonly evaluators: number[];
  readonly reviews: number[];
}

function sideOf(of: RequestCase): Side {
  const policies = of.policies.map((written) => {
    const read = decodePolicy(written);
    if (!read.ok) throw new Error(read.text);
    return compilePolicy(read.policy, compiler);
  });
  const read = readCertificateRequest(of.certificateRequest);
  if (read.kind === "malformed") throw new Error(read.text);
  const reviewer = new Reviewer(policies, { world, readiness: "status" });
  const decide = (): void => {
    const reviewed = reviewer.review({ request: read.request }, context);
    if (reviewed instanceof Promise || (reviewed.decision.result === "Approved") !== of.approved)
      throw new Error(JSON.stringify(reviewed));
  };
  const reviewed = reviewer.review({ request: read.request }, context);
  const applicable = reviewed instanceof Promise ? [] : reviewed.decision.accounts().filter(({ bound }) => bound);
  if (applicable.length !== of.applicable) throw new Error(`${of.name}: ${applicable.length} policies apply`);
  return { of, decide, cpu: [], evaluators: [], reviews: [] };
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

function round({ decide, cpu }: Side, counts: boolean): void {
  const before = process.cpuUsage();
  for (let i = 0; i < TIMES; i++) decide();
  if (counts) cpu.push(milliseconds(process.cpuUsage(before)) / TIMES);
}

/** The other program. */
class Peer {
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  constructor(program: string, cases: readonly RequestCase[]) {
    this.#process = spawn(program, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, GOMAXPROCS: "1" } });
    if (this.#process.stdout === null) throw new Error("no output");
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    for (const { name, policies, certificateRequest } of cases) this.#say({ name, policies, certificateRequest });
  }

  /** Milliseconds of CPU a decision. */
  async measure({ name, approved }: RequestCase, mode: "evaluators" | "review", times: number): Promise<number> {
    this.#say({ run: name, mode, times });
    const { value, done } = await this.#answers.next();
    if (done) throw new Error("the peer has ended");
    const answer = JSON.parse(value) as { readonly seconds: number; readonly approved: boolean };
    if (answer.approved !== approved) throw new Error(`${name}: the peer decides otherwise`);
    return (answer.seconds * 1000) / times;
  }

  end(): void {
    this.#process.stdin?.end();
  }

  #say(what: object): void {
    this.#process.stdin?.write(`${JSON.stringify(what)}\n`);
  }
}

const cases = [...TEN_POLICIES, THOUSAND_POLICIES];
const sides = cases.map(sideOf);
const program = process.env.APPROVER_POLICY_PEER;
const peer = program === undefined ? undefined : new Peer(program, cases);
for (let i = 0; i < WARM_UP + ROUNDS; i++) {
  for (const side of sides) {
    const counts = i >= WARM_UP;
    round(side, counts);
    // Evaluators know no selectors: they would judge all thousand.
    const alone = side.of === THOUSAND_POLICIES ? undefined : await peer?.measure(side.of, "evaluators", PEER_TIMES);
    const review = await peer?.measure(side.of, "review", PEER_TIMES);
    if (counts && alone !== undefined) side.evaluators.push(alone);
    if (counts && review !== undefined) side.reviews.push(review);
  }
}
peer?.end();

for (const { of, cpu, evaluators, reviews } of sides) {
  console.log(
    `${of.name}: ${spread(cpu, 4)} ms of CPU, ${Math.round(1000 / median(cpu)).toLocaleString("en")} a second`,
  );
  for (const [what, theirs] of [
    ["evaluators alone", evaluators],
    ["the whole review", reviews],
  ] as const) {
    if (theirs.length === 0) continue;
    const ratios = theirs.map((each, i) => each / (cpu[i] ?? Number.NaN));
    console.log(`  approver-policy, ${what}: ${spread(theirs, 4)} ms; ${spread(ratios, 1)} times ours`);
  }
}
console.log(
  `load average: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(" ")}`,
);
