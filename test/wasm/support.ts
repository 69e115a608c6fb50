/** What the tests of the WASM room share. */

import { readFileSync } from "node:fs";
import type { AdmissionRequest } from "../../src/admission/admission-request.js";
import { stringifyJson } from "../../src/data/json.js";
import type { PatchOperation } from "../../src/data/json-patch.js";
import type { Mutation, Outcome } from "../../src/policy/outcome.js";
import type { EvaluationContext } from "../../src/policy/policy.js";
import type { Review } from "../../src/policy/review.js";
import { type Capability, HostCapabilities } from "../../src/wasm/host/host.js";
import {
  createWasmRuntime,
  type GuestLogEntry,
  type WasmPolicy,
  type WasmRuntimeOptions,
} from "../../src/wasm/index.js";
import { DEFAULT_GUEST_LIMITS } from "../../src/wasm/limits.js";
import type { Question } from "../../src/wasm/question.js";
import { type Budget, SLICE_UNITS } from "../../src/wasm/run/guest/budget.js";
import type { HostSide } from "../../src/wasm/run/guest/call-host.js";
import { MISSED } from "../../src/wasm/run/guest/instance-pool.js";
import { type Clock, systemClock } from "../../src/wasm/run/threads/clock.js";

// A memory that its marks did not bring back fails the test in which that is found, whatever it is about.
process.on("warning", (warning) => {
  if ("code" in warning && warning.code === MISSED) throw warning;
});

/** Milliseconds for a call where a test says nothing else: more than any takes on the busiest machine. */
const PATIENCE_MS = 60_000;

/** The repository's root, seen from dist/test/wasm. */
const ROOT = new URL("../../../", import.meta.url);

/** A file of the repository. */
export function file(path: string): Buffer {
  return readFileSync(new URL(path, ROOT));
}

/** A runtime that remembers what guests log. */
export function testRuntime(
  options: Partial<WasmRuntimeOptions> & { readonly capabilityList?: readonly Capability[] } = {},
) {
  const logged: GuestLogEntry[] = [];
  const violations: string[] = [];
  const { capabilityList = [], ...rest } = options;
  const runtime = createWasmRuntime({
    workers: 2,
    defaultTimeoutMs: PATIENCE_MS,
    log: (entry) => logged.push(entry),
    capabilities: new HostCapabilities(capabilityList, (message) => violations.push(message)),
    ...rest,
  });
  return { runtime, logged, violations };
}

/** A review of creating this object; without one, of deleting. */
export function admission(object?: unknown): Review {
  const request: AdmissionRequest = {
    uid: "0b3c",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: object === undefined ? "DELETE" : "CREATE",
    userInfo: { username: "alice" },
    ...(object !== undefined && { object }),
  };
  return { kind: "admission", request, requestBytes: () => Buffer.from(stringifyJson(request)) };
}

/** A review of any JSON value. */
export function raw(payload: unknown): Review {
  return { kind: "raw", payload, requestBytes: () => Buffer.from(stringifyJson(payload)) };
}

/** What a guest was asked about a review. */
export function question(review: Review): Question {
  const input = Buffer.from(`{"request":${Buffer.from(review.requestBytes())},"settings":{}}`);
  return { review: review.kind, input, limits: DEFAULT_GUEST_LIMITS };
}

/** A change as a guest's thread hands it out: the JSON Patch that these operations are. */
export function patch(...operations: readonly PatchOperation[]): Mutation {
  return { kind: "patch", patch: Buffer.from(stringifyJson(operations)).toString("base64") };
}

/** Circumstances of a caller that waits for so many milliseconds; by default longer than anything takes on the busiest machine. */
export function context(milliseconds = 600_000): EvaluationContext {
  return { deadline: performance.now() + milliseconds, signal: new AbortController().signal };
}

/** Milliseconds between two looks at {@link steppedClock}. */
const STEP_MS = 0.01;

/**
 * A clock that moves on by a step with each look, and not by itself: what a guest may do on the main thread is counted in looks, however busy the machine
 * and however new the code is. What is to be called back comes by the real time. Deadlines of {@link context} are later by it than they are.
 */
export function steppedClock(): Clock {
  let now = performance.now();
  return {
    ...systemClock,
    now: () => {
      now += STEP_MS;
      return now;
    },
  };
}

/** Asks the misbehaving guest to do something. */
export async function behave(policy: WasmPolicy, mode: string): Promise<Outcome> {
  return policy.evaluate(admission({ kind: "Pod", metadata: { annotations: { "chaos/mode": mode } } }), context());
}

/** A budget without an end. */
export const ENDLESS: Budget = { isSpent: false, refill: () => SLICE_UNITS };

/** Nobody behind a host. */
export const NO_SIDE: HostSide = {
  ask: () => ({ ok: false, error: "there is no host" }),
  line() {},
  sleep() {},
};
