/** The API server's rules for its static manifests (spec static-manifests.md), beside those for any object of their kinds. */
import { readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { NEWEST_VERSION } from "../../cel/index.js";
import { ConfigFileError, ConfigFiles } from "../../config/config-files.js";
import { identityOf } from "../../config/documents/documents.js";
import { fieldProblem } from "../../config/documents/field-problem.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import type { Problem } from "../../config/index.js";
import { UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { parseJson } from "../../data/json.js";
import { isSince, type KubernetesVersion } from "../../data/kubernetes-version.js";
import { MANIFESTS, manifestFiles } from "../../data/manifest-files.js";
import { admissionDialect } from "../../kinds/admission-policy/dialect.js";
import { versionOfNewExpressions } from "../../kinds/admission-policy/server.js";
import { isWebhookKind, webhookMistakes } from "../../kinds/admission-policy/webhook-configuration.js";
import { any, integer, list, salvage, string, struct } from "../../kinds/shared/decode/api-type.js";
import { misread } from "../../kinds/shared/decode/misread.js";
import { STATIC_SUFFIX } from "../../kinds/shared/decode/validate-metadata.js";
import { ExpressionCompiler } from "../../kinds/shared/expressions/expression-compiler.js";
import { isObject, member, text } from "../../kubernetes/object.js";

/** The first version whose API server reads such files, where its feature gate is set. */
const SINCE: KubernetesVersion = "1.36";
const API_VERSION = "admissionregistration.k8s.io/v1";
const NAMES = [".yaml", ".yml", ".json"];

/** The plugin that reads each kind: each has a directory of its own. */
const PLUGINS: ReadonlyMap<string, string> = new Map([
  ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicy"],
  ["ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"],
  ["MutatingAdmissionPolicy", "MutatingAdmissionPolicy"],
  ["MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"],
  ["ValidatingWebhookConfiguration", "ValidatingAdmissionWebhook"],
  ["MutatingWebhookConfiguration", "MutatingAdmissionWebhook"],
]);

/** The result of checking the files of one directory. */
export interface StaticManifests {
  readonly problems: readonly Problem[];
  readonly webhookConfigurations: number;
}

/**
 * The version whose rules hold.
 * @throws UsageError for one that has no static manifests
 */
export function staticVersion(version: KubernetesVersion = NEWEST_VERSION): KubernetesVersion {
  if (isSince(version, SINCE)) return version;
  throw new UsageError(`--static: Kubernetes ${version} reads no static manifests: ${SINCE} is the first that does`);
}

/**
 * The files of a directory that an API server reads, with a warning for each folder of manifests in it, which it does not.
 * @throws UsageError for an unreadable directory
 */
export function staticFiles(folder: string): {
  readonly files: readonly string[];
  readonly unread: readonly Problem[];
} {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    const isRead = ({ name }: { readonly name: string }): boolean => NAMES.includes(endingOf(name));
    const files = entries.filter((entry) => !entry.isDirectory() && isRead(entry));
    const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".."));
    const unread = folders.map(({ name }) => join(folder, name)).filter((path) => manifestFiles(path).length > 0);
    const message = "the API server reads the files of the directory itself alone, none of this folder";
    return {
      files: files.map(({ name }) => join(folder, name)),
      unread: unread.map((file) => ({ ...ofFile(file), severity: "warning", message, code: "POLICY_DOUBT" })),
    };
  } catch (cause) {
    throw new UsageError(`${folder}: ${errorText(cause)}`, { cause });
  }
}

/** The ending as Go finds it: of `.yaml`, too. */
const endingOf = (name: string): string => (extname(name) || extname(`x${name}`)).toLowerCase();
const ofFile = (file: string) => ({ file, line: 1, column: 1, path: [] }) as const;

/** Whether a problem of an object in a cluster is none of a static manifest, or is told here in other words. */
export const isOfCluster = ({ message }: Problem): boolean =>
  message.includes(`names ending with "${STATIC_SUFFIX}" are reserved`) ||
  message.startsWith("the binding has no effect");

/**
 * Checks all files of a directory by the rules for static manifests, and webhook configurations by all rules.
 * @param texts those that were read already, by absolute path
 */
export function checkStatic(
  files: readonly string[],
  texts: ReadonlyMap<string, string>,
  version: KubernetesVersion,
): StaticManifests {
  const problems: Problem[] = [];
  const documents: SourceDocument[] = [];
  for (const file of files) {
    if (MANIFESTS.test(file) && !NAMES.includes(endingOf(file))) continue;
    try {
      documents.push(...objectsOf(new ConfigFiles({ texts }).read(file), file, problems));
    } catch (cause) {
      if (!(cause instanceof ConfigFileError)) throw cause;
      problems.push({ severity: "error", ...ofFile(file), message: cause.message, code: "CONFIG_FILE" });
    }
  }
  const compiler = new ExpressionCompiler(admissionDialect(versionOfNewExpressions(version), version));
  const known = documents.filter((document) => ruleOfKind(document, documents, problems));
  const names = new Map<string, SourceDocument>();
  for (const document of known) {
    problems.push(...rulesOf(document, names));
    const { kind } = identityOf(document);
    if (!isWebhookKind(kind)) continue;
    const mistakes = webhookMistakes(document.value, kind, compiler, { version });
    problems.push(...mistakes.map((mistake) => fieldProblem(document, "error", mistake)));
  }
  problems.push(...known.flatMap((document) => referenceOf(document, known)));
  const webhooks = known.filter((document) => isWebhookKind(identityOf(document).kind));
  return { problems, webhookConfigurations: webhooks.length };
}

/** The objects of a file. The API server splits it at lines that begin with `---`, and refuses a part without an object. */
function objectsOf(content: string, file: string, problems: Problem[]): readonly SourceDocument[] {
  const wrong = (line: number, message: string, hint?: string): void => {
    problems.push({ ...ofFile(file), line, severity: "error", message, ...(hint && { hint }), code: "YAML_SYNTAX" });
  };
  const parts: { line: number; text: string }[] = [];
  let part = { line: 1, text: "" };
  for (const [i, line] of content.split(/(?<=\n)/).entries()) {
    const behind = /^---(.*)$/s.exec(line)?.[1]?.trim();
    if (behind !== undefined && behind !== "" && !behind.startsWith("#"))
      wrong(i + 1, `invalid Yaml document separator: ${behind}`, "let nothing but a comment follow --- in its line");
    if (behind === undefined || part.text === "") part.text += line;
    else {
      parts.push(part);
      part = { line: i + 2, text: "" };
    }
  }
  return [...parts, part].flatMap(({ line, text: own }) => {
    if (own.trim() === "") return [];
    const read = parseResources("\n".repeat(line - 1) + own, file);
    problems.push(...read.problems);
    // The decoder is strict: a key that is repeated in its map is an error.
    const repeated = read.warnings.filter(({ code }) => code === "CONFIG_DUPLICATE_KEY");
    problems.push(...repeated.map((warning) => ({ ...warning, severity: "error" as const })));
    if (read.problems.length > 0) return [];
    if (/^\s*\{/.test(own)) {
      try {
        parseJson(own);
      } catch (cause) {
        wrong(line, `a document that begins with { must be JSON, and one alone: ${errorText(cause)}`);
        return [];
      }
    }
    const [first] = read.documents;
    if (first !== undefined && first.value !== null) return opened(first, problems);
    const at = line + (/^(?:\s*\n)*/.exec(own)?.[0].split("\n").length ?? 1) - 1;
    wrong(
      at,
      "Object 'Kind' is missing: this document is empty",
      "remove the --- that makes comments a document of their own",
    );
    return [];
  });
}

/** Any list, whose items are decoded by themselves. */
const LIST = struct("v1.List", {
  apiVersion: string(),
  kind: string(),
  metadata: struct("v1.ListMeta", {
    selfLink: string(),
    resourceVersion: string(),
    continue: string(),
    remainingItemCount: integer,
  }),
  items: list(any),
});

/** The objects of a document: a List has any, the list of a kind has those of that kind, whatever they say. */
function opened(document: SourceDocument, problems: Problem[]): readonly SourceDocument[] {
  const kind = text(document.value, "kind");
  const apiVersion = text(document.value, "apiVersion");
  const items = member(document.value, "items");
  const ofKind = PLUGINS.has(kind.replace(/List$/, "")) && apiVersion === API_VERSION && kind.endsWith("List");
  if ((kind !== "List" && !ofKind) || apiVersion === "") return [document];
  const { mistakes } = salvage(document.value, LIST);
  problems.push(...mistakes.map((mistake) => fieldProblem(document, "error", misread(mistake))));
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown, i: number) => {
    const told = { ...(item as object), apiVersion, kind: kind.slice(0, -"List".length) };
    const part = document.part(["items", i], ofKind && isObject(item) ? told : item);
    return ofKind ? [part] : opened(part, problems);
  });
}

/** Whether the plugin of the directory reads the kind; else this is said. */
function ruleOfKind(document: SourceDocument, all: readonly SourceDocument[], problems: Problem[]): boolean {
  const { kind } = identityOf(document);
  const apiVersion = text(document.value, "apiVersion");
  const about = { code: "POLICY_KIND" } as const;
  const plugin = PLUGINS.get(kind);
  if (kind === "" || apiVersion === "") {
    const missing = kind === "" ? "kind" : "apiVersion";
    problems.push(
      document.problem("error", [missing], `Object '${missing}' is missing: each document must be an object`),
    );
    return false;
  }
  if (plugin === undefined || apiVersion !== API_VERSION) {
    const message =
      plugin === undefined
        ? `the API server reads no ${kind} of ${apiVersion} from static manifests, and refuses the directory`
        : `unsupported resource type: static manifests are read in ${API_VERSION} alone`;
    const hint = plugin === undefined ? `it reads ${[...PLUGINS.keys()].join(", ")}` : `write ${API_VERSION}`;
    problems.push(
      document.problem("error", [plugin === undefined ? "kind" : "apiVersion"], message, undefined, { ...about, hint }),
    );
    return false;
  }
  const first = all.find((each) => PLUGINS.has(identityOf(each).kind)) ?? document;
  const its = identityOf(first).kind;
  if (PLUGINS.get(its) === plugin) return true;
  const message = `unsupported resource type: a directory is read by one plugin, and this is ${plugin}'s beside a ${its} (${first.file})`;
  const hint = `give the plugin ${plugin} a staticManifestsDir of its own`;
  problems.push(document.problem("error", ["kind"], message, undefined, { ...about, hint }));
  return false;
}

/** The mistakes of one object: its name, and what refers to objects of the API. */
function rulesOf(document: SourceDocument, names: Map<string, SourceDocument>): readonly Problem[] {
  const { kind, name, namespace } = identityOf(document);
  const wrong = (path: readonly string[], message: string, hint?: string): Problem =>
    document.problem("error", path, message, undefined, { code: "POLICY_INVALID", ...(hint && { hint }) });
  const problems: Problem[] = [];
  const key = `${kind}/${name}`;
  const earlier = names.get(key);
  names.set(key, earlier ?? document);
  if (name !== "" && !name.endsWith(STATIC_SUFFIX))
    problems.push(
      wrong(["metadata", "name"], `must have a name ending with "${STATIC_SUFFIX}"`, `write ${name}${STATIC_SUFFIX}`),
    );
  else if (name !== "" && earlier !== undefined)
    problems.push(
      wrong(
        ["metadata", "name"],
        `duplicate name ${JSON.stringify(name)} of a ${kind} (previously seen in ${JSON.stringify(earlier.file)})`,
      ),
    );
  if (name === "" && text(member(document.value, "metadata"), "generateName") !== "")
    problems.push(wrong(["metadata", "generateName"], "must have a name: none is generated for static manifests"));
  if (namespace !== "") problems.push(wrong(["metadata", "namespace"], "Forbidden: not allowed on this type"));
  const generation = member(member(document.value, "metadata"), "generation");
  if (typeof generation === "number" && generation < 0)
    problems.push(
      wrong(["metadata", "generation"], `Invalid value: ${generation}: must be greater than or equal to 0`),
    );
  const spec = member(document.value, "spec");
  for (const member of ["paramKind", "paramRef"])
    if (isObject(spec) && isObject(spec[member]) && !isWebhookKind(kind))
      problems.push(
        wrong(
          ["spec", member],
          `spec.${member} is not supported for static manifests`,
          "write the values into the expressions",
        ),
      );
  return problems;
}

/** The mistake of a binding without its policy, and the doubt about a policy without a binding. */
function referenceOf(document: SourceDocument, all: readonly SourceDocument[]): readonly Problem[] {
  const { kind, name } = identityOf(document);
  if (isWebhookKind(kind)) return [];
  const policyName = (binding: SourceDocument): string => text(member(binding.value, "spec"), "policyName");
  const isBinding = (each: SourceDocument): boolean => identityOf(each).kind.endsWith("Binding");
  if (!isBinding(document)) {
    if (all.some((each) => isBinding(each) && policyName(each) === name)) return [];
    const message = "the policy has no effect: no binding of the directory names it";
    return [document.problem("warning", ["metadata", "name"], message, undefined, { code: "POLICY_DOUBT" })];
  }
  const named = policyName(document);
  if (named === "")
    return [document.problem("error", ["spec", "policyName"], "Required value", undefined, { code: "POLICY_INVALID" })];
  if (all.some((each) => !isBinding(each) && identityOf(each).name === named)) return [];
  const message = named.endsWith(STATIC_SUFFIX)
    ? `references policy ${JSON.stringify(named)} which does not exist in the manifest directory`
    : `spec.policyName ${JSON.stringify(named)} must end with "${STATIC_SUFFIX}"`;
  return [document.problem("error", ["spec", "policyName"], message, undefined, { code: "POLICY_INVALID" })];
}
