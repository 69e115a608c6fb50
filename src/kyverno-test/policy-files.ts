/** The policies and exceptions of a test, out of its files (spec kyverno.md 5.1, 8.1 and 8.8). */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { errorText } from "../data/error-text.js";
import { parseYamlDocuments } from "../data/yaml.js";
import type { ExceptionResource, PolicyResource } from "../kinds/kyverno/index.js";
import { describeFailure, type ReadFailure, readResource } from "../kinds/kyverno/read.js";
import { isBuiltin } from "../kubernetes/builtin-kinds.js";
import { type GroupVersionKind, parseApiVersion } from "../kubernetes/names.js";
import { isObject, type JsonObject, nameOf, text } from "../kubernetes/object.js";
import { reasonOf } from "../scan/input-files.js";
import { TestRunError } from "./run-error.js";

/** What policy files hold. */
export interface TestPolicies {
  readonly policies: readonly PolicyResource[];
  /** Policies of other kinds, by name: why they are not evaluated. */
  readonly notServed: ReadonlyMap<string, string>;
  /** How many policies there are, as Kyverno counts them: all but those for its authorization server. */
  readonly count: number;
}

/** Where mistakes go that end nothing. */
export interface LoadingWords {
  /** A line of Kyverno's own. */
  readonly say: (line: string) => void;
  /** For the user's attention, beside that. */
  readonly warn: (line: string) => void;
}

/** Groups whose kinds decide something, here or elsewhere. */
const KYVERNO_GROUPS: ReadonlySet<string> = new Set(["kyverno.io", "policies.kyverno.io"]);
const ADMISSION_GROUP = "admissionregistration.k8s.io";
/** Modes of policies for Kyverno's authorization server (spec kyverno.md 6.3). */
const OTHER_MODES: ReadonlySet<string> = new Set(["HTTP", "Envoy"]);

/**
 * Reads the policies of files and folders.
 * @throws TestRunError for files that are not there, and for documents that spoil their file
 */
export async function loadPolicies(paths: readonly string[], words: LoadingWords): Promise<TestPolicies> {
  const loading = new Loading(words);
  for (const path of paths) {
    const problem = await loading.path(path);
    if (problem !== undefined) throw new TestRunError(`error: failed to load policies (${problem})`);
  }
  return loading;
}

class Loading implements TestPolicies {
  readonly policies: PolicyResource[] = [];
  readonly notServed = new Map<string, string>();
  readonly #words: LoadingWords;
  #others = 0;

  constructor(words: LoadingWords) {
    this.#words = words;
  }

  get count(): number {
    return this.policies.length + this.#others;
  }

  /** @returns why the run cannot go on */
  async path(path: string): Promise<string | undefined> {
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error) return `stat ${path}: ${reasonOf(found)}`;
    // What is hidden is passed over, also where a test names it.
    if (/^\.+[^./]/.test(basename(path))) return undefined;
    if (found.isDirectory()) {
      for (const name of (await readdir(path)).sort()) {
        const problem = await this.path(join(path, name));
        if (problem !== undefined) return `failed to load ${path}: ${problem}`;
      }
      return undefined;
    }
    if (!/\.ya?ml$/.test(path)) return undefined;
    const problem = this.#file(path, await readFile(path, "utf8"));
    return problem === undefined ? undefined : `failed to load file ${path}: ${problem}`;
  }

  /** Documents stand for themselves: one that is no YAML leaves the others as they are. */
  #file(path: string, written: string): string | undefined {
    for (const each of written.split(DOCUMENT_END)) {
      let documents: unknown[];
      try {
        documents = parseYamlDocuments(each);
      } catch (error) {
        this.#error(path, `failed to parse document (failed to parse yaml: ${errorText(error)})`);
        continue;
      }
      for (const document of documents) {
        const problem = this.#document(path, document);
        if (problem !== undefined) return problem;
      }
    }
    return undefined;
  }

  #document(path: string, value: unknown): string | undefined {
    const problem = isList(value) ? this.#items(path, value.items) : this.#policy(path, value);
    if (problem?.fatal === true) return problem.text;
    if (problem !== undefined) this.#error(path, problem.text);
    return undefined;
  }

  /** Nothing in a list spoils a file. */
  #items(path: string, items: readonly unknown[]): Problem | undefined {
    for (const [i, item] of items.entries()) {
      const problem = this.#policy(path, item);
      if (problem !== undefined) this.#error(path, `failed to process List item ${i}: ${problem.text}`);
    }
    return undefined;
  }

  #policy(path: string, value: unknown): Problem | undefined {
    const read = readResource(value);
    switch (read.kind) {
      case "policy":
        return this.#served(read.resource);
      case "unreadable":
        this.#hints(path, read.failures);
        return { text: read.text, fatal: read.failures.some(({ unknownField }) => unknownField) };
      case "exception":
      case "context-entry":
        // Test files name exceptions elsewhere.
        return undefined;
      case "other":
        return this.#other(value);
    }
  }

  #served(resource: PolicyResource): undefined {
    const { mode = "" } = resource.spec.evaluation ?? {};
    if (!OTHER_MODES.has(mode)) this.policies.push(resource);
    else this.#notServed(resource, `policies for an authorization server (mode ${mode})`);
  }

  #other(value: unknown): Problem | undefined {
    const id = isObject(value) ? kindOf(value) : undefined;
    if (!isObject(value) || id === undefined) return { text: "failed to parse document (GVK cannot be empty)" };
    const { group, version, kind } = id;
    if (isPolicy(id)) {
      if (!kind.endsWith("Binding") && !kind.endsWith("Exception")) {
        this.#others++;
        this.#notServed(value, `policies of the kind ${kind}`);
      }
      return undefined;
    }
    const unsupported = `policy type not supported ${group}/${version}, Kind=${kind}`;
    if (isBuiltin(id)) return { text: unsupported, fatal: true };
    const where = group === "" ? version : `${group}/${version}`;
    return {
      text: `failed to parse document (failed to retrieve validator: failed to locate OpenAPI spec for GV: ${where})`,
    };
  }

  #notServed(value: object, what: string): void {
    this.notServed.set(nameOf(value), `${what} are not evaluated here`);
  }

  #hints(path: string, failures: readonly ReadFailure[]): void {
    for (const failure of failures) {
      if (failure.hint !== undefined) this.#words.warn(`${path}: ${describeFailure(failure)}`);
    }
  }

  #error(path: string, problem: string): void {
    this.#words.say(`  ERROR: ${path}: ${problem}`);
  }
}

/** Why a document is of no use; `fatal`: nor is its file, and with that the run ends. */
interface Problem {
  readonly text: string;
  readonly fatal?: boolean;
}

/** A line that ends a document. */
const DOCUMENT_END = /^---[ \t]*$/m;

const isList = (value: unknown): value is { readonly items: readonly unknown[] } =>
  isObject(value) && text(value, "apiVersion") === "v1" && value.kind === "List" && Array.isArray(value.items);

function kindOf(value: JsonObject): GroupVersionKind | undefined {
  const version = parseApiVersion(text(value, "apiVersion"));
  const kind = text(value, "kind");
  return version === undefined || text(value, "apiVersion") === "" || kind === "" ? undefined : { ...version, kind };
}

const isPolicy = ({ group, kind }: GroupVersionKind): boolean =>
  (KYVERNO_GROUPS.has(group) && /Policy(Exception)?$/.test(kind)) ||
  (group === ADMISSION_GROUP && /^(Validating|Mutating)AdmissionPolicy(Binding)?$/.test(kind));

/**
 * Reads exceptions.
 * @throws TestRunError for files that are not there, and for whatever is no exception
 */
export async function loadExceptions(paths: readonly string[]): Promise<readonly ExceptionResource[]> {
  const exceptions: ExceptionResource[] = [];
  for (const path of paths) {
    const written = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      throw unloadable(`unable to read yaml (open ${path}: ${reasonOf(error)})`);
    });
    for (const value of documentsOf(written)) {
      const read = readResource(value);
      if (read.kind === "exception") exceptions.push(read.resource);
      else if (read.kind === "unreadable") throw unloadable(`unable to load exceptions (${read.text})`);
      else if (!isObject(value) || !isLegacyException(value))
        throw unloadable(`unable to load exceptions (${notOne(value)})`);
    }
  }
  return exceptions;
}

const unloadable = (reason: string) => new TestRunError(`error: failed to load exceptions (${reason})`);

/** Those of the old group have no effect on policies of this kind. */
const isLegacyException = (value: JsonObject): boolean =>
  value.kind === "PolicyException" && text(value, "apiVersion").startsWith("kyverno.io/");

function documentsOf(written: string): readonly unknown[] {
  try {
    return parseYamlDocuments(written);
  } catch (error) {
    throw unloadable(
      `unable to load exceptions (failed to parse document (failed to parse yaml: ${errorText(error)}))`,
    );
  }
}

function notOne(value: unknown): string {
  const id = isObject(value) ? kindOf(value) : undefined;
  if (id === undefined) return "failed to parse document (GVK cannot be empty)";
  return `policy exception type not supported ${id.group}/${id.version}, Kind=${id.kind}`;
}
