/** Kinds and their resources without a cluster: the built-in ones and those of definitions. */
import { builtinNamespaced, isBuiltin, pluralOf } from "../../kubernetes/builtin-kinds.js";
import {
  apiVersionOf,
  type GroupVersionKind,
  type GroupVersionResource,
  parseApiVersion,
} from "../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import { LookupFailure } from "../resources/resource-source.js";

/** A kind's resource. */
export interface KnownResource {
  readonly resource: GroupVersionResource;
  readonly namespaced: boolean;
}

/** Built-in kinds, and those of CustomResourceDefinitions. */
export class KnownKinds {
  readonly #defined = new Map<string, KnownResource>();

  /** @param definitions CustomResourceDefinitions; other objects among them are skipped */
  constructor(definitions: readonly JsonObject[] = []) {
    for (const definition of definitions) {
      if (text(definition, "kind") === "CustomResourceDefinition") this.#define(member(definition, "spec"));
    }
  }

  #define(spec: unknown): void {
    const group = text(spec, "group");
    const names = member(spec, "names");
    const versions = member(spec, "versions");
    for (const entry of Array.isArray(versions) ? versions : []) {
      const version = text(entry, "name");
      this.#defined.set(`${apiVersionOf({ group, version })}/${text(names, "kind")}`, {
        resource: { group, version, resource: text(names, "plural") },
        namespaced: text(spec, "scope") !== "Cluster",
      });
    }
  }

  /** The resource of a kind; `undefined` when the kind is not known. */
  find(kind: GroupVersionKind): KnownResource | undefined {
    const defined = this.#defined.get(`${apiVersionOf(kind)}/${kind.kind}`);
    if (defined !== undefined || !isBuiltin(kind)) return defined;
    const { group, version } = kind;
    return {
      resource: { group, version, resource: pluralOf(kind.kind) },
      namespaced: builtinNamespaced(kind) === true,
    };
  }
}

/** The parts of `apiVersion`, or the error of the reference's client. */
export const versionOf = (apiVersion: string): { readonly group: string; readonly version: string } | LookupFailure =>
  parseApiVersion(apiVersion) ?? new LookupFailure(`unexpected GroupVersion string: ${apiVersion}`);

/** The error of the reference's client where no resource has the kind. */
export const noSuchKind = (apiVersion: string, kind: string): LookupFailure =>
  new LookupFailure(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
