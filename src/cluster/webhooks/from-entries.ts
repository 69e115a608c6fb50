/** Derives webhooks from the policies of a policies.yaml, as far as their rules stand in the file. */

import { parseCapabilities } from "../../config/capability-patterns.js";
import type { ConfigEntry, GroupEntry, Member, ModuleEntry, PolicyEntry, ResourceEntry } from "../../config/index.js";
import type { ResourceRule } from "../../kinds/shared/match/resource-rule.js";
import { isObject, member, nameOf, text } from "../../kubernetes/object.js";
import { admissionPolicyDemand } from "./admission-policy-demand.js";
import { type AskedPolicy, timeoutOf } from "./demand.js";
import type { WebhookProblem } from "./derived-webhook.js";
import { kubewardenDemand } from "./kubewarden-demand.js";
import { kyvernoDemand, oldKyvernoDemand } from "./kyverno-demand.js";
import { PortableConditions } from "./portable-conditions.js";
import { listOf, webhookRules } from "./rules.js";
import { together } from "./together.js";

/** The demands of entries. */
export interface AskedEntries {
  readonly policies: readonly AskedPolicy[];
  /** Entries whose requests the file does not define. */
  readonly problems: readonly WebhookProblem[];
}

/** The registration that a module's metadata suggest. */
export interface SuggestedRules {
  readonly rules: readonly ResourceRule[];
  /** Whether it judges any JSON, rather than requests of a cluster. */
  readonly raw: boolean;
}

/** The modules' suggestions, by the ids of their entries; a text is the reason why one is not known. A missing id: its module suggests nothing. */
export type ModuleRules = ReadonlyMap<string, SuggestedRules | string>;

/** The advice for an entry without known rules. */
const WRITE_RULES =
  "write it as a ClusterAdmissionPolicy with spec.rules in a file of its own, and name that as its resource";
const NO_RULES = `says nothing of what it is to be asked about, and neither does its module: ${WRITE_RULES}`;
const RAW = `has a module for raw requests, which no cluster sends; if it is to be asked all the same, ${WRITE_RULES}`;

/** Whether an entry is a module without rules in the file: its module's suggestion counts. */
export const needsModuleRules = (entry: PolicyEntry): entry is ModuleEntry =>
  entry.kind === "module" && !isKubewarden(entry.origin.document.value);

/** The entries with known rules, their own or their modules'. Each has its own webhook: the server of a file has no sets. */
export function askedEntries(entries: readonly ConfigEntry[], modules: ModuleRules): AskedEntries {
  const reader = new EntryReader(entries, modules);
  const policies: AskedPolicy[] = [];
  const problems: WebhookProblem[] = [];
  for (const entry of entries) {
    const { id } = entry;
    const asked = entry.kind === "invalid" ? "cannot be read" : reader.asked(entry);
    if (typeof asked === "string") problems.push({ id, text: asked });
    else policies.push({ ...asked, id, shares: false });
  }
  return { policies, problems };
}

/** Reads entries; a text is the reason why one has no demand. */
class EntryReader {
  readonly #entries: ReadonlyMap<string, ConfigEntry>;
  readonly #modules: ModuleRules;
  readonly #conditions = new PortableConditions();

  constructor(entries: readonly ConfigEntry[], modules: ModuleRules) {
    this.#entries = new Map(entries.map((entry) => [entry.id, entry]));
    this.#modules = modules;
  }

  asked(entry: PolicyEntry): AskedPolicy | string {
    const asked = this.#demanded(entry);
    const resource = entry.origin.document.value;
    // Kubewarden's policies name it themselves.
    if (typeof asked === "string" || isKubewarden(resource)) return asked;
    const timeoutSeconds = this.#timeoutSeconds(entry);
    return timeoutSeconds === undefined ? asked : { ...asked, demand: { ...asked.demand, timeoutSeconds } };
  }

  #demanded(entry: PolicyEntry): AskedPolicy | string {
    const { id } = entry;
    switch (entry.kind) {
      case "module": {
        const resource = entry.origin.document.value;
        if (!isKubewarden(resource)) return this.#module(entry);
        return { ...kubewardenDemand(id, resource, mayCanI(entry)), mutating: entry.allowedToMutate };
      }
      case "cel": {
        const { validationActions } = entry;
        const options = { conditions: this.#conditions, ...(validationActions && { validationActions }) };
        return admissionPolicyDemand(id, entry.cel, options) ?? NO_RULES;
      }
      case "resource":
        return this.#resource(entry);
      case "group": {
        const resource = entry.origin.document.value;
        if (!isKubewarden(resource)) return this.#group(entry);
        const modules = entry.members.flatMap(({ policy }) => (policy.kind === "module" ? [policy] : []));
        return kubewardenDemand(id, resource, modules.some(mayCanI));
      }
    }
  }

  /** The demand that its author suggests. */
  #module(entry: ModuleEntry): AskedPolicy | string {
    const { id, allowedToMutate } = entry;
    const suggested = this.#modules.get(id);
    if (suggested === undefined) return NO_RULES;
    if (typeof suggested === "string") return suggested;
    if (suggested.raw) return RAW;
    const rules = webhookRules(suggested.rules);
    // Suggested rules that match nothing count as none.
    if (rules.length === 0) return NO_RULES;
    const spec = { rules, settings: entry.settings };
    return { ...kubewardenDemand(id, { spec }, mayCanI(entry)), mutating: allowedToMutate };
  }

  /** The policy's own time limit, and a second for the answer; `undefined`: the file has none. */
  #timeoutSeconds(entry: PolicyEntry): number | undefined {
    const seconds = entry.timeoutEvalSeconds ?? (entry.kind === "group" ? this.#secondsOf(entry) : undefined);
    return seconds === undefined ? undefined : timeoutOf(seconds + 1);
  }

  /** The time limits of all members, which run one after the other. */
  #secondsOf({ members }: GroupEntry): number | undefined {
    const limits = members.map(({ policy }) => {
      const entry = policy.kind === "reference" ? this.#entries.get(policy.id) : policy;
      return entry === undefined || entry.kind === "invalid" ? undefined : entry.timeoutEvalSeconds;
    });
    return limits.every((each) => each !== undefined) ? limits.reduce((sum, each) => sum + each, 0) : undefined;
  }

  #resource({ id, documents, validationActions, allowedToMutate }: ResourceEntry): AskedPolicy | string {
    const conditions = this.#conditions;
    const values = documents.map(({ value }) => value);
    const bindings = (kind: string, policy: unknown): readonly unknown[] =>
      values
        .filter((value) => text(value, "kind") === kind)
        .map((value) => member(value, "spec"))
        .filter((spec) => text(spec, "policyName") === nameOf(policy));
    const asked = values.map((value) => {
      const kind = text(value, "kind");
      switch (kind) {
        case "ValidatingPolicy":
        case "NamespacedValidatingPolicy":
        case "MutatingPolicy":
        case "NamespacedMutatingPolicy":
          return kyvernoDemand(id, value, { conditions, excepted: isExcepted(values, kind, nameOf(value)) });
        case "ImageValidatingPolicy":
        case "NamespacedImageValidatingPolicy": {
          const asked = kyvernoDemand(id, value, { conditions, excepted: isExcepted(values, kind, nameOf(value)) });
          const configured = member(member(value, "spec"), "validationConfigurations");
          const mutating = allowedToMutate && member(configured, "mutateDigest") !== false;
          return asked && { ...asked, mutating, shares: !mutating };
        }
        case "ClusterPolicy":
        case "Policy":
          return oldKyvernoDemand(id, value, conditions);
        case "ValidatingAdmissionPolicy":
        case "MutatingAdmissionPolicy": {
          const own = bindings(`${kind}Binding`, value);
          const mutating = kind === "MutatingAdmissionPolicy";
          const demand = admissionPolicyDemand(id, member(value, "spec"), {
            conditions,
            mutating,
            // Without one it acts by itself here.
            ...(own.length > 0 && { bindings: own }),
            isAdmissionPolicy: true,
            ...(validationActions && { validationActions }),
          });
          // The entry is what is asked, and no set.
          return demand && { ...demand, shares: !mutating };
        }
        default:
          return undefined;
      }
    });
    const found = asked.filter((each) => each !== undefined);
    return found.length === 0 ? "has no policy that admission asks" : together(id, found);
  }

  #group({ id, members }: GroupEntry): AskedPolicy | string {
    const asked: AskedPolicy[] = [];
    for (const each of members) {
      const own = this.#member(each);
      if (typeof own === "string") return `its member '${each.name}' ${own}`;
      // A member judges whatever its group asks about.
      asked.push({ ...own, mutating: false, hasExemptions: false });
    }
    return together(id, asked);
  }

  /** The demand of a member. References don't form circles: an entry with one is not valid. */
  #member({ policy }: Member): AskedPolicy | string {
    if (policy.kind !== "reference") return this.asked(policy);
    const entry = this.#entries.get(policy.id);
    return entry === undefined || entry.kind === "invalid" ? "cannot be read" : this.asked(entry);
  }
}

const isKubewarden = (resource: unknown): boolean =>
  isObject(resource) && text(resource, "apiVersion").startsWith("policies.kubewarden.io/");

/** Whether a module may ask about rights. */
const mayCanI = ({ hostCapabilities }: ModuleEntry): boolean =>
  parseCapabilities(hostCapabilities).allows("kubernetes/can_i");

const isExcepted = (values: readonly unknown[], kind: string, name: string): boolean =>
  values.some((value) =>
    listOf(member(member(value, "spec"), "policyRefs")).some(
      (ref) => text(ref, "kind") === kind && text(ref, "name") === name,
    ),
  );
