/** Policies of a cluster as webhooks ask them. */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { parseJson } from "../../data/json.js";
import { member, nameOf, text } from "../../kubernetes/object.js";
import { admissionPolicyDemand } from "./admission-policy-demand.js";
import type { AskedPolicy } from "./demand.js";
import { type DerivedWebhooks, type DeriveOptions, webhooksFor } from "./derive.js";
import { kubewardenDemand } from "./kubewarden-demand.js";
import { kyvernoDemand } from "./kyverno-demand.js";
import { PortableConditions } from "./portable-conditions.js";
import { listOf } from "./rules.js";

/** How webhooks are derived from a cluster's documents. */
export interface DocumentOptions extends DeriveOptions {
  /** The id under which a document's policy is served; `undefined`: it is not. */
  readonly idOf: (key: string) => string | undefined;
  /** Whether ValidatingAdmissionPolicies are asked here, which the API server evaluates by itself. */
  readonly enforceAdmissionPolicies?: boolean;
}

/** A document that is read. */
interface Read {
  readonly key: string;
  readonly group: string;
  readonly kind: string;
  readonly resource: unknown;
}

/** The webhooks of everything that a cluster holds. */
export function deriveWebhooks(documents: Iterable<ClusterDocument>, options: DocumentOptions): DerivedWebhooks {
  const read = Array.from(documents, readDocument);
  return webhooksFor(askedPolicies(read, options), options);
}

/** `<group>/<kind>/<namespace>/<name>`. */
function readDocument({ key, text: written }: ClusterDocument): Read {
  const [group = "", kind = ""] = key.split("/");
  return { key, group, kind, resource: parseJson(written) };
}

function* askedPolicies(documents: readonly Read[], options: DocumentOptions): Iterable<AskedPolicy> {
  const conditions = new PortableConditions();
  const bindings = bindingsByPolicy(documents);
  const excepted = exceptedPolicies(documents);
  for (const { key, group, kind, resource } of documents) {
    const id = options.idOf(key);
    if (id === undefined) continue;
    if (group === "policies.kubewarden.io" && kind !== "PolicyServer") yield kubewardenDemand(id, resource);
    else if (group === "policies.kyverno.io") {
      if (kind !== "ValidatingPolicy" && kind !== "NamespacedValidatingPolicy") continue;
      const isExcepted = excepted.has(`${kind}/${nameOf(resource)}`);
      const asked = kyvernoDemand(id, resource, { conditions, excepted: isExcepted });
      if (asked !== undefined) yield asked;
    } else if (kind === "ValidatingAdmissionPolicy" && options.enforceAdmissionPolicies === true) {
      const own = bindings.get(nameOf(resource)) ?? [];
      const asked = admissionPolicyDemand(id, member(resource, "spec"), { conditions, bindings: own });
      if (asked !== undefined) yield asked;
    }
  }
}

/** Specs of bindings by the policy that they name. */
function bindingsByPolicy(documents: readonly Read[]): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const { kind, resource } of documents) {
    if (kind !== "ValidatingAdmissionPolicyBinding") continue;
    const spec = member(resource, "spec");
    const policy = text(spec, "policyName");
    const own = found.get(policy);
    if (own === undefined) found.set(policy, [spec]);
    else own.push(spec);
  }
  return found;
}

/** `<kind>/<name>` of Kyverno's policies that exceptions name. */
function exceptedPolicies(documents: readonly Read[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { kind, resource } of documents) {
    if (kind !== "PolicyException") continue;
    for (const ref of listOf(member(member(resource, "spec"), "policyRefs"))) {
      found.add(`${text(ref, "kind")}/${text(ref, "name")}`);
    }
  }
  return found;
}
