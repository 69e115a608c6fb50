/** Kinds whose code is loaded when a configuration has policies of theirs. */

import { opened } from "../config/documents/documents.js";
import type { Problem } from "../config/documents/problem.js";
import type { ConfigEntry } from "../config/entry.js";
import { errorText } from "../data/error-text.js";
import { loadedOnce } from "../data/loaded-once.js";
import type { DocumentKind, GroupKind, InlineKind, KindDocuments, Kinds, ModuleKind } from "./kind.js";
import { LoadError } from "./load-error.js";
import { isOneOf } from "./resource-entry.js";

// Which kinds a configuration has: only their code is loaded.

/** What of all kinds some entry, or member of one, has. */
interface UsedKinds {
  readonly inline: boolean;
  readonly groups: boolean;
  /** Of the given ones. */
  readonly documents: ReadonlySet<KindDocuments>;
}

/** Looks through entries, groups and their members. */
function usedKinds(entries: readonly ConfigEntry[], all: readonly KindDocuments[]): UsedKinds {
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

/** The kinds, of which those are loaded that a configuration has: each once, so that reloads find what it has compiled. */
export interface KindSource {
  /**
   * What the entries need. Whatever they have no policy of must not be asked. Never rejects: a kind whose code can't be loaded has a LoadError for whoever is
   * of it, and is tried again with the next configuration.
   */
  for(entries: readonly ConfigEntry[]): Promise<Kinds>;
}

/** How the kinds are loaded. */
export interface KindLoaders {
  /** Asked in this order. */
  readonly documents: readonly { readonly types: KindDocuments; readonly load: () => Promise<DocumentKind> }[];
  readonly inline: () => Promise<InlineKind>;
  readonly group: () => Promise<GroupKind>;
  /** These are there from the start. */
  readonly modules: readonly ModuleKind[];
}

/** The kinds that are loaded so. */
export function createKindSource(loaders: KindLoaders): KindSource {
  const { modules } = loaders;
  const documents = loaders.documents.map(({ types, load }) => ({ types, load: loadedOnce(load) }));
  const inline = loadedOnce(loaders.inline);
  const group = loadedOnce(loaders.group);
  const types = documents.map((kind) => kind.types);
  return {
    for: async (entries) => {
      const used = usedKinds(entries, types);
      return {
        documents: await Promise.all(
          documents.map((kind) =>
            used.documents.has(kind.types)
              ? kind.load().catch((error: unknown) => brokenDocuments(kind.types, error))
              : { ...kind.types, prepare: notLoaded },
          ),
        ),
        inline: used.inline ? await inline().catch(brokenInline) : { prepare: notLoaded },
        modules,
        group: used.groups ? await group().catch(brokenGroup) : { policy: notLoaded, mistakes: notLoaded },
      };
    },
  };
}

/** A policy that nobody has seen must not become one that allows. */
function notLoaded(): never {
  throw new Error("a policy of a kind that the configuration did not seem to have");
}

/** In the place of a kind whose code can't be loaded: whatever is of it is unavailable. */
function brokenDocuments(types: KindDocuments, error: unknown): DocumentKind {
  return {
    ...types,
    prepare: ({ own }) => {
      throw unloadable(
        own.slice(0, 1).map((document) => document.problem("error", ["kind"], problemText(error))),
        error,
      );
    },
  };
}

const brokenInline = (error: unknown): InlineKind => ({
  prepare: (entry) => {
    throw unloadable([entry.origin.error(["cel"], problemText(error))], error);
  },
});

const brokenGroup = (error: unknown): GroupKind => ({
  policy: (entry) => {
    throw unloadable([entry.origin.error(["expression"], problemText(error))], error);
  },
  mistakes: () => [],
});

const SHOWN = "the code for policies of this kind could not be loaded";

/** Clients see the first line at most: the second may name files. */
const problemText = (error: unknown): string => `${SHOWN}\n${errorText(error)}`;

const unloadable = (problems: readonly Problem[], cause: unknown): LoadError =>
  new LoadError(SHOWN, problems, { cause, detail: `${SHOWN}: ${errorText(cause)}` });
