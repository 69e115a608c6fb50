/** What the page needs. */
import type { PolicySet } from "../policy/served/policy-set.js";
import type { Playground } from "./playground.js";

/** What the page is made of. */
export interface PageOptions {
  /** The set that is served now. */
  readonly policies: () => PolicySet;
  /** The IP address that the server listens on. */
  readonly address: string;
  /** Checks and evaluates drafts; absent: the page is for reading. */
  readonly playground?: Playground;
}
