/**
 * Hints for mistakes: habits from other languages, names that are nearly right, types that do not match. Each is tried before it is given: a hint that
 * the environment refuses is worse than none.
 */
import type { CompileFailure, Issue } from "../public-types.js";
import { unparse } from "../unparse/unparse.js";
import { fieldCandidates, mismatchCandidates, rangeCandidates } from "./fields.js";
import { FOREIGN_NAMES } from "./foreign-syntax.js";
import type { Hint } from "./hint.js";
import type { Candidate, HintSource, Mistake } from "./hint-source.js";
import { overloadCandidates } from "./overloads.js";
import { Part } from "./part.js";
import { keepsNegations, syntaxHint } from "./syntax.js";
import { functionCandidates, variableCandidates, wordsFor } from "./undeclared.js";

/** Length of expressions beyond which there are no hints: each takes a parse or more. */
const MAX_LENGTH = 5_000;
/** Issues of one expression that get hints; a person corrects some, and compiles again. */
const MAX_ISSUES = 8;
/** Candidates tried for one issue. */
const MAX_TRIED = 12;

/** Replacements, for each issue of a failure; undefined where none is known. */
export function hintsOf(
  source: string,
  { issues }: Pick<CompileFailure, "issues">,
  environment: HintSource,
): readonly (Hint | undefined)[] {
  if (source.length > MAX_LENGTH || issues.length === 0) return issues.map(() => undefined);
  const hints = eachHint(source, issues, environment);
  const first = hints.find((hint) => hint?.fixed !== undefined)?.fixed;
  const mended = first === undefined ? undefined : wholly(first, environment);
  return hints.map((hint) => {
    if (hint?.fixed === undefined) return hint;
    const text = issues[0]?.code === "syntax" ? [hint.text, ...(mended?.texts ?? [])].join("; ") : hint.text;
    return mended === undefined ? { text } : { text, fixed: mended.fixed };
  });
}

/** The hints of the first issues, as if there were no other. */
function eachHint(
  source: string,
  issues: readonly Issue[],
  environment: HintSource,
  most = MAX_ISSUES,
): readonly (Hint | undefined)[] {
  const first = issues.findIndex(({ code }) => code === "syntax");
  if (first !== -1) {
    const hint = syntaxHint(source, environment);
    return issues.map((_, i) => (i === first ? hint : undefined));
  }
  const parsed = environment.parse(source);
  return issues.map((issue, i) => {
    if (i >= most || parsed === undefined) return undefined;
    const part = issue.id === undefined ? undefined : Part.of(parsed, issue.id);
    const candidates = [
      ...textCandidates(source, issue),
      ...(part === undefined ? [] : candidatesFor(issue, part, environment)),
    ];
    const isCall = part?.expr.kind === "call";
    const words = issue.code === "undeclared-reference" ? wordsFor({ source, issue, environment }, isCall) : undefined;
    // The caller's hint for a name is better than a guess at another one.
    if (words !== undefined) return { text: words };
    return hintOf(candidates, issues, { source, issue, environment }) ?? patternHint(issue, source);
  });
}

/** An expression with its other mistakes corrected by their hints; undefined where that does not compile. */
function wholly(
  source: string,
  environment: HintSource,
): { readonly fixed: string; readonly texts: readonly string[] } | undefined {
  const texts: string[] = [];
  let fixed = source;
  for (let round = 0; round < MAX_ISSUES; round++) {
    const checked = environment.check(fixed);
    if (checked.ok) return { fixed, texts };
    const [hint] = eachHint(fixed, checked.issues, environment, 1);
    if (hint?.fixed === undefined) return undefined;
    texts.push(hint.text);
    fixed = hint.fixed;
  }
  return undefined;
}

function textCandidates(source: string, { code }: Issue): readonly Candidate[] {
  if (code !== "undeclared-reference" && code !== "no-matching-overload") return [];
  return FOREIGN_NAMES.flatMap(({ hint: text, mend }) => {
    const fixed = mend(source);
    return fixed === source ? [] : [{ text, fixed }];
  });
}

function candidatesFor(issue: Issue, part: Part, environment: HintSource): readonly Candidate[] {
  const { expr } = part;
  const [first, second] = issue.types ?? [];
  switch (issue.code) {
    case "undeclared-reference":
      if (expr.kind === "call") return functionCandidates(part, expr, environment);
      return expr.kind === "ident" ? variableCandidates(part, issue.name ?? "", environment) : [];
    case "no-matching-overload":
      return expr.kind === "call" ? overloadCandidates(part, expr, issue.types ?? [], environment) : [];
    case "undefined-field":
    case "no-field-selection":
      return fieldCandidates(part, first, environment);
    case "type-mismatch":
      return mismatchCandidates(part, first, second);
    case "not-iterable":
      return rangeCandidates(part, first);
    default:
      return [];
  }
}

/** The first candidate that the environment accepts, and that is sound. Candidates that leave no mistake come before others. */
function hintOf(
  candidates: readonly Candidate[],
  before: readonly Issue[],
  { source, issue, environment }: Mistake,
): Hint | undefined {
  const said = (issues: readonly Issue[]): number => issues.filter(({ message }) => message === issue.message).length;
  /** The number of mistakes that are left; undefined where the candidate corrects nothing. */
  const leftBy = (fixed: string): number | undefined => {
    const after = environment.check(fixed);
    if (after.ok) return 0;
    const { issues } = after;
    if (issues.length === 0 || issues.length > before.length || issues.some(({ code }) => code === "syntax"))
      return undefined;
    // One mistake less, and none in its place.
    return issues.length < before.length && said(issues) < said(before) ? issues.length : undefined;
  };
  const isSound = (fixed: string): boolean => keepsNegations(source, fixed) && environment.isSound(fixed, source);
  const tried = new Set<string>();
  const mends: (Candidate & { readonly left: number })[] = [];
  for (const candidate of candidates) {
    const { fixed, also } = candidate;
    if (tried.has(fixed) && also === undefined) continue;
    if (tried.size >= MAX_TRIED) break;
    tried.add(fixed);
    const left = leftBy(fixed);
    if (left !== undefined && (also === undefined || leftBy(also) !== undefined)) mends.push({ ...candidate, left });
  }
  const least = Math.min(...mends.map(({ left }) => left));
  const found = mends.find(
    ({ fixed, also, left }) => (left === least || least > 0) && isSound(fixed) && (also === undefined || isSound(also)),
  );
  return found && { text: found.text, fixed: plain(found.fixed, environment) };
}

/** The text without parentheses that are not needed. */
function plain(text: string, environment: HintSource): string {
  const parsed = environment.parse(text);
  return parsed === undefined ? text : unparse(parsed.expr, parsed.macroCalls);
}

/** The hint for a pattern: patterns run in linear time, which excludes some features of other engines. */
function patternHint({ code }: Issue, source: string): Hint | undefined {
  if (code !== "invalid-argument") return undefined;
  if (/\(\?(?:=|!|<=|<!)/.test(source)) {
    return { text: "patterns look neither ahead nor behind: write two conditions, x.matches(…) && !x.matches(…)" };
  }
  return /matches\(.*\\[1-9]/s.test(source) ? { text: "patterns have no references to their groups" } : undefined;
}
