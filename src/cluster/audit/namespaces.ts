/** The labels of Namespaces, as of the beginning of a round. */

import { objectPages } from "../../kubernetes/client/object-pages.js";
import { labelsOf, member, nameOf, text } from "../../kubernetes/object.js";
import type { AuditCluster } from "./audit-kinds.js";
import { MAX_NAMESPACES } from "./audit-limits.js";
import { hashText } from "./text-hash.js";

/** Labels by the name of the Namespace. */
export class NamespaceLabels {
  readonly #labels = new Map<string, { readonly labels: Readonly<Record<string, string>>; readonly hash: number }>();
  /** The reason why they could not be read; `undefined`: they were. */
  problem: string | undefined;

  /** Reads them; a failure is a problem of the policies that need them. */
  static async read(cluster: AuditCluster): Promise<NamespaceLabels> {
    const found = new NamespaceLabels();
    try {
      for await (const { items } of objectPages(cluster, { group: "", version: "v1", plural: "namespaces" }, "")) {
        for (const item of items) {
          const version = text(member(item, "metadata"), "resourceVersion");
          found.#labels.set(nameOf(item), { labels: labelsOf(item), hash: hashText(version) });
        }
        if (found.#labels.size > MAX_NAMESPACES) throw new Error(`there are more than ${MAX_NAMESPACES} Namespaces`);
      }
    } catch (error) {
      found.#labels.clear();
      found.problem = error instanceof Error ? error.message : String(error);
    }
    return found;
  }

  /** The labels of one; `undefined`: unknown. */
  of(name: string): Readonly<Record<string, string>> | undefined {
    return this.#labels.get(name)?.labels;
  }

  /** A number that changes with the Namespace; `undefined`: unknown. */
  hashOf(name: string): number | undefined {
    return name === "" ? 0 : this.#labels.get(name)?.hash;
  }
}
