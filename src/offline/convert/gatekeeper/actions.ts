/** The enforcement of a Constraint as actions of a binding (gatekeeper 3.23.1, pkg/util/enforcement_action.go). */
import type { Path } from "../../../config/documents/problem.js";
import type { Reading } from "../reading.js";

const ACTIONS: ReadonlyMap<string, string> = new Map([
  ["deny", "Deny"],
  ["warn", "Warn"],
  ["dryrun", "Audit"],
]);
const WORDS = [...ACTIONS.keys()];
const SCOPED: Path = ["spec", "scopedEnforcementActions"];
const AT_ADMISSION = ["validation.gatekeeper.sh", "vap.k8s.io", "*"];
const IN_AUDIT = "audit.gatekeeper.sh";
const POINTS = [...AT_ADMISSION, IN_AUDIT, "gator.gatekeeper.sh"];

/** The actions, at least one; what can't be expressed is an error. */
export function actionsOf(reading: Reading): readonly string[] {
  const written = reading.oneOf(["spec", "enforcementAction"], [...WORDS, "scoped"]);
  if (written === "scoped") return scopedActions(reading);
  if (reading.at(SCOPED) !== undefined) reading.note(SCOPED, "left out: it counts with enforcementAction: scoped only");
  return [ACTIONS.get(written) ?? "Deny"];
}

function scopedActions(reading: Reading): readonly string[] {
  const [admission, audit] = [new Set<string>(), new Set<string>()];
  const list = reading.list(SCOPED);
  if (list.length === 0) reading.error(SCOPED, "the actions of enforcementAction: scoped are missing");
  for (const index of list.keys()) {
    const path: Path = [...SCOPED, index];
    reading.onlyKnown(path, ["action", "enforcementPoints"]);
    const action = ACTIONS.get(reading.oneOf([...path, "action"], WORDS));
    const points = reading.list([...path, "enforcementPoints"]);
    if (action === undefined || points.length === 0) reading.error(path, "an action and a point are needed");
    for (const at of points.keys()) {
      const name = reading.oneOf([...path, "enforcementPoints", at, "name"], POINTS);
      if (AT_ADMISSION.includes(name)) admission.add(action ?? "");
      else if (name === IN_AUDIT) audit.add(action ?? "");
    }
  }
  if (reading.failed) return ["Deny"];
  // A binding can't both deny and warn, and a denial says all that the warning would.
  if (admission.has("Deny")) admission.delete("Warn");
  if (admission.size > 0) return [...admission].sort();
  if (audit.size === 0) reading.error(SCOPED, "it is not about admission: no request is judged by it");
  else reading.note(SCOPED, "it is about Gatekeeper's audit: validationActions: [Audit] lets all requests pass");
  return ["Audit"];
}
