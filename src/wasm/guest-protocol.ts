/** How the main thread speaks with a kind of guest: the question to put, and what to make of the answer. */
import type { ResourceSnapshot } from "../kubernetes/reader.js";
import type { Failure, Outcome } from "../policy/outcome.js";
import type { Review } from "../policy/review.js";
import type { WasmLoadError } from "./errors.js";
import type { Allocate } from "./payload.js";
import type { GuestCall, GuestOperation } from "./run/guest/call.js";
import type { JobResult } from "./run/threads/job.js";

/** A policy's settings, ready to be put into payloads. */
export interface PreparedSettings {
  /** JSON in UTF-8, printed once. */
  readonly bytes: Uint8Array;
  readonly value: unknown;
  /** What an Extism plugin finds beside its input (`extism/environment.ts`), as JSON in UTF-8; absent: nothing of its own. */
  readonly environment?: Uint8Array;
}

/** One kind of guest. Stateless. */
export interface Protocol {
  /** Present when the module gets a data document with each call, with all resources of its `contextAwareResources`, instead of asking for them. */
  readonly dataDocument?: {
    /** Whether it gets them by the names of resources, such as `pods`. */
    readonly plurals: boolean;
    /** The document, JSON in UTF-8. */
    bytes(settings: PreparedSettings, resources: readonly ResourceSnapshot[]): Uint8Array;
  };
  /** The call that is made at load, which checks the settings, or only starts a module that has nothing to check. */
  loadCall(settings: PreparedSettings, exports: ReadonlySet<string>): GuestCall;
  /** Why the module can't serve with these settings, undefined when it can. It has started. */
  loadProblem(result: JobResult): WasmLoadError | undefined;
  /**
   * The call for a review, or why there can't be one.
   * @param allocate where its payload is put together; absent: in memory of its own
   */
  validateCall(review: Review, settings: PreparedSettings, data: Uint8Array, allocate?: Allocate): GuestCall | Failure;
  /** What the call came to. */
  outcome(result: JobResult): Outcome;
}

/** The operation that asks about a review. */
export function validateOperation(review: Review): GuestOperation {
  return review.kind === "raw" ? "validate-raw" : "validate";
}
