/** What a scan is made of, as data that can be handed to threads: each makes its own policies of it. */
import type { ExceptionResource } from "../../kinds/kyverno/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Operation, User, Values } from "./circumstances.js";
import type { Wanted } from "./scanner.js";

/** Everything that decides what policies find. */
export interface ScanPlan {
  /** Files and folders with policies; `-`: the text below. */
  readonly policyPaths: readonly string[];
  /** Standard input, where policies come from there. */
  readonly stdin: string;
  /** A policies.yaml, and which of its policies are asked. */
  readonly policiesFile?: string;
  readonly policyIds: readonly string[];
  readonly exceptions: readonly ExceptionResource[];
  /** Take those among the policies, too. */
  readonly exceptionsWithinPolicies: boolean;
  readonly values: Values;
  readonly operation: Operation;
  /** Absent: nobody said who asks. */
  readonly user?: User;
  /** CustomResourceDefinitions. */
  readonly definitions: readonly JsonObject[];
  /** The text of a context file; absent: there is none. */
  readonly contextFile?: string;
  /** Files with parameters of ValidatingAdmissionPolicies, and with Namespaces and objects of RBAC. */
  readonly parameterPaths: readonly string[];
  /** Every CertificateRequestPolicy may be used by everybody. */
  readonly assumeBound?: boolean;
  readonly wanted: Wanted;
}
