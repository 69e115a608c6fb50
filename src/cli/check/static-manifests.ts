/** The API server's rules for its static manifests (spec static-manifests.md), beside those for any object of their kinds. */
import { type Dirent, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { NEWEST_VERSION } from "../../cel/index.js";
import { ConfigFileError, ConfigFiles } from "../../config/config-files.js";
import { identityOf } from "../../config/documents/documents.js";
import { fieldProblem } from "../../config/documents/field-problem.js";
import type { About } from "../../config/documents/problem-codes.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import type { Problem } from "../../config/index.js";
import { UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { parseJson } from "../../data/json.js";
import { isSince, type KubernetesVersion } from "../../data/kubernetes-version.js";
import { manifestFiles } from "../../data/manifest-files.js";
import { admissionDialect } from "../../kinds/admission-policy/dialect.js";
import { versionOfNewExpressions } from "../../kinds/admission-policy/server.js";
import { isWebhookKind, webhookMistakes } from "../../kinds/admission-policy/webhook-configuration.js";
import { any, integer, list, salvage, string, struct } from "../../kinds/shared/decode/api-type.js";
import { misread } from "../../kinds/shared/decode/misread.js";
import { STATIC_SUFFIX } from "../../kinds/shared/decode/validate-metadata.js";
import { ExpressionCompiler } from "../../kinds/shared/expressions/expression-compiler.js";
import { isObject, member, text } from "../../kubernetes/object.js";
import { demandAll, documentConfig, STDIN, STDIN_NAME } from "./documents.js";

/** The first version whose API server reads such files, where its feature gate is set. */
const SINCE: KubernetesVersion = "1.36";
const API_VERSION = "admissionregistration.k8s.io/v1";
const NAMES = /\.(?:ya?ml|json)$/i;

/** The plugin that reads each kind: each has a directory of its own. */
const PLUGINS: ReadonlyMap<string, string> = new Map(
  ["Validating", "Mutating"].flatMap((type) => [
    [`${type}AdmissionPolicy`, `${type}AdmissionPolicy`],
    [`${type}AdmissionPolicyBinding`, `${type}AdmissionPolicy`],
    [`${type}WebhookConfiguration`, `${type}AdmissionWebhook`],
  ]),
);
const KINDS = [...PLUGINS.keys()].join(", ");
const pluginOf = (kind: string): string | undefined => PLUGINS.get(kind.replace(/List$/, ""));

/** The subjects of a command line: the files together, and each directory. @throws UsageError without any, or where one is missing */
export function staticSubjects(named: readonly string[], isFolder: (name: string) => boolean) {
  if (named.length === 0) throw new UsageError("--static: name the directory of an admission plugin, or its files");
  demandAll(named);
  const files = named.filter((name) => !isFolder(name)).map((name) => (name === STDIN ? STDIN_NAME : name));
  const together = files.length > 0 ? [{ name: files.join(", "), files }] : [];
  const subjects = [...together, ...named.filter(isFolder).map((name) => ({ name, files: [] }))];
  return subjects.map((subject) => ({ kind: "static", ...subject }) as const);
}

/** Whether a problem of an object in a cluster is none of a static manifest, or is told here in other words. */
export const isOfCluster = ({ message }: Problem): boolean =>
  message.includes(`names ending with "${STATIC_SUFFIX}" are reserved`) ||
  message.startsWith("the binding has no effect") ||
  /^\w+List is not a kind of /.test(message);

/** The API server that reads the manifests. */
export interface StaticOptions {
  readonly kubernetesVersion?: KubernetesVersion;
  /** The plugin that reads a directory; absent: that of its first object. */
  readonly plugin?: string;
}

/**
 * Checks all files of a directory by the rules for static manifests, and webhook configurations by all rules; its policies are checked as a configuration.
 * @param files those that are named; none: those of the directory `name` that an API server reads
 * @param texts those that were read already, by absolute path
 * @throws UsageError for an unreadable directory, or a version that has no static manifests
 */
export function staticConfig(
  name: string,
  named: readonly string[],
  texts: ReadonlyMap<string, string>,
  { kubernetesVersion: version = NEWEST_VERSION, plugin }: StaticOptions,
) {
  if (!isSince(version, SINCE))
    throw new UsageError(`--static: Kubernetes ${version} reads no static manifests: ${SINCE} is the first that does`);
  const problems: Problem[] = [];
  const told = (file: string, line: number, severity: Problem["severity"], message: string, about: About): void => {
    problems.push({ severity, file, line, column: 1, path: [], message, ...about });
  };
  const entries = named.length > 0 ? [] : entriesOf(name);
  const files = [...named, ...entries.filter((entry) => !entry.isDirectory() && NAMES.test(entry.name)).map(pathOf)];
  for (const folder of entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("..")).map(pathOf))
    if (manifestFiles(folder).length > 0)
      told(folder, 1, "warning", "the API server reads no folder of the directory", DOUBT);
  const documents = files.flatMap((file) => {
    if (!NAMES.test(file) && !texts.has(resolve(file)))
      told(file, 1, "error", "the API server reads files that end in .yaml, .yml and .json alone", NO_FILE);
    try {
      return partsOf(new ConfigFiles({ texts }).read(file)).flatMap((part) => objectsOf(part, file, problems, told));
    } catch (cause) {
      if (!(cause instanceof ConfigFileError)) throw cause;
      told(file, 1, "error", cause.message, NO_FILE);
      return [];
    }
  });
  const compiler = new ExpressionCompiler(admissionDialect(versionOfNewExpressions(version), version));
  const directory = new Directory(documents, plugin);
  let webhookConfigurations = 0;
  for (const document of documents) {
    const { kind, name } = identityOf(document);
    const isWebhook = isWebhookKind(kind) && text(document.value, "apiVersion") === API_VERSION;
    if (isWebhook) webhookConfigurations++;
    const mistakes = isWebhook ? webhookMistakes(document.value, kind, compiler, { version }) : [];
    const broken = directory.mistakesOf(document).map(([path, words, hint]) => ({ path, text: words, hint }));
    for (const mistake of [...mistakes, ...broken])
      problems.push(fieldProblem(document, "error", { code: "POLICY_INVALID", ...mistake }));
    if (PLUGINS.get(kind) === kind && !directory.bound.has(name))
      problems.push(document.problem("warning", ["metadata", "name"], UNBOUND, undefined, DOUBT));
  }
  const { result: config, policies } = documentConfig(name, files, false, texts);
  return { config, problems, kubernetesVersion: version, policies, webhookConfigurations };
}

const pathOf = ({ parentPath, name }: Dirent): string => join(parentPath, name);

/** @throws UsageError */
function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    throw new UsageError(`${directory}: ${errorText(cause)}`, { cause });
  }
}

const DOUBT: About = { code: "POLICY_DOUBT" };
const NO_FILE: About = { code: "CONFIG_FILE" };
const UNBOUND = "the policy has no effect: no binding of the directory names it";

/** Splits a file as the API server does, with the line of each part: a `---` at the beginning belongs to the first document. */
function partsOf(content: string): readonly Part[] {
  const parts: Part[] = [[1, ""]];
  for (const [i, line] of content.split(/(?<=\n)/).entries()) {
    const [start, written] = parts.at(-1) ?? [1, ""];
    if (!line.startsWith("---") || written === "") parts.splice(-1, 1, [start, written + line]);
    else parts.push([i + 2, ""]);
  }
  return parts.filter(([, written]) => written.trim() !== "");
}

type Part = readonly [line: number, text: string];

/** The objects of a part: one document, which must be an object. */
function objectsOf([line, own]: Part, file: string, problems: Problem[], told: Told) {
  const wrong = (message: string, hint?: string): readonly SourceDocument[] => {
    told(file, line, "error", message, { code: "YAML_SYNTAX", ...(hint && { hint }) });
    return [];
  };
  const { documents, problems: unread, warnings } = parseResources("\n".repeat(line - 1) + own, file, true);
  // The decoder is strict: a key that is repeated in its map is an error.
  const repeated = warnings.filter(({ code }) => code === "CONFIG_DUPLICATE_KEY");
  problems.push(...unread, ...repeated.map((warning) => ({ ...warning, severity: "error" as const })));
  if (unread.length > 0) return [];
  try {
    if (/^\s*\{/.test(own)) parseJson(own);
  } catch (cause) {
    return wrong(`a document that begins with { must be JSON, and one alone: ${errorText(cause)}`);
  }
  const [first] = documents;
  if (first !== undefined && first.value !== null) return opened(first, problems);
  return wrong("Object 'Kind' is missing: this document is empty", "remove the --- that makes comments a document");
}

type Told = (file: string, line: number, severity: Problem["severity"], message: string, about: About) => void;

const LIST_META = { selfLink: string(), resourceVersion: string(), continue: string(), remainingItemCount: integer };
const LIST = struct("v1.List", {
  apiVersion: string(),
  kind: string(),
  metadata: struct("v1.ListMeta", LIST_META),
  items: list(any),
});

/** The objects of a document: a List has any, the list of a kind has those of that kind, whatever they say; an empty one stands for itself. */
function opened(document: SourceDocument, problems: Problem[]): readonly SourceDocument[] {
  const [apiVersion, written] = [text(document.value, "apiVersion"), text(document.value, "kind")];
  const kind = written.replace(/List$/, "");
  const ofKind = written !== kind && apiVersion === API_VERSION && PLUGINS.has(kind);
  if ((written !== "List" && !ofKind) || apiVersion === "") return [document];
  const { mistakes } = salvage(document.value, LIST);
  problems.push(...mistakes.map((mistake) => fieldProblem(document, "error", misread(mistake))));
  const inside = member(document.value, "items");
  const items: readonly unknown[] = Array.isArray(inside) ? inside : [];
  if (ofKind && items.length === 0) return [document];
  return items.flatMap((item, i) => {
    const part = document.part(["items", i], ofKind && isObject(item) ? { ...item, apiVersion, kind } : item);
    return ofKind ? [part] : opened(part, problems);
  });
}

/** A mistake in an object: the member with it, what is wrong, and what to do. */
type Mistake = readonly [path: readonly string[], message: string, hint?: string];

/** The objects of a directory, which one plugin reads. */
class Directory {
  /** Names of policies that a binding names. */
  readonly bound: ReadonlySet<string>;
  readonly #policies: ReadonlySet<string>;
  /** The plugin, and why it is that one. */
  readonly #plugin: string | undefined;
  readonly #why: string;
  readonly #seen = new Map<string, string>();

  constructor(documents: readonly SourceDocument[], plugin: string | undefined) {
    const isBinding = (document: SourceDocument): boolean => identityOf(document).kind.endsWith("Binding");
    this.bound = new Set(documents.filter(isBinding).map(policyNameOf));
    this.#policies = new Set(documents.filter((each) => !isBinding(each)).map((each) => identityOf(each).name));
    const first = documents.find((document) => pluginOf(identityOf(document).kind) !== undefined);
    const kind = first === undefined ? "" : identityOf(first).kind;
    this.#plugin = plugin ?? pluginOf(kind);
    this.#why = plugin === undefined ? `there is a ${kind} (${first?.file})` : `this one is ${plugin}'s`;
  }

  /** The mistakes of an object by the rules for static manifests; each is asked once, in the order of files. */
  mistakesOf(document: SourceDocument): readonly Mistake[] {
    const { kind, name, namespace } = identityOf(document);
    const apiVersion = text(document.value, "apiVersion");
    const plugin = pluginOf(kind);
    if (kind === "" || apiVersion === "") return [[[], `Object '${kind === "" ? "Kind" : "apiVersion"}' is missing`]];
    if (plugin === undefined)
      return [[["kind"], `static manifests have no ${kind} of ${apiVersion}`, `the API server reads ${KINDS}`]];
    if (apiVersion !== API_VERSION)
      return [[["apiVersion"], "unsupported resource type: only v1 is read", `write ${API_VERSION}`]];
    if (plugin !== this.#plugin) {
      const message = `unsupported resource type: a directory has the objects of one plugin, and ${this.#why}`;
      return [[["kind"], message, `give ${plugin} a staticManifestsDir of its own`]];
    }
    if (kind.endsWith("List")) return [];
    const earlier = this.#seen.get(`${kind}/${name}`);
    this.#seen.set(`${kind}/${name}`, earlier ?? document.file);
    const [metadata, spec] = [member(document.value, "metadata"), member(document.value, "spec")];
    const policy = policyNameOf(document);
    const isBinding = kind.endsWith("Binding");
    const found: Mistake[] = [];
    const say = (isWrong: boolean, ...mistake: Mistake): void => {
      if (isWrong) found.push(mistake);
    };
    const [suffixed, named] = [`${name}${STATIC_SUFFIX}`, name !== ""];
    say(
      named && !name.endsWith(STATIC_SUFFIX),
      NAME,
      `must have a name ending with "${STATIC_SUFFIX}"`,
      `write ${suffixed}`,
    );
    say(named && earlier !== undefined, NAME, `duplicate name "${name}" (previously seen in "${earlier}")`);
    say(!named && text(metadata, "generateName") !== "", ["metadata"], "must have a name: none is generated");
    say(namespace !== "", ["metadata", "namespace"], "Forbidden: not allowed on this type");
    say(Number(member(metadata, "generation") ?? 0) < 0, ["metadata", "generation"], "must not be less than 0");
    for (const key of ["paramKind", "paramRef"])
      say(
        isObject(member(spec, key)),
        ["spec", key],
        "is not supported for static manifests",
        "write the values into the expressions",
      );
    say(isBinding && policy === "", POLICY, "Required value");
    const isStatic = policy.endsWith(STATIC_SUFFIX);
    say(isBinding && policy !== "" && !isStatic, POLICY, `must end with "${STATIC_SUFFIX}"`);
    const missing = `references policy "${policy}" which does not exist in the manifest directory`;
    say(isBinding && isStatic && !this.#policies.has(policy), POLICY, missing);
    return found;
  }
}

const NAME = ["metadata", "name"];
const POLICY = ["spec", "policyName"];
const policyNameOf = ({ value }: SourceDocument): string => text(member(value, "spec"), "policyName");
