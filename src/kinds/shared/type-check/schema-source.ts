/** The schemas of kinds: from the built-in kinds' OpenAPI definitions, and from CustomResourceDefinitions. */
import { builtinKinds, pluralOf } from "../../../kubernetes/builtin-kinds.js";
import { apiVersionOf, compareNames, type GroupVersionKind, parseApiVersion } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import type { ResourceRule } from "../match/resource-rule.js";
import { refOf, type SchemaType, schemaType } from "./schema-type.js";

/** The versions that a server enables by default. */
const STABLE = /^v[0-9]+$/;

/** Kinds by the names of their resources, with their schemas. Immutable. */
export class SchemaSource {
  readonly #schemas = new Map<string, JsonObject>();
  /** By `version/resource`, where the resource is plural or singular. */
  readonly #kinds = new Map<string, GroupVersionKind[]>();
  readonly #definitions: JsonObject;

  /**
   * @param openapi `{kinds: {"apps/v1/Deployment": name}, definitions: {name: schema}}`
   * @param resourceDefinitions CustomResourceDefinitions
   */
  constructor(openapi: JsonObject, resourceDefinitions: readonly JsonObject[] = []) {
    this.#definitions = isObject(openapi.definitions) ? openapi.definitions : {};
    for (const [key, name] of Object.entries(isObject(openapi.kinds) ? openapi.kinds : {})) {
      const schema = member(this.#definitions, String(name));
      if (isObject(schema)) this.#schemas.set(key, schema);
    }
    for (const { apiVersion, kind } of builtinKinds()) {
      const version = parseApiVersion(apiVersion);
      if (version !== undefined && STABLE.test(version.version)) {
        this.#addKind({ ...version, kind }, pluralOf(kind), kind.toLowerCase());
      }
    }
    for (const definition of resourceDefinitions) this.#define(definition);
  }

  #addKind(kind: GroupVersionKind, plural: string, singular: string): void {
    for (const resource of new Set([plural, singular])) {
      const key = `${kind.version}/${resource}`;
      const list = this.#kinds.get(key);
      if (list === undefined) this.#kinds.set(key, [kind]);
      else list.push(kind);
    }
  }

  #define(definition: JsonObject): void {
    const spec = member(definition, "spec");
    const names = member(spec, "names");
    const versions = member(spec, "versions");
    for (const written of Array.isArray(versions) ? (versions as readonly unknown[]) : []) {
      const kind = { group: text(spec, "group"), version: text(written, "name"), kind: text(names, "kind") };
      this.#addKind(kind, text(names, "plural"), text(names, "singular") || kind.kind.toLowerCase());
      const schema = member(member(written, "schema"), "openAPIV3Schema");
      if (isObject(schema)) this.#schemas.set(`${apiVersionOf(kind)}/${kind.kind}`, schema);
    }
  }

  /** The kinds behind a resource. The empty group stands for any group, as in the server's own resource map. */
  kindsOf(group: string, version: string, resource: string): readonly GroupVersionKind[] {
    const found = this.#kinds.get(`${version}/${resource.toLowerCase()}`) ?? [];
    return group === "" ? found : found.filter((kind) => kind.group === group);
  }

  /** The schema of a kind that a document defines; it has no references. */
  schemaOf(kind: GroupVersionKind): JsonObject | undefined {
    return this.#schemas.get(`${apiVersionOf(kind)}/${kind.kind}`);
  }

  /** A part of a schema behind its reference. */
  resolved(part: JsonObject): JsonObject | undefined {
    const ref = refOf(part);
    return ref === undefined ? part : this.#definition(ref);
  }

  #definition(ref: string): JsonObject | undefined {
    const name = ref.replace(/^#\/definitions\//, "");
    const definition = member(this.#definitions, name.replaceAll("~1", "/").replaceAll("~0", "~"));
    return isObject(definition) ? definition : undefined;
  }

  /** The type of a kind's objects; `undefined` without a schema. `typed` is false when the schema has no usable type: everything is allowed. */
  typeOf(kind: GroupVersionKind, name: string): { readonly typed: SchemaType | undefined } | undefined {
    const schema = this.#schemas.get(`${apiVersionOf(kind)}/${kind.kind}`);
    if (schema === undefined) return undefined;
    return { typed: schemaType(schema, name, (ref) => this.#definition(ref)) };
  }
}

/** Kinds in the order of group, version and kind. */
export const compareKinds = (a: GroupVersionKind, b: GroupVersionKind): number =>
  compareNames(a.group, b.group) || compareNames(a.version, b.version) || compareNames(a.kind, b.kind);

/** Most kinds checked of one rule; a rule that reaches it ends the collection. */
const MAX_KINDS_OF_RULE = 10;

/** The kinds that the rules name outright, in order. */
export function kindsOfRules(rules: readonly ResourceRule[], schemas: SchemaSource): readonly GroupVersionKind[] {
  const kinds = new Map<string, GroupVersionKind>();
  collect: for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes("*"))) continue;
    let count = 0;
    for (const group of [...apiGroups].sort()) {
      for (const version of [...apiVersions].sort()) {
        for (const resource of resources.filter((name) => !/[*/]/.test(name)).sort()) {
          for (const kind of schemas.kindsOf(group, version, resource)) {
            kinds.set(`${kind.group}/${kind.version}/${kind.kind}`, kind);
            if (++count === MAX_KINDS_OF_RULE) break collect;
          }
        }
      }
    }
  }
  return [...kinds.values()].sort(compareKinds);
}
