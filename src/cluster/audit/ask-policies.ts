/** Evaluates all policies of a kind on one object. */
import { isLeftOut } from "../../kinds/shared/match/label-selector.js";
import { labelsOf } from "../../kubernetes/object.js";
import { evaluateInTime } from "../../policy/evaluate-in-time.js";
import { EvaluationRun } from "../../policy/evaluation-run.js";
import type { Outcome } from "../../policy/index.js";
import type { AuditedKind } from "./audit-kinds.js";
import { MAX_INDEXED_POLICIES } from "./audit-limits.js";
import type { AuditedPolicy, AuditFinding } from "./audited-policy.js";
import type { NamespaceLabels } from "./namespaces.js";
import type { AuditedObject } from "./object-request.js";

/** Options of the evaluation. */
export interface AskOptions {
  /** Milliseconds that an evaluation may take without a limit of its policy. */
  readonly policyTimeout: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Called when a policy breaks its contract. */
  readonly onDefect: (policy: string, error: unknown) => void;
}

/** Findings of the policies that match an object, in the order of the configuration. */
export type Findings = readonly { readonly policy: AuditedPolicy; readonly finding: AuditFinding }[];

/** The policies of a kind, and by Namespace those of them that can match what is in it: most policies of a large cluster are for few Namespaces. */
export class PolicyIndex {
  readonly #kind: AuditedKind;
  readonly #namespaces: NamespaceLabels;
  readonly #most: number;
  readonly #known = new Map<string, readonly AuditedPolicy[]>();
  #held = 0;

  /** @param most places of policies that are held */
  constructor(kind: AuditedKind, namespaces: NamespaceLabels, most = MAX_INDEXED_POLICIES) {
    this.#kind = kind;
    this.#namespaces = namespaces;
    this.#most = most;
  }

  /** The policies that are to be asked about the objects of a Namespace, in order; `""`: about objects in none. */
  of(namespace: string): readonly AuditedPolicy[] {
    const { policies } = this.#kind;
    const labels = namespace === "" ? undefined : this.#namespaces.of(namespace);
    // Where the labels are not known, asking finds out.
    if (labels === undefined) return policies;
    let found = this.#known.get(namespace);
    if (found === undefined) {
      found = policies.filter((policy) => !leavesOut(policy, namespace, labels));
      this.#held += found.length;
      if (this.#held > this.#most) {
        this.#known.clear();
        this.#held = found.length;
      }
      this.#known.set(namespace, found);
    }
    return found;
  }
}

/** Whether a policy, or its webhook, leaves out all objects of the Namespace. */
function leavesOut(
  { served, namespace: only, seesNamespaces, webhook }: AuditedPolicy,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (only !== "" && only !== namespace) return true;
  if (webhook !== undefined) return webhook.objects.error === undefined && isLeftOut(webhook.namespaces, labels);
  return seesNamespaces && served.policy.leavesOut?.(namespace, labels) === true;
}

/** Evaluates the policies. A promise only if one of them waits. */
export function askPolicies(
  policies: readonly AuditedPolicy[],
  object: AuditedObject,
  namespaces: NamespaceLabels,
  options: AskOptions,
): Findings | Promise<Findings> {
  const found: { readonly policy: AuditedPolicy; finding: AuditFinding | undefined }[] = [];
  let waiting: Promise<void>[] | undefined;
  for (const policy of policies) {
    const kept = keptOut(policy, object, namespaces);
    if (kept === "not for it") continue;
    const outcome = kept ?? ask(policy, object, options);
    if (outcome instanceof Promise) {
      const place: (typeof found)[number] = { policy, finding: undefined };
      found.push(place);
      waiting ??= [];
      waiting.push(
        outcome.then((settled) => {
          place.finding = policy.finding(settled);
        }),
      );
      continue;
    }
    const finding = "verdict" in outcome ? policy.finding(outcome) : outcome;
    if (finding !== undefined) found.push({ policy, finding });
  }
  const matching = (): Findings =>
    found.flatMap(({ policy, finding }) => (finding === undefined ? [] : [{ policy, finding }]));
  return waiting === undefined ? (found as Findings) : Promise.all(waiting).then(matching);
}

function ask(
  { served, asGuest }: AuditedPolicy,
  object: AuditedObject,
  { policyTimeout, now, onDefect }: AskOptions,
): Outcome | Promise<Outcome> {
  const run = new EvaluationRun(now() + (served.timeout ?? policyTimeout), onDefect);
  return evaluateInTime(served.policy, asGuest ? object.guestReview : object.review, run, now);
}

/** The finding for an object that the policy's webhook would not send, or for which that is not known. */
function keptOut(
  { namespace: only, webhook }: AuditedPolicy,
  object: AuditedObject,
  namespaces: NamespaceLabels,
): AuditFinding | "not for it" | undefined {
  const { namespace, kind, apiVersion, name } = object.reference;
  if (only !== "" && only !== namespace) return "not for it";
  if (webhook === undefined) return undefined;
  const { objects, namespaces: within } = webhook;
  const broken = objects.error ?? within.error;
  if (broken !== undefined) return failed(broken);
  if (!objects.empty && !objects.matches(labelsOf(object.object))) return "not for it";
  if (within.empty) return undefined;
  // A Namespace is selected by its own labels, a cluster-scoped object always is (spec validating-admission-policy.md 3.6).
  const isNamespace = kind === "Namespace" && apiVersion === "v1";
  if (namespace === "" && !isNamespace) return undefined;
  const labels = isNamespace ? labelsOf(object.object) : namespaces.of(namespace);
  if (labels === undefined) {
    return failed(
      `the labels of the Namespace ${namespace || name} are not known: ${namespaces.problem ?? "there is none"}`,
    );
  }
  return within.matches(labels) ? undefined : "not for it";
}

const failed = (message: string): AuditFinding => ({ status: "error", message, properties: {} });
