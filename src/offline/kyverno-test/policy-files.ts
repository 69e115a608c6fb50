/** Reads the policies of a test from its files (spec kyverno.md 8.1 and 8.8). */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorText } from "../../data/error-text.js";
import { MANIFESTS } from "../../data/manifest-files.js";
import { parseSuspectYaml, warningText, type YamlError, yamlText } from "../../data/yaml.js";
import { authorizationMode } from "../../kinds/kyverno/authorization/index.js";
import { targetsError } from "../../kinds/kyverno/check-policy.js";
import { isOldPolicy, type KnownPolicy, type PolicyResource, readOldPolicy } from "../../kinds/kyverno/index.js";
import { describeFailure, type ReadFailure, readResource } from "../../kinds/kyverno/read.js";
import { judgesNothing, lacking } from "../../kinds/kyverno/resource.js";
import { struct } from "../../kinds/shared/decode/api-type.js";
import { decodeAsGo } from "../../kinds/shared/decode/go-json.js";
import { builtinKinds, isBuiltin } from "../../kubernetes/builtin-kinds.js";
import { formatPath } from "../../kubernetes/field-error.js";
import { type GroupVersionKind, parseApiVersion } from "../../kubernetes/names.js";
import { isObject, type JsonObject, nameOf, text } from "../../kubernetes/object.js";
import type { OldPolicyValues } from "../scan/circumstances.js";
import { reasonOf } from "../scan/input-files.js";
import { withValues } from "../scan/old-values.js";
import { TestRunError } from "./run-error.js";

/** The content of policy files. */
export interface TestPolicies {
  /** Those that judge and those that mutate, in the order of the files. */
  readonly policies: readonly PolicyResource[];
  /** Policies for an authorization server. */
  readonly authorization: readonly PolicyResource[];
  /** Files with ValidatingAdmissionPolicies or MutatingAdmissionPolicies, or their bindings. */
  readonly admissionFiles: readonly string[];
  /** Reasons by name of policies of other kinds, which are not evaluated. */
  readonly notServed: ReadonlyMap<string, string>;
  /** Number of policies in Kyverno's count: all but those for its authorization server. */
  readonly count: number;
  /** Policies of the old language, by which exceptions know them. */
  readonly old: readonly KnownPolicy[];
}

/** Receivers of errors that don't end the run. */
export interface LoadingWords {
  /** A line of Kyverno's own. */
  readonly say: (line: string) => void;
  /** A warning for the user, beside Kyverno's output. */
  readonly warn: (line: string) => void;
  /** Counts an input that can't be used, whose line has been said. */
  readonly mistake: () => void;
}

/** API groups of policies, here or elsewhere. */
const KYVERNO_GROUPS: ReadonlySet<string> = new Set(["kyverno.io", "policies.kyverno.io"]);
const ADMISSION_GROUP = "admissionregistration.k8s.io";
/** Kinds of the API server's policies and their bindings, with the versions that Kyverno's command knows. */
const ADMISSION_KIND = /^(?:Validating|Mutating)AdmissionPolicy(?:Binding)?$/;
const ADMISSION_VERSIONS: Readonly<Record<string, readonly string[]>> = {
  V: ["v1"],
  M: ["v1", "v1beta1", "v1alpha1"],
};

/**
 * Reads the policies of files and folders.
 * @throws TestRunError for missing files, and for documents that make their file invalid
 */
export async function loadPolicies(
  paths: readonly string[],
  values: OldPolicyValues,
  words: LoadingWords,
): Promise<TestPolicies> {
  const loading = new Loading(values, words);
  for (const path of paths) {
    const problem = await loading.path(path);
    if (problem !== undefined) throw new TestRunError(`error: failed to load policies (${problem})`);
  }
  return loading;
}

class Loading implements TestPolicies {
  readonly policies: PolicyResource[] = [];
  readonly authorization: PolicyResource[] = [];
  readonly old: KnownPolicy[] = [];
  readonly notServed = new Map<string, string>();
  readonly #admissionFiles = new Set<string>();
  readonly #values: OldPolicyValues;
  readonly #words: LoadingWords;
  /** Kyverno counts policies, not their rules. */
  #others = 0;

  constructor(values: OldPolicyValues, words: LoadingWords) {
    this.#values = values;
    this.#words = words;
  }

  get admissionFiles(): readonly string[] {
    return [...this.#admissionFiles];
  }

  get count(): number {
    return this.policies.length + this.#others;
  }

  /** @returns the reason why the run cannot continue */
  async path(path: string, isNamed = true): Promise<string | undefined> {
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error) return `stat ${path}: ${reasonOf(found)}`;
    if (found.isDirectory()) {
      for (const name of (await readdir(path)).sort()) {
        const problem = await this.path(join(path, name), false);
        if (problem !== undefined) return `failed to load ${path}: ${problem}`;
      }
      return undefined;
    }
    if (!isNamed && !MANIFESTS.test(path)) return undefined;
    const problem = this.#file(path, yamlText(await readFile(path)));
    return problem === undefined ? undefined : `failed to load file ${path}: ${problem}`;
  }

  /** Reads a file by documents: one that is not YAML does not affect the others. */
  #file(path: string, written: string): string | undefined {
    let line = 1;
    for (const each of written.split(DOCUMENT_END)) {
      const firstLine = line;
      line += each.split("\n").length - 1;
      const doubted = (doubt: YamlError): void => this.#words.warn(warningText(doubt, path, firstLine));
      let documents: unknown[];
      try {
        documents = parseSuspectYaml(each, doubted, { uniqueKeys: true });
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

  /** Reads the items of a list, which never make a file invalid. */
  #items(path: string, items: readonly unknown[]): Problem | undefined {
    for (const [i, item] of items.entries()) {
      const problem = this.#policy(path, item);
      if (problem === undefined) continue;
      const reason = isObject(item) ? unsupported(item).text : problem.text;
      this.#error(path, `failed to process List item ${i}: ${reason}`);
    }
    return undefined;
  }

  #policy(path: string, value: unknown): Problem | undefined {
    if (isOldPolicy(value)) return this.#old(path, value);
    const read = readResource(value);
    switch (read.kind) {
      case "policy":
        return this.#served(path, read.resource);
      case "unreadable":
        this.#hints(path, read.failures);
        return { text: read.text, fatal: read.failures.some(({ unknownField }) => unknownField) };
      case "exception":
        // Test files have another key for exceptions.
        return undefined;
      case "context-entry":
        return unparsed(`kind ${read.resource.kind} not found in ${read.resource.apiVersion} groupversion`);
      case "other":
        return this.#other(path, value);
    }
  }

  #served(path: string, resource: PolicyResource): undefined {
    const targets = targetsError(resource);
    if (targets !== undefined) {
      this.#others++;
      this.notServed.set(resource.metadata.name ?? "", targets.text);
      return;
    }
    if (judgesNothing(resource)) {
      this.#words.warn(`${path}: ${resource.kind} ${resource.metadata.name} ${lacking(resource)}`);
      this.#words.mistake();
    }
    const mode = authorizationMode(resource);
    (mode === undefined ? this.policies : this.authorization).push(resource);
  }

  #old(path: string, value: JsonObject): undefined {
    const { rules, reasons, known } = readOldPolicy(withValues(value, this.#values));
    this.old.push(known);
    const [refused] = reasons;
    this.#others++;
    if (refused !== undefined) {
      this.notServed.set(nameOf(value), `${formatPath(refused.path)}: ${refused.message}`);
      return;
    }
    for (const { policies, reason } of rules) {
      this.policies.push(...policies.map(({ resource }) => resource));
      this.#others -= policies.length;
      if (reason !== undefined)
        this.#words.warn(`${path}: ${nameOf(value)}: ${formatPath(reason.path)}: not converted: ${reason.message}`);
    }
  }

  #other(path: string, value: unknown): Problem | undefined {
    if (!isObject(value)) return { text: `failed to parse document (${noObject(value)})` };
    const apiVersion = text(value, "apiVersion");
    const kind = text(value, "kind");
    if (apiVersion === "" && kind === "") return { text: "failed to parse document (GVK cannot be empty)" };
    const id = { ...(parseApiVersion(apiVersion) ?? { group: "", version: apiVersion }), kind };
    const isServed = ADMISSION_VERSIONS[kind.slice(0, 1)]?.includes(id.version) === true;
    if (id.group === ADMISSION_GROUP && ADMISSION_KIND.test(kind) && isServed) {
      this.#admissionFiles.add(path);
      if (!kind.endsWith("Binding")) this.#others++;
      return undefined;
    }
    if (isPolicy(id)) {
      if (kind.endsWith("Binding") || kind.endsWith("Exception")) return undefined;
      this.#others++;
      this.#notServed(value, `policies of the kind ${kind}`);
      return undefined;
    }
    if (isBuiltin(id)) return unsupported(value);
    const known = [...builtinKinds()].some((each) => each.apiVersion === apiVersion);
    return unparsed(
      known
        ? `kind ${kind} not found in ${apiVersion} groupversion`
        : `failed to locate OpenAPI spec for GV: ${apiVersion}`,
    );
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
    this.#words.mistake();
  }
}

/** The reason why a document is unusable; `fatal`: so is its file, which ends the run. */
interface Problem {
  readonly text: string;
  readonly fatal?: boolean;
}

/** The separator of documents. */
const DOCUMENT_END = /^---[ \t]*$/m;

const isList = (value: unknown): value is { readonly items: readonly unknown[] } =>
  isObject(value) && text(value, "apiVersion") === "v1" && value.kind === "List" && Array.isArray(value.items);

/** The problem of a document that is supported elsewhere, but not here. */
function unsupported(value: unknown): Problem {
  const apiVersion = text(value, "apiVersion");
  const of = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return { text: `policy type not supported ${of}, Kind=${text(value, "kind")}`, fatal: true };
}

const unparsed = (reason: string): Problem => ({
  text: `failed to parse document (failed to retrieve validator: ${reason})`,
});

/** The message of Go's decoder for a document that is not a map. */
function noObject(value: unknown): string {
  const decoded = decodeAsGo(value, TYPE_META);
  return `failed to parse yaml: error unmarshaling JSON: while decoding JSON: ${decoded.ok ? "" : decoded.error}`;
}

const TYPE_META = struct("v1.TypeMeta", {});

const isPolicy = ({ group, kind }: GroupVersionKind): boolean =>
  (KYVERNO_GROUPS.has(group) && /Policy(Exception)?$/.test(kind)) ||
  (group === ADMISSION_GROUP && ADMISSION_KIND.test(kind)) ||
  // They have our own test files.
  (group === "policy.cert-manager.io" && kind === "CertificateRequestPolicy");
