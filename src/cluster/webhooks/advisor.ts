/** Records advice about the rules of policies, as far as the API server is known. */
import { parseKey, policyIdOf } from "../../config/from-cluster/index.js";
import { reasonOf } from "../../kubernetes/client/errors.js";
import { apiRoot } from "../../kubernetes/client/paths.js";
import { ServerRelease } from "../../kubernetes/client/server-release.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { member, text } from "../../kubernetes/object.js";
import type { PartContext } from "../part.js";
import type { AskedPolicy } from "./demand.js";
import { UNASKED } from "./exclusions.js";
import type { WebhookDeriver } from "./from-documents.js";
import { listOf, parts, textsOf } from "./rules.js";
import { type RuleAdvice, ruleAdvice } from "./unasked.js";

/** How long the resources of all groups count as known. */
const LOOK_AGAIN_MS = 300_000;

/** Keeps the advice of all policies, while it leads. */
export class Advisor {
  readonly #context: PartContext;
  readonly #deriver: Pick<WebhookDeriver, "asked">;
  readonly #release: ServerRelease;
  /** Plurals of resources that rules with a wildcard group mean, beside the unasked ones; undefined: unknown. */
  #found: ReadonlySet<string> | undefined;
  #foundAt = Number.NEGATIVE_INFINITY;

  constructor(context: PartContext, deriver: Pick<WebhookDeriver, "asked">) {
    this.#context = context;
    this.#deriver = deriver;
    const { cluster, clock } = context;
    const ask = async () => (await cluster.http.get("/version", {}, cluster.signal)).value;
    this.#release = new ServerRelease({ ask, clock });
    this.#release.listeners.push(() => this.look());
  }

  stop(): void {
    this.#release.close();
  }

  /** Must be called by the leader when policies have changed. */
  look(): void {
    void this.#release.begin();
    const { facts, settings, state, clock } = this.#context;
    const policies = new Map(this.#deriver.asked.map((policy) => [policy.id, policy]));
    for (const key of state()?.documents.keys() ?? []) {
      const id = facts.refused.has(key) ? undefined : policyIdOf(parseKey(key));
      const policy = id === undefined ? undefined : policies.get(id);
      const isUnbound = id !== undefined && parseKey(key).kind === "ValidatingAdmissionPolicy";
      if (policy !== undefined) facts.setAdvice(key, this.#adviceFor(policy));
      else facts.setAdvice(key, isUnbound && settings.enforceAdmissionPolicies ? UNBOUND : undefined);
    }
    const isNeeded = this.#deriver.asked.some(({ demand }) =>
      demand.rules.some(({ apiGroups, resources }) => apiGroups.includes("*") && resources.some(isUnaskedWord)),
    );
    if (!isNeeded || clock.now() - this.#foundAt < LOOK_AGAIN_MS) return;
    this.#foundAt = clock.now();
    void this.#find();
  }

  #adviceFor(policy: AskedPolicy): RuleAdvice | undefined {
    const { namespace: ownNamespace, exemptNamespaces } = this.#context.settings;
    const found = this.#found;
    const isElsewhere = found && ((resource: string): boolean => found.has(resource));
    const { current: release } = this.#release;
    return ruleAdvice(policy, { ownNamespace, exemptNamespaces, release, ...(isElsewhere && { isElsewhere }) });
  }

  /** Finds the resources of other groups that have the names of unasked ones. */
  async #find(): Promise<void> {
    const { cluster, log } = this.#context;
    const read = async (path: string): Promise<unknown> => (await cluster.http.get(path, {}, cluster.signal)).value;
    try {
      const found = new Set<string>();
      for (const each of listOf(member(await read("/apis"), "groups"))) {
        const group = text(each, "name");
        const version = parseApiVersion(text(member(each, "preferredVersion"), "groupVersion"));
        if (version === undefined) continue;
        for (const resource of listOf(member(await read(apiRoot(version)), "resources"))) {
          const plural = text(resource, "name");
          // A resource that can only be read, such as `nodes` of metrics, is never admitted.
          const isWritten = textsOf(member(resource, "verbs")).includes("create");
          if (isWritten && !UNASKED_KEYS.has(`${group}/${plural}`)) found.add(plural);
        }
      }
      this.#found = found;
    } catch (error) {
      this.#found = undefined;
      log.debug("the resources of the cluster are not known", { reason: reasonOf(error) });
    }
    this.look();
  }
}

const UNASKED_KEYS: ReadonlySet<string> = new Set(UNASKED.map(({ group, resource }) => `${group}/${resource}`));
const UNBOUND: RuleAdvice = { isNeverAsked: true, text: "it is never asked: no binding names it" };
const isUnaskedWord = (word: string): boolean => UNASKED.some(({ resource }) => resource === parts(word)[0]);
