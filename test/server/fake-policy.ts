/** Policies that answer what a test says, and a server with them on free ports of the loopback. */

import type { Outcome } from "../../src/policy/outcome.js";
import type { EvaluationContext, Policy } from "../../src/policy/policy.js";
import type { Review } from "../../src/policy/review.js";
import { createEvaluator, type Evaluator, type EvaluatorOptions } from "../../src/policy/served/evaluator.js";
import { createPolicySet, type ServedPolicy } from "../../src/policy/served/policy-set.js";
import { type RunningServer, type ServerOptions, startServer } from "../../src/server/server.js";
import { createLogger, type LogFormat, type LogLevel } from "../../src/telemetry/logger.js";
import { Metrics } from "../../src/telemetry/metrics.js";

/** A policy's own time, which is not up on the busiest machine: tests of time-outs say their own. */
const PATIENCE_MS = 600_000;

/** How a fake decides. */
export type Decide = (review: Review, context: EvaluationContext) => Outcome | Promise<Outcome>;

/** An entry whose policy answers through a promise. */
export function entry(id: string, decide: Decide, options: Partial<ServedPolicy> = {}): ServedPolicy {
  const policy: Policy = {
    id,
    kind: "wasm",
    implementation: "fake",
    immediate: false,
    evaluate: async (review, context) => decide(review, context),
  };
  return { id, policy, mode: "protect", allowedToMutate: false, ...options };
}

/** An entry whose policy answers at once. */
export function immediate(
  id: string,
  decide: (review: Review) => Outcome,
  options: Partial<ServedPolicy> = {},
): ServedPolicy {
  const policy: Policy = {
    id,
    kind: "cel",
    implementation: "fake",
    immediate: true,
    evaluate: decide,
  };
  return { id, policy, mode: "protect", allowedToMutate: false, ...options };
}

/** A server under test. */
export interface TestServer extends RunningServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly probes: string;
  readonly metrics: Metrics;
  readonly evaluator: Evaluator;
  /** Log lines so far. */
  readonly lines: string[];
}

/** Options beyond the server's own. */
export interface TestOptions extends Partial<ServerOptions> {
  readonly evaluation?: Partial<EvaluatorOptions>;
  readonly logLevel?: LogLevel;
  readonly logFormat?: LogFormat;
}

/** Starts a server with these policies. */
export async function serve(entries: readonly ServedPolicy[], options: TestOptions = {}): Promise<TestServer> {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line), flushSync: () => {}, dropped: 0 };
  const metrics = new Metrics(false);
  const logger = createLogger({ sink, level: options.logLevel ?? "info", format: options.logFormat ?? "json" });
  const evaluator = createEvaluator(createPolicySet(entries), { policyTimeout: PATIENCE_MS, ...options.evaluation });
  const server = await startServer({
    evaluator,
    metrics,
    logger,
    address: "127.0.0.1",
    port: 0,
    readinessPort: 0,
    ...options,
  });
  const scheme = options.tls === undefined ? "http" : "https";
  return {
    ...server,
    url: `${scheme}://127.0.0.1:${server.port}`,
    probes: `http://127.0.0.1:${server.readinessPort}`,
    metrics,
    evaluator,
    lines,
  };
}

/** A minimal, complete AdmissionReview; members of `request` may be replaced. */
export function admissionReview(request: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid: "0b3c",
      kind: { group: "", version: "v1", kind: "Pod" },
      resource: { group: "", version: "v1", resource: "pods" },
      operation: "CREATE",
      namespace: "default",
      name: "p",
      userInfo: { username: "alice" },
      object: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } },
      ...request,
    },
  };
}

/** Posts JSON, or a string as it is. */
export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
