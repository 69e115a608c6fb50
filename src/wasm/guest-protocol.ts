/** A kind of guest as the main thread uses it: the calls to make, and the outcomes of their results. */
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
  /** The environment of an Extism plugin beside its input (`extism/environment.ts`), as JSON in UTF-8; absent: nothing of its own. */
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
  /** The call at load, which checks the settings, or only starts a module without a settings check. */
  loadCall(settings: PreparedSettings, exports: ReadonlySet<string>): GuestCall;
  /** The reason why the module can't serve with these settings; undefined when it can. It has started. */
  loadProblem(result: JobResult): WasmLoadError | undefined;
  /**
   * The call for a review, or the reason why there can't be one.
   * @param allocate the memory for its payload; absent: new memory
   */
  validateCall(review: Review, settings: PreparedSettings, data: Uint8Array, allocate?: Allocate): GuestCall | Failure;
  /** The outcome of a call's result. */
  outcome(result: JobResult): Outcome;
}

/** The operation that asks about a review. */
export function validateOperation(review: Review): GuestOperation {
  return review.kind === "raw" ? "validate-raw" : "validate";
}
