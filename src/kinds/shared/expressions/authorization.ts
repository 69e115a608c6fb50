import {
  type AuthorizationAnswer,
  type AuthorizationQuestion,
  AuthorizerValue,
  ResourceCheckValue,
  Waiting,
} from "../../../cel/index.js";
import { formatFieldSelector, parseFieldSelector } from "../../../kubernetes/field-selector.js";
import { formatLabelSelector, parseLabelSelector } from "../../../kubernetes/label-selector-text.js";
import type { AuthorizerAttributes, AuthorizerUser } from "../../../world/authorizer/authorizer.js";
import type { RequestWorld } from "../../../world/request-world.js";
import type { RequestAttributes } from "../match/request-attributes.js";

/**
 * Longest selector of a check: it may come from the request, and its parsing cannot be interrupted, once for each of dozens of checks (at most
 * some 10 ms each). Selectors for lists are shorter: most proxies pass no longer URL.
 */
const MAX_SELECTOR_CHARACTERS = 8_192;

/** `authorizer` and `authorizer.requestResource` of one request: they ask the world (spec validating-admission-policy.md 5.6). */
export function authorizerValues(
  request: RequestAttributes,
  world: RequestWorld,
): { readonly authorizer: AuthorizerValue; readonly requestResource: ResourceCheckValue } {
  const user = userOf(request);
  const value = new AuthorizerValue((question): AuthorizationAnswer | Waiting => {
    const decided = hasLongSelector(question)
      ? world.refuse(`an authorizer check has a selector of more than ${MAX_SELECTOR_CHARACTERS} characters`)
      : world.authorize(attributesOf(question, user));
    if (decided instanceof Waiting) return decided;
    return { allowed: decided.decision === "allow", reason: decided.reason, error: decided.error };
  });
  const requestResource = new ResourceCheckValue(value, {
    group: request.resource.group,
    resource: request.resource.resource,
    subresource: request.subresource,
    namespace: request.namespace,
    name: request.name,
    fieldSelector: "",
    labelSelector: "",
  });
  return { authorizer: value, requestResource };
}

const hasLongSelector = (question: AuthorizationQuestion): boolean =>
  question.kind !== "path" &&
  Math.max(question.fieldSelector.length, question.labelSelector.length) > MAX_SELECTOR_CHARACTERS;

function userOf({ request: { userInfo } }: RequestAttributes): AuthorizerUser {
  return {
    name: userInfo.username ?? "",
    uid: userInfo.uid ?? "",
    groups: userInfo.groups ?? [],
    extra: userInfo.extra ?? {},
  };
}

function attributesOf(question: AuthorizationQuestion, requestUser: AuthorizerUser): AuthorizerAttributes {
  const { subject, verb } = question;
  const user =
    subject.kind === "user"
      ? requestUser
      : {
          name: `system:serviceaccount:${subject.namespace}:${subject.name}`,
          uid: "",
          groups: ["system:serviceaccounts", `system:serviceaccounts:${subject.namespace}`],
          extra: {},
        };
  const empty = {
    group: "",
    version: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    path: "",
    fieldSelector: "",
    labelSelector: "",
    selectorError: "",
  };
  if (question.kind === "path") return { ...empty, user, verb, path: question.path };
  const { group, resource, subresource, namespace, name } = question;
  const fields = parseFieldSelector(question.fieldSelector);
  const labels = parseLabelSelector(question.labelSelector);
  return {
    ...empty,
    user,
    verb,
    group,
    version: "*",
    resource,
    subresource,
    namespace,
    name,
    fieldSelector: "error" in fields ? "" : formatFieldSelector(fields),
    labelSelector: "error" in labels ? "" : formatLabelSelector(labels),
    selectorError: [fields, labels].flatMap((parsed) => ("error" in parsed ? [parsed.error] : [])).join("; "),
  };
}
