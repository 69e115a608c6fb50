/** What a policy asks of the world beside the request; said by the compiled policy, before there is a world. */
import type { GroupVersionKind } from "../kubernetes/names.js";

/** What a policy would ask a cluster, and whether it can do without. */
export interface Needs {
  /** It asks for what a cluster may hold: documents beside it are looked at first. */
  readonly asks: boolean;
  /** Without a cluster it asks for something that no document beside it brings. */
  readonly requires: boolean;
  /** The kinds of parameters that it looks for: worth having before the first request. */
  readonly parameters: readonly GroupVersionKind[];
}

/** Nothing but the request. */
export const NO_NEEDS: Needs = { asks: false, requires: false, parameters: [] };

/** What several policies ask together. */
export function allNeeds(needs: readonly Needs[]): Needs {
  return {
    asks: needs.some(({ asks }) => asks),
    requires: needs.some(({ requires }) => requires),
    parameters: needs.flatMap(({ parameters }) => parameters),
  };
}
