/** Finds parts that no case has reached, with their places in the policy's file. */

import { identityOf } from "../../config/documents/documents.js";
import type { Path, Position } from "../../config/documents/problem.js";
import type { ConfigEntry } from "../../config/index.js";
import {
  type Coverage,
  type CoverageReport,
  type CoveredExpression,
  type Gap,
  hasExpressions,
} from "../../kinds/shared/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";

/** Options of coverage. */
export interface CoverageOptions {
  /** Whether to report parts that no case has reached. */
  readonly coverage?: boolean;
  /** Percentage of coverage points that must be reached. */
  readonly minCoverage?: number;
}

/** A part that no case has reached. */
export interface PlacedGap extends Gap {
  /** Its place; absent where it is unknown, as in a module. */
  readonly place: Position | undefined;
}

/** The summary of coverage. */
export interface CoverageSummary extends Omit<CoverageReport, "gaps"> {
  readonly gaps: readonly PlacedGap[];
}

/** Percentage of reached points; 100 without points. */
export const percent = ({ covered, total }: Pick<CoverageReport, "covered" | "total">): number =>
  total === 0 ? 100 : (100 * covered) / total;

/** Whether enough was reached. */
export const enough = (summary: CoverageSummary, { minCoverage = 0 }: CoverageOptions): boolean =>
  percent(summary) >= minCoverage;

/** Number of points that are missing. */
export const missing = ({ covered, total }: CoverageSummary, { minCoverage = 0 }: CoverageOptions): number =>
  Math.max(0, Math.ceil((total * minCoverage) / 100 - 1e-9) - covered);

/** A policy with its entry and its name. */
interface Covered {
  readonly entry: ServedPolicy;
  readonly from: ConfigEntry | undefined;
  readonly name: string;
}

/** The coverage of these policies. */
export function coverageOf(coverage: Coverage, served: readonly Covered[]): CoverageSummary {
  const origins = new Map<string, { readonly from: ConfigEntry | undefined; readonly policy: string }>();
  const report = coverage.report(expressionsOf(served, origins));
  return { ...report, gaps: report.gaps.map((gap) => ({ ...gap, place: placeOf(gap, origins.get(gap.policy)) })) };
}

function* expressionsOf(
  served: readonly Covered[],
  origins: Map<string, { readonly from: ConfigEntry | undefined; readonly policy: string }>,
): Generator<CoveredExpression> {
  const seen = new Set<unknown>();
  for (const { entry, from, name: id } of served) {
    const { policy } = entry;
    // A member by reference is the referred policy.
    if (seen.has(policy)) continue;
    seen.add(policy);
    for (const part of (policy.together ?? [policy]).filter(hasExpressions)) {
      for (const expression of part.expressions()) {
        const own = expression.policy === entry.id || expression.policy === "inline" || expression.policy === id;
        const name = own ? id : `${id} (${expression.policy})`;
        origins.set(name, { from, policy: expression.policy });
        yield { ...expression, policy: name };
      }
    }
  }
}

function placeOf(
  { path, text }: Gap,
  origin: { readonly from: ConfigEntry | undefined; readonly policy: string } | undefined,
): Position | undefined {
  const { from, policy = "" } = origin ?? {};
  // The place inside of the expression, if the gap is a branch of it.
  const [, line, column] = /^(\d+):(\d+): /.exec(text) ?? [];
  const inner = line === undefined ? undefined : { line: Number(line), column: Number(column) };
  const parts = pathOf(path);
  if (from?.kind === "cel") return from.origin.positionOf(["cel", ...parts.slice(parts[0] === "spec" ? 1 : 0)], inner);
  if (from?.kind === "group") return from.origin.positionOf(parts, inner);
  if (from?.kind !== "resource") return undefined;
  const document = from.documents.find((each) => {
    const { name, kind } = identityOf(each);
    return kind.endsWith("Policy") && (name === policy || policy === from.id);
  });
  return document?.hasKey(parts) === true ? document.positionOf(parts, inner) : document?.positionOf([]);
}

/** `spec.validations[0].expression` as a path. */
function pathOf(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|\["([^"]*)"\]|([^.[\]]+)/g)].map(([, index, quoted, key]) =>
    index === undefined ? (quoted ?? key ?? "") : Number(index),
  );
}
