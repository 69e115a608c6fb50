/** Which kinds a configuration has: only their code is loaded. */

import { opened } from "../config/documents/documents.js";
import type { ConfigEntry } from "../config/entry.js";
import type { KindDocuments } from "./kind.js";
import { isOneOf } from "./resource-entry.js";

/** What of all kinds some entry, or member of one, has. */
export interface UsedKinds {
  readonly inline: boolean;
  readonly groups: boolean;
  /** Of the given ones. */
  readonly documents: ReadonlySet<KindDocuments>;
}

/** Looks through entries, groups and their members. */
export function usedKinds(entries: readonly ConfigEntry[], all: readonly KindDocuments[]): UsedKinds {
  const flat = entries.flatMap(withMembers);
  const documents = flat.flatMap((entry) => (entry.kind === "resource" ? opened(entry.documents) : []));
  return {
    inline: flat.some(({ kind }) => kind === "cel"),
    // The expression of a group that can't be loaded is checked all the same.
    groups: flat.some((entry) => entry.kind === "group" || (entry.kind === "invalid" && entry.draft !== undefined)),
    documents: new Set(all.filter(({ policies }) => documents.some((document) => isOneOf(policies, document)))),
  };
}

function withMembers(entry: ConfigEntry): readonly ConfigEntry[] {
  if (entry.kind !== "group") return [entry];
  const own = entry.members.flatMap(({ policy }) => (policy.kind === "reference" ? [] : [policy]));
  return [entry, ...own.flatMap(withMembers)];
}
