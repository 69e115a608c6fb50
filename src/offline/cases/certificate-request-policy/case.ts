/** Deciding a case of CertificateRequestPolicies, by what kind of a case it is (docs/batch.md). */
import { createRuleCompiler } from "../../../kinds/certificate-request-policy/dialect.js";
import { compileRule } from "../../../kinds/certificate-request-policy/rules.js";
import { goQuote } from "../../../kubernetes/field-error.js";
import { type JsonObject, text } from "../../../kubernetes/object.js";
import { decideAdmission } from "./admission.js";
import { decideReview } from "./review.js";

/** Decides cases of every kind; made once for a run, so that rules are compiled once. */
export function createCaseDecider(): (written: JsonObject) => object | Promise<object> {
  const compiler = createRuleCompiler();
  const compile = (rule: string): string | undefined => compileRule(rule, compiler).error;
  return (written) => {
    const kind = text(written, "kind");
    switch (kind) {
      case "admission":
        return decideAdmission(written, compile);
      case "review":
        return decideReview(written, compiler);
      default:
        return { error: `there are no cases of the kind ${goQuote(kind)}`, allowed: false };
    }
  };
}
