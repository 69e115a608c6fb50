/** The texts of a policy's conditions. */
import type { LoadedPolicyReport } from "../../config/from-cluster/cluster-document.js";
import type { PolicyFacts } from "../policy-facts.js";

/** A condition without its time. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** The known facts about a policy. */
export interface Standing {
  readonly loaded: Condition;
  readonly active: Condition;
  /** Absent: it has no version in shadow. */
  readonly shadow?: Condition;
  /** Whether it decides requests, if only by a former version. */
  readonly decides: boolean;
}

/** Longest message: Kubernetes allows 32 KiB, but people read it in a terminal. */
const MAX_MESSAGE = 2_000;
/** Most names of replicas in a message. */
const MOST_NAMES = 5;

/**
 * The facts about a policy.
 * @param missing live replicas that have not loaded this version: their names, and the reasons
 */
export function standingOf(
  { key, generation }: { readonly key: string; readonly generation: number },
  facts: Pick<PolicyFacts, "reports" | "webhook" | "webhookProblem" | "webhookReason" | "advice" | "shadow">,
  missing: readonly string[],
): Standing {
  const condition = (type: string, status: Condition["status"], reason: string, message: string): Condition => ({
    type,
    status,
    reason,
    message: shortened(message),
    observedGeneration: generation,
  });
  const reports = facts.reports(key);
  const problems = problemsOf(reports);
  const found = new Set(reports.map(({ state }) => state));
  const lastGood = found.has("last-good");
  const denies = found.has("waiting") || found.has("unavailable");
  const shadow = facts.shadow(key);
  const advice = facts.advice(key);
  const whatNow = (): string => {
    if (shadow !== undefined && shadow.activeGeneration === undefined) return "nothing is in force";
    return ["missing", "withdrawn"].includes(facts.webhook(key)) || advice?.isNeverAsked === true
      ? "the API server does not ask about it"
      : "requests are denied";
  };
  const loadedAs = (): Condition => {
    if (reports.length === 0) return condition("Loaded", "Unknown", "NotLoaded", "it is being loaded");
    if (found.has("refused")) return condition("Loaded", "False", "IdTaken", problems);
    if (denies) {
      const reason = found.has("unavailable") ? "LoadFailed" : "Loading";
      return condition("Loaded", "False", reason, `${whatNow()}: ${problems}`);
    }
    if (lastGood)
      return condition("Loaded", "False", "LastGood", `the version before this one is still served: ${problems}`);
    return condition("Loaded", "True", "Loaded", problems);
  };
  const loaded = loadedAs();
  const keepsBefore = loaded.reason === "LastGood";
  const active = (): Condition => {
    if (loaded.status !== "True") {
      const why = keepsBefore ? "the version before this one is active" : "it is not loaded";
      return condition("Active", "False", loaded.reason, why);
    }
    if (facts.webhook(key) === "withdrawn")
      return condition("Active", "False", "BreakGlass", facts.webhookProblem(key) ?? "break-glass is in force");
    if (missing.length > 0) {
      const names = missing.slice(0, MOST_NAMES).join(", ");
      const more = missing.length > MOST_NAMES ? ` and ${missing.length - MOST_NAMES} more` : "";
      return condition("Active", "False", "Rollout", `not loaded yet by the replicas ${names}${more}`);
    }
    if (advice?.isNeverAsked === true) return condition("Active", "False", "NeverAsked", advice.text);
    if (facts.webhook(key) === "missing") {
      const why = facts.webhookProblem(key) ?? "its webhook is missing";
      return condition("Active", "False", facts.webhookReason(key), `the API server does not ask about it yet: ${why}`);
    }
    if (shadow !== undefined) {
      const { activeGeneration } = shadow;
      const inForce = activeGeneration === undefined ? "no version is" : `generation ${activeGeneration} is`;
      return condition("Active", "False", "Shadow", `it is in shadow: ${inForce} in force`);
    }
    const warning = advice === undefined ? "" : `; warning: ${advice.text}`;
    return condition("Active", "True", "Active", `every replica has loaded it${warning}`);
  };
  const now = active();
  return {
    loaded,
    active: now,
    ...(shadow && { shadow: condition("Shadow", "True", "Shadow", shadow.message) }),
    decides: now.status === "True" || keepsBefore || shadow?.activeGeneration !== undefined,
  };
}

/** The problems, errors first, each with its place. */
function problemsOf(reports: readonly LoadedPolicyReport[]): string {
  const problems = reports.flatMap((report) => report.problems);
  const texts = ["error", "warning"].flatMap((severity) => problems.filter((each) => each.severity === severity));
  return [...new Set(texts.map(({ text }) => text))].join("; ");
}

const shortened = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1)}…`;
