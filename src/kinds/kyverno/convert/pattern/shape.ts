/** The schemas of built-in kinds, for the values that a pattern looks at. */
import { builtinKindsOf } from "../../../../kubernetes/builtin-kinds.js";
import { parseApiVersion } from "../../../../kubernetes/names.js";
import { isObject, type JsonObject, member } from "../../../../kubernetes/object.js";
import { bundledSchemas, type SchemaSource } from "../../../shared/index.js";
import type { ResourceRule } from "../../../shared/match/resource-rule.js";

/** The type of a value; `quantity`: a text or a number. */
export type ShapeType = "bool" | "list" | "map" | "number" | "quantity" | "string";

const factory = bundledSchemas();
let loaded: SchemaSource | undefined;
const schemas = (): SchemaSource => {
  loaded ??= factory();
  return loaded;
};

/** A part of one or several kinds' schemas. Immutable. */
export class Shape {
  /** `undefined` where the kinds disagree. */
  readonly type: ShapeType | undefined;

  readonly #parts: readonly JsonObject[];

  private constructor(parts: readonly JsonObject[]) {
    this.#parts = parts;
    const [first, ...others] = parts.map(typeOf);
    this.type = others.every((type) => type === first) ? first : undefined;
  }

  static of(parts: readonly unknown[]): Shape | undefined {
    const resolved = parts.map((part) => (isObject(part) ? schemas().resolved(part) : undefined));
    return resolved.length > 0 && resolved.every((part) => part !== undefined) ? new Shape(resolved) : undefined;
  }

  /** The shape of a member; `undefined` where nothing is known about it. */
  member(key: string): Shape | undefined {
    return Shape.of(this.#parts.map((part) => member(part.properties, key) ?? part.additionalProperties));
  }

  /** The shape of a list's items. */
  get items(): Shape | undefined {
    return Shape.of(this.#parts.map((part) => part.items));
  }
}

/** The shape of a Pod. */
export const podShape = (): Shape | undefined =>
  Shape.of([schemas().schemaOf({ group: "", version: "v1", kind: "Pod" })]);

/** The shape of all objects that rules match; `undefined` unless they are of built-in kinds. */
export function shapeOfRules(rules: readonly ResourceRule[]): Shape | undefined {
  const found = rules.flatMap(({ apiGroups = [], resources = [] }) =>
    resources.map((named) => {
      // Ephemeral containers are added to a Pod, which is the object then.
      const resource = named.replace("/ephemeralcontainers", "");
      const kinds = builtinKindsOf(resource).flatMap(({ apiVersion, kind }) => {
        const { group, version } = parseApiVersion(apiVersion) ?? { group: "", version: "" };
        const isMeant = /^v[0-9]+$/.test(version) && (apiGroups.includes(group) || apiGroups.includes("*"));
        return isMeant ? [schemas().schemaOf({ group, version, kind })] : [];
      });
      return kinds.length > 0 ? kinds : [undefined];
    }),
  );
  return Shape.of(found.flat());
}

function typeOf(schema: JsonObject): ShapeType | undefined {
  if (Array.isArray(schema.oneOf) || schema.format === "int-or-string") return "quantity";
  const { type } = schema;
  if (type === "array") return "list";
  // An object without members may be anything, such as a custom resource's JSON.
  if (type === "object") return (schema.properties ?? schema.additionalProperties) ? "map" : undefined;
  if (type === "boolean") return "bool";
  if (type === "integer" || type === "number") return "number";
  return type === "string" ? "string" : undefined;
}
