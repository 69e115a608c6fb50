/** Files of Kubernetes documents as the configuration of a server that has an entry for their policies. */
import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { ConfigFileError, ConfigFiles } from "../../config/config-files.js";
import { identityOf, opened } from "../../config/documents/documents.js";
import { isPolicyLike, knownKind, nearKind } from "../../config/documents/known-kinds.js";
import { Origin } from "../../config/documents/origin.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import { type ResourceFields, resourceEntry } from "../../config/entry-parts.js";
import { type ConfigEntry, type ConfigResult, type Problem, parseConfig } from "../../config/index.js";
import { emptyFile } from "../../config/resource-reader.js";
import { UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { member, text } from "../../kubernetes/object.js";

/** The name of standard input. */
export const STDIN = "-";
export const STDIN_NAME = "<stdin>";

/** @throws UsageError where a file or folder is missing */
export function demandAll(named: readonly string[]): void {
  const missing = named.filter((name) => name !== STDIN && !existsSync(name)).map((name) => JSON.stringify(name));
  if (missing.length > 0) throw new UsageError(`there is no such file or folder: ${missing.join(", ")}`);
}

/** The documents and files that were not looked at: they have no policy, and belong to none. */
export interface LeftOut {
  /** Documents of other kinds. */
  readonly objects: number;
  /** Files without a Kubernetes object, templates among them. */
  readonly files: number;
}

/** The line about what was left out; `""`: nothing. */
export function leftOutText({ objects, files }: LeftOut): string {
  const parts = [
    ...(objects > 0 ? [counted(objects, "object of another kind", "objects of other kinds")] : []),
    ...(files > 0 ? [counted(files, "file without a Kubernetes object", "files without a Kubernetes object")] : []),
  ];
  return parts.length === 0 ? "" : `; left out: ${parts.join(", ")}`;
}

/** Documents as a configuration. */
export interface DocumentConfig {
  readonly result: ConfigResult;
  /** The number of policies, those that are not served included. */
  readonly policies: number;
  readonly leftOut: LeftOut;
  /** Files that have neither a policy nor anything that belongs to one. */
  readonly foreign: readonly string[];
}

/** The group of each kind whose policies are evaluated together, with all their companions. */
const KYVERNO = "policies.kyverno.io";
const CERTIFICATES = "policy.cert-manager.io";
const RBAC = "rbac.authorization.k8s.io";
const TOGETHER: ReadonlySet<string> = new Set([KYVERNO, CERTIFICATES]);
const KUBEWARDEN = "policies.kubewarden.io";
const ADMISSION = "admissionregistration.k8s.io";
const TEMPLATE = /\{\{/;

/**
 * Reads files of documents.
 * @param name what they are called together
 * @param inFolder whether they were found in a folder, so that some may be other files
 * @param texts those that were read already, by absolute path
 */
export function documentConfig(
  name: string,
  files: readonly string[],
  inFolder: boolean,
  texts: ReadonlyMap<string, string>,
): DocumentConfig {
  const reading = new Reading(inFolder, texts);
  for (const file of files) reading.add(file);
  return reading.made(name);
}

/** Whether a text holds Kubernetes objects, and is not a configuration; of one that can't be read, the beginnings of lines tell. */
export function holdsDocuments(content: string, file: string): boolean {
  const { documents, problems } = parseResources(content, file);
  return problems.length > 0
    ? [/^"?apiVersion"?:/m, /^"?kind"?:/m].every((key) => key.test(content))
    : documents.some(isKubernetesObject);
}

const isKubernetesObject = ({ value }: SourceDocument): boolean =>
  text(value, "apiVersion") !== "" && text(value, "kind") !== "";

/** The reading of files (disposable). */
class Reading {
  readonly #inFolder: boolean;
  readonly #texts: ReadonlyMap<string, string>;
  readonly #entries: ConfigEntry[] = [];
  readonly #problems: Problem[] = [];
  readonly #documents: SourceDocument[] = [];
  /** Warnings by file: they are told of files with policies and their companions only. */
  readonly #warnings = new Map<string, readonly Problem[]>();
  /** Files of Kubewarden's policies, and broken ones. */
  readonly #withPolicy = new Set<string>();
  /** Absolute paths of files that kustomize merges into others: they hold parts of objects. */
  readonly #patches = new Set<string>();
  readonly #empty: string[] = [];
  #kubewarden = 0;
  #files = 0;

  constructor(inFolder: boolean, texts: ReadonlyMap<string, string>) {
    this.#inFolder = inFolder;
    this.#texts = texts;
  }

  add(path: string): void {
    let content: string;
    try {
      content = new ConfigFiles({ texts: this.#texts }).read(path);
    } catch (cause) {
      if (!(cause instanceof ConfigFileError)) throw cause;
      const place = { file: path, line: 1, column: 1, path: [] };
      this.#problems.push({ severity: "error", ...place, message: cause.message, code: "CONFIG_FILE" });
      return;
    }
    const { documents, problems, warnings } = parseResources(content, path);
    // A template is not YAML, and the files of other tools are JSON with comments.
    const isForeign = TEMPLATE.test(content) || (path.endsWith(".json") && !content.includes('"apiVersion"'));
    const objects = opened(documents).filter((document) => isKubernetesObject(document) || !this.#inFolder);
    if (problems.length > 0 && !(this.#inFolder && isForeign)) {
      this.#problems.push(...problems);
      this.#withPolicy.add(path);
    } else if (objects.length === 0) this.#files++;
    if (problems.length === 0 && opened(documents).length === 0) this.#empty.push(path);
    this.#warnings.set(path, warnings);
    if (KUSTOMIZATION.test(basename(path)))
      for (const patch of documents.flatMap(patchesOf)) this.#patches.add(resolve(dirname(path), patch));
    if (objects.some((document) => groupOf(document) === KUBEWARDEN && isPolicyLike(identityOf(document))))
      this.#addKubewarden(path);
    else this.#documents.push(...objects);
  }

  /** The policy of such a file is an entry of another kind: it is read as if an entry named the file. */
  #addKubewarden(path: string): void {
    const written = JSON.stringify({ [idFor(path, this.#entries)]: { resource: basename(path) } });
    const read = parseConfig(written, path, { salvage: true, texts: this.#texts });
    if (read.ok) this.#entries.push(...read.config.entries);
    this.#problems.push(...read.problems);
    this.#withPolicy.add(path);
    this.#kubewarden++;
  }

  made(name: string): DocumentConfig {
    const isPatch = ({ file }: SourceDocument): boolean => this.#patches.has(resolve(file));
    const patches = new Set(this.#documents.filter(isPatch).map(({ file }) => file));
    const having = (role: Role) => this.#documents.filter((each) => !isPatch(each) && roleOf(each) === role);
    const [served, unserved, companions, others] = [
      having("policy"),
      having("unserved"),
      having("companion"),
      having("other"),
    ];
    const used = new Set<SourceDocument>();
    const entries = [...this.#entries];
    const make = ([first, ...more]: readonly SourceDocument[]): void => {
      if (first === undefined) return;
      const policies = [first, ...more];
      const beside = [...companionsOf(policies, companions), ...objectsFor(policies, others)];
      for (const document of beside) used.add(document);
      // Each document once; of those with the same name the first.
      const all = new Map([...policies, ...beside].reverse().map((document) => [keyOf(document), document]));
      const documents = [...all.values()].reverse();
      const parts = { id: idFor(first.file, entries), origin: new Origin(first, []), documents };
      entries.push(resourceEntry(parts, settingsOf(first, beside)));
    };
    for (const group of TOGETHER) for (const set of sets(served.filter((each) => groupOf(each) === group))) make(set);
    // The kinds report documents that are not served.
    const alone = [
      ...served.filter((each) => !TOGETHER.has(groupOf(each))),
      ...unserved.filter((each) => !isStrange(each)),
    ];
    for (const policy of alone) make([policy]);
    const own = new Set([...served, ...unserved, ...companions, ...used].map(({ file }) => file));
    // Elsewhere an empty file is another program's, such as values.yaml.
    const besides = new Set([...own, ...this.#withPolicy].map((file) => dirname(file)));
    const problems = [
      ...this.#problems,
      ...this.#empty.filter((file) => besides.has(dirname(file))).map(emptyProblem),
      ...[...this.#warnings].flatMap(([file, warnings]) => (own.has(file) ? warnings : [])),
      ...unserved.filter(isStrange).map(unknownPolicy),
      ...companions.filter((document) => !used.has(document)).map(withoutPolicy),
    ];
    return {
      result: { ok: true, config: { file: name, entries, files: [] }, problems },
      policies: served.length + unserved.length + this.#kubewarden,
      foreign: [...this.#warnings.keys()].filter((file) => !own.has(file) && !this.#withPolicy.has(file)),
      leftOut: {
        objects: others.filter((document) => !used.has(document)).length,
        files: this.#files + patches.size,
      },
    };
  }
}

const KUSTOMIZATION = /^kustomization\.ya?ml$/;

/** The files that a kustomization merges into its objects. */
function patchesOf({ value }: SourceDocument): readonly string[] {
  const items = ["patches", "patchesStrategicMerge"].flatMap((key) => member(value, key) ?? []);
  return items.map((item) => (typeof item === "string" ? item : text(item, "path"))).filter((path) => path !== "");
}

type Role = "policy" | "unserved" | "companion" | "other";

/** The part that a document has in a server. */
function roleOf(document: SourceDocument): Role {
  const identity = identityOf(document);
  if ((knownKind(identity)?.use ?? "none") === "none") return isPolicyLike(identity) ? "unserved" : "other";
  return COMPANIONS.has(identity.kind) ? "companion" : "policy";
}

const COMPANIONS: ReadonlySet<string> = new Set([
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicyBinding",
  "PolicyException",
  "GlobalContextEntry",
]);

const groupOf = (document: SourceDocument): string => identityOf(document).group;

/** The keys of an entry that decides what a policy may do: whether it may change objects, and who may use a policy of certificates. */
function settingsOf(policy: SourceDocument, beside: readonly SourceDocument[]): ResourceFields {
  if (identityOf(policy).kind.startsWith("Mutating")) return { allowedToMutate: true };
  const knowsUsers = beside.some((document) => groupOf(document) === RBAC);
  return groupOf(policy) !== CERTIFICATES || knowsUsers ? {} : { certificateRequests: { binding: "map", bound: [] } };
}

/** An id for the policies of a file: entries must not share one, and a slash would make it that of a member. */
const idFor = (path: string, entries: readonly unknown[]): string => `${basename(path)}#${entries.length + 1}`;

/** Documents of the same kind and name are in different sets: overlays of one folder have the same policy. */
function sets(policies: readonly SourceDocument[]): readonly (readonly SourceDocument[])[] {
  const made: Map<string, SourceDocument>[] = [];
  for (const policy of policies) {
    const key = keyOf(policy);
    const set = made.find((each) => !each.has(key));
    if (set === undefined) made.push(new Map([[key, policy]]));
    else set.set(key, policy);
  }
  return made.map((set) => [...set.values()]);
}

function keyOf(document: SourceDocument): string {
  const { group, kind, namespace, name } = identityOf(document);
  return JSON.stringify([group, kind, namespace, name]);
}

/** The bindings, exceptions and context entries of policies; those of the same file come first. */
function companionsOf(policies: readonly SourceDocument[], companions: readonly SourceDocument[]) {
  const [first] = policies;
  const group = first && groupOf(first);
  const names = new Set(policies.map((policy) => identityOf(policy).name));
  const belongs = (document: SourceDocument): boolean => {
    const identity = identityOf(document);
    if (identity.group !== ADMISSION) return group === KYVERNO;
    const bound = text(member(document.value, "spec"), "policyName");
    return group === ADMISSION && names.has(bound) && identity.kind === `${first && identityOf(first).kind}Binding`;
  };
  return companions.filter(belongs).sort((a, b) => Number(b.file === first?.file) - Number(a.file === first?.file));
}

/** The objects that policies look up: Namespaces, definitions, parameters, and for certificates who may use them. */
function objectsFor(policies: readonly SourceDocument[], others: readonly SourceDocument[]) {
  const paramKinds = new Set(
    policies.map(({ value }) => {
      const kind = member(member(value, "spec"), "paramKind");
      return `${text(kind, "apiVersion")}/${text(kind, "kind")}`;
    }),
  );
  const wanted = (document: SourceDocument): boolean => {
    const { group, kind } = identityOf(document);
    if (kind === "Namespace" || kind === "CustomResourceDefinition") return true;
    if (group === RBAC) return policies.some((each) => groupOf(each) === CERTIFICATES);
    return paramKinds.has(`${text(document.value, "apiVersion")}/${kind}`);
  };
  return others.filter(wanted);
}

/** Whether a document of a group of policies has a kind that no policy has. */
const isStrange = (document: SourceDocument): boolean => {
  const { group, kind } = identityOf(document);
  return knownKind({ group, kind }) === undefined && !isPolicyLike({ group: "", kind });
};

function unknownPolicy(document: SourceDocument): Problem {
  const { group, kind } = identityOf(document);
  const message = `${kind} is not a kind of ${group}${nearKind(kind)}`;
  return document.problem("error", ["kind"], message, undefined, { code: "POLICY_KIND" });
}

function emptyProblem(file: string): Problem {
  const place = { file, line: 1, column: 1, path: [] };
  return { severity: "warning", ...place, message: emptyFile(file), code: "POLICY_DOUBT" };
}

/** The warning for a binding, an exception or a context entry without any policy. */
function withoutPolicy(document: SourceDocument): Problem {
  const { kind } = identityOf(document);
  const spec = member(document.value, "spec");
  const named = kind.endsWith("Binding") ? text(spec, "policyName") : "";
  const message =
    named === ""
      ? `the ${kind} has no effect: there is no policy beside it`
      : `the binding has no effect: there is no policy ${JSON.stringify(named)}`;
  return document.problem("warning", named === "" ? ["kind"] : ["spec", "policyName"], message, undefined, {
    code: "POLICY_DOUBT",
  });
}
