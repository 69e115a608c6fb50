import type { CoveredExpression } from "../shared/coverage/coverage.js";
import type { CompiledEntry, CompiledPolicy } from "./engine/compiled-policy.js";
import { SUBJECT_LISTS } from "./words.js";

/** The rules of a policy with their places: each must be seen both true and false. */
export function* expressionsOf({ policy, allowed }: CompiledPolicy): Iterable<CoveredExpression> {
  const { name } = policy;
  yield* each(name, "commonName", allowed.commonName);
  yield* each(name, "dnsNames", allowed.dnsNames);
  yield* each(name, "ipAddresses", allowed.ipAddresses);
  yield* each(name, "uris", allowed.uris);
  yield* each(name, "emailAddresses", allowed.emailAddresses);
  for (const [i, entry] of allowed.otherNames.list.entries()) yield* each(name, `otherNames[${i}]`, entry);
  for (const list of SUBJECT_LISTS) yield* each(name, `subject.${list}`, allowed.subject[list]);
  yield* each(name, "subject.serialNumber", allowed.serialNumber);
  for (const [i, entry] of allowed.otherAttributes.list.entries())
    yield* each(name, `subject.otherAttributes[${i}]`, entry);
}

function* each(policy: string, attribute: string, entry: CompiledEntry | undefined): Iterable<CoveredExpression> {
  for (const [i, rule] of (entry?.rules ?? []).entries()) {
    const path = `spec.allowed.${attribute}.validations[${i}].rule`;
    yield { policy, path, expression: rule, wanted: "both" };
  }
}
