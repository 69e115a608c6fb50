import type { Outcome } from "../../../policy/outcome.js";
import type { ReadAnswer } from "../../question.js";
import { readRegoResult } from "../../rego-result.js";

/** Answers of Gatekeeper policies: a list of violations (spec kubewarden.md 6.5). */
export const readGatekeeperAnswer: ReadAnswer = (text) =>
  readRegoResult(text, "cannot interpret Gatekeeper policy result", violations);

/** The outcome of violations: an empty list allows. A result that is not a list of violations is an error: it must not pass as empty. */
function violations(result: unknown): Outcome {
  if (!Array.isArray(result)) throw new Error("not a list");
  if (result.length === 0) return { verdict: "allow" };
  const messages = result.map((violation: unknown) => {
    if (typeof violation !== "object" || violation === null) throw new Error("not a violation");
    return "msg" in violation && typeof violation.msg === "string" ? violation.msg : undefined;
  });
  return { verdict: "deny", message: messages.filter((text) => text !== undefined).join(", ") };
}
