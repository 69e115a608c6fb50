/** Policies that were made of a rule of an old one (kyverno.io), by this server or by `convert`: their results under the old names. */
import { type JsonObject, nameOf, namespaceOf } from "../../kubernetes/object.js";
import { CONVERTED_CEL, CONVERTED_FROM, CONVERTED_RULE } from "./convert/policy-document.js";
import type { PolicyResponse, RuleResult } from "./engine/response.js";
import { INDEX_PROPERTY } from "./engine/rule-result.js";
import { isMutating, type PolicyResource } from "./resource.js";

/** The rule of an old policy. */
export interface OldRuleOrigin {
  /** Empty for a ClusterPolicy. */
  readonly namespace: string;
  readonly policy: string;
  readonly rule: string;
  /** Whether its rule is about Pods, and judges their controllers, too. */
  readonly judgesControllers: boolean;
  /** Whether its expressions are the old rule's own: Kyverno counts their errors as failures. */
  readonly isCel: boolean;
}

/** The rule that a policy was made of, as its annotations say; `undefined`: none. */
export function originOf({
  metadata: { annotations = {} },
  spec,
  converted,
}: PolicyResource): OldRuleOrigin | undefined {
  const [kind, ...names] = (annotations[CONVERTED_FROM] ?? "").split("/");
  const rule = annotations[CONVERTED_RULE];
  const policy = names.pop();
  if (rule === undefined || policy === undefined || (kind !== "ClusterPolicy" && kind !== "Policy")) return undefined;
  const isCel = annotations[CONVERTED_CEL] === "true" && converted?.reason === undefined;
  // A file does not say it, but its expressions mostly do.
  const judgesControllers = converted?.isAboutControllers ?? POD_TEMPLATE.test(JSON.stringify(spec));
  return { namespace: names[0] ?? "", policy, rule, judgesControllers, isCel };
}

/** The Pod of an object in a rule that judges controllers, too. */
const POD_TEMPLATE = /\.kind == \\"Pod\\" \?/;
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
  const { [INDEX_PROPERTY]: index, ...properties } = result.properties;
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

const placeOf = (object: JsonObject): string =>
  namespaceOf(object) === "" ? "" : ` in namespace ${namespaceOf(object)}`;
