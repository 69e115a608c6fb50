/** The words for calls that came to nothing, spec kubewarden.md 3.6. */
import type { Failure, FailureCause } from "../policy/outcome.js";
import type { GuestLimits } from "./limits.js";
import { PAGE_BYTES } from "./rewrite/snapshot/memory-snapshot.js";
import type { JobResult } from "./run/threads/job.js";

/** Every result but an answer. */
export type Unanswered = Exclude<JobResult, { readonly kind: "answer" }>;

const TIMED_OUT = "Policy execution interrupted because it exceeded the allowed execution time";
/** Its time passed before a thread was free: the fault of others. */
const NOT_STARTED = "Policy execution could not be started in time: all worker threads are busy";

/** The failure of a call-style guest (Extism, waPC). */
export function callFailure(result: Unanswered): Failure {
  // A limit that passes while the instance is made rejects even in monitor mode (spec kubewarden.md 3.6).
  if (result.kind === "timeout") return fail(causeOf(result), detail(result), result.phase === "start");
  return fail(causeOf(result), `internal server error: ${detail(result)}`);
}

/** What went wrong, without the prefix of an answer. */
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

/** A guest that asks for twice its memory, as many do when it is full, is refused it from here on: it then has at least this part of what it may have. */
const FULL = 0.5;
const MIB = 1024 * 1024;

/** For the log: which limit a guest has passed, or may have, and who sets it. */
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
