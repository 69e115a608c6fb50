/** The one result of a policy from its evaluation (spec kyverno.md 2.4, 2.5 and 5.4). */
import type { ExceptionResource, Metadata } from "../resource.js";
import type { Evaluated } from "./evaluated.js";
import type { RuleResult } from "./response.js";

/** The label by which one of several exceptions is chosen. */
const PRIORITY_LABEL = "polex.kyverno.io/priority";
/** The property with the position of the validation that failed. */
export const INDEX_PROPERTY = "cel.validationIndex";

const NONE: readonly ExceptionResource[] = [];
const NO_PROPERTIES: Readonly<Record<string, string>> = {};

/** A result. */
export function ruleResult(
  rule: RuleResult["rule"],
  status: RuleResult["status"],
  message: string,
  properties = NO_PROPERTIES,
): RuleResult {
  return { rule, status, message, properties, exceptions: NONE };
}

/** The words of Kyverno about a kind of policies. */
interface KindWords {
  /** The text before the error of a condition, of an annotation or of a mutation. */
  readonly failed?: string;
  /** The rule of an ImageValidatingPolicy, its name; default none. */
  readonly rule?: string;
}

/** The result of an evaluation. */
export function resultOf(
  evaluated: Evaluated,
  { failed = "failed to load context", rule = "" }: KindWords = {},
): RuleResult {
  const indexed = (index: number) => (rule === "" ? { [INDEX_PROPERTY]: String(index) } : NO_PROPERTIES);
  switch (evaluated.kind) {
    case "skip":
      return { ...ruleResult("", "skip", "skip"), ...(evaluated.condition && { condition: evaluated.condition }) };
    case "failed":
      return ruleResult("evaluation", "error", `${failed}: ${evaluated.message}`);
    case "error":
      return ruleResult(rule, "error", `error: ${evaluated.message}`, indexed(evaluated.index));
    case "fail": {
      const { message, index, annotations } = evaluated;
      return ruleResult(rule, "fail", message, { ...indexed(index), ...annotations });
    }
    case "pass": {
      const { annotations, object, images } = evaluated;
      return { rule, status: "pass", message: "success", properties: annotations, exceptions: NONE, object, images };
    }
    case "unpinned": {
      const { message, object } = evaluated;
      return { ...ruleResult("mutateDigest", "error", `failed to update digest: ${message}`), object };
    }
    case "exempt":
      return exempted(evaluated.exceptions, rule === "");
  }
}

/** @param mayPass whether an exception may count as a pass */
function exempted(exceptions: readonly ExceptionResource[], mayPass: boolean): RuleResult {
  const names = exceptions.map(({ metadata }) => qualifiedName(metadata)).join(", ");
  const passed = mayPass && chosen(exceptions)?.spec.reportResult === "pass";
  return {
    rule: "exception",
    status: passed ? "pass" : "skip",
    message: `rule is ${passed ? "passed" : "skipped"} due to policy exception: ${names}`,
    properties: NO_PROPERTIES,
    exceptions,
  };
}

const qualifiedName = ({ namespace = "", name = "" }: Metadata): string =>
  namespace === "" ? name : `${namespace}/${name}`;

/** The exception of the highest priority; of several, and of those without one, the first. */
function chosen(exceptions: readonly ExceptionResource[]): ExceptionResource | undefined {
  let [best] = exceptions;
  let highest = 0;
  for (const exception of exceptions) {
    const priority = priorityOf(exception);
    if (priority <= highest) continue;
    highest = priority;
    best = exception;
  }
  return best;
}

function priorityOf({ metadata }: ExceptionResource): number {
  const label = metadata.labels?.[PRIORITY_LABEL] ?? "";
  return /^[+-]?\d{1,18}$/.test(label) ? Number(label) : 0;
}
