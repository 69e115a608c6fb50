/** Reads a draft as a configuration, limits it to what drafts may do, and puts it before the served policies. */

import { realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import {
  addressPath,
  type Config,
  type ConfigEntry,
  type GroupEntry,
  type ModuleEntry,
  type PolicyEntry,
  type Problem,
  parseConfig,
} from "../../config/index.js";
import type { PageSource } from "../api.js";

// The files that drafts may read: those below one folder. Any user of the page can write a draft, and errors of a file may quote it.

/** Why a path may not be read; undefined: it may, if it exists. */
type Refusal = (path: string) => string | undefined;

const OUTSIDE = "is not below the folder of the policies file: a draft in the page reads no others";

/** Allows paths below a folder, with links resolved. Others are refused whether they exist or not. */
function below(folder: string): Refusal {
  const holds = (top: string, path: string): boolean => {
    const way = relative(top, path);
    return way !== ".." && !way.startsWith(`..${sep}`) && resolve(top, way) === path;
  };
  return (path) => {
    const wanted = resolve(path);
    if (!holds(resolve(folder), wanted)) return OUTSIDE;
    try {
      return holds(realpathSync(folder), realpathSync(wanted)) ? undefined : OUTSIDE;
    } catch {
      // The reader of the file will report that it does not exist.
      return undefined;
    }
  };
}

/** The name of the draft among the files of its folder; no file is written there. */
const DRAFT_FILE = ".page-draft.yaml";
/** The name of the entry of a draft of documents. */
export const ENTRY_FILE = ".page-entry.yaml";
/** The id of a draft of documents, which has no entry of its own. */
export const DRAFT_ID = "draft";

/** A draft that was read. */
export interface Draft {
  /** The file name of its text, for the places of problems. */
  readonly file: string;
  /** The draft's entries, then the served ones that they name. Empty where the draft as a whole has errors. */
  readonly config: Config;
  /** Ids of the draft's own entries, in order. */
  readonly ids: readonly string[];
  /** The problems found so far. */
  readonly problems: readonly Problem[];
}

/**
 * Reads a draft.
 * @param policies the policies file, whose folder is the base of paths
 * @param served the served configuration
 */
export function readDraft(draft: PageSource, policies: string, served: Config): Draft {
  const folder = dirname(resolve(policies));
  const file = join(folder, DRAFT_FILE);
  const mayRead = below(folder);
  const known = served.entries.map(({ id }) => id);
  const options = { texts: new Map([[file, draft.text]]), refusal: mayRead, known };
  const read =
    draft.kind === "entry"
      ? parseConfig(draft.text, file, options)
      : parseConfig(`${DRAFT_ID}: { resource: ${DRAFT_FILE} }\n`, join(folder, ENTRY_FILE), options);
  const nothing: Config = { file, entries: [], files: [] };
  if (!read.ok) return { file, config: nothing, ids: [], problems: read.problems };
  const { config } = read;
  const ids = config.entries.map(({ id }) => id);
  const foreign = config.entries.flatMap((entry) => foreignModules(entry, servedModules(served), mayRead));
  const problems = [...read.problems, ...foreign];
  // Forbidden modules are not even requested.
  if (foreign.length > 0) return { file, config: nothing, ids, problems };
  const needed = neededOf(config.entries, served);
  if ("cycle" in needed) return { file, config: nothing, ids, problems: [...problems, needed.cycle] };
  return { file, config: { ...config, entries: [...config.entries, ...needed.entries] }, ids, problems };
}

const FOREIGN =
  "a draft in the page may use the modules that the policies file names, and files below its folder; no others are read or fetched";

/** The modules that a draft may not use, each as a problem at its place. */
function foreignModules(
  entry: ConfigEntry,
  served: ReadonlySet<string>,
  mayRead: (path: string) => string | undefined,
) {
  return modulesOf(entry).flatMap((each): Problem[] => {
    const { module, origin } = each;
    if (served.has(module.location)) return [];
    if (module.kind === "file" && mayRead(addressPath(module)) === undefined) return [];
    return [origin.error(["module"], FOREIGN)];
  });
}

const servedModules = ({ entries }: Config): ReadonlySet<string> =>
  new Set(entries.flatMap(modulesOf).map(({ module }) => module.location));

function modulesOf(entry: ConfigEntry): readonly ModuleEntry[] {
  if (entry.kind === "module") return [entry];
  return entry.kind === "group" ? ownMembers(entry).flatMap(modulesOf) : [];
}

const ownMembers = ({ members }: GroupEntry): readonly PolicyEntry[] =>
  members.flatMap(({ policy }) => (policy.kind === "reference" ? [] : [policy]));

/** Ids of other entries that an entry names. */
function namedBy(entry: ConfigEntry): readonly string[] {
  if (entry.kind !== "group") return [];
  const named = entry.members.flatMap(({ policy }) => (policy.kind === "reference" ? [policy.id] : []));
  return [...named, ...ownMembers(entry).flatMap(namedBy)];
}

/** The served entries that a draft needs; or that one of them contains the draft. */
function neededOf(
  drafts: readonly ConfigEntry[],
  served: Config,
): { readonly entries: readonly ConfigEntry[] } | { readonly cycle: Problem } {
  const byId = new Map([...served.entries, ...drafts].map((entry) => [entry.id, entry]));
  const own = new Set(drafts.map(({ id }) => id));
  const entries: ConfigEntry[] = [];
  const done = new Set<string>();
  const under = new Set<string>();
  const visit = (id: string): boolean => {
    const entry = byId.get(id);
    if (under.has(id)) return false;
    if (entry === undefined || done.has(id)) return true;
    under.add(id);
    const isEnding = namedBy(entry).every(visit);
    under.delete(id);
    done.add(id);
    if (!own.has(id)) entries.push(entry);
    return isEnding;
  };
  for (const entry of drafts) {
    if (visit(entry.id)) continue;
    const message = `groups must not contain themselves: what is served under one of the names contains '${entry.id}'`;
    if (entry.kind !== "invalid") return { cycle: entry.origin.error([], message) };
  }
  return { entries };
}
