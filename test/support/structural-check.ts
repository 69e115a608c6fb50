/**
 * Holds objects against the OpenAPI definitions of built-in kinds as the API server does with strict validation: types, required fields, and no
 * field that the definitions do not know.
 */
import { readFileSync } from "node:fs";

interface Definition {
  readonly type?: string;
  readonly $ref?: string;
  readonly allOf?: readonly Definition[];
  readonly properties?: Readonly<Record<string, Definition>>;
  readonly additionalProperties?: Definition;
  readonly items?: Definition;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Definition[];
}

interface Definitions {
  readonly kinds: Readonly<Record<string, string>>;
  readonly definitions: Readonly<Record<string, Definition>>;
}

/** Tells what is wrong with objects. */
export class StructuralCheck {
  readonly #openapi: Definitions;

  constructor() {
    const file = new URL("../../../data/kubernetes-openapi.json", import.meta.url);
    this.#openapi = JSON.parse(readFileSync(file, "utf8")) as Definitions;
  }

  /** One line for each mistake; `undefined` when the kind is not a built-in one. */
  problems(object: { readonly apiVersion: string; readonly kind: string }): string[] | undefined {
    const name = this.#openapi.kinds[`${object.apiVersion}/${object.kind}`];
    const definition = name === undefined ? undefined : this.#openapi.definitions[name];
    if (definition === undefined) return undefined;
    return this.#check(object, definition, object.kind);
  }

  #check(value: unknown, written: Definition, path: string): string[] {
    const definition = this.#resolve(written);
    if (definition.oneOf !== undefined) {
      const fits = definition.oneOf.some((one) => this.#check(value, one, path).length === 0);
      return fits ? [] : [`${path}: neither ${definition.oneOf.map(({ type }) => type).join(" nor ")}`];
    }
    switch (definition.type) {
      case "array":
        if (!Array.isArray(value)) return [`${path}: not a list`];
        return value.flatMap((item, index) => this.#check(item, definition.items ?? {}, `${path}[${index}]`));
      case "object":
        return this.#checkObject(value, definition, path);
      case "integer":
        return Number.isInteger(value) ? [] : [`${path}: not an integer`];
      case "number":
      case "string":
      case "boolean":
        return (typeof value as string) === definition.type ? [] : [`${path}: not a ${definition.type}`];
      default:
        return [];
    }
  }

  #checkObject(value: unknown, definition: Definition, path: string): string[] {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path}: not an object`];
    const { properties, additionalProperties, required = [] } = definition;
    const missing = required.filter((name) => !(name in value)).map((name) => `${path}: ${name} is missing`);
    const wrong = Object.entries(value).flatMap(([name, field]) => {
      const known = properties?.[name] ?? additionalProperties;
      if (known !== undefined) return this.#check(field, known, `${path}.${name}`);
      // An object without any declared field is free.
      return properties === undefined ? [] : [`${path}.${name}: unknown field`];
    });
    return [...missing, ...wrong];
  }

  #resolve(definition: Definition): Definition {
    const parts = definition.allOf ?? [];
    const first = definition.$ref === undefined ? parts : [{ $ref: definition.$ref }];
    if (first.length === 0) return definition;
    return Object.assign(
      {},
      definition,
      ...first.map(({ $ref, ...rest }) => {
        if ($ref === undefined) return rest;
        const target = this.#openapi.definitions[$ref.replace("#/definitions/", "")];
        if (target === undefined) throw new Error(`no definition of ${$ref}`);
        return this.#resolve(target);
      }),
    ) as Definition;
  }
}
