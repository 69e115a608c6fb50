/** Authorization checks (spec kubernetes-cel.md 4.12). */
import type { Library } from "../declarations.js";
import { added, fn, method, methodFn } from "../declare.js";
import { BOOL, opaqueType, STRING } from "../types.js";
import {
  type AuthorizerValue,
  type DecisionValue,
  GroupCheckValue,
  type PathCheckValue,
  pathCheck,
  type ResourceCheckValue,
  resourceCheck,
  serviceAccount,
} from "./authz-values.js";

/** The type of `authorizer`. */
export const AUTHORIZER = opaqueType("kubernetes.authorization.Authorizer");
/** The type of `authorizer.requestResource`. */
export const RESOURCE_CHECK = opaqueType("kubernetes.authorization.ResourceCheck");
const PATH_CHECK = opaqueType("kubernetes.authorization.PathCheck");
const GROUP_CHECK = opaqueType("kubernetes.authorization.GroupCheck");
const DECISION = opaqueType("kubernetes.authorization.Decision");

/** A method that sets one part of a resource check. */
const part = (id: string, name: keyof ResourceCheckValue["question"]) =>
  method(id, [RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheckValue, value: string) =>
    check.with({ [name]: value }),
  );

const groupCheck = (authorizer: AuthorizerValue, group: string): GroupCheckValue =>
  new GroupCheckValue(authorizer, group);
const hasError = ({ answer }: DecisionValue): boolean => answer.error !== undefined;

/** The checks an authorizer can make, and the parts of its decision. */
export const authzLibrary: Library = {
  name: "authz",
  functions: [
    methodFn("path", "authorizer_path", [AUTHORIZER, STRING], PATH_CHECK, pathCheck),
    methodFn("group", "authorizer_group", [AUTHORIZER, STRING], GROUP_CHECK, groupCheck),
    methodFn("serviceAccount", "authorizer_serviceaccount", [AUTHORIZER, STRING, STRING], AUTHORIZER, serviceAccount),
    methodFn("resource", "groupcheck_resource", [GROUP_CHECK, STRING], RESOURCE_CHECK, resourceCheck),
    fn("subresource", part("resourcecheck_subresource", "subresource")),
    fn("namespace", part("resourcecheck_namespace", "namespace")),
    fn("name", part("resourcecheck_name", "name")),
    ...added(
      "1.31",
      fn("fieldSelector", part("authorizer_fieldselector", "fieldSelector")),
      fn("labelSelector", part("authorizer_labelselector", "labelSelector")),
    ),
    fn(
      "check",
      method("pathcheck_check", [PATH_CHECK, STRING], DECISION, (check: PathCheckValue, verb: string) =>
        check.check(verb),
      ),
      method("resourcecheck_check", [RESOURCE_CHECK, STRING], DECISION, (check: ResourceCheckValue, verb: string) =>
        check.check(verb),
      ),
    ),
    methodFn("errored", "decision_errored", [DECISION], BOOL, hasError),
    methodFn("error", "decision_error", [DECISION], STRING, ({ answer }: DecisionValue) => answer.error ?? ""),
    methodFn("allowed", "decision_allowed", [DECISION], BOOL, ({ answer }: DecisionValue) => answer.allowed),
    methodFn("reason", "decision_reason", [DECISION], STRING, ({ answer }: DecisionValue) => answer.reason),
  ],
};
