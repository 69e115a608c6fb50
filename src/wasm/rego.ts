/** What OPA and Gatekeeper policies share on the main thread, spec kubewarden.md 3.6, 6.5. */
import { errorText } from "../data/error-text.js";
import { parseJson, UNIQUE_KEYS } from "../data/json.js";
import type { Failure, Outcome } from "../policy/outcome.js";
import { WasmLoadError } from "./errors.js";
import { causeOf, detail, fail, type Unanswered } from "./failures.js";
import { MISSING_BUILTINS } from "./opa/names.js";
import type { JobResult } from "./pool/job.js";
import type { GuestCall } from "./worker/messages.js";

const INTERRUPTED = "internal server error: guest code interrupted, execution deadline exceeded";

/** Rego modules have no settings check; what is checked at load is that the host has their builtins. */
export function regoLoadCall(): GuestCall {
  return { operation: MISSING_BUILTINS, input: "" };
}

/** The load's outcome: a module whose builtins the host lacks is refused by name. */
export function regoLoadProblem(result: JobResult): WasmLoadError | undefined {
  if (result.kind !== "answer")
    return new WasmLoadError("wasm-builtins", `the Rego module does not start: ${detail(result)}`);
  const missing = JSON.parse(result.text) as string[];
  if (missing.length === 0) return undefined;
  return new WasmLoadError(
    "wasm-builtins",
    `the following Rego builtins are not provided by the host: ${missing.join(", ")}`,
  );
}

/** The failure of a Rego call, or what `read` makes of the only result's value; `read` throws when it can't. */
export function regoOutcome(result: JobResult, unusable: string, read: (value: unknown) => Outcome): Outcome {
  if (result.kind !== "answer") return regoFailure(result);
  let value: unknown;
  try {
    value = parseJson(result.text, { unique: UNIQUE_KEYS });
  } catch (error) {
    return fail("protocol", `internal server error: ${errorText(error)}`);
  }
  // A rule has one result; of several nobody knows which counts.
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : undefined;
  try {
    if (typeof only !== "object" || only === null || !("result" in only)) throw new Error("no result");
    return read(only.result);
  } catch {
    return fail("protocol", `internal server error: ${unusable}`);
  }
}

function regoFailure(result: Unanswered): Failure {
  if (result.kind === "timeout") return fail("timeout", INTERRUPTED, result.phase === "start");
  const text = result.kind === "crash" || result.kind === "start-failed" ? detail(result) : result.text;
  return fail(causeOf(result), `internal server error: ${text}`);
}
