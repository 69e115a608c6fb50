/** What the checker finds wrong, in the words of the reference implementation (spec kubernetes-cel.md 7). */
import type { IssueCollector } from "../issues.js";
import { formatType, type Type } from "../types.js";

/** What a problem is placed at: an expression, or the field of a message literal. */
export interface Part {
  readonly id: number;
  readonly offset: number;
}

/** Reports the problems of one expression. */
export class Problems {
  readonly #issues: IssueCollector;
  readonly #container: string;

  /** @param container where names were looked for, which their messages say */
  constructor(issues: IssueCollector, container: string) {
    this.#issues = issues;
    this.#container = container;
  }

  mismatch({ id, offset }: Part, expected: Type, found: Type): void {
    const message = `expected type '${formatType(expected)}' but found '${formatType(found)}'`;
    this.#issues.add(offset, message, "type-mismatch", { id });
  }

  fieldMismatch({ id, offset, field }: Part & { readonly field: string }, expected: Type, found: Type): void {
    const types = `'${formatType(expected)}' but provided type is '${formatType(found)}'`;
    this.#issues.add(offset, `expected type of field '${field}' is ${types}`, "type-mismatch", { id });
  }

  undeclared({ id, offset }: Part, name: string): void {
    const message = `undeclared reference to '${name}' (in container '${this.#container}')`;
    this.#issues.add(offset, message, "undeclared-reference", { id, name });
  }

  noFieldSelection({ id, offset }: Part, type: Type): void {
    const message = `type '${formatType(type)}' does not support field selection`;
    this.#issues.add(offset, message, "no-field-selection", { id });
  }

  unknownType({ id, offset }: Part, typeName: string): void {
    this.#issues.add(offset, `unexpected failed resolution of '${typeName}'`, "not-a-message", { id });
  }

  undefinedField({ id, offset }: Part, field: string): void {
    this.#issues.add(offset, `undefined field '${field}'`, "undefined-field", { id, name: field });
  }

  noMatchingOverload({ id, offset }: Part, name: string, receiver: Type | undefined, args: readonly Type[]): void {
    const target = receiver === undefined ? "" : `${formatType(receiver)}.`;
    const applied = `'${name}' applied to '${target}(${args.map(formatType).join(", ")})'`;
    this.#issues.add(offset, `found no matching overload for ${applied}`, "no-matching-overload", { id, name });
  }

  noMessage({ id, offset }: Part, type: Type): void {
    this.#issues.add(offset, `'${formatType(type)}' is not a message type`, "not-a-message", { id });
  }

  notIterable({ id, offset }: Part, type: Type): void {
    const needed = "cannot be range of a comprehension (must be list, map, or dynamic)";
    this.#issues.add(offset, `expression of type '${formatType(type)}' ${needed}`, "not-iterable", { id });
  }
}
