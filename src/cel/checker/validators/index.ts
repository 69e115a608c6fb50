/** Checks beyond types, most of them Kubernetes' (spec kubernetes-cel.md 7.4). */

import { isSince, type KubernetesVersion } from "../../../data/kubernetes-version.js";
import type { CallExpr, Expr } from "../../ast.js";
import type { CheckedExpr, Declarations } from "../../checked.js";
import { IssueCollector, type IssueReport } from "../../issues.js";
import { Source } from "../../source.js";
import { grouped } from "../../stdlib/format/grouped.js";
import { plain } from "../../stdlib/format/plain.js";
import { children } from "../../walk.js";
import { validateFormat } from "./format-calls.js";
import { validateList, validateMap } from "./homogeneous-literals.js";
import { validateConversion, validatePattern } from "./literal-arguments.js";

/** The first version of Kubernetes that checks literal arguments and format calls. */
const LITERALS_SINCE: KubernetesVersion = "1.29";

/** Functions whose literal arguments are checked. */
const LITERAL_FUNCTIONS: ReadonlySet<string> = new Set(["duration", "timestamp", "matches", "format"]);

/**
 * Validates a checked expression; `undefined` when nothing is wrong. The `standard` flavour has no validators, and `cel-go` that of the strings
 * extension only.
 */
export function validate(checked: CheckedExpr, declarations: Declarations): IssueReport | undefined {
  const { flavour } = declarations;
  if (flavour === "standard") return undefined;
  const issues = new IssueCollector(new Source(checked.parsed.source));
  if (flavour === "kubernetes") validateAsKubernetes(checked, declarations, issues);
  else if (declarations.functions.has("format")) {
    visit(checked.expr, unmarked, (expr) => {
      if (expr.kind === "call" && expr.function === "format") validateFormat(expr, checked, issues, plain);
    });
  }
  return issues.count > 0 ? issues.report() : undefined;
}

const unmarked = (): boolean => false;

function validateAsKubernetes(checked: CheckedExpr, declarations: Declarations, issues: IssueCollector): void {
  const checksLiterals = isSince(declarations.version, LITERALS_SINCE);
  const exempting = (expr: Expr): boolean => checksLiterals && expr.kind === "call" && expr.function === "format";
  // One after the other, because of two problems at one place that of the first validator comes first.
  visit(checked.expr, exempting, (expr, exempt) => {
    if (exempt) return;
    if (expr.kind === "list") validateList(expr, checked, issues);
    else if (expr.kind === "map") validateMap(expr, checked, issues);
  });
  if (checksLiterals) {
    visit(checked.expr, exempting, (expr) => {
      if (expr.kind === "call") validateCall(expr, checked, declarations, issues);
    });
  }
}

function validateCall(call: CallExpr, checked: CheckedExpr, declarations: Declarations, issues: IssueCollector): void {
  if (!LITERAL_FUNCTIONS.has(call.function)) return;
  const overloads = declarations.functions.get(call.function)?.overloads ?? [];
  // A function that replaces the language's own may read the same text in another way.
  if (overloads.every(({ cost }) => cost !== undefined)) return;
  if (call.function === "duration" || call.function === "timestamp") {
    validateConversion(call, checked, declarations, issues);
  } else if (call.function === "matches") validatePattern(call, declarations, issues);
  else validateFormat(call, checked, issues, grouped);
}

/** Visits parts before wholes. `within` says whether an enclosing node is one of those that `marks` picks. */
function visit(
  expr: Expr,
  marks: (expr: Expr) => boolean,
  visitor: (expr: Expr, within: boolean) => void,
  within = false,
): void {
  const below = within || marks(expr);
  for (const child of children(expr)) visit(child, marks, visitor, below);
  visitor(expr, within);
}
