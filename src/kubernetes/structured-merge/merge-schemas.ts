/** The types of objects: from the built-in kinds, CustomResourceDefinitions, and the documents of a cluster. */
import { readFileSync } from "node:fs";
import { setKey } from "../../data/plain-object.js";
import { apiVersionOf } from "../names.js";
import { isObject, type JsonObject, member, text } from "../object.js";
import { OpenApiTypes } from "./open-api-types.js";
import type { Type, TypeReference } from "./schema.js";
import { isStructural } from "./structural.js";

/** The types of one group and version. */
export interface VersionSchemas {
  /** The type of a kind's objects; `undefined` for a kind that is not published in its own version (spec mutating-admission-policy.md 7). */
  typeOf(kind: string): TypeReference | undefined;
}

/** The types of groups and versions. */
export interface MergeSchemas {
  /** `undefined` when no types are published of this group and version, or broken ones: the API server answers 503. */
  version(group: string, version: string): VersionSchemas | undefined;
}

/** Relative to the compiled file; generated from Kubernetes' published documents. */
const BUNDLED = new URL("../../../../data/kubernetes-openapi.json", import.meta.url);

/** The types of built-in kinds, and those that custom resources share with them. */
export interface BundledSchemas extends MergeSchemas {
  /** The definitions, for schemas that refer to them. */
  readonly types: OpenApiTypes;
}

let bundled: BundledSchemas | undefined;

/** The types of the built-in kinds of Kubernetes 1.37, which come with this package. The first call reads a file. */
export function bundledSchemas(): BundledSchemas {
  bundled ??= readBundled();
  return bundled;
}

function readBundled(): BundledSchemas {
  const data = JSON.parse(readFileSync(BUNDLED, "utf8")) as JsonObject;
  const types = new OpenApiTypes(objectOf(data.definitions));
  const versions = new Map<string, VersionSchemas>();
  for (const [apiVersion, kinds] of Object.entries(objectOf(data.versions))) {
    versions.set(
      apiVersion,
      new PublishedVersion(types, new Map(Object.entries(objectOf(kinds)) as [string, string][])),
    );
  }
  return { types, version: (group, version) => versions.get(apiVersionOf({ group, version })) };
}

/**
 * The types of custom resources, as the API server publishes them from their definitions.
 * @param definitions CustomResourceDefinitions; other objects are skipped
 */
export function customResourceSchemas(definitions: readonly JsonObject[], bundled: BundledSchemas): MergeSchemas {
  const schemas = new Map<string, Record<string, JsonObject>>();
  for (const definition of definitions) {
    const spec = member(definition, "spec");
    const versions = member(spec, "versions");
    const kind = text(member(spec, "names"), "kind");
    for (const version of Array.isArray(versions) ? (versions as readonly unknown[]) : []) {
      if (member(version, "served") === false) continue;
      const apiVersion = apiVersionOf({ group: text(spec, "group"), version: text(version, "name") });
      const kinds = schemas.get(apiVersion) ?? {};
      schemas.set(apiVersion, kinds);
      setKey(kinds, kind, customResource(member(member(version, "schema"), "openAPIV3Schema")));
    }
  }
  const versions = new Map<string, VersionSchemas>();
  for (const [apiVersion, kinds] of schemas) {
    const types = new OpenApiTypes(kinds, bundled.types);
    // The API server makes types of a whole document or of none of it.
    if (types.problems().length > 0) continue;
    versions.set(apiVersion, new PublishedVersion(types, new Map(Object.keys(kinds).map((kind) => [kind, kind]))));
  }
  return { version: (group, version) => versions.get(apiVersionOf({ group, version })) };
}

/** A custom resource's schema as it is published: one that is not structural counts as none. */
function customResource(schema: unknown): JsonObject {
  if (!isObject(schema) || !isStructural(schema)) return { type: "object" };
  return { ...schema, "x-kubernetes-embedded-resource": true };
}

/**
 * The types in a cluster's OpenAPI v3 document of a group and version (`/openapi/v3/apis/<group>/<version>`); `undefined` when the API server
 * could not make types of it.
 */
export function documentSchemas(document: JsonObject, group: string, version: string): VersionSchemas | undefined {
  const definitions = member(member(document, "components"), "schemas");
  if (!isObject(definitions)) return undefined;
  const types = new OpenApiTypes(definitions);
  if (types.problems().length > 0) return undefined;
  const names = new Map<string, string>();
  for (const name of Object.keys(definitions)) {
    const identities = member(definitions[name], "x-kubernetes-group-version-kind");
    for (const identity of Array.isArray(identities) ? (identities as readonly unknown[]) : []) {
      if (text(identity, "group") !== group || text(identity, "version") !== version) continue;
      names.set(text(identity, "kind"), name);
    }
  }
  return new PublishedVersion(types, names);
}

/** The types of several sources; the first that has a group and version counts. */
export function joinedSchemas(...sources: readonly MergeSchemas[]): MergeSchemas {
  return {
    version: (group, version) => {
      for (const source of sources) {
        const found = source.version(group, version);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

class PublishedVersion implements VersionSchemas {
  readonly #types: OpenApiTypes;
  readonly #names: ReadonlyMap<string, string>;

  constructor(types: OpenApiTypes, names: ReadonlyMap<string, string>) {
    this.#types = types;
    this.#names = names;
  }

  typeOf(kind: string): Type | undefined {
    const name = this.#names.get(kind);
    return name === undefined ? undefined : this.#types.type(name);
  }
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
