/** What becomes of a policy that is created: what the API server's schema says of it, and what the webhook answers to it (docs/batch.md). */
import { prunedFields, schemaErrors } from "../../../kinds/certificate-request-policy/read.js";
import { answerAdmission } from "../../../kinds/certificate-request-policy/webhook.js";
import { formatPath } from "../../../kubernetes/field-error.js";
import type { JsonObject } from "../../../kubernetes/object.js";

/** What the reference says of a case; members that are empty are absent. */
export interface AdmissionExpectation {
  readonly allowed: boolean;
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly warnings?: readonly string[];
  readonly schemaErrors?: readonly string[];
  readonly prunedFields?: readonly string[];
}

/**
 * Decides a line of `kind` `admission`: `policy` is the object as it is created, `registeredPlugins` are the names of the plugins that there are.
 * @param compile what is wrong with a rule, or `undefined`
 */
export function decideAdmission(
  written: JsonObject,
  compile: (rule: string) => string | undefined,
): AdmissionExpectation {
  const { policy, registeredPlugins } = written;
  const plugins = Array.isArray(registeredPlugins) ? registeredPlugins.filter((name) => typeof name === "string") : [];
  const answer = answerAdmission({ operation: "CREATE", object: policy }, { compile, registeredPlugins: plugins });
  const errors = schemaErrors(policy).map(
    ({ path, text }) => `${path.length === 0 ? "<nil>" : formatPath(path)}: ${text}`,
  );
  const pruned = prunedFields(policy);
  return {
    ...answer,
    ...(errors.length > 0 && { schemaErrors: errors }),
    ...(pruned.length > 0 && { prunedFields: pruned }),
  };
}
