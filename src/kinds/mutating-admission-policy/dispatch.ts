import type { Attempt } from "../shared/expressions/attempt.js";
import type { RequestAttributes } from "../shared/match/request-attributes.js";
import type { Watcher } from "../shared/watcher.js";
import type { FindTypes } from "./merge-types.js";
import type { PreparedPolicy } from "./prepared-policy.js";
import type { RequestState } from "./request-state.js";

/** Who is asked about what. */
export interface Dispatch {
  readonly policies: readonly PreparedPolicy[];
  readonly request: RequestAttributes;
  /** What selectors see of it where that is something else. */
  readonly selecting?: RequestAttributes;
  readonly attempt: Attempt;
  readonly state: RequestState;
  readonly findTypes: FindTypes;
  /** The caller has named the target: rules and selectors are not consulted, and objects are taken as they are. */
  readonly targeted: boolean;
  /** Objects of built-in kinds are what Go's structs keep of them, as inside of the API server. */
  readonly typed: boolean;
  /** Told why policies don't apply, or fail. */
  readonly watcher: Watcher | undefined;
}
