/** The questions of a policy to the world beside the request; derived from the compiled policy, before there is a world. */
import type { GroupVersionKind } from "../kubernetes/names.js";

/** The questions of a policy to a cluster, and whether it can do without answers. */
export interface Needs {
  /** Whether it asks for objects of a cluster: documents beside it come first. */
  readonly asks: boolean;
  /** The questions that no document beside it answers: without a cluster it has to fail. Empty: it does without one. */
  readonly requires: readonly Requirement[];
  /** The kinds of parameters that it selects from: worth loading before the first request. */
  readonly parameters: readonly GroupVersionKind[];
  /** Parameters that it reads by name, as far as they are known before a request; absent: none. */
  readonly namedParameters?: readonly NamedParameter[];
}

/** A parameter that has a name. */
export interface NamedParameter {
  readonly kind: GroupVersionKind;
  /** Empty: that of the request, or none. */
  readonly namespace: string;
  readonly name: string;
}

/** A question of a policy to a cluster. */
export interface Requirement {
  /** The subject, in words such as `the labels of Namespaces`. */
  readonly what: string;
  /** The documents beside the policy that would do instead, in the plural; absent: only a cluster has the answer. */
  readonly documents?: string;
  /** Whether a `failurePolicy` of `Ignore` lets requests through without the answer; absent: they are denied whatever it is. */
  readonly ignorable?: true;
}

/** The question of selectors. */
export const NAMESPACE_LABELS: Requirement = { what: "the labels of Namespaces", documents: "Namespaces" };

/** The needs of a policy that reads only the request. */
export const NO_NEEDS: Needs = { asks: false, requires: [], parameters: [] };

/** The needs of several policies together. */
export function allNeeds(needs: readonly Needs[]): Needs {
  const namedParameters = needs.flatMap(({ namedParameters = [] }) => namedParameters);
  return {
    asks: needs.some(({ asks }) => asks),
    requires: distinct(needs.flatMap(({ requires }) => requires)),
    parameters: needs.flatMap(({ parameters }) => parameters),
    ...(namedParameters.length > 0 && { namedParameters }),
  };
}

function distinct(requirements: readonly Requirement[]): Requirement[] {
  return [...new Map(requirements.map((requirement) => [requirement.what, requirement])).values()];
}
