/** The plan of a scan, as data that can be sent to threads: each makes its own policies of it. */
import type { ExceptionResource } from "../../kinds/kyverno/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Operation, User, Values } from "./circumstances.js";
import type { Wanted } from "./scanner.js";

/** All inputs of policies. */
export interface ScanPlan {
  /** Files and folders with policies; `-`: the text below. */
  readonly policyPaths: readonly string[];
  /** Standard input, if policies come from there. */
  readonly stdin: string;
  /** A policies.yaml, with the ids of the policies to evaluate. */
  readonly policiesFile?: string;
  readonly policyIds: readonly string[];
  readonly exceptions: readonly ExceptionResource[];
  /** Whether to take exceptions among the policies, too. */
  readonly exceptionsWithinPolicies: boolean;
  readonly values: Values;
  readonly operation: Operation;
  /** The requester; absent: not given. */
  readonly user?: User;
  /** The requester's bindings of roles. */
  readonly bindings?: readonly JsonObject[];
  /** CustomResourceDefinitions. */
  readonly definitions: readonly JsonObject[];
  /** The text of a context file; absent without one. */
  readonly contextFile?: string;
  /** Files with parameters of ValidatingAdmissionPolicies, and with Namespaces and objects of RBAC. */
  readonly parameterPaths: readonly string[];
  /** Whether every requester may use every CertificateRequestPolicy. */
  readonly assumeBound?: boolean;
  readonly wanted: Wanted;
}
