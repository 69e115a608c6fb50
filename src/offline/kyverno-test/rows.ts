/** Compares expected results with policies' answers: the rows of the table (spec kyverno.md 8.7). */
import { didYouMean, nearest } from "../../data/suggest.js";
import type { Answer, Answers, Evaluated, Subject } from "./answers.js";
import { type Difference, differenceFrom } from "./patched-resources.js";
import type { ExpectedResult } from "./test-file.js";

/** One comparison. */
export interface Row {
  /** The number of the row, from 1 in each test. */
  readonly id: number;
  readonly policy: string;
  readonly rule: string;
  /** `apiVersion/Kind/namespace/name`, or the path of a payload. */
  readonly resource: string;
  readonly result: "Pass" | "Fail";
  readonly reason: string;
  readonly message: string;
  /** The status that it counts as. */
  readonly counts: "pass" | "fail" | "skip";
  /** The index of its expected result. */
  readonly expected: number;
  /** The expected result, unless a skip, of a row that passes in Kyverno's table though the policy does not match the resource. */
  readonly unjudged?: string;
}

/** The result of a comparison. */
export interface Comparison {
  readonly rows: readonly Row[];
  /** Names without a resource; they don't change Kyverno's result. */
  readonly mistakes: readonly string[];
}

type Draft = Omit<Row, "id" | "policy" | "resource" | "expected">;

const EXCLUDED: Draft = { rule: "", result: "Pass", reason: "Excluded", message: "Excluded", counts: "skip" };
const NOT_FOUND: Draft = { rule: "", result: "Fail", reason: "Not found", message: "Not found", counts: "fail" };
const notServed = (why: string): Draft => ({
  rule: "",
  result: "Fail",
  reason: "Not served",
  message: why,
  counts: "fail",
});

/**
 * The rows of a test, in order of its expected results and the names in them, then of the resources.
 * @param wanted resources to check for results without names; `undefined`: all
 */
export function compare(
  results: readonly ExpectedResult[],
  answers: Answers,
  wanted?: (name: string) => boolean,
): Comparison {
  const rows: Row[] = [];
  const mistakes: string[] = [];
  for (const [i, expected] of results.entries()) {
    const { operation = "", policy = "" } = expected;
    const evaluated = operation === "" ? answers.usual : (answers.byOperation.get(operation) ?? []);
    const { chosen, unknown } = choose(expected, evaluated, wanted);
    for (const name of unknown) mistakes.push(`results[${i}]: there is no resource ${name}`);
    const kinds = chosen.flatMap(({ subject }) => subject.kind ?? []);
    const { kind = "", resources = [], resourceSpecs = [] } = expected;
    if (!kinds.includes(kind) && nearest(kind, kinds) !== undefined)
      mistakes.push(`results[${i}]: no resource is of the kind ${kind}${didYouMean(kind, kinds)}`);
    if (unknown.length > 0 && unknown.length === resources.length + resourceSpecs.length && chosen.length > 0)
      mistakes.push(`results[${i}]: checked for all resources, because none of those named exists`);
    for (const { subject, answers: given, object } of chosen) {
      const unserved = answers.notServed.get(nameOf(policy));
      const wantsObject = answers.patched.get(expected.patchedResources ?? "");
      const difference =
        wantsObject && object && differenceFrom(wantsObject, object, expected.failOnMissingResources === true);
      // Of a resource that the file with the expected ones does not have, there is no row.
      const drafts = draftsFor(expected, given, unserved, difference);
      for (const draft of drafts)
        rows.push({
          ...draft,
          id: rows.length + 1,
          policy: shortened(policy),
          resource: resourceText(subject),
          expected: i,
        });
    }
    if (chosen.length === 0) mistakes.push(`results[${i}]: nothing was checked, because there is no resource`);
  }
  return { rows, mistakes };
}

/** The name of a policy, which alone identifies it. */
const nameOf = (policy: string): string => policy.slice(policy.lastIndexOf("/") + 1);
/** `namespace/name` of any written form. */
const shortened = (policy: string): string => policy.split("/").slice(0, 2).join("/");

/** The names of rules that are made of another for pod controllers. */
const RULE_PREFIXES = ["", "autogen-", "autogen-cronjob-"];

/** Whether an answer is about the rule that is expected: only policies of the old language have several. */
const isOfRule = ({ hasRules, result }: Answer, rule: string): boolean =>
  hasRules !== true ||
  rule === "" ||
  result === undefined ||
  RULE_PREFIXES.some((prefix) => result.rule === `${prefix}${rule}`);

/** One row for each result; exclusions of the resource count only if no answer has a result. */
function draftsFor(
  expected: ExpectedResult,
  answers: readonly Answer[],
  unserved: string | undefined,
  difference: Difference,
): Draft[] {
  const name = nameOf(expected.policy ?? "");
  const own = answers.filter(({ policy }) => policy === name);
  const drafts: Draft[] = [];
  for (const answer of own) {
    const { result } = answer;
    if (result === undefined || !isOfRule(answer, expected.rule ?? "")) continue;
    if (difference === "absent") return [];
    const fits = difference === undefined && result.result === expected.result;
    drafts.push({
      rule: result.rule,
      result: fits ? "Pass" : "Fail",
      reason: difference?.reason ?? (fits ? "Ok" : `Want ${expected.result ?? ""}, got ${result.result}`),
      message: difference?.message ?? result.message,
      counts: fits ? (expected.result === "skip" ? "skip" : "pass") : "fail",
    });
  }
  const rule = expected.rule ?? "";
  if (unserved !== undefined) drafts.push({ ...notServed(unserved), rule });
  if (drafts.length > 0) return drafts;
  if (own.length === 0) return [{ ...NOT_FOUND, rule }];
  const { result = "pass" } = expected;
  return [{ ...EXCLUDED, rule, ...(result !== "skip" && { unjudged: result }) }];
}

/** The subjects of a result. If none of the named ones exists, all are (a quirk that is reproduced). */
function choose(
  { resources, resourceSpecs = [] }: ExpectedResult,
  evaluated: readonly Evaluated[],
  wanted: ((name: string) => boolean) | undefined,
): { readonly chosen: readonly Evaluated[]; readonly unknown: readonly string[] } {
  const chosen: Evaluated[] = [];
  const unknown: string[] = [];
  for (const name of resources ?? []) {
    const found = evaluated.filter(({ subject }) => isNamed(subject, name));
    if (found.length === 0) unknown.push(name);
    chosen.push(...found);
  }
  for (const { group = "", version = "", namespace = "", name = "" } of resourceSpecs) {
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const found = evaluated.filter(
      ({ subject }) => subject.apiVersion === apiVersion && subject.namespace === namespace && subject.name === name,
    );
    if (found.length === 0) unknown.push(`${apiVersion} ${namespace === "" ? name : `${namespace}/${name}`}`);
    // Without a list of names they choose nothing (a quirk that is reproduced).
    if (resources !== undefined) chosen.push(...found);
  }
  if (chosen.length > 0) return { chosen, unknown };
  if (resources !== undefined && resources.length > 0) return { chosen: evaluated, unknown };
  return {
    chosen: wanted === undefined ? evaluated : evaluated.filter(({ subject }) => wanted(subject.name)),
    unknown,
  };
}

/** Whether a name is the subject's; one with more than one slash is never. */
function isNamed(subject: Subject, name: string): boolean {
  const parts = name.split("/");
  if (parts.length === 1) return subject.name === name;
  return parts.length === 2 && subject.namespace === parts[0] && subject.name === parts[1];
}

function resourceText({ apiVersion, kind = "", namespace = "", name }: Subject): string {
  if (apiVersion !== undefined) return `${apiVersion}/${kind}/${namespace}/${name}`;
  return name.includes("/") ? name : `/${name}`;
}
