/** The enforcement of a Constraint as actions of a binding (gatekeeper 3.23.1, pkg/util/enforcement_action.go). */
import type { Path } from "../../../config/documents/problem.js";
import { didYouMean } from "../../../data/suggest.js";
import type { Reading } from "../reading.js";

const ACTIONS: Readonly<Record<string, string>> = { deny: "Deny", warn: "Warn", dryrun: "Audit" };
const SCOPED: Path = ["spec", "scopedEnforcementActions"];
const EVERYWHERE = "*";
const AT_ADMISSION = ["validation.gatekeeper.sh", "vap.k8s.io", EVERYWHERE];
const IN_AUDIT = "audit.gatekeeper.sh";
const POINTS = [...AT_ADMISSION, IN_AUDIT, "gator.gatekeeper.sh"];

/** The actions, at least one; what can't be expressed is an error. */
export function actionsOf(reading: Reading): readonly string[] {
  const path: Path = ["spec", "enforcementAction"];
  const written = reading.text(path) ?? "";
  const known = [...Object.keys(ACTIONS), "scoped"];
  if (written === "scoped") return scopedActions(reading);
  if (reading.at(SCOPED) !== undefined)
    reading.note(SCOPED, "left out: Gatekeeper reads it with enforcementAction: scoped only");
  const action = written === "" ? "Deny" : ACTIONS[written];
  if (action === undefined) {
    const guess = didYouMean(written, known);
    reading.error(path, `expected one of ${known.join(", ")}${guess}: Gatekeeper's webhook refuses others`);
  }
  return [action ?? "Deny"];
}

function scopedActions(reading: Reading): readonly string[] {
  const [admission, audit] = [new Set<string>(), new Set<string>()];
  const list = reading.list(SCOPED) ?? [];
  if (list.length === 0) reading.error(SCOPED, "the actions of enforcementAction: scoped are missing");
  list.forEach((_, index) => {
    const path: Path = [...SCOPED, index];
    reading.onlyKnown(path, ["action", "enforcementPoints"]);
    const written = reading.text([...path, "action"]) ?? "";
    const action = ACTIONS[written];
    if (action === undefined)
      reading.error(
        [...path, "action"],
        `expected one of ${Object.keys(ACTIONS).join(", ")}${didYouMean(written, Object.keys(ACTIONS))}`,
      );
    const points = reading.list([...path, "enforcementPoints"]) ?? [];
    if (points.length === 0) reading.error([...path, "enforcementPoints"], "at least one point is needed");
    points.forEach((_point, at) => {
      const name = reading.text([...path, "enforcementPoints", at, "name"]) ?? "";
      if (!POINTS.includes(name))
        reading.error(
          [...path, "enforcementPoints", at, "name"],
          `expected one of ${POINTS.join(", ")}${didYouMean(name, POINTS)}`,
        );
      if (AT_ADMISSION.includes(name)) admission.add(action ?? "");
      else if (name === IN_AUDIT) audit.add(action ?? "");
    });
  });
  if (reading.failed) return ["Deny"];
  // A binding can't both deny and warn, and a denial says all that the warning would.
  if (admission.has("Deny")) admission.delete("Warn");
  if (admission.size > 0) return [...admission].sort();
  if (audit.size === 0) reading.error(SCOPED, "it is about gator alone, so no request is judged by it");
  else
    reading.note(SCOPED, "Gatekeeper acts on it in its audit alone: validationActions: [Audit] lets all requests pass");
  return ["Audit"];
}
