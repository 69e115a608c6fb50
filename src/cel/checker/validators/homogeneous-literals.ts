/** Kubernetes wants list elements, map keys and map values of a literal to be of one type (spec kubernetes-cel.md 7.4). */
import type { ListExpr, MapExpr } from "../../ast.js";
import type { CheckedExpr } from "../../checked.js";
import type { IssueCollector } from "../../issues.js";
import { optionalType, type Type } from "../../types.js";
import { type Part, Problems } from "../problems.js";
import { isEquivalentType, optionalContent } from "../type-relations.js";

/** Compares the types of a literal's parts with the first one's: takes in one part, and answers false when it was reported. */
function comparison(checked: CheckedExpr, issues: IssueCollector): (part: Part, optional: boolean) => boolean {
  const problems = new Problems(issues, "", undefined);
  let first: Type | undefined;
  return (part, optional) => {
    const type = checked.types.get(part.id)!;
    const content = optional ? optionalContent(type) : type;
    if (content === undefined) {
      problems.mismatch(part, optionalType(type), type);
      return false;
    }
    first ??= content;
    if (isEquivalentType(first, content)) return true;
    problems.mismatch(part, first, content);
    return false;
  };
}

/** Reports the first element of another type. */
export function validateList(list: ListExpr, checked: CheckedExpr, issues: IssueCollector): void {
  const fits = comparison(checked, issues);
  list.elements.every((element, index) => fits(element, list.optional[index] === true));
}

/** Reports every key and value of another type. */
export function validateMap(map: MapExpr, checked: CheckedExpr, issues: IssueCollector): void {
  const fitsKeys = comparison(checked, issues);
  const fitsValues = comparison(checked, issues);
  for (const { key, value, optional } of map.entries) {
    fitsKeys(key, false);
    fitsValues(value, optional);
  }
}
