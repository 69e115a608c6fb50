/** Resolves names in an environment: variables, types and functions, in a container (spec kubernetes-cel.md 7.3). */

import { isSince, type KubernetesVersion } from "../../data/kubernetes-version.js";
import type { Declarations } from "../checked.js";
import type { FunctionDeclaration } from "../declarations.js";
import { isReserved } from "../parser/ast-builder.js";
import { objectType, type Type, typeType } from "../types.js";
import { Catalog } from "./catalog.js";
import type { DottedPath } from "./dotted-path.js";
import { SHORT_TYPE_NAMES, WELL_KNOWN_TYPES, wellKnownName } from "./well-known-types.js";

/** Since this version of Kubernetes a field named like a reserved word need not be escaped. */
const UNESCAPED_SINCE: KubernetesVersion = "1.31";

/** Former names of operators: declared for old clients of the reference, but no expression can call them. */
const FORMER_OPERATORS: ReadonlySet<string> = new Set(["_in_", "in", "__not_strictly_false__"]);

/** The meaning of a global name. */
export interface ResolvedName {
  readonly name: string;
  /** The type of an expression that is just this name; `type(…)` when the name is a type's. */
  readonly type: Type;
  readonly isType: boolean;
}

/** The names of an environment, prepared for look-up. Immutable once made. */
export class Names {
  /** First segments of dotted variable and type names: other chains need not be looked up. */
  readonly #dottedNames = new Set<string>();
  /** First segments of namespaced functions. */
  readonly #namespaces = new Set<string>();
  /** The container and its parents, innermost first, each with a trailing dot; the root is last. */
  readonly #prefixes: readonly string[];

  #catalog: Catalog | undefined;

  /** @param macros the names of macros */
  constructor(
    readonly declarations: Declarations,
    readonly macros: readonly string[] = [],
  ) {
    const { variables, typeNames, objectTypes, typeProvider, functions, container } = declarations;
    for (const names of [variables, typeNames, objectTypes, WELL_KNOWN_TYPES]) {
      for (const name of names.keys()) if (name.includes(".")) this.#dottedNames.add(firstSegment(name));
    }
    for (const namespace of typeProvider?.namespaces ?? []) this.#dottedNames.add(namespace);
    for (const name of functions.keys()) if (name.includes(".")) this.#namespaces.add(firstSegment(name));
    const prefixes: string[] = [];
    for (let prefix = container; prefix !== ""; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf(".")))) {
      prefixes.push(`${prefix}.`);
    }
    prefixes.push("");
    this.#prefixes = prefixes;
  }

  /** Whether a chain of selects that starts with this name may be the dotted name of a variable or type. */
  mayBeDotted(first: string): boolean {
    return this.#prefixes.length > 1 || this.#dottedNames.has(first);
  }

  /** Whether a chain that starts with this name may be a function's namespace. */
  mayBeNamespace(first: string): boolean {
    return this.#prefixes.length > 1 || this.#namespaces.has(first);
  }

  /** The names to propose in place of one that is not declared; `undefined` before 1.38, which proposes none. */
  get catalog(): Catalog | undefined {
    const { behaviour, functions, variables } = this.declarations;
    if (behaviour === "1.37") return undefined;
    this.#catalog ??= new Catalog(variables.keys(), functions.keys(), this.macros);
    return this.#catalog;
  }

  /**
   * The name as which a chain of names is reported since 1.38: of none of its beginnings is anything declared, and it is a name, or there is one to propose.
   * @param method the name that is called at the end of the chain
   */
  undeclaredPath({ name, rooted }: DottedPath, method: string | undefined): string | undefined {
    const whole = `${rooted ? "." : ""}${method === undefined ? name : `${name}.${method}`}`;
    if (this.catalog === undefined) return undefined;
    const names = name.split(".");
    const ends = method === undefined ? names.length - 1 : names.length;
    for (let end = 1; end <= ends; end++) {
      if (this.resolve(names.slice(0, end).join("."), rooted) !== undefined) return undefined;
    }
    return this.catalog.find(whole).length === 0 ? undefined : whole;
  }

  /** A variable or type name, not a comprehension variable. */
  resolve(name: string, rooted: boolean): ResolvedName | undefined {
    return this.#first(name, rooted, (candidate) => {
      const variable = this.declarations.variables.get(candidate);
      if (variable !== undefined) return { name: candidate, type: variable, isType: false };
      return this.#type(candidate);
    });
  }

  /** The type a message literal names. */
  resolveType(name: string, rooted: boolean): ResolvedName | undefined {
    return this.#first(name, rooted, (candidate) => this.#type(candidate));
  }

  /** A function by its name as written. */
  resolveFunction(name: string, rooted: boolean): FunctionDeclaration | undefined {
    return this.#first(name, rooted, (candidate) =>
      FORMER_OPERATORS.has(candidate) ? undefined : this.declarations.functions.get(candidate),
    );
  }

  /** The name under which the fields of a message literal of this type are declared; `undefined` when it is not a message. */
  messageName(type: Type): string | undefined {
    return type.kind === "object" ? type.name : wellKnownName(type);
  }

  /**
   * The type of an object's field: `undefined` if the type has no such field, `unknown` if the type isn't declared. A field whose name is a
   * reserved word is declared escaped, and may be written either way (spec kubernetes-cel.md 6.5).
   */
  fieldType(typeName: string, field: string): Type | undefined | "unknown" {
    const { objectTypes, typeProvider, version } = this.declarations;
    const declared = objectTypes.get(typeName) ?? WELL_KNOWN_TYPES.get(typeName);
    const fields = (declared ?? typeProvider?.find(typeName))?.fields;
    if (fields === undefined) return "unknown";
    const type = fields.get(field);
    if (type !== undefined || !isSince(version, UNESCAPED_SINCE) || !isReserved(field)) return type;
    return fields.get(`__${field}__`);
  }

  #type(name: string): ResolvedName | undefined {
    const { typeNames, objectTypes, typeProvider, functions } = this.declarations;
    if (name === "optional_type" && !functions.has("optional.none")) return undefined;
    const type =
      typeNames.get(name) ??
      (objectTypes.has(name) ? objectType(name) : undefined) ??
      WELL_KNOWN_TYPES.get(name)?.type ??
      (this.declarations.flavour === "kubernetes" ? SHORT_TYPE_NAMES.get(name) : undefined) ??
      (typeProvider?.find(name) === undefined ? undefined : objectType(name));
    return type === undefined ? undefined : { name, type: typeType(type), isType: true };
  }

  #first<R>(name: string, rooted: boolean, find: (candidate: string) => R | undefined): R | undefined {
    if (rooted || this.#prefixes.length === 1) return find(name);
    for (const prefix of this.#prefixes) {
      const found = find(prefix + name);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function firstSegment(name: string): string {
  return name.slice(0, name.indexOf("."));
}
