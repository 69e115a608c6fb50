/** Evaluates all policies of a kind on one object. */
import { labelsOf } from "../../kubernetes/object.js";
import { evaluateInTime } from "../../policy/evaluate-in-time.js";
import { EvaluationRun } from "../../policy/evaluation-run.js";
import type { Outcome } from "../../policy/index.js";
import type { AuditedKind } from "./audit-kinds.js";
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

/** Findings of the kind's policies, in order; `undefined`: the policy does not match the object. */
export type Findings = readonly (AuditFinding | undefined)[];

/** Evaluates the policies. A promise only if one of them waits. */
export function askPolicies(
  { policies }: AuditedKind,
  object: AuditedObject,
  namespaces: NamespaceLabels,
  options: AskOptions,
): Findings | Promise<Findings> {
  const findings: (AuditFinding | undefined)[] = new Array(policies.length).fill(undefined);
  let waiting: Promise<void>[] | undefined;
  for (let index = 0; index < policies.length; index++) {
    const policy = policies[index];
    if (policy === undefined) continue;
    const kept = keptOut(policy, object, namespaces);
    if (kept !== undefined) {
      findings[index] = kept === "not for it" ? undefined : kept;
      continue;
    }
    const outcome = ask(policy, object, options);
    if (outcome instanceof Promise) {
      waiting ??= [];
      waiting.push(
        outcome.then((settled) => {
          findings[index] = policy.finding(settled);
        }),
      );
    } else findings[index] = policy.finding(outcome);
  }
  return waiting === undefined ? findings : Promise.all(waiting).then(() => findings);
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
