/** Kubernetes wants list elements, map keys and map values of a literal to be of one type (spec kubernetes-cel.md 7.4). */
import type { ListExpr, MapExpr } from "../../ast.js";
import type { CheckedExpr } from "../../checked.js";
import type { IssueCollector } from "../../issues.js";
import { formatType, optionalType, type Type } from "../../types.js";
import { isEquivalentType, optionalContent } from "../type-relations.js";

type Part = { readonly id: number; readonly offset: number };

/** Compares the types of a literal's parts with the first one's. */
class Comparison {
  #first: Type | undefined;

  constructor(
    readonly checked: CheckedExpr,
    readonly issues: IssueCollector,
  ) {}

  /** Takes in one part; false when it was reported. */
  add(part: Part, optional: boolean): boolean {
    const type = this.checked.types.get(part.id)!;
    const content = optional ? optionalContent(type) : type;
    if (content === undefined) return this.#report(part, optionalType(type), type);
    this.#first ??= content;
    return isEquivalentType(this.#first, content) || this.#report(part, this.#first, content);
  }

  #report({ id, offset }: Part, expected: Type, found: Type): false {
    const message = `expected type '${formatType(expected)}' but found '${formatType(found)}'`;
    this.issues.add(offset, message, "type-mismatch", { id });
    return false;
  }
}

/** Reports the first element of another type. */
export function validateList(list: ListExpr, checked: CheckedExpr, issues: IssueCollector): void {
  const comparison = new Comparison(checked, issues);
  list.elements.every((element, index) => comparison.add(element, list.optional[index] === true));
}

/** Reports every key and value of another type. */
export function validateMap(map: MapExpr, checked: CheckedExpr, issues: IssueCollector): void {
  const keys = new Comparison(checked, issues);
  const values = new Comparison(checked, issues);
  for (const { key, value, optional } of map.entries) {
    keys.add(key, false);
    values.add(value, optional);
  }
}
