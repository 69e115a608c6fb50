/**
 * `authorizer` and `authorizer.requestResource` of one request (spec validating-admission-policy.md 5.6): questions go to the
 * {@link Authorizer} once each, over all policies.
 */
import {
  type AuthorizationAnswer,
  type AuthorizationQuestion,
  AuthorizerValue,
  ResourceCheckValue,
} from "../../cel/index.js";
import { formatFieldSelector, parseFieldSelector } from "../../kubernetes/field-selector.js";
import { formatLabelSelector, parseLabelSelector } from "../../kubernetes/label-selector-text.js";
import type { Authorizer, AuthorizerAttributes, AuthorizerUser } from "../../world/authorizer/authorizer.js";
import { Pending } from "../../world/resources/resource-source.js";
import type { RequestAttributes } from "../match/request-attributes.js";
import type { Run } from "./evaluation-group.js";

/** Answers already had in a request; kept over repeated runs of it. */
export type AuthorizationAnswers = Map<string, AuthorizationAnswer>;

/** The two variables for one run. */
export function authorizerValues(
  request: RequestAttributes,
  authorizer: Authorizer,
  answers: AuthorizationAnswers,
  run: Run,
): { readonly authorizer: AuthorizerValue; readonly requestResource: ResourceCheckValue } {
  const user = userOf(request);
  const value = new AuthorizerValue((question) => {
    const attributes = attributesOf(question, user);
    const key = JSON.stringify({ ...attributes, user: canonicalUser(attributes.user) });
    const known = answers.get(key);
    if (known !== undefined) return known;
    const decided = authorizer.authorize(attributes);
    if (decided instanceof Pending) {
      run.awaited.push(decided.ready);
      return { allowed: false, reason: "", error: undefined };
    }
    const answer = { allowed: decided.decision === "allow", reason: decided.reason, error: decided.error };
    answers.set(key, answer);
    return answer;
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

function userOf({ request: { userInfo } }: RequestAttributes): AuthorizerUser {
  return {
    name: userInfo.username ?? "",
    uid: userInfo.uid ?? "",
    groups: userInfo.groups ?? [],
    extra: userInfo.extra ?? {},
  };
}

/** Groups and extra values count as sets. */
const canonicalUser = (user: AuthorizerUser): unknown => [
  user.name,
  user.uid,
  [...user.groups].sort(),
  Object.entries(user.extra)
    .map(([key, values]) => [key, [...values].sort()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1)),
];

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
