/** Derives webhooks from the policies of a cluster. */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { Rollouts } from "../../config/from-cluster/rollouts.js";
import { parseJson } from "../../data/json.js";
import { member, text } from "../../kubernetes/object.js";
import { admissionPolicyDemand } from "./admission-policy-demand.js";
import type { AskedPolicy } from "./demand.js";
import { type DerivedWebhooks, type DeriveOptions, webhooksFor } from "./derive.js";
import { kubewardenDemand } from "./kubewarden-demand.js";
import { kyvernoDemand, oldKyvernoDemand } from "./kyverno-demand.js";
import { PortableConditions } from "./portable-conditions.js";
import { listOf } from "./rules.js";

/** Options of the derivation from a cluster's documents. */
export interface DocumentOptions extends DeriveOptions {
  /** The id under which a document's policy is served; `undefined`: it is not served. */
  readonly idOf: (key: string) => string | undefined;
  /** Whether ValidatingAdmissionPolicies get webhooks, though the API server evaluates them by itself. */
  readonly enforceAdmissionPolicies?: boolean;
  /** Whether MutatingAdmissionPolicies do, where the API server does not evaluate them. */
  readonly enforceMutatingAdmissionPolicies?: boolean;
}

/** The result for a document, as long as that does not change. */
interface Known<T> {
  readonly document: ClusterDocument;
  /** Identifies its other inputs. */
  readonly with: string;
  readonly made: T;
}

/** A document beside policies that affects them. */
type Companion =
  /** `<kind>/<name>` of the policy that a binding names. */
  | { readonly kind: "binding"; readonly policy: string; readonly spec: unknown }
  /** `<kind>/<name>` of the policies that an exception names. */
  | { readonly kind: "exception"; readonly policies: readonly string[] };

/** The bindings of a policy, with a text that identifies them. */
interface Bindings {
  readonly versions: string;
  readonly specs: readonly unknown[];
}

/** Derives repeatedly, and reads only what has changed: it keeps its results for the documents of the last call. */
export class WebhookDeriver {
  readonly #options: DocumentOptions;
  readonly #conditions = new PortableConditions();
  readonly #rollouts = new Rollouts();
  #companions = new Map<string, Known<Companion>>();
  #policies = new Map<string, Known<AskedPolicy | undefined>>();
  #given: readonly ClusterDocument[] = [];
  #asked: readonly AskedPolicy[] = [];
  #derived: DerivedWebhooks | undefined;

  constructor(options: DocumentOptions) {
    this.#options = options;
  }

  /**
   * Webhooks of versions in force: versions in shadow do not change them. Where no version is in force, that in shadow is called, and decides nothing unless
   * some namespace has it in force.
   * @param refused keys of documents that are not served for reasons outside of the documents
   */
  derive(documents: Iterable<ClusterDocument>, refused: ReadonlySet<string> = NONE): DerivedWebhooks {
    const given = Array.from(documents).filter(({ key }) => !refused.has(key));
    // Each of a thousand statuses that are written at the start asks again.
    if (this.#derived !== undefined && isSame(given, this.#given)) return this.#derived;
    this.#given = given;
    this.#rollouts.update(new Map(given.map((document) => [document.key, document])));
    const { inForce, inShadow } = this.#rollouts;
    const all = Array.from(inShadow, ([key, document]) => inForce.get(key) ?? document);
    this.#companions = remembered(this.#companions, all, (document) => {
      const read = READ_COMPANION.get(kindOf(document));
      return read && { with: "", make: () => read(parseJson(document.text)) };
    });
    const bindings = this.#bindings();
    const excepted = this.#excepted();
    this.#policies = remembered(this.#policies, all, (document) => this.#policy(document, bindings, excepted));
    const asked = [...this.#policies.values()].flatMap(({ made }) => made ?? []);
    if (this.#derived === undefined || !isSame(asked, this.#asked)) this.#derived = webhooksFor(asked, this.#options);
    this.#asked = asked;
    return this.#derived;
  }

  /** The policies of the last call. */
  get asked(): readonly AskedPolicy[] {
    return this.#asked;
  }

  #policy(document: ClusterDocument, bindings: ReadonlyMap<string, Bindings>, excepted: ReadonlySet<string>) {
    const demanded = this.#demanded(document, bindings, excepted);
    const rolled = this.#rollouts.rolledOut.get(document.key);
    const decides = rolled?.active !== undefined || (rolled?.rollout.enforcedNamespaces ?? []).length > 0;
    if (demanded === undefined || rolled === undefined || decides) return demanded;
    return { with: `${demanded.with} undecided`, make: () => lenient(demanded.make()) };
  }

  #demanded(document: ClusterDocument, bindings: ReadonlyMap<string, Bindings>, excepted: ReadonlySet<string>) {
    const { key } = document;
    const id = this.#options.idOf(key);
    if (id === undefined) return undefined;
    const resource = (): unknown => parseJson(document.text);
    const conditions = this.#conditions;
    const kind = kindOf(document);
    const name = key.slice(key.lastIndexOf("/") + 1);
    switch (kind) {
      case "policies.kubewarden.io/ClusterAdmissionPolicy":
      case "policies.kubewarden.io/ClusterAdmissionPolicyGroup":
      case "policies.kubewarden.io/AdmissionPolicy":
      case "policies.kubewarden.io/AdmissionPolicyGroup":
        // Its modules have all capabilities, unless the PolicyServer takes them from a namespace's.
        return { with: id, make: () => kubewardenDemand(id, resource(), true) };
      case "policies.kyverno.io/ValidatingPolicy":
      case "policies.kyverno.io/NamespacedValidatingPolicy": {
        const isExcepted = excepted.has(`${kind.slice(kind.indexOf("/") + 1)}/${name}`);
        return {
          with: `${id} ${isExcepted}`,
          make: () => kyvernoDemand(id, resource(), { conditions, excepted: isExcepted }),
        };
      }
      case "kyverno.io/ClusterPolicy":
      case "kyverno.io/Policy":
        // Whether one of its rules has an exception is not looked up: then its webhook has no condition.
        return { with: id, make: () => oldKyvernoDemand(id, resource(), conditions) };
      case VALIDATING:
      case MUTATING: {
        const { enforceAdmissionPolicies, enforceMutatingAdmissionPolicies } = this.#options;
        const mutating = kind === MUTATING;
        if ((mutating ? enforceMutatingAdmissionPolicies : enforceAdmissionPolicies) !== true) return undefined;
        const { specs, versions } = bindings.get(`${kind}/${name}`) ?? { specs: [], versions: "" };
        return {
          with: `${id} ${versions}`,
          make: () =>
            admissionPolicyDemand(id, member(resource(), "spec"), {
              ...{ conditions, bindings: specs, mutating },
              isAdmissionPolicy: true,
            }),
        };
      }
      default:
        return undefined;
    }
  }

  #bindings(): ReadonlyMap<string, Bindings> {
    const found = new Map<string, Bindings>();
    for (const { document, made } of this.#companions.values()) {
      if (made.kind !== "binding") continue;
      const { versions, specs } = found.get(made.policy) ?? { versions: "", specs: [] };
      const version = `${document.uid} ${document.resourceVersion}`;
      found.set(made.policy, { versions: `${versions}${version},`, specs: [...specs, made.spec] });
    }
    return found;
  }

  #excepted(): ReadonlySet<string> {
    return new Set(
      [...this.#companions.values()].flatMap(({ made }) => (made.kind === "exception" ? made.policies : [])),
    );
  }
}

const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((each, i) => each === other[i]);

const NONE: ReadonlySet<string> = new Set();

const VALIDATING = "admissionregistration.k8s.io/ValidatingAdmissionPolicy";
const MUTATING = "admissionregistration.k8s.io/MutatingAdmissionPolicy";

/** The policy with `Ignore`: whatever fails about its webhook, requests pass, since no version of it is in force. */
const lenient = (policy: AskedPolicy | undefined): AskedPolicy | undefined =>
  policy && { ...policy, demand: { ...policy.demand, failurePolicy: "Ignore" } };

/** `<group>/<kind>` of a document. */
function kindOf({ key }: ClusterDocument): string {
  const [group = "", kind = ""] = key.split("/");
  return `${group}/${kind}`;
}

const READ_COMPANION: ReadonlyMap<string, (resource: unknown) => Companion> = new Map([
  [`${VALIDATING}Binding`, (resource) => readBinding(VALIDATING, resource)],
  [`${MUTATING}Binding`, (resource) => readBinding(MUTATING, resource)],
  ["policies.kyverno.io/PolicyException", readException],
]);

function readBinding(policyKind: string, resource: unknown): Companion {
  const spec = member(resource, "spec");
  return { kind: "binding", policy: `${policyKind}/${text(spec, "policyName")}`, spec };
}

function readException(resource: unknown): Companion {
  const refs = listOf(member(member(resource, "spec"), "policyRefs"));
  return { kind: "exception", policies: refs.map((ref) => `${text(ref, "kind")}/${text(ref, "name")}`) };
}

/** Keeps results of documents: those from before, and of changed ones anew; `undefined` for one without a result. */
function remembered<T>(
  before: ReadonlyMap<string, Known<T>>,
  documents: readonly ClusterDocument[],
  making: (document: ClusterDocument) => { readonly with: string; readonly make: () => T } | undefined,
): Map<string, Known<T>> {
  const after = new Map<string, Known<T>>();
  for (const document of documents) {
    const next = making(document);
    if (next === undefined) continue;
    const known = before.get(document.key);
    const same =
      known !== undefined &&
      known.with === next.with &&
      known.document.uid === document.uid &&
      known.document.resourceVersion === document.resourceVersion;
    after.set(document.key, same ? known : { document, with: next.with, made: next.make() });
  }
  return after;
}
