/** The errors that the checker finds, in the words of the reference implementation (spec kubernetes-cel.md 7). */

import type { IssueCollector, IssueDetail } from "../issues.js";
import type { IssueCode } from "../public-types.js";
import { formatType, type Type } from "../types.js";
import type { Catalog } from "./catalog.js";

/** The part that a problem is placed at: an expression, or the field of a message literal. */
export interface Part {
  readonly id: number;
  readonly offset: number;
}

/** Reports the problems of one expression. */
export class Problems {
  readonly #issues: IssueCollector;
  readonly #container: string;

  readonly #catalog: Catalog | undefined;

  /**
   * @param container the container in which names were resolved; messages name it
   * @param catalog the names to propose
   */
  constructor(issues: IssueCollector, container: string, catalog: Catalog | undefined) {
    this.#issues = issues;
    this.#container = container;
    this.#catalog = catalog;
  }

  mismatch(part: Part, expected: Type, found: Type): void {
    this.#add(part, `expected type '${formatType(expected)}' but found '${formatType(found)}'`, "type-mismatch", {
      types: [expected, found],
    });
  }

  fieldMismatch(part: Part & { readonly field: string }, expected: Type, found: Type): void {
    const types = `'${formatType(expected)}' but provided type is '${formatType(found)}'`;
    this.#add(part, `expected type of field '${part.field}' is ${types}`, "type-mismatch");
  }

  undeclared(part: Part, name: string): void {
    const suggestion = this.#catalog?.suggestion(name);
    const container = suggestion !== undefined && this.#container === "" ? "" : ` (in container '${this.#container}')`;
    const message = `undeclared reference to '${name}'${container}${suggestion ?? ""}`;
    this.#add(part, message, "undeclared-reference", { name });
  }

  noFieldSelection(part: Part, type: Type): void {
    this.#add(part, `type '${formatType(type)}' does not support field selection`, "no-field-selection", {
      types: [type],
    });
  }

  unknownType(part: Part, typeName: string): void {
    this.#add(part, `unexpected failed resolution of '${typeName}'`, "not-a-message");
  }

  undefinedField(part: Part, field: string, type: Type): void {
    this.#add(part, `undefined field '${field}'`, "undefined-field", { name: field, types: [type] });
  }

  noMatchingOverload(part: Part, name: string, receiver: Type | undefined, args: readonly Type[]): void {
    const target = receiver === undefined ? "" : `${formatType(receiver)}.`;
    const applied = `'${name}' applied to '${target}(${args.map(formatType).join(", ")})'`;
    this.#add(part, `found no matching overload for ${applied}`, "no-matching-overload", {
      name,
      types: receiver === undefined ? args : [receiver, ...args],
    });
  }

  noMessage(part: Part, type: Type): void {
    this.#add(part, `'${formatType(type)}' is not a message type`, "not-a-message");
  }

  notIterable(part: Part, type: Type): void {
    const needed = "cannot be range of a comprehension (must be list, map, or dynamic)";
    this.#add(part, `expression of type '${formatType(type)}' ${needed}`, "not-iterable", { types: [type] });
  }

  #add({ id, offset }: Part, message: string, code: IssueCode, detail?: IssueDetail): void {
    this.#issues.add(offset, message, code, { id, ...detail });
  }
}
