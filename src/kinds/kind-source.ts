/** Kinds whose code is loaded only when a configuration has policies of theirs. */

import { opened } from "../config/documents/documents.js";
import type { Problem } from "../config/documents/problem.js";
import type { ConfigEntry } from "../config/entry.js";
import { errorText } from "../data/error-text.js";
import { loadedOnce } from "../data/loaded-once.js";
import type { DocumentKind, GroupKind, InlineKind, KindDocuments, Kinds, ModuleKind } from "./kind.js";
import { LoadError } from "./load-error.js";
import { isOneOf } from "./resource-entry.js";

// The kinds that a configuration uses: only their code is loaded.

/** The kinds of all entries and their members. */
interface UsedKinds {
  readonly inline: boolean;
  readonly groups: boolean;
  /** The used ones of the given kinds. */
  readonly documents: ReadonlySet<KindDocuments>;
}

/** Finds the kinds of entries, groups and their members. */
function usedKinds(entries: readonly ConfigEntry[], all: readonly KindDocuments[]): UsedKinds {
  const flat = entries.flatMap(withMembers);
  const documents = flat.flatMap((entry) => (entry.kind === "resource" ? opened(entry.documents) : []));
  return {
    inline: flat.some(({ kind }) => kind === "cel"),
    // The expression of a group that can't be loaded is checked as well.
    groups: flat.some((entry) => entry.kind === "group" || (entry.kind === "invalid" && entry.draft !== undefined)),
    documents: new Set(all.filter(({ policies }) => documents.some((document) => isOneOf(policies, document)))),
  };
}

function withMembers(entry: ConfigEntry): readonly ConfigEntry[] {
  if (entry.kind !== "group") return [entry];
  const own = entry.members.flatMap(({ policy }) => (policy.kind === "reference" ? [] : [policy]));
  return [entry, ...own.flatMap(withMembers)];
}

/** The kinds, loaded when a configuration needs them: each once, so that reloads find what it has compiled. */
export interface KindSource {
  /**
   * The kinds that the entries need. Only kinds that some entry uses may be called. Never rejects: a kind whose code can't be loaded throws a LoadError for
   * each of its entries, and is loaded again with the next configuration.
   */
  for(entries: readonly ConfigEntry[]): Promise<Kinds>;
}

/** The loaders of the kinds. */
export interface KindLoaders {
  /** The kinds of documents, tried in this order. */
  readonly documents: readonly { readonly types: KindDocuments; readonly load: () => Promise<DocumentKind> }[];
  readonly inline: () => Promise<InlineKind>;
  readonly group: () => Promise<GroupKind>;
  /** Kinds that are loaded from the start. */
  readonly modules: readonly ModuleKind[];
}

/** A source of kinds with these loaders. */
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

/** Throws: an entry whose kind was not loaded must not become a policy that allows. */
function notLoaded(): never {
  throw new Error("a policy of a kind that the configuration did not seem to have");
}

/** Replaces a kind whose code can't be loaded: all its policies are unavailable. */
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

/** The text of a problem. Clients see the first line at most: the second may name files. */
const problemText = (error: unknown): string => `${SHOWN}\n${errorText(error)}`;

const unloadable = (problems: readonly Problem[], cause: unknown): LoadError =>
  new LoadError(SHOWN, problems, { cause, detail: `${SHOWN}: ${errorText(cause)}` });
