/** Loads the policies of a policies.yaml in a program. */
import { loadConfig, type Problem, parseConfig } from "../config/index.js";
import { createPolicySource, type LoadResult, type PolicySource } from "../loader/policy-source.js";
import type { PolicySet } from "../policy/served/policy-set.js";
import { type Log, loggerOf } from "./log.js";
import { ANY_TEXT, COUNT, checkOptions, FACTOR, FUNCTION, MILLISECONDS, OptionError, SWITCH, TEXT } from "./options.js";

/** Options of loading. Paths are relative to the working directory. */
export interface LoadOptions {
  /** A policies.yaml. With `text` only its name, for messages and for relative paths in the text. Default `policies.yaml`. */
  readonly file?: string;
  /** The content of a policies.yaml, in place of a file. */
  readonly text?: string;
  /** Milliseconds that an evaluation may take without a limit of its entry; Infinity switches the limit off. Default 2000. */
  readonly policyTimeout?: number;
  /** Factor for the cost limits of CEL policies. Default 1: Kubernetes' own. */
  readonly costFactor?: number;
  /** Threads for guests that take long. Default: the number of processors. */
  readonly workers?: number;
  /** A kubeconfig: policies may look things up in that cluster. Default: no cluster. */
  readonly kubeconfig?: string;
  /** Folder for downloaded modules. Default: the working directory. */
  readonly downloadDirectory?: string;
  /** `sources.yml`: registries that are insecure, or have an authority of their own. */
  readonly sourcesFile?: string;
  /** `verification.yml`: the signatures that modules must have. */
  readonly verificationFile?: string;
  /** Folder with Docker's config.json: credentials of registries. */
  readonly dockerConfigDirectory?: string;
  /** Folder for Sigstore's trust root. Default `sigstore-data`. */
  readonly sigstoreDirectory?: string;
  /** Whether guests may start from a snapshot of an earlier start; default true. */
  readonly warmStart?: boolean;
  /** Environment variables, such as those of proxies and credential plugins. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Receives guests' log lines, and warnings about downloads. */
  readonly log?: Log;
}

const SHAPES = {
  file: TEXT,
  text: ANY_TEXT,
  policyTimeout: MILLISECONDS,
  costFactor: FACTOR,
  workers: COUNT,
  kubeconfig: TEXT,
  downloadDirectory: TEXT,
  sourcesFile: TEXT,
  verificationFile: TEXT,
  dockerConfigDirectory: TEXT,
  sigstoreDirectory: TEXT,
  warmStart: SWITCH,
  environment: { expected: "an object", fits: (value: unknown) => typeof value === "object" && value !== null },
  log: FUNCTION,
} as const;

/** Error of a policies.yaml of which nothing can be used; the message has the reason, `problems` the places. */
export class PoliciesFileError extends Error {
  readonly code = "POLICIES_FILE";
  override readonly name = "PoliciesFileError";
  readonly problems: readonly Problem[];

  constructor(message: string, problems: readonly Problem[]) {
    super(message);
    this.problems = problems;
  }
}

/** Loaded policies, with the threads and caches that they hold: close them when they are no longer used. */
export interface LoadedPolicies {
  /** The current policies; one that could not be loaded is among them, and denies. */
  readonly policies: PolicySet;
  /** The ids that can be evaluated: `<policy>`, and `<group>/<member>`. */
  readonly ids: readonly string[];
  /** Every error and warning, with its place. */
  readonly problems: readonly Problem[];
  /** The number of errors among them. */
  readonly errors: number;
  /** Files and folders that were read: watch them to know when to reload. */
  readonly files: readonly string[];
  /** Milliseconds that an evaluation may take without a limit of its entry. */
  readonly policyTimeout: number;
  /**
   * Reads everything anew. Evaluators and servers of these policies use the new ones, requests under way finish with the old ones.
   * @param text in place of the file, or of the former text
   * @throws PoliciesFileError when nothing of it can be used; the old policies stay
   */
  reload(text?: string): Promise<void>;
  /** Calls the listener after each reload; returns a function that removes it. */
  onReload(listener: (policies: PolicySet) => void): () => void;
  /** Whether they were closed. */
  readonly closed: boolean;
  /** Ends the threads, and connections to a cluster. A second call does nothing. */
  close(): void;
}

/**
 * Loads policies. An entry with mistakes does not stop the others: it denies every request, and `problems` has the reason.
 * @throws OptionError, PoliciesFileError when nothing of the file can be used, or an error that names a file of the options
 */
export async function loadPolicies(options: LoadOptions = {}): Promise<LoadedPolicies> {
  checkOptions("loadPolicies", options, SHAPES);
  const { text, file = "policies.yaml", log } = options;
  const given = { text };
  const read = (path: string) => (given.text === undefined ? loadConfig(path) : parseConfig(given.text, path));
  const source = createPolicySource({ ...options, file }, { logger: loggerOf(log), read });
  try {
    return new Loaded(source, given, usable(await source.load(1)));
  } catch (error) {
    source.close();
    throw error;
  }
}

/**
 * Checks the first argument of a function.
 * @throws OptionError when it is not a result of {@link loadPolicies}
 */
export function checkLoaded(name: string, loaded: unknown): void {
  if (!(loaded instanceof Loaded)) throw new OptionError(`${name}: the first argument must be what loadPolicies gave`);
}

/**
 * Checks that policies are open: the threads of closed ones have ended.
 * @throws OptionError when they are closed
 */
export function checkOpen(name: string, loaded: LoadedPolicies): void {
  if (loaded.closed) throw new OptionError(`${name}: the policies are closed`);
}

class Loaded implements LoadedPolicies {
  readonly #source: PolicySource;
  readonly #given: { text: string | undefined };
  readonly #listeners = new Set<(policies: PolicySet) => void>();
  #result: LoadResult;
  /** The text of the last load that succeeded. */
  #good: string | undefined;
  #generation = 1;
  #closed = false;

  constructor(source: PolicySource, given: { text: string | undefined }, result: LoadResult) {
    this.#source = source;
    this.#given = given;
    this.#good = given.text;
    this.#result = result;
  }

  get policies(): PolicySet {
    return this.#result.policies;
  }
  get ids(): readonly string[] {
    return [...this.#result.policies.entries.keys()];
  }
  get problems(): readonly Problem[] {
    return this.#result.problems;
  }
  get errors(): number {
    return this.#result.errors;
  }
  get files(): readonly string[] {
    return this.#result.files;
  }
  get policyTimeout(): number {
    return this.#source.policyTimeout;
  }

  get closed(): boolean {
    return this.#closed;
  }

  async reload(text?: string): Promise<void> {
    checkOpen("reload", this);
    if (text !== undefined) this.#given.text = text;
    const used = this.#given.text;
    this.#generation += 1;
    const generation = this.#generation;
    let result: LoadResult;
    try {
      result = usable(await this.#source.load(generation));
    } catch (error) {
      if (this.#given.text === text) this.#given.text = this.#good;
      throw error;
    } finally {
      // The source was opened after `close`.
      if (this.#closed) this.#source.close();
    }
    if (this.#closed) throw new OptionError("reload: the policies were closed meanwhile");
    // A later load may have ended first.
    if (generation < this.#result.policies.generation) return;
    this.#result = result;
    this.#good = used;
    for (const listener of this.#listeners) listener(result.policies);
  }

  onReload(listener: (policies: PolicySet) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#listeners.clear();
    this.#source.close();
  }
}

function usable(result: LoadResult): LoadResult {
  if (result.fatal === undefined) return result;
  throw new PoliciesFileError(result.fatal, result.problems);
}
