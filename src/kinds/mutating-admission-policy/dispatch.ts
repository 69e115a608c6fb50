import type { Attempt } from "../shared/expressions/attempt.js";
import type { RequestAttributes } from "../shared/match/request-attributes.js";
import type { FindTypes } from "../shared/mutation/merge-types.js";
import type { Watcher } from "../shared/watcher.js";
import type { PreparedPolicy } from "./prepared-policy.js";
import type { RequestState } from "./request-state.js";

/** The policies and the request of an evaluation. */
export interface Dispatch {
  readonly policies: readonly PreparedPolicy[];
  readonly request: RequestAttributes;
  /** The attributes for selectors where they differ. */
  readonly selecting?: RequestAttributes;
  readonly attempt: Attempt;
  readonly state: RequestState;
  readonly findTypes: FindTypes;
  /** Whether the caller has named the target: rules and selectors are ignored, and objects are used as they are. */
  readonly targeted: boolean;
  /** Whether objects of built-in kinds are reduced to what Go's structs keep, as inside of the API server. */
  readonly typed: boolean;
  /** Receives the reasons why policies don't apply, or fail. */
  readonly watcher: Watcher | undefined;
}
