/** Messages of calls without an answer, spec kubewarden.md 3.6. */
import type { Failure, FailureCause } from "../policy/outcome.js";
import type { GuestLimits } from "./limits.js";
import { PAGE_BYTES } from "./rewrite/snapshot/memory-snapshot.js";
import type { JobResult } from "./run/threads/job.js";

/** Every result but an answer. */
export type Unanswered = Exclude<JobResult, { readonly kind: "answer" }>;

const TIMED_OUT = "Policy execution interrupted because it exceeded the allowed execution time";
/** Message of a call whose time passed before a thread was free: other calls took it. */
const NOT_STARTED = "Policy execution could not be started in time: all worker threads are busy";

/** The failure of a call-style guest (Extism, waPC). */
export function callFailure(result: Unanswered): Failure {
  // A limit that is exceeded while the instance is made rejects even in monitor mode (spec kubewarden.md 3.6).
  if (result.kind === "timeout") return fail(causeOf(result), detail(result), result.phase === "start");
  return fail(causeOf(result), `internal server error: ${detail(result)}`);
}

/** The reason of a failure, without the prefix of an answer. */
export function detail(result: Unanswered): string {
  switch (result.kind) {
    case "guest-error":
    case "trap":
    case "out-of-memory":
    case "limit":
      return `Guest call failure: ${result.text}`;
    case "start-failed":
      return `the policy could not be started: ${result.text}`;
    case "timeout":
      return result.phase === "waiting" ? NOT_STARTED : TIMED_OUT;
    case "crash":
      return `the policy's worker ended: ${result.text}`;
    case "refused":
      return result.text;
  }
}

/** The share of its limit that a guest's memory has at least when growth is refused: many guests double a full memory. */
const FULL = 0.5;
const MIB = 1024 * 1024;

/** For the log: the limit that a guest has exceeded, or may have, and the setting for it. */
export function limitDetail(result: JobResult, { memoryPages }: Pick<GuestLimits, "memoryPages">): string | undefined {
  if (result.kind === "limit")
    return "limits of guests are the server's own, but for memory (memoryLimitMiB of the entry)";
  if (result.kind !== "trap" || result.memoryBytes === undefined) return undefined;
  const most = memoryPages * PAGE_BYTES;
  return result.memoryBytes < most * FULL
    ? undefined
    : `its memory had ${Math.floor(result.memoryBytes / MIB)} of the ${Math.floor(most / MIB)} MiB that it may have (memoryLimitMiB of its entry)`;
}

/** The kind of failure, for metrics. */
export function causeOf(result: Unanswered): FailureCause {
  switch (result.kind) {
    case "timeout":
      return result.phase === "waiting" ? "overload" : "timeout";
    case "refused":
      return "overload";
    case "limit":
    case "out-of-memory":
      return "memory";
    case "crash":
      return result.outOfMemory ? "memory" : "trap";
    default:
      return "trap";
  }
}

/** A failure with code 500. `final` when not even monitor mode lets it pass. */
export function fail(cause: FailureCause, message: string, final = false): Failure {
  return { verdict: "error", message, cause, ...(final && { final }) };
}
