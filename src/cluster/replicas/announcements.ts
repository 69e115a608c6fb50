/** The announcements of a replica about its policies. */
import { parseKey } from "../../config/from-cluster/index.js";
import type { ClusterState } from "../cluster-state.js";
import type { PolicyFacts } from "../policy-facts.js";
import { MAX_ANNOUNCED_POLICIES } from "./limits.js";
import { loadedVersion, policyRoute, setRoute } from "./route-hash.js";

/** The paths that it answers, and the loaded versions of policies; both sorted. */
export interface Announcements {
  readonly routes: readonly string[];
  readonly loaded: readonly string[];
}

/**
 * The announcements. Where there are too many, policies of the namespaces with most of them are left out: webhooks of all others must not wait forever because
 * of these.
 */
export function announcementsOf(
  { documents, sets }: Pick<ClusterState, "documents" | "sets">,
  facts: Pick<PolicyFacts, "reports">,
): Announcements {
  const sizes = new Map<string, number>();
  const found = Array.from(documents, ([key, document]) => ({ key, document, namespace: parseKey(key).namespace }));
  // Policies without a namespace are cluster administrators', and never left out.
  for (const { namespace } of found) if (namespace !== "") sizes.set(namespace, (sizes.get(namespace) ?? 0) + 1);
  const sizeOf = ({ namespace }: { readonly namespace: string }): number => sizes.get(namespace) ?? 0;
  const routes = sets.map(({ hash }) => setRoute(hash));
  const loaded: string[] = [];
  for (const { key, document } of found.sort((a, b) => sizeOf(a) - sizeOf(b))) {
    const reports = facts.reports(key);
    for (const { id, state } of reports) if (state !== "waiting" && state !== "refused") routes.push(policyRoute(id));
    if (reports.length > 0 && reports.every(({ state }) => state === "loaded")) loaded.push(loadedVersion(document));
  }
  const told = (all: readonly string[]): readonly string[] => [...new Set(all)].slice(0, MAX_ANNOUNCED_POLICIES).sort();
  return { routes: told(routes), loaded: told(loaded) };
}
