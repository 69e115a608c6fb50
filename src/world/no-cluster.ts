/** What stands in where a cluster is needed and there is none: every question fails, so that nothing is allowed by mistake. */

import { NO_CLIENT } from "../kubernetes/reader.js";
import type { Authorizer } from "./authorizer/authorizer.js";
import { LookupFailure, type ResourceSource } from "./resources/resource-source.js";

const fail = () => new LookupFailure(NO_CLIENT);

/** For ValidatingAdmissionPolicies. */
export const NO_CLUSTER_RESOURCES: ResourceSource = {
  namespace: fail,
  get: fail,
  list: fail,
  namespaced: fail,
  // Nobody knows: the policy says what is missing.
  equivalents: () => undefined,
  convert: fail,
};

/** For `authorizer`. */
export const NO_CLUSTER_AUTHORIZER: Authorizer = {
  authorize: () => ({ decision: "noOpinion", reason: "", error: NO_CLIENT }),
};
