/** The interface of policies of one kind that evaluate resources. */

import type { AuthorizationRequest } from "../../kinds/kyverno/authorization/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { AdmissionRequest } from "../../policy/index.js";
import type { Finding, ReportedPolicy } from "../reports/finding.js";

/** The subject of an evaluation. */
export type Subject =
  /** A resource, with its request. */
  | { readonly kind: "resource"; readonly request: AdmissionRequest; readonly object: JsonObject }
  /** Any JSON. */
  | { readonly kind: "payload"; readonly payload: JsonObject }
  /** A request to be authorized. */
  | { readonly kind: "authorization"; readonly request: AuthorizationRequest };

/** Policies that can be evaluated. */
export interface Judge {
  /** Policies, in the order of their findings. */
  readonly policies: readonly ReportedPolicy[];
  /** Findings on a subject; policies that don't match have none. `policy` is the index in {@link policies}. */
  judge(subject: Subject): readonly Finding[] | Promise<readonly Finding[]>;
}

/** A resource, with its request. */
export type ResourceSubject = Extract<Subject, { readonly kind: "resource" }>;

/** The findings of policies that change objects, and the object as they leave it; `undefined`: as it was. */
export interface Mutated {
  readonly findings: readonly Finding[];
  readonly object: JsonObject | undefined;
}

/** Policies that change objects: those that judge are asked about what they leave. */
export interface Mutator extends Pick<Judge, "policies"> {
  mutate(subject: ResourceSubject): Promise<Mutated>;
}

/** The subject with another object. */
export const withObject = (subject: ResourceSubject, object: JsonObject | undefined): ResourceSubject =>
  object === undefined ? subject : { ...subject, object, request: { ...subject.request, object } };
