/** What stands in where a cluster is needed and there is none: every question fails, so that nothing is allowed by mistake. */
import { NO_CLIENT } from "../kubernetes/no-cluster.js";
import type { Authorizer } from "./authorizer/authorizer.js";
import { LookupFailure, type ResourceSource } from "./resources/resource-source.js";

const fail = () => new LookupFailure(NO_CLIENT);

/** For policies. */
export const NO_CLUSTER_RESOURCES: ResourceSource = {
  namespace: fail,
  get: fail,
  list: fail,
  namespaced: fail,
  equivalents: fail,
  convert: (object) => object,
};

/** For `authorizer`. */
export const NO_CLUSTER_AUTHORIZER: Authorizer = {
  authorize: () => ({ decision: "noOpinion", reason: "", error: NO_CLIENT }),
};
