/** The identity of objects that stand in files: what a cluster would take them for, or why it would not take them. */
import { didYouMean } from "../data/suggest.js";
import { HELM_TEMPLATE, helmTemplateAt } from "../data/yaml.js";
import { builtinKinds, builtinScope } from "./builtin-kinds.js";
import { apiVersionOf, type GroupVersionKind } from "./names.js";
import { isObject, type JsonObject, member, text } from "./object.js";

/** The namespace of objects that name none. */
const DEFAULT_NAMESPACE = "default";

/** A mistake that no API server lets through, so that there is nothing to judge. */
export class IdentityError extends Error {
  /**
   * @param path where it stands in the object
   * @param reason what is wrong there
   */
  constructor(
    readonly path: readonly string[],
    readonly reason: string,
  ) {
    super(path.length === 0 ? reason : `${path.join(".")} ${reason}`);
  }
}

/** The kind and name of an object. */
export interface Identity extends GroupVersionKind {
  /** `""`: none, or one that is to be generated. */
  readonly name: string;
  /** `""` for a cluster-scoped kind. */
  readonly namespace: string;
  /** The object with its namespace; the very one where nothing had to be added. */
  readonly object: JsonObject;
  /** The assumption that was made, if any. */
  readonly doubt?: string;
}

/** The circumstances of an object. */
export interface Surroundings {
  /** The namespace of an object that names none; `""`: the object is cluster-scoped. Default: `default`. */
  readonly namespace?: string | undefined;
  /** Whether objects of a kind that is not built in live in namespaces; undefined: not known. */
  readonly namespaced?: ((kind: GroupVersionKind) => boolean | undefined) | undefined;
}

/**
 * Identifies an object as kubectl and the API server do: an object of a namespaced kind without a namespace is in `default`; one of a kind that is not known counts as
 * namespaced.
 * @throws IdentityError for one without a readable kind, name, namespace or labels
 */
export function identify(value: unknown, { namespace: wanted, namespaced }: Surroundings = {}): Identity {
  if (!isObject(value)) throw new IdentityError([], `expected an object, found ${described(value)}`);
  const kind = readKind(value);
  const given = member(value, "metadata") ?? {};
  if (!isObject(given)) throw new IdentityError(["metadata"], `is ${described(given)}, not a map`);
  for (const key of ["name", "generateName", "namespace"]) checkRendered(member(given, key) ?? "", ["metadata", key]);
  checkTexts(member(given, "labels") ?? {}, ["metadata", "labels"], checkRendered);
  checkTexts(member(given, "annotations") ?? {}, ["metadata", "annotations"], checkText);
  const metadata = withoutNulls(given);
  const written = text(metadata, "namespace");
  const name = text(metadata, "name");
  const builtin = builtinScope(kind);
  if (builtin !== undefined) checkImages(member(value, "spec"), ["spec"]);
  const scope = builtin ?? namespaced?.(kind) ?? policyScope(kind);
  if (scope === false || (wanted === "" && written === "")) {
    const { namespace: _, ...rest } = metadata;
    const isSame = written === "" && metadata === given;
    return { ...kind, name, namespace: "", object: isSame ? value : { ...value, metadata: rest } };
  }
  const namespace = wanted || written || DEFAULT_NAMESPACE;
  const whole = written === "" ? { ...metadata, namespace } : metadata;
  const object = whole === given ? value : { ...value, metadata: whole };
  const doubt = written === "" && wanted === undefined ? doubtOf(kind, scope, metadata) : undefined;
  return { ...kind, name, namespace, object, ...(doubt !== undefined && { doubt }) };
}

/** The kinds of namespaced policies and exceptions, by the API groups of policies, whose definitions are seldom beside them. */
const NAMESPACED_POLICIES: ReadonlyMap<string, RegExp> = new Map([
  ["policies.kyverno.io", /^(?:Namespaced\w+|PolicyException)$/],
  ["kyverno.io", /^(?:Policy|PolicyException|CleanupPolicy)$/],
  ["policies.kubewarden.io", /^AdmissionPolicy(?:Group)?$/],
  ...["policy.cert-manager.io", "templates.gatekeeper.sh", "constraints.gatekeeper.sh"].map(
    (group) => [group, /^$/] as const,
  ),
]);

const policyScope = ({ group, kind }: GroupVersionKind): boolean | undefined =>
  NAMESPACED_POLICIES.get(group)?.test(kind);

function readKind(object: JsonObject): GroupVersionKind {
  for (const key of ["apiVersion", "kind"]) {
    const value = member(object, key) ?? "";
    checkRendered(value, [key]);
    if (value === "") throw new IdentityError([key], "is missing");
  }
  const apiVersion = text(object, "apiVersion");
  const parts = apiVersion.split("/");
  if (parts.length > 2 || parts.includes(""))
    throw new IdentityError(["apiVersion"], `is ${JSON.stringify(apiVersion)}, expected VERSION or GROUP/VERSION`);
  const [version = "", group = ""] = parts.reverse();
  return { group, version, kind: text(object, "kind") };
}

function checkText(value: unknown, path: readonly string[]): void {
  if (typeof value !== "string")
    throw new IdentityError(path, `is ${described(value)}, not a text${isScalar(value) ? ": write it in quotes" : ""}`);
}

/** Maps of texts: the API server reads null for the empty text. */
function checkTexts(map: unknown, path: readonly string[], check: typeof checkText): void {
  if (!isObject(map)) throw new IdentityError(path, `is ${described(map)}, not a map`);
  for (const key in map) check(map[key] ?? "", [...path, key]);
}

/** Texts that have no braces in any cluster: in quotes, a template is YAML all the same. */
function checkRendered(value: unknown, path: readonly string[]): void {
  checkText(value, path);
  if (String(value).includes("{{")) throw new IdentityError(path, `has braces: ${HELM_TEMPLATE}`);
}

/** Images of pods and of pod templates, in which only what Helm alone knows is a mistake for sure. */
function checkImages(spec: unknown, path: readonly string[]): void {
  if (!isObject(spec)) return;
  for (const key of ["containers", "initContainers"]) {
    const containers = member(spec, key);
    if (!Array.isArray(containers)) continue;
    for (const [index, container] of containers.entries())
      if (helmTemplateAt(text(container, "image")) !== undefined)
        throw new IdentityError([...path, key, String(index), "image"], `has braces: ${HELM_TEMPLATE}`);
  }
  for (const key of ["template", "jobTemplate"]) checkImages(member(member(spec, key), "spec"), [...path, key, "spec"]);
}

/** Metadata as the API server reads it: a map that is null is absent, and a value that is null is the empty text. */
function withoutNulls(metadata: JsonObject): JsonObject {
  const { labels, annotations, ...rest } = metadata;
  const maps = { ...(isObject(labels) && { labels }), ...(isObject(annotations) && { annotations }) };
  const hasNull = Object.values(maps).some((map) => Object.values(map).includes(null));
  if (!hasNull && labels !== null && annotations !== null) return metadata;
  for (const [key, map] of Object.entries(maps))
    Object.assign(maps, { [key]: Object.fromEntries(Object.entries(map).map(([name, value]) => [name, value ?? ""])) });
  return { ...rest, ...maps };
}

const isScalar = (value: unknown): boolean => typeof value !== "object" || value instanceof Number;

function described(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  return isObject(value) ? "a map" : typeof value === "string" ? "a text" : String(value);
}

/** The doubt about an object that counts as in `default`. */
function doubtOf(kind: GroupVersionKind, scope: boolean | undefined, metadata: JsonObject): string | undefined {
  if (scope === undefined) return unknownKind(kind);
  // A cluster reads null like no namespace; in a file it may be a template that was filled with nothing.
  return member(metadata, "namespace") === null
    ? "metadata.namespace is empty: the object counts as in default"
    : undefined;
}

/** The warning for an object without a namespace whose kind is not known. */
export function unknownKind(kind: GroupVersionKind): string {
  const apiVersion = apiVersionOf(kind);
  const names = [...builtinKinds()].flatMap((each) => (each.apiVersion === apiVersion ? [each.kind] : []));
  return `${kind.kind} of ${apiVersion} is not a kind that is known here${didYouMean(kind.kind, names)}: it counts as namespaced, and an object without a namespace as in default`;
}
