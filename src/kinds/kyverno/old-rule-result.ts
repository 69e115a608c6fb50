/** Results of policies that were made of a rule of the old language, under the names and in the words of the old rule. */
import { type JsonObject, nameOf, namespaceOf } from "../../kubernetes/object.js";
import type { PolicyResponse, RuleResult } from "./engine/response.js";
import { INDEX_PROPERTY } from "./engine/rule-result.js";
import type { OldRuleOrigin } from "./old-rule-origin.js";
import { isMutating } from "./resource.js";

/** The match conditions that say what an old rule matches, rather than its preconditions. */
const OF_MATCH = /^(?:action|annotations|exclude|kind|labels|match|name|namespace|namespace-labels|user)(?:-\d+)?$/;
/** Those of its preconditions; others are its `celPreconditions`, under their own names. */
const PRECONDITIONS = /^preconditions(?:-\d+)?$/;
/** The condition of patches that apply to some objects only. */
const ANCHORS = "anchors";
/** Longest name of a rule that is made of another. */
const LONGEST_RULE = 63;

/** A result under the name of the old rule. */
export interface OldRuleResult extends Pick<RuleResult, "status" | "message" | "properties"> {
  readonly rule: string;
}

/**
 * The result of an old rule.
 * @param kind of the object
 * @returns `undefined` where the rule does not match the object
 */
export function resultOfOldRule(
  { rule, judgesControllers, isCel }: OldRuleOrigin,
  { variant, result, changes }: PolicyResponse,
  kind: string,
): OldRuleResult | undefined {
  if (result === undefined || (result.condition !== undefined && OF_MATCH.test(result.condition))) return undefined;
  const isController = variant.name !== "" || (judgesControllers && kind !== "Pod");
  const prefix = !isController ? "" : kind === "CronJob" ? "autogen-cronjob-" : "autogen-";
  const name = `${prefix}${rule}`.slice(0, LONGEST_RULE);
  const index = result.properties[INDEX_PROPERTY];
  const properties = index === undefined ? result.properties : withoutIndex(result.properties);
  const found = (status: RuleResult["status"], message: string) => ({ rule: name, status, message, properties });
  const { status, message, condition, object } = result;
  const isUnchanged = changes === false || (condition === ANCHORS && isMutating(variant.policy));
  if (isUnchanged) return found("skip", "no patches applied");
  if (condition !== undefined)
    return found(status, `${PRECONDITIONS.test(condition) ? "" : "cel "}preconditions not met`);
  if (object !== undefined) return found(status, `mutated ${kind}/${nameOf(object)}${placeOf(object)}`);
  if (isCel && status === "error" && index !== undefined) {
    const source = variant.spec.validations?.[Number(index)]?.expression ?? "";
    return found("fail", `expression '${source}' resulted in error: ${message.replace(/^error: /, "")}`);
  }
  return status === "pass" && result.rule === ""
    ? found(status, `validation rule '${name}' passed.`)
    : found(status, message);
}

function withoutIndex({ [INDEX_PROPERTY]: _, ...properties }: RuleResult["properties"]): RuleResult["properties"] {
  return properties;
}

const placeOf = (object: JsonObject): string =>
  namespaceOf(object) === "" ? "" : ` in namespace ${namespaceOf(object)}`;
