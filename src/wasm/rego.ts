/** Common parts of OPA and Gatekeeper policies on the main thread, spec kubewarden.md 3.6, 6.5. */
import { parseJson } from "../data/json.js";
import type { Failure, Outcome } from "../policy/outcome.js";
import { WasmLoadError } from "./errors.js";
import { causeOf, detail, fail, type Unanswered } from "./failures.js";
import { MISSING_BUILTINS } from "./names.js";
import { readOutcome } from "./outcome-text.js";
import { NOTHING } from "./payload.js";
import type { GuestCall } from "./run/guest/call.js";
import type { JobResult } from "./run/threads/job.js";

const INTERRUPTED = "internal server error: guest code interrupted, execution deadline exceeded";

/** Rego modules have no settings check; the load checks that the host has their builtins. */
export function regoLoadCall(): GuestCall {
  return { operation: MISSING_BUILTINS, input: NOTHING };
}

/** The result of the load: a module whose builtins the host lacks is refused with their names. */
export function regoLoadProblem(result: JobResult): WasmLoadError | undefined {
  if (result.kind !== "answer")
    return new WasmLoadError("wasm-builtins", `the Rego module does not start: ${detail(result)}`);
  const missing = parseJson(result.text) as string[];
  if (missing.length === 0) return undefined;
  return new WasmLoadError(
    "wasm-builtins",
    `the following Rego builtins are not provided by the host: ${missing.join(", ")}`,
  );
}

/** The outcome of a Rego call. */
export function regoOutcome(result: JobResult): Outcome {
  return result.kind === "answer" ? readOutcome(result.text) : regoFailure(result);
}

function regoFailure(result: Unanswered): Failure {
  if (result.kind === "timeout") return fail("timeout", INTERRUPTED, result.phase === "start");
  const text = result.kind === "crash" || result.kind === "start-failed" ? detail(result) : result.text;
  return fail(causeOf(result), `internal server error: ${text}`);
}
