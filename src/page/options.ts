/** The options of the page. */
import type { PolicySet } from "../policy/served/policy-set.js";
import type { Playground } from "./playground.js";

/** The options of the page. */
export interface PageOptions {
  /** The set that is served now. */
  readonly policies: () => PolicySet;
  /** The IP address that the server listens on. */
  readonly address: string;
  /** Checks and evaluates drafts; absent: the page is for reading. */
  readonly playground?: Playground;
}
