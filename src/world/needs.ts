/** What a policy asks of the world beside the request; said by the compiled policy, before there is a world. */
import type { GroupVersionKind } from "../kubernetes/names.js";

/** What a policy would ask a cluster, and whether it can do without. */
export interface Needs {
  /** It asks for what a cluster may hold: documents beside it are looked at first. */
  readonly asks: boolean;
  /** What it asks for that no document beside it brings: without a cluster it has to fail. None: it does without one. */
  readonly requires: readonly Requirement[];
  /** The kinds of parameters that it looks for among all of them: worth having before the first request. */
  readonly parameters: readonly GroupVersionKind[];
  /** Parameters that it looks for by name, as far as that is known before a request; absent: none. */
  readonly namedParameters?: readonly NamedParameter[];
}

/** A parameter that has a name. */
export interface NamedParameter {
  readonly kind: GroupVersionKind;
  /** Empty: that of the request, or none. */
  readonly namespace: string;
  readonly name: string;
}

/** Something that a policy asks a cluster for. */
export interface Requirement {
  /** What it is, in words such as `the labels of Namespaces`. */
  readonly what: string;
  /** The documents beside the policy that would do instead, in the plural; absent: only a cluster can tell. */
  readonly documents?: string;
  /** Whether a `failurePolicy` of `Ignore` lets requests through for which nobody can tell; absent: they are denied whatever it is. */
  readonly ignorable?: true;
}

/** What selectors ask for. */
export const NAMESPACE_LABELS: Requirement = { what: "the labels of Namespaces", documents: "Namespaces" };

/** Nothing but the request. */
export const NO_NEEDS: Needs = { asks: false, requires: [], parameters: [] };

/** What several policies ask together. */
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
