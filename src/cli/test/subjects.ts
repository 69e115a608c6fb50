/** Loads the subjects of test files: the policies of policies.yaml, if cases refer to some, and policies that only a test file has. */
import { basename, dirname, join } from "node:path";
import { type Config, type ConfigEntry, filesOf, loadConfig, type Problem, parseConfig } from "../../config/index.js";
import { stringifyJson } from "../../data/json.js";
import { didYouMean } from "../../data/suggest.js";
import type { Watcher } from "../../kinds/shared/index.js";
import { createLoader } from "../../loader/index.js";
import { createPolicySource } from "../../loader/policy-source.js";
import { type LoaderSettings, policiesFile } from "../../loader/settings.js";
import { createEvaluator, type Evaluator } from "../../policy/served/evaluator.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { Subject, TestCase } from "./case.js";

/** The policy of a case, or the reason why there is none. */
export type Asked =
  /** `problem`: the full reason why it is unavailable, which an answer does not have. */
  | { readonly entry: ServedPolicy; readonly evaluator: Evaluator; readonly problem?: Problem | undefined }
  | { readonly failure: string };

/** All loaded policies of a run. */
export interface Subjects {
  /** Problems of policies.yaml, and of the entries in test files. */
  readonly problems: readonly Problem[];
  /** The reason why nothing of policies.yaml can be used. */
  readonly fatal?: string;
  /** Files that were read. */
  readonly files: readonly string[];
  /** All policies, with their entries. */
  readonly served: readonly {
    readonly entry: ServedPolicy;
    readonly from: ConfigEntry | undefined;
    readonly name: string;
  }[];
  of(test: TestCase): Asked;
  close(): void;
}

/** Loads the subjects of these cases. */
export async function loadSubjects(
  cases: readonly TestCase[],
  settings: LoaderSettings,
  watcher: Watcher,
): Promise<Subjects> {
  const own = new OwnPolicies(settings);
  for (const { file, subject } of cases) if (subject.kind === "own") own.add(subject, file);
  const named = cases.some(({ subject }) => subject.kind === "entry");
  const source = named ? createPolicySource(settings, { watcher }) : undefined;
  const standing = await source?.load();
  const evaluator = standing && source && createEvaluator(standing.policies, { policyTimeout: source.policyTimeout });
  const loading = own.config.entries.length > 0 ? createLoader(settings, { watcher }) : undefined;
  const loaded = await loading?.load(own.config);
  const ownEvaluator = loading && loaded && createEvaluator(loaded.policies, { policyTimeout: loading.policyTimeout });
  const entries = standing === undefined || standing.fatal !== undefined ? [] : entriesOf(settings);
  const standingPolicies = [...(standing?.policies.entries.values() ?? [])];
  return {
    problems: [...(standing?.problems ?? []), ...own.problems],
    ...(standing?.fatal !== undefined && { fatal: standing.fatal }),
    files: [...(standing?.files ?? []), ...own.files],
    served: [
      ...standingPolicies.map((entry) => ({ entry, from: entries.find(({ id }) => id === entry.id), name: entry.id })),
      ...[...(loaded?.policies.entries.values() ?? [])].map((entry) => ({
        entry,
        // An entry in the test file was parsed as a separate text: its places are not those of a file.
        from: own.config.entries.find(({ id, kind }) => id === entry.id && kind === "resource"),
        name: own.nameOf(entry.id),
      })),
    ],
    of: ({ file, subject }) => {
      if (subject.kind === "entry") {
        const entry = standing?.policies.entries.get(subject.id);
        if (entry !== undefined && evaluator !== undefined)
          return { entry, evaluator, problem: errorOf(subject.id, standing?.problems) };
        const known = standingPolicies.map(({ id }) => id);
        return {
          failure: `there is no policy '${subject.id}'${didYouMean(subject.id, known)} in ${policiesFile(settings)}`,
        };
      }
      const id = own.idOf(subject, file);
      const entry = typeof id === "string" ? loaded?.policies.entries.get(id) : undefined;
      if (entry !== undefined && ownEvaluator !== undefined)
        return { entry, evaluator: ownEvaluator, problem: errorOf(entry.id, loaded?.problems) };
      return { failure: typeof id === "string" ? `'${subject.name}' could not be loaded` : id.failure };
    },
    close: () => {
      source?.close();
      loading?.close();
    },
  };
}

const errorOf = (id: string, problems: readonly Problem[] = []): Problem | undefined =>
  problems.find(({ path, severity }) => path[0] === id && severity === "error");

function entriesOf(settings: LoaderSettings): readonly ConfigEntry[] {
  const read = loadConfig(policiesFile(settings));
  return read.ok ? read.config.entries : [];
}

type OwnSubject = Subject & { readonly kind: "own" };

/** Policies that only test files have, each once, with ids of their own. */
class OwnPolicies {
  readonly #settings: LoaderSettings;
  readonly #entries: ConfigEntry[] = [];
  readonly #names = new Map<string, string>();
  readonly #ids = new Map<string, string | { readonly failure: string }>();
  readonly #files = new Set<string>();
  readonly problems: Problem[] = [];
  #standing: readonly ConfigEntry[] | undefined;

  constructor(settings: LoaderSettings) {
    this.#settings = settings;
  }

  get config(): Config {
    return { file: "", entries: this.#entries, files: [...this.#files] };
  }

  get files(): readonly string[] {
    return filesOf(this.config);
  }

  nameOf(id: string): string {
    return this.#names.get(id) ?? id;
  }

  idOf(subject: OwnSubject, file: string): string | { readonly failure: string } {
    return this.#ids.get(keyOf(subject, file)) ?? { failure: `there is no policy '${subject.name}'` };
  }

  add(subject: OwnSubject, file: string): void {
    const key = keyOf(subject, file);
    if (this.#ids.has(key)) return;
    // The policy's name in answers: without a path, so that answers are the same wherever the tests are.
    const bare = basename(subject.name).replace(/\.(wasm|ya?ml)$/, "");
    const id = this.#names.has(bare) ? `${bare}#${this.#ids.size + 1}` : bare;
    const made =
      subject.of === undefined ? this.#written(subject, file, id) : this.#withSettings(subject, subject.of, id);
    this.#ids.set(key, "failure" in made ? made : id);
    if ("failure" in made) return;
    this.#names.set(id, subject.name);
    this.#entries.push(made);
  }

  #written({ entry }: OwnSubject, file: string, id: string): ConfigEntry | { readonly failure: string } {
    // Parsed like policies.yaml, which defines the fields of an entry.
    const read = parseConfig(stringifyJson({ [id]: entry }), join(dirname(file), "policies.yaml"));
    if (!read.ok) return { failure: read.message };
    for (const path of read.config.files) this.#files.add(path);
    const [made] = read.config.entries;
    if (made === undefined) return { failure: "the file names no policy" };
    if (made.kind !== "invalid") return made;
    return {
      failure: made.problems
        .map(({ path, message }) => `${path.slice(1).join(".") || "the policy"}: ${message}`)
        .join("; "),
    };
  }

  #withSettings({ settings = {} }: OwnSubject, of: string, id: string): ConfigEntry | { readonly failure: string } {
    this.#standing ??= entriesOf(this.#settings);
    const entry = this.#standing.find((each) => each.id === of);
    if (entry === undefined) {
      const known = this.#standing.map((each) => each.id);
      return { failure: `there is no policy '${of}'${didYouMean(of, known)} in ${policiesFile(this.#settings)}` };
    }
    if (entry.kind === "module") return { ...entry, id, settings };
    return { failure: `settings are for modules, and '${of}' of ${policiesFile(this.#settings)} is none` };
  }
}

const keyOf = ({ of, entry, settings }: OwnSubject, file: string): string =>
  stringifyJson([of ?? dirname(file), entry, settings ?? null]);
