/** Policies that were made of a rule of an old one (kyverno.io), by this server or by `convert`: the rule. */
import { CONVERTED_AUTOGEN, CONVERTED_CEL, CONVERTED_FROM, CONVERTED_RULE } from "./convert/policy-document.js";
import type { PolicyResource } from "./resource.js";

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
export function originOf({ metadata: { annotations = {} }, converted }: PolicyResource): OldRuleOrigin | undefined {
  const [kind, ...names] = (annotations[CONVERTED_FROM] ?? "").split("/");
  const rule = annotations[CONVERTED_RULE];
  const policy = names.pop();
  if (rule === undefined || policy === undefined || (kind !== "ClusterPolicy" && kind !== "Policy")) return undefined;
  const isCel = annotations[CONVERTED_CEL] === "true" && converted?.reason === undefined;
  const judgesControllers = annotations[CONVERTED_AUTOGEN] === "true";
  return { namespace: names[0] ?? "", policy, rule, judgesControllers, isCel };
}
