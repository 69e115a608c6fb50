/** What Kubernetes checks beyond types (spec kubernetes-cel.md 7.4). */
import type { CheckedExpr, Declarations } from "../../checked.js";
import type { KubernetesMinor } from "../../declarations.js";
import { IssueCollector, type IssueReport } from "../../issues.js";
import { Source } from "../../source.js";
import { isLiteralFormat, validateFormat } from "./format-calls.js";
import { validateList, validateMap } from "./homogeneous-literals.js";
import { validateConversion, validatePattern } from "./literal-arguments.js";
import { visit } from "./walk.js";

/** The first Kubernetes minor that checks literal arguments and format calls. */
const LITERALS_SINCE: KubernetesMinor = 129;

/** Validates a checked expression; `undefined` when nothing is wrong. The `standard` flavour has no validators. */
export function validate(checked: CheckedExpr, declarations: Declarations): IssueReport | undefined {
  if (declarations.flavour !== "kubernetes") return undefined;
  const issues = new IssueCollector(new Source(checked.parsed.source));
  const checksLiterals = declarations.version >= LITERALS_SINCE;
  visit(
    checked.expr,
    (expr) => checksLiterals && expr.kind === "call" && expr.function === "format",
    (expr, exempt) => {
      if (expr.kind === "list") {
        if (!exempt) validateList(expr, checked, issues);
      } else if (expr.kind === "map") {
        if (!exempt) validateMap(expr, checked, issues);
      } else if (expr.kind === "call" && checksLiterals) {
        if (expr.function === "duration" || expr.function === "timestamp") {
          validateConversion(expr, checked, declarations, issues);
        } else if (expr.function === "matches") {
          validatePattern(expr, declarations, issues);
        } else if (isLiteralFormat(expr)) {
          validateFormat(expr, checked, issues);
        }
      }
    },
  );
  return issues.count > 0 ? issues.report() : undefined;
}
