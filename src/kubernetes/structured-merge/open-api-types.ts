/** Converts OpenAPI v3 schemas, as Kubernetes publishes them, to the types of structured-merge-diff (spec mutating-admission-policy.md 7). */
import { isObject, type JsonObject, member, text } from "../object.js";
import { ListType, MapType, type Scalar, Type, type TypeReference } from "./schema.js";

/** Quantities are texts or numbers, whatever their schema says. */
const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/** Any JSON, replaced as a whole. */
const RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension";
/** The metadata of every object. */
const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const NO_FIELDS: ReadonlyMap<string, never> = new Map<string, never>();
const STRING = new Type("string", undefined, undefined);

/** A value of unknown type in a list: all of it is replaced as a whole. */
const UNTYPED: Type = anything((self) => new MapType(NO_FIELDS, NO_FIELDS, self, true));
/** A value of unknown type: objects merge member by member, lists are replaced whole. */
export const DEDUCED: Type = anything((self) => new MapType(NO_FIELDS, NO_FIELDS, self, false), UNTYPED);

function anything(map: (self: TypeReference) => MapType, element?: Type): Type {
  const self: TypeReference = { name: "", resolve: () => type };
  const type: Type = new Type("untyped", new ListType(element ?? self, true, []), map(self));
  return type;
}

/** The types of an OpenAPI document. They are made when first asked for. */
export class OpenApiTypes {
  readonly #definitions: JsonObject;
  /** The types made so far: at most as many as there are definitions. */
  readonly #types = new Map<string, Type>();
  readonly #problems: string[] = [];
  readonly #base: OpenApiTypes | undefined;

  /**
   * @param definitions the schemas by name, as `components.schemas` holds them; references are followed by their last part
   * @param base types that are referred to and are defined elsewhere
   */
  constructor(definitions: JsonObject, base?: OpenApiTypes) {
    this.#definitions = definitions;
    this.#base = base;
  }

  /** Makes all types, and answers an error for each schema that the API server could not convert; then it does not use the document at all. */
  problems(): readonly string[] {
    for (const name of Object.keys(this.#definitions)) this.type(name);
    return this.#problems;
  }

  /** The type of a definition; `undefined` when there is none. */
  type(name: string): Type | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const schema = member(this.#definitions, name);
    if (!isObject(schema)) return this.#base?.type(name);
    // In practice a definition is never a mere reference; the API server skips one.
    if (text(schema, "$ref") !== "") return undefined;
    const type = this.#special(name) ?? this.#inline(schema, false);
    this.#types.set(name, type);
    return type;
  }

  #special(name: string): Type | undefined {
    if (name === QUANTITY) return new Type("untyped", undefined, undefined);
    return name === RAW_EXTENSION ? UNTYPED : undefined;
  }

  /** @param preserving whether an enclosing schema preserves unknown members */
  #inline(schema: JsonObject, preserving: boolean): Type {
    const preserves = preserving || schema["x-kubernetes-preserve-unknown-fields"] === true;
    const type = typeName(schema);
    switch (type) {
      case "":
        return new Type("untyped", this.#list(schema, type, preserves), this.#map(schema, preserves));
      case "object":
        return new Type(undefined, undefined, this.#map(schema, preserves));
      case "array":
        return new Type(undefined, this.#list(schema, type, preserves), undefined);
      default:
        return new Type(this.#scalar(type, text(schema, "format")), undefined, undefined);
    }
  }

  #scalar(type: string, format: string): Scalar {
    if (type === "integer" || type === "number") return "numeric";
    if (type === "boolean") return "boolean";
    if (type === "string") return format === "" || format === "byte" ? "string" : "untyped";
    this.#problems.push(`unrecognized type: '${type}'`);
    return "untyped";
  }

  #map(schema: JsonObject, preserves: boolean): MapType {
    const fields = new Map<string, TypeReference>();
    const defaults = new Map<string, unknown>();
    const properties = objectOr(schema.properties, {});
    for (const name of Object.keys(properties)) {
      const field = objectOr(properties[name], {});
      fields.set(name, this.#reference(field, preserves));
      const standard = field.default ?? undefined;
      if (standard !== undefined) defaults.set(name, standard);
    }
    if (schema["x-kubernetes-embedded-resource"] === true) {
      fields
        .set("apiVersion", STRING)
        .set("kind", STRING)
        .set("metadata", new NamedType(this, OBJECT_META, undefined));
    }
    return new MapType(
      fields,
      defaults,
      this.#element(schema, fields.size, preserves),
      this.#isAtomic(schema) ?? false,
    );
  }

  /** The type of members without a property. */
  #element(schema: JsonObject, fields: number, preserves: boolean): TypeReference | undefined {
    const additional = schema.additionalProperties ?? undefined;
    if (additional === undefined) return preserves || fields === 0 ? DEDUCED : undefined;
    if (isObject(additional)) return this.#reference(additional, preserves);
    return additional === true ? DEDUCED : undefined;
  }

  #list(schema: JsonObject, type: string, preserves: boolean): ListType {
    const keys = this.#keys(schema);
    return new ListType(this.#items(schema, type, preserves), keys === undefined, keys ?? []);
  }

  #items(schema: JsonObject, type: string, preserves: boolean): TypeReference {
    const { items } = schema;
    if (isObject(items)) return this.#reference(items, preserves);
    if (Array.isArray(items)) this.#problems.push("structural schema arrays must have exactly one member subtype");
    else if (type !== "") this.#problems.push("`items` must be specified on arrays");
    return UNTYPED;
  }

  /** The keys of a list's items; none for a set; `undefined` for an atomic list. */
  #keys(schema: JsonObject): readonly string[] | undefined {
    const type = schema["x-kubernetes-list-type"] ?? undefined;
    if (type === undefined) return this.#keysOfStrategy(schema);
    switch (type) {
      case "set":
        return [];
      case "map": {
        const keys = schema["x-kubernetes-list-map-keys"];
        if (Array.isArray(keys)) return keys.filter((key) => typeof key === "string");
        this.#problems.push("missing map keys");
        return [];
      }
      case "atomic":
        return undefined;
      default:
        this.#problems.push(`unknown list type ${String(type)}`);
        return undefined;
    }
  }

  /** The keys by the notation of older schemas. */
  #keysOfStrategy(schema: JsonObject): readonly string[] | undefined {
    const strategy = schema["x-kubernetes-patch-strategy"] ?? undefined;
    if (strategy === "merge" || strategy === "merge,retainKeys") {
      const key = schema["x-kubernetes-patch-merge-key"];
      return typeof key === "string" ? [key] : [];
    }
    if (strategy !== undefined && strategy !== "retainKeys") {
      this.#problems.push(`unknown patch strategy ${String(strategy)}`);
    }
    return undefined;
  }

  /** Whether a map is replaced whole; `undefined` when its schema doesn't say. */
  #isAtomic(schema: JsonObject): boolean | undefined {
    const type = schema["x-kubernetes-map-type"] ?? undefined;
    if (type === undefined) return undefined;
    if (type !== "atomic" && type !== "granular") this.#problems.push(`unknown map type ${String(type)}`);
    return type === "atomic";
  }

  #reference(schema: JsonObject, preserves: boolean): TypeReference {
    const name = referenceOf(schema).replace(/^.*\//, "");
    return name === "" ? this.#inline(schema, preserves) : new NamedType(this, name, this.#isAtomic(schema));
  }
}

/** A definition, perhaps merged in another way than its own. */
class NamedType implements TypeReference {
  readonly #types: OpenApiTypes;
  readonly #atomic: boolean | undefined;
  #type: Type | undefined;

  constructor(
    types: OpenApiTypes,
    readonly name: string,
    atomic: boolean | undefined,
  ) {
    this.#types = types;
    this.#atomic = atomic;
  }

  resolve(): Type | undefined {
    this.#type ??= this.#resolve();
    return this.#type;
  }

  #resolve(): Type | undefined {
    const type = this.#types.type(this.name);
    const atomic = this.#atomic;
    if (type === undefined || atomic === undefined) return type;
    const { scalar, list, map } = type;
    if (map !== undefined) return new Type(scalar, list, new MapType(map.fields, map.defaults, map.element, atomic));
    // A list that is said not to be atomic has no kind: its items are not merged.
    return list === undefined ? undefined : new Type(scalar, new ListType(list.element, true, list.keys), undefined);
  }
}

/** `$ref`, also where it is the only part of an `allOf`. */
function referenceOf(schema: JsonObject): string {
  const { allOf } = schema;
  const reference = text(schema, "$ref");
  return reference === "" && Array.isArray(allOf) && allOf.length === 1 ? text(allOf[0], "$ref") : reference;
}

/** The first of several types, which the API server uses. */
function typeName(schema: JsonObject): string {
  const { type } = schema;
  const first: unknown = Array.isArray(type) ? type[0] : type;
  return typeof first === "string" ? first : "";
}

const objectOr = (value: unknown, other: JsonObject): JsonObject => (isObject(value) ? value : other);
