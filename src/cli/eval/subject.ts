/**
 * Chooses the policies to evaluate. Only these entries of a policies.yaml are loaded: errors of other entries don't matter, and their modules are not
 * fetched.
 */
import { type Config, type ConfigEntry, type ConfigResult, loadConfig } from "../../config/index.js";
import { UsageError } from "../../data/command-io.js";
import { didYouMean } from "../../data/suggest.js";
import { directEntries, type EntryOptions, isDirect, refuseEntryOptions } from "./direct-entry.js";

/** Most ids in a list. */
const MAX_LISTED = 20;

/** The error for an unknown policy, with the nearest id and the known ones. */
function unknownPolicy(id: string, { entries }: Config, file: string): UsageError {
  const ids = entries.map((entry) => entry.id);
  const members = entries.flatMap((entry) =>
    entry.kind === "group" ? entry.members.map(({ name }) => `${entry.id}/${name}`) : [],
  );
  const listed = ids.slice(0, MAX_LISTED).join(", ");
  const more = ids.length > MAX_LISTED ? ` and ${ids.length - MAX_LISTED} more` : "";
  const known = ids.length === 0 ? `${file} has no policies` : `known are ${listed}${more}`;
  return new UsageError(`unknown policy: ${id}${didYouMean(id, [...ids, ...members])} (${known})`);
}

/** The policies to evaluate. */
export interface Subject {
  /** The ids, in the order in which they were named; empty if the configuration is unreadable. */
  readonly ids: readonly string[];
  /** The configuration of these policies, and of those that they refer to. */
  readonly config: ConfigResult;
  /** Number of other entries of the policies.yaml with errors. */
  readonly othersWithMistakes: number;
  /** Whether a policy was given as a file. */
  readonly isDirect: (id: string) => boolean;
}

/** The choice of policies. */
export interface Choice extends EntryOptions {
  /** Ids, files and addresses. */
  readonly asked: readonly string[];
  /** Whether to take every policy of the file. */
  readonly all?: boolean;
  /** The policies.yaml; read only if it is needed. */
  readonly file: string;
  /** The policies of a cluster in its place. */
  readonly read?: ConfigResult | undefined;
}

type GoodConfig = Extract<ConfigResult, { readonly ok: true }>;

/**
 * Reads the policies.
 * @throws UsageError for unknown ones
 */
export function subjectOf({ asked, all = false, read: given, file: path, ...options }: Choice): Subject {
  const file = given?.ok === true ? given.config.file : path;
  if (all && asked.length > 0) throw new UsageError("--all stands for every policy: name none beside it");
  if (!all && asked.length === 0)
    throw new UsageError("which policy? give its id, a file such as ./policy.wasm, or --all");
  const files = asked.filter(isDirect);
  if (files.length === 0) refuseEntryOptions(options);
  const direct = files.length === 0 ? undefined : directEntries(files, options);
  const made = new Set(direct?.ids.values());
  const idsOf = (texts: readonly string[]) => [...new Set(texts.map((text) => direct?.ids.get(text) ?? text))];
  const common = { othersWithMistakes: 0, isDirect: (id: string) => made.has(id) };
  if (direct !== undefined && files.length === asked.length)
    return { ...common, ids: idsOf(asked), config: direct.config };
  const read = given ?? loadConfig(file);
  if (!read.ok) return { ...common, ids: [], config: read };
  const named = all ? read.config.entries.map(({ id }) => id) : asked.filter((text) => !files.includes(text));
  for (const id of named) if (entryFor(read.config, id) === undefined) throw unknownPolicy(id, read.config, file);
  const wanted = onlyWanted(read, named);
  for (const { id } of wanted.config.entries)
    if (made.has(id)) throw new UsageError(`${id} is the name of a file and a policy of ${file}: ask one at a time`);
  const unasked = read.config.entries.filter((entry) => !wanted.config.entries.includes(entry));
  return {
    ...common,
    ids: all ? named : idsOf(asked),
    config: direct?.config.ok === true ? joined(wanted, direct.config) : (direct?.config ?? wanted),
    othersWithMistakes: unasked.filter(({ kind }) => kind === "invalid").length,
  };
}

/** The entry of an id: for a member its group. */
const entryFor = ({ entries }: Config, id: string): ConfigEntry | undefined =>
  entries.find((entry) => entry.id === id) ?? entries.find((entry) => hasMember(entry, id));

const hasMember = (entry: ConfigEntry, id: string): boolean =>
  entry.kind === "group"
    ? entry.members.some(({ name }) => id === `${entry.id}/${name}`)
    : entry.kind === "invalid" && entry.draft?.members.some((name) => id === `${entry.id}/${name}`) === true;

function onlyWanted(read: GoodConfig, ids: readonly string[]): GoodConfig {
  const { config } = read;
  const wanted = new Set<ConfigEntry>();
  const want = (id: string): void => {
    const entry = entryFor(config, id);
    if (entry === undefined || wanted.has(entry)) return;
    wanted.add(entry);
    for (const reference of referencesOf(entry)) want(reference);
  };
  for (const id of ids) want(id);
  const others = config.entries.filter((entry) => !wanted.has(entry));
  const theirs = new Set(others.flatMap((entry) => (entry.kind === "invalid" ? entry.problems : [])));
  const theirIds = new Set<unknown>(others.map(({ id }) => id));
  const problems = read.problems.filter(
    (problem) => !theirs.has(problem) && !(problem.file === config.file && theirIds.has(problem.path[0])),
  );
  return { ok: true, config: { ...config, entries: config.entries.filter((entry) => wanted.has(entry)) }, problems };
}

/** The ids that an entry's members refer to. */
function referencesOf(entry: ConfigEntry): readonly string[] {
  if (entry.kind !== "group") return [];
  return entry.members.flatMap(({ policy }) => (policy.kind === "reference" ? [policy.id] : referencesOf(policy)));
}

const joined = (left: GoodConfig, right: GoodConfig): GoodConfig => ({
  ok: true,
  config: {
    file: left.config.file,
    entries: [...left.config.entries, ...right.config.entries],
    files: [...left.config.files, ...right.config.files],
  },
  problems: [...left.problems, ...right.problems],
});
