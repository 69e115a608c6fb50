import { Waiting } from "../../cel/index.js";
import { isObject, member } from "../../kubernetes/object.js";
import { NOT_IN_TIME } from "../shared/expressions/interruption.js";
import { failedWith, type MutatingDecision } from "./decision.js";
import type { Dispatch } from "./dispatch.js";
import { Pass } from "./pass.js";
import { Reinvocation } from "./reinvocation.js";

/**
 * What the policies make of the object: one pass over all of them, and a second one over those that may be asked again when the first has mutated
 * (spec mutating-admission-policy.md 2 and 3). Of an attempt that waits for an answer nothing is believed.
 */
export function evaluatePolicies(dispatch: Dispatch): MutatingDecision {
  const { attempt, request, state } = dispatch;
  state.begin();
  const reinvocation = new Reinvocation();
  const first = new Pass(dispatch, reinvocation).run();
  const interrupted = (): MutatingDecision | undefined =>
    attempt.interruption === undefined ? undefined : failedWith(attempt.interruption);
  // What is said of an attempt that waits is not listened to.
  if (first instanceof Waiting) return interrupted() ?? failedWith(NOT_IN_TIME);
  const decided = interrupted() ?? first;
  if (decided.failure !== undefined || decided.refusals.length > 0 || !reinvocation.wanted) return decided;
  reinvocation.beginSecondPass();
  const mutated = { ...request, object: decided.object };
  const again = { ...dispatch, request: mutated, selecting: { ...mutated, object: asLabelled(decided.object) } };
  const second = new Pass(again, reinvocation).run();
  if (second instanceof Waiting) return interrupted() ?? failedWith(NOT_IN_TIME);
  return interrupted() ?? { ...second, skipped: first.skipped };
}

/** An object as selectors see it: with a label that a mutation has made no text it has none at all, as for the server. */
function asLabelled(object: unknown): unknown {
  const metadata = member(object, "metadata");
  const labels = member(metadata, "labels");
  if (!isObject(object) || !isObject(metadata) || !isObject(labels)) return object;
  if (Object.values(labels).every((value) => typeof value === "string")) return object;
  return { ...object, metadata: { ...metadata, labels: {} } };
}
