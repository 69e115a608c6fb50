/** How the main thread speaks with each kind of guest: the question to put, and what to make of the answer. */
import type { Failure, Outcome } from "../policy/outcome.js";
import type { Review } from "../policy/review.js";
import { extism } from "./extism/protocol.js";
import type { JobResult } from "./pool/job.js";
import { wapc } from "./wapc/protocol.js";
import { wasi } from "./wasi/protocol.js";
import type { ExecutionMode, GuestCall } from "./worker/messages.js";

/** A policy's settings, ready to be put into payloads. */
export interface PreparedSettings {
  readonly text: string;
  readonly value: unknown;
}

/** One kind of guest. Stateless. */
export interface Protocol {
  /** The call that checks settings; undefined when the module has no such function, and every settings are valid. */
  settingsCall(settings: PreparedSettings, exports: ReadonlySet<string>): GuestCall | undefined;
  /** Why the settings are refused, undefined when they are valid. */
  settingsProblem(result: JobResult): string | undefined;
  /** The call for a review, or why there can't be one. */
  validateCall(review: Review, settings: PreparedSettings): GuestCall | Failure;
  /** What the call came to. */
  outcome(result: JobResult, review: Review): Outcome;
}

/** The protocol of a mode. */
export function protocolOf(mode: ExecutionMode): Protocol {
  return PROTOCOLS[mode];
}

const PROTOCOLS: Readonly<Record<ExecutionMode, Protocol>> = {
  extism,
  "kubewarden-wapc": wapc,
  wasi,
};
