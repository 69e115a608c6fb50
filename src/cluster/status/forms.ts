/** The form of each kind's status. */
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import type { Condition, Standing } from "./conditions.js";

/** The form of a kind's status. */
export interface StatusForm {
  /** Makes the status of the standing and the policy's `spec.mode`; conditions without times. */
  readonly status: (standing: Standing, mode: string) => JsonObject;
  /** The path of the conditions in it. */
  readonly conditions: readonly string[];
  /** The types of our conditions, also of those that are absent at the moment; absent: all conditions are ours. */
  readonly types?: readonly string[];
}

const ours = ({ loaded, active, shadow }: Standing): readonly Condition[] =>
  shadow === undefined ? [loaded, active] : [loaded, active, shadow];

const OUR_TYPES = ["Loaded", "Active", "Shadow"];

const named = (condition: Condition, type: string, reason: string, message: string): Condition => ({
  ...condition,
  type,
  reason,
  message: condition.status === "True" ? message : condition.message,
});

/** The status that Kubewarden's controller writes (spec kubewarden.md 11.2), so that its users continue to work. */
const KUBEWARDEN: StatusForm = {
  status: (standing, mode) => {
    const { loaded, active, decides } = standing;
    const match = loaded.status === "True" && active.reason !== "Rollout";
    const everywhere: Condition = match ? loaded : { ...active, status: "False" };
    return {
      policyStatus: decides ? "active" : "pending",
      mode: mode === "monitor" ? "monitor" : "protect",
      conditions: [
        ...ours(standing),
        named(active, "PolicyActive", "PolicyActive", "The policy webhook has been created"),
        named(
          everywhere,
          "PolicyServerConfigurationUpToDate",
          match ? "ConfigurationVersionMatch" : "ConfigurationVersionMismatch",
          "Configuration for this policy is up to date",
        ),
        named(
          everywhere,
          "PolicyUniquelyReachable",
          match ? "LatestReplicaSetIsUniquelyReachable" : "LatestReplicaSetIsNotUniquelyReachable",
          "The latest replica set is uniquely reachable",
        ),
      ],
    };
  },
  conditions: ["conditions"],
  types: [...OUR_TYPES, "PolicyActive", "PolicyServerConfigurationUpToDate", "PolicyUniquelyReachable"],
};

const KYVERNO: StatusForm = {
  status: (standing) => {
    const { loaded, active } = standing;
    const ready = active.status === "True";
    const message = loaded.status === "True" ? active.message : loaded.message;
    return { conditionStatus: { ready, message: ready ? "" : message, conditions: ours(standing) } };
  },
  conditions: ["conditionStatus", "conditions"],
};

/** The status in approver-policy's words, which others wait for and read. */
const CERTIFICATE_REQUEST_POLICY: StatusForm = {
  status: ({ active, loaded }) => {
    const ready = active.status === "True";
    const why = loaded.status === "True" ? active.message : loaded.message;
    const message = ready
      ? "CertificateRequestPolicy is ready for approval evaluation"
      : `CertificateRequestPolicy is not ready for approval evaluation: ${why}`;
    const status = ready ? "True" : "False";
    return { conditions: [{ ...active, type: "Ready", status, reason: ready ? "Ready" : "NotReady", message }] };
  },
  conditions: ["conditions"],
  types: ["Ready"],
};

/** The status beside what the API server itself writes. */
const ADMISSION_POLICY: StatusForm = {
  status: (standing) => ({ conditions: ours(standing) }),
  conditions: ["conditions"],
  types: OUR_TYPES,
};

/**
 * The form of a kind's status; undefined where we write none.
 * @param enforced whether ValidatingAdmissionPolicies are enforced by webhooks
 */
export function formOf(group: string, kind: string, enforced: boolean): StatusForm | undefined {
  switch (group) {
    case "policies.kubewarden.io":
      return kind === "PolicyServer" ? undefined : KUBEWARDEN;
    case "policies.kyverno.io":
      return kind === "PolicyException" ? undefined : KYVERNO;
    case "policy.cert-manager.io":
      return CERTIFICATE_REQUEST_POLICY;
    case "admissionregistration.k8s.io":
      return enforced && kind === "ValidatingAdmissionPolicy" ? ADMISSION_POLICY : undefined;
    default:
      return undefined;
  }
}

/**
 * The status to be written: conditions have the time of their last change; undefined when the cluster has it already.
 * @param now in the form of times in `metadata`
 */
export function statusToWrite(
  form: StatusForm,
  wanted: JsonObject,
  current: unknown,
  now: string,
): JsonObject | undefined {
  const before = listAt(current, form.conditions);
  const conditions = listAt(wanted, form.conditions).map((condition) => {
    const same = before.find((each) => text(each, "type") === text(condition, "type"));
    const since = text(same, "status") === text(condition, "status") ? text(same, "lastTransitionTime") : "";
    return { ...(condition as JsonObject), lastTransitionTime: since || now };
  });
  const status = withListAt(wanted, form.conditions, conditions);
  const known = form.types;
  const own = known === undefined ? before : before.filter((each) => known.includes(text(each, "type")));
  const there = withListAt(pickedLike(wanted, current), form.conditions, sorted(own));
  const then = withListAt(status, form.conditions, sorted(conditions));
  return sameJson(there, then) ? undefined : status;
}

/** The members of `current` that `wanted` has, all the way down to lists. */
function pickedLike(wanted: JsonObject, current: unknown): JsonObject {
  const picked: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(wanted))
    picked[key] = isObject(value) ? pickedLike(value, member(current, key)) : member(current, key);
  return picked;
}

function listAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const found = path.reduce<unknown>((inner, key) => member(inner, key), value);
  return Array.isArray(found) ? found : [];
}

function withListAt(value: JsonObject, [key = "", ...rest]: readonly string[], list: readonly unknown[]): JsonObject {
  const inner = member(value, key);
  return { ...value, [key]: rest.length === 0 ? list : withListAt(isObject(inner) ? inner : {}, rest, list) };
}

const sorted = (list: readonly unknown[]): readonly unknown[] =>
  [...list].sort((a, b) => (text(a, "type") < text(b, "type") ? -1 : 1));

/** Whether two values are equal as JSON, whatever the order of keys. */
const sameJson = (one: unknown, other: unknown): boolean =>
  JSON.stringify(inOrder(one)) === JSON.stringify(inOrder(other));

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  );
}
