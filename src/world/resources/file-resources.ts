import { builtinNamespaced } from "../../kubernetes/builtin-kinds.js";
import { asStruct, mismatchOf, structOfObject } from "../../kubernetes/go-types/as-struct.js";
import {
  apiVersionOf,
  compareNames,
  type GroupVersionKind,
  type GroupVersionResource,
  parseApiVersion,
  sameKind,
} from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, misnamedAt, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { Equivalents } from "../../kubernetes/shared-storage.js";
import { andThen, type Eventual } from "../eventual.js";
import {
  builtinEquivalents,
  type EquivalentSet,
  equivalentsOf,
  NO_CONVERSION,
  sameBuiltinShape,
} from "./equivalents.js";
import { type Lookup, LookupFailure, type ResourceSource } from "./resource-source.js";

// Objects of built-in kinds in the shape in which a cluster stores them: as Go structs (spec validating-admission-policy.md 4.4). Files are written
// by people.

/** The object as a cluster would store it, or why no cluster would accept it; objects of other kinds as they are. */
export function asStored(object: JsonObject): JsonObject | LookupFailure {
  const type = structOfObject(object);
  if (type === undefined) {
    const misfit = mismatchOf(object);
    return misfit === undefined ? object : refused(object, misfit.error);
  }
  const shaped = asStruct(object, type);
  if (!shaped.ok) return refused(object, shaped.error);
  return type.go === "v1.Secret" ? withStringData(shaped.object) : shaped.object;
}

function refused(object: JsonObject, why: string): LookupFailure {
  const name = `${namespaceOf(object)}/${nameOf(object)}`.replace(/^\//, "");
  return new LookupFailure(`${text(object, "kind")} '${name}' does not fit its type: ${why}`);
}

/** A Secret with its `stringData` encoded into `data`, as the server does it. */
function withStringData(secret: JsonObject): JsonObject {
  const { stringData, data, ...rest } = secret;
  if (!isObject(stringData)) return secret;
  const encoded = Object.entries(stringData).map(([key, value]): [string, unknown] => [
    key,
    Buffer.from(String(value)).toString("base64"),
  ]);
  return { ...rest, data: Object.fromEntries([...Object.entries(isObject(data) ? data : {}), ...encoded]) };
}

/** How to read the documents. */
export interface FileResourcesOptions {
  /** Kinds that are not built in, by `apiVersion/Kind`: whether they live in namespaces. */
  readonly kinds?: ReadonlyMap<string, boolean>;
  /** Take a kind without a definition for namespaced when its documents carry a namespace. */
  readonly guessScope?: boolean;
  /** Make up a missing Namespace (named and labelled as the API server labels it) instead of not finding it. */
  readonly synthesiseNamespaces?: boolean;
  /** Resources kept in one storage, instead of the built-in ones and those of CustomResourceDefinitions. */
  readonly equivalentSets?: readonly EquivalentSet[];
  /** The source of versions for resources that no document defines; the table of built-in kinds is for what it does not know. */
  readonly versions?: Pick<ResourceSource, "equivalents">;
}

/** A {@link ResourceSource} made of documents: Namespaces, parameters of any kind, CustomResourceDefinitions. Immutable. */
export class FileResources implements ResourceSource {
  readonly #namespaces = new Map<string, JsonObject | LookupFailure>();
  /** Objects by `apiVersion/Kind`, then in the order of namespace and name. */
  readonly #objects = new Map<string, JsonObject[]>();
  /** Objects by `apiVersion/Kind namespace/name`. */
  readonly #named = new Map<string, JsonObject | LookupFailure>();
  /** The last made-up Namespace: many requests are about the same. */
  #madeUp: { readonly name: string; readonly namespace: JsonObject } | undefined;
  /** Documents that no cluster would store, by `apiVersion/Kind`: a list fails with the first one. */
  readonly #mismatches = new Map<string, { readonly namespace: string; readonly failure: LookupFailure }[]>();
  /** Documents without a readable name, by `apiVersion/Kind`: each may be any object that is looked for and not found. */
  readonly #misnamed = new Map<string, LookupFailure>();
  readonly #scopes = new Map<string, boolean>();
  readonly #equivalentSets: EquivalentSet[];
  readonly #options: FileResourcesOptions;

  constructor(documents: readonly JsonObject[], options: FileResourcesOptions = {}) {
    this.#options = options;
    this.#equivalentSets = [...(options.equivalentSets ?? [])];
    for (const [kind, namespaced] of options.kinds ?? []) this.#scopes.set(kind, namespaced);
    for (const document of documents) this.#add(document);
    for (const list of this.#objects.values()) list.sort(byNamespaceAndName);
  }

  #add(document: JsonObject): void {
    const apiVersion = text(document, "apiVersion");
    const kind = text(document, "kind");
    const object = asStored(document);
    const key = `${apiVersion}/${kind}`;
    if (object instanceof LookupFailure) {
      if (misnamedAt(document) !== undefined) {
        this.#misnamed.set(key, object);
        return;
      }
      addTo(this.#mismatches, key, { namespace: namespaceOf(document), failure: object });
    } else addTo(this.#objects, key, object);
    this.#named.set(`${key} ${namespaceOf(document)}/${nameOf(document)}`, object);
    if (key === "v1/Namespace") this.#namespaces.set(nameOf(document), object);
    if (kind === "CustomResourceDefinition" && apiVersion.startsWith("apiextensions.k8s.io/")) this.#define(document);
  }

  /** The kinds that a CustomResourceDefinition defines. */
  #define(definition: JsonObject): void {
    if (this.#options.equivalentSets === undefined) this.#equivalentSets.push(equivalentsOf(definition));
    const spec = member(definition, "spec");
    const group = text(spec, "group");
    const kind = text(member(spec, "names"), "kind");
    const versions = member(spec, "versions");
    for (const version of Array.isArray(versions) ? versions : []) {
      const apiVersion = apiVersionOf({ group, version: text(version, "name") });
      this.#scopes.set(`${apiVersion}/${kind}`, text(spec, "scope") !== "Cluster");
    }
  }

  namespace(name: string): Lookup<JsonObject> {
    if (name === "") return new LookupFailure("resource name may not be empty");
    const found = this.#namespaces.get(name) ?? this.#misnamed.get("v1/Namespace");
    if (found !== undefined || this.#options.synthesiseNamespaces !== true) return found;
    if (this.#madeUp?.name !== name) this.#madeUp = { name, namespace: madeUpNamespace(name) };
    return this.#madeUp.namespace;
  }

  get(kind: GroupVersionKind, namespace: string, name: string): Lookup<JsonObject> {
    const key = `${apiVersionOf(kind)}/${kind.kind}`;
    return this.#named.get(`${key} ${namespace}/${name}`) ?? this.#misnamed.get(key);
  }

  list(kind: GroupVersionKind, namespace: string): Lookup<readonly JsonObject[]> {
    const key = `${apiVersionOf(kind)}/${kind.kind}`;
    const mismatch = this.#mismatches.get(key)?.find((each) => namespace === "" || each.namespace === namespace);
    const failure = this.#misnamed.get(key) ?? mismatch?.failure;
    if (failure !== undefined) return failure;
    const all = this.#objects.get(key) ?? [];
    return namespace === "" ? all : all.filter((object) => namespaceOf(object) === namespace);
  }

  namespaced(kind: GroupVersionKind): Lookup<boolean> {
    const key = `${apiVersionOf(kind)}/${kind.kind}`;
    const known = this.#scopes.get(key) ?? builtinNamespaced(kind);
    if (known !== undefined || this.#options.guessScope !== true) return known;
    const documents = this.#objects.get(key);
    return documents?.some((object) => namespaceOf(object) !== "");
  }

  equivalents(resource: GroupVersionResource, subresource: string): Eventual<Lookup<Equivalents>> {
    for (const set of this.#equivalentSets) {
      const found = set.resources.filter((each) => each.subresource === subresource);
      const inSet = set.resources.some(
        ({ resource: each }) => each.group === resource.group && each.resource === resource.resource,
      );
      if (inSet) return found;
    }
    if (this.#options.equivalentSets !== undefined) return [];
    const asked = this.#options.versions?.equivalents(resource, subresource);
    // A source that failed may know of versions that the table does not.
    return andThen(asked, (known) => known ?? builtinEquivalents(resource, subresource));
  }

  convert(object: JsonObject, to: GroupVersionKind): JsonObject | LookupFailure {
    const from = { group: "", version: "", ...parseApiVersion(text(object, "apiVersion")), kind: text(object, "kind") };
    if (sameKind(from, to)) return object;
    const failure = this.#conversionError(from, to);
    if (failure !== undefined) return new LookupFailure(failure);
    return { ...object, apiVersion: apiVersionOf(to), kind: to.kind };
  }

  /** Why an object of one kind cannot be relabelled as the other. */
  #conversionError(from: GroupVersionKind, to: GroupVersionKind): string | undefined {
    // Both are needed: a Scale is in the set of every custom resource.
    const set = this.#equivalentSets.find(({ resources }) =>
      [from, to].every((wanted) => resources.some(({ kind }) => kind !== undefined && sameKind(kind, wanted))),
    );
    if (set !== undefined) return set.conversionError;
    return sameBuiltinShape(from, to) ? undefined : NO_CONVERSION;
  }
}

function addTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** The order of lists. */
export function byNamespaceAndName(a: JsonObject, b: JsonObject): number {
  return compareNames(namespaceOf(a), namespaceOf(b)) || compareNames(nameOf(a), nameOf(b));
}

/** A Namespace as the API server makes it. */
const madeUpNamespace = (name: string): JsonObject => ({
  metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
  spec: { finalizers: ["kubernetes"] },
  status: { phase: "Active" },
});
