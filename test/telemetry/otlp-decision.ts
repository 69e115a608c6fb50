import type { Decision } from "../../src/telemetry/decision.js";

/** A pod that a group denied. */
export const DECISION: Decision = {
  origin: "validate",
  policy: "p",
  mode: "protect",
  uid: "u",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  operation: "CREATE",
  name: "web",
  allowed: false,
  mutated: false,
  code: 403,
  message: "no",
  outcome: "deny",
  milliseconds: 5,
  members: [{ policy: "p/a", outcome: "deny", milliseconds: 1 }],
};
