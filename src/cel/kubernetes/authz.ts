/** Authorization checks (spec kubernetes-cel.md 4.12). */
import type { Library } from "../declarations.js";
import { added, fn, method } from "../declare.js";
import { BOOL, opaqueType, STRING } from "../types.js";

/** The type of `authorizer`. */
export const AUTHORIZER = opaqueType("kubernetes.authorization.Authorizer");
/** The type of `authorizer.requestResource`. */
export const RESOURCE_CHECK = opaqueType("kubernetes.authorization.ResourceCheck");
const PATH_CHECK = opaqueType("kubernetes.authorization.PathCheck");
const GROUP_CHECK = opaqueType("kubernetes.authorization.GroupCheck");
const DECISION = opaqueType("kubernetes.authorization.Decision");

/** The checks an authorizer can make, and the parts of its decision. */
export const authzLibrary: Library = {
  name: "authz",
  functions: [
    fn("path", method("authorizer_path", [AUTHORIZER, STRING], PATH_CHECK)),
    fn("group", method("authorizer_group", [AUTHORIZER, STRING], GROUP_CHECK)),
    fn("serviceAccount", method("authorizer_serviceaccount", [AUTHORIZER, STRING, STRING], AUTHORIZER)),
    fn("resource", method("groupcheck_resource", [GROUP_CHECK, STRING], RESOURCE_CHECK)),
    fn("subresource", method("resourcecheck_subresource", [RESOURCE_CHECK, STRING], RESOURCE_CHECK)),
    fn("namespace", method("resourcecheck_namespace", [RESOURCE_CHECK, STRING], RESOURCE_CHECK)),
    fn("name", method("resourcecheck_name", [RESOURCE_CHECK, STRING], RESOURCE_CHECK)),
    ...added(
      131,
      fn("fieldSelector", method("authorizer_fieldselector", [RESOURCE_CHECK, STRING], RESOURCE_CHECK)),
      fn("labelSelector", method("authorizer_labelselector", [RESOURCE_CHECK, STRING], RESOURCE_CHECK)),
    ),
    fn(
      "check",
      method("pathcheck_check", [PATH_CHECK, STRING], DECISION),
      method("resourcecheck_check", [RESOURCE_CHECK, STRING], DECISION),
    ),
    fn("errored", method("decision_errored", [DECISION], BOOL)),
    fn("error", method("decision_error", [DECISION], STRING)),
    fn("allowed", method("decision_allowed", [DECISION], BOOL)),
    fn("reason", method("decision_reason", [DECISION], STRING)),
  ],
};
