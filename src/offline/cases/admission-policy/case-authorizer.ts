import { isObject, text } from "../../../kubernetes/object.js";
import type { Authorizer, AuthorizerAttributes, AuthorizerDecision } from "../../../world/authorizer/authorizer.js";

/** An access review in a case; empty members are absent. */
export type AuthorizerCheck = { readonly user: string } & {
  readonly [member: string]: string | readonly string[];
};

const MEMBERS = ["verb", "group", "resource", "subresource", "namespace", "name", "path"] as const;
const DECISIONS = new Set(["allow", "deny"]);

/** The authorizer of a case: the first rule whose members all match decides, then the default, then the verb. */
export class CaseAuthorizer implements Authorizer {
  /** Access reviews, in order. */
  readonly checks: AuthorizerCheck[] = [];

  readonly #rules: unknown;

  /** @param rules `{rules, default}`; anything else means no rules */
  constructor(rules: unknown) {
    this.#rules = rules;
  }

  authorize(attributes: AuthorizerAttributes): AuthorizerDecision {
    this.checks.push(written(attributes));
    if (isObject(this.#rules)) {
      const list = Array.isArray(this.#rules.rules) ? (this.#rules.rules as readonly unknown[]) : [];
      const rule = list.find((each) => matches(each, attributes)) ?? this.#rules.default;
      if (isObject(rule)) return answer(rule);
    }
    return habit(attributes);
  }
}

function matches(rule: unknown, attributes: AuthorizerAttributes): boolean {
  if (!isObject(rule)) return false;
  if (typeof rule.user === "string" && rule.user !== attributes.user.name) return false;
  return MEMBERS.every((member) => typeof rule[member] !== "string" || rule[member] === attributes[member]);
}

function answer(rule: unknown): AuthorizerDecision {
  const decision = text(rule, "decision");
  const error = text(rule, "error");
  return {
    decision: DECISIONS.has(decision) ? (decision as "allow" | "deny") : "noOpinion",
    reason: text(rule, "reason"),
    ...(error !== "" && { error }),
  };
}

/** Verb `err` fails, `deny` is denied, anything else is allowed with the question as the reason. */
function habit(asked: AuthorizerAttributes): AuthorizerDecision {
  if (asked.verb === "err") return { decision: "noOpinion", reason: "", error: "authz boom" };
  if (asked.verb === "deny") return { decision: "deny", reason: "denied" };
  const { verb, resource, subresource, namespace, name, group, version, path, user } = asked;
  const reason = `because ${verb} ${resource}/${subresource} ${namespace}/${name} ${group} ${version} ${path} user=${user.name}`;
  return { decision: "allow", reason };
}

function written(asked: AuthorizerAttributes): AuthorizerCheck {
  const { user, verb, ...optional } = asked;
  return {
    user: user.name,
    ...(user.groups.length > 0 && { groups: user.groups }),
    verb,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== "")),
  };
}
