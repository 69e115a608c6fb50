/** The authorizer that decides who may use a policy (spec certificate-request-policy.md 3.3). */

import { repeatedDocuments } from "../../config/documents/documents.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { CertificateRequestSettings } from "../../config/entry.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import {
  type Authorizer,
  type AuthorizerAttributes,
  type AuthorizerDecision,
  type AuthorizerUser,
  isNobody,
} from "../../world/authorizer/authorizer.js";
import { MapAuthorizer } from "../../world/authorizer/map-authorizer.js";
import { RbacAuthorizer } from "../../world/authorizer/rbac-authorizer.js";
import { checkRbacObject } from "../../world/authorizer/rbac-checks.js";
import { isRbacObject, type RbacObject, readRbacObject } from "../../world/authorizer/rbac-objects.js";
import { andThen } from "../../world/eventual.js";
import { type Needs, NO_NEEDS } from "../../world/needs.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import { LoadError } from "../load-error.js";
import type { CertificateRequest } from "./engine/certificate-request.js";
import { GROUP, RESOURCE } from "./resource.js";

/** The values of the setting `binding`. */
export type BindingMode = NonNullable<CertificateRequestSettings["binding"]>;

/** An authorizer for the use of policies, without a world yet. */
export interface Binding {
  readonly mode: BindingMode;
  readonly needs: Needs;
  /**
   * The authorizer in a world. If it cannot decide, the answer is a {@link LookupFailure}: the request has to fail.
   * @param world its authorizer is the cluster's, or stands in for one
   * @throws LoadError when the mode needs a cluster, and there is none
   */
  authorizer(world: { readonly authorizer: Authorizer }): Authorizer;
}

/** A binding with its problems. */
export interface PreparedBinding {
  /** Not to be used when one of the problems is an error. */
  readonly binding: Binding;
  /** Errors and warnings. */
  readonly problems: readonly Problem[];
}

/** A place of problems, such as a document. */
type Place = Pick<SourceDocument, "problem">;

const USE = { verb: "use", group: GROUP, resource: RESOURCE } as const;
const ASKS_CLUSTER: Needs = {
  asks: true,
  requires: [{ what: "who may use a policy (`binding: sar`)" }],
  parameters: [],
};
const EVERYBODY: Authorizer = {
  authorize: () => ({ decision: "allow", reason: "every policy counts as bound" }),
};

/**
 * Prepares the authorizer of the policies of an entry.
 * @param others the entry's documents beside the policies; RBAC objects among them are used if the mode needs them
 * @param policy the first policy of the entry, the place of problems that concern all
 */
export function prepareBinding(
  { binding: mode, bound = [] }: CertificateRequestSettings,
  others: readonly SourceDocument[],
  policy: Place,
): PreparedBinding {
  const rbac = others.filter(({ value }) => isRbacObject(value));
  switch (mode ?? (rbac.length > 0 ? "rbac" : "sar")) {
    case "rbac":
      return byRoles(rbac, policy);
    case "map": {
      const entries = bound.map(({ policies, ...entry }) => ({ ...entry, names: policies }));
      return { binding: fixed("map", new MapAuthorizer(USE, entries)), problems: [] };
    }
    case "assume-bound": {
      const message = "every policy counts as bound: each requester may use all of them (binding: assume-bound)";
      return { binding: fixed("assume-bound", EVERYBODY), problems: [policy.problem("warning", [], message)] };
    }
    case "sar":
      return { binding: byCluster(policy), problems: [] };
  }
}

const fixed = (mode: BindingMode, authorizer: Authorizer): Binding => ({
  mode,
  needs: NO_NEEDS,
  authorizer: () => authorizer,
});

function byRoles(documents: readonly SourceDocument[], policy: Place): PreparedBinding {
  const problems: Problem[] = [...repeatedDocuments(documents)];
  const objects: RbacObject[] = [];
  const found: { readonly object: RbacObject; readonly document: SourceDocument }[] = [];
  for (const document of documents) {
    const read = readRbacObject(document.value);
    const errors: readonly FieldError[] = "kind" in read ? checkRbacObject(read) : read;
    problems.push(...errors.map(({ path, text }) => document.problem("error", path, text)));
    if (!("kind" in read)) continue;
    objects.push(read);
    found.push({ object: read, document });
  }
  if (problems.length === 0) {
    if (objects.length === 0) problems.push(policy.problem("warning", [], NOBODY_BOUND));
    for (const { object, document } of found) problems.push(...warnings(object, objects, document));
  }
  return { binding: fixed("rbac", new RbacAuthorizer(objects)), problems };
}

const ALL_NAMES = "is empty: the rule holds for every name";
const NO_RULES = "a cluster fills in the rules of an aggregated ClusterRole: here it has those that are written, none";
const NOBODY_BOUND =
  "only the group system:masters may use a policy: no Role, ClusterRole, RoleBinding or ClusterRoleBinding is among the documents (binding: rbac)";

/** Warnings about RBAC objects that seem to give rights but do not, or the reverse. */
function warnings(object: RbacObject, all: readonly RbacObject[], document: SourceDocument): readonly Problem[] {
  if ("rules" in object) {
    const wide = object.rules.flatMap(({ resourceNames }, index) => {
      const path = ["rules", index, "resourceNames"];
      return resourceNames.length === 0 && document.hasKey(path) ? [document.problem("warning", path, ALL_NAMES)] : [];
    });
    if (!object.aggregated || object.rules.length > 0) return wide;
    return [document.problem("warning", ["aggregationRule"], NO_RULES)];
  }
  const { kind, name } = object.roleRef;
  const namespace = kind === "Role" ? object.namespace : "";
  const there = all.some((each) => each.kind === kind && each.namespace === namespace && each.name === name);
  if (there) return [];
  const message = `no ${kind} ${JSON.stringify(name)} is among the documents: the binding gives no rights`;
  return [document.problem("warning", ["roleRef", "name"], message)];
}

function byCluster(policy: Place): Binding {
  return {
    mode: "sar",
    needs: ASKS_CLUSTER,
    authorizer({ authorizer }) {
      if (!isNobody(authorizer))
        return { authorize: (asked) => andThen(authorizer.authorize(asked), decisionOrFailure) };
      throw new LoadError(NO_CLUSTER, [policy.problem("error", [], NO_CLUSTER)]);
    },
  };
}

const NO_CLUSTER =
  "who may use a policy is asked of a cluster, and there is none: connect to one, put Roles and bindings beside the policies (binding: rbac), list who may use them (binding: map), or let every requester (binding: assume-bound)";

/** The decision of an access review, or its failure: taken for *not allowed*, the request would pass as one that no policy is for. */
function decisionOrFailure(decision: AuthorizerDecision | LookupFailure): AuthorizerDecision | LookupFailure {
  if (decision instanceof LookupFailure || decision.error === undefined || decision.decision === "allow")
    return decision;
  return new LookupFailure(decision.error, decision.detail);
}

/** The requester of the certificate. One object for all questions of a request: authorizers look up a user once for each. */
export const requesterOf = ({ username, uid, groups, extra }: CertificateRequest): AuthorizerUser => ({
  name: username,
  uid,
  groups,
  extra,
});

/** The question whether a user may use a policy for a request in a namespace. */
export const useOf = (user: AuthorizerUser, namespace: string, policy: string): AuthorizerAttributes => ({
  user,
  ...USE,
  version: "",
  subresource: "",
  namespace,
  name: policy,
  path: "",
  fieldSelector: "",
  labelSelector: "",
  selectorError: "",
});
