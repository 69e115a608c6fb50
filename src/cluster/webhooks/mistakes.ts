/**
 * The API server's errors for a webhook, found before it is written beside others: it accepts nothing of an object with one mistake, and long lists of mistakes
 * cost it half a minute. Expressions are left to it (see {@link isDoubtful}): only it knows the functions of its CEL.
 */
import { trimSpace } from "../../kinds/shared/expressions/trim.js";
import { validateRule, validateSelector, webhookNameErrors } from "../../kinds/shared/match/validate-match.js";
import { duplicate, type FieldError, invalid, required, tooLong, tooMany } from "../../kubernetes/field-error.js";
import { dns1123SubdomainErrors, qualifiedNameErrors } from "../../kubernetes/name-formats.js";
import type { DerivedWebhook } from "./derived-webhook.js";
import { isOwnCondition } from "./exclusions.js";
import { MOST_CONDITIONS, MOST_EXPRESSION_BYTES, MOST_EXPRESSIONS_BYTES } from "./portable-conditions.js";

/** Most bytes of a webhook: fifty times those of usual policies. The API server takes a second for each of these, and an object has room for several. */
export const MOST_WEBHOOK_BYTES = 128 * 1024;
/** The part of a webhook that policies can check again by themselves. */
export const CONDITIONS = "matchConditions";

/** Mistakes of a webhook, each with its place in it; those of its conditions last. */
export function mistakesIn(webhook: DerivedWebhook): readonly FieldError[] {
  const { name, path, rules, namespaceSelector, objectSelector, matchConditions } = webhook;
  const written = [rules, namespaceSelector, objectSelector, matchConditions];
  // A webhook that is too long is not searched further.
  if (Buffer.byteLength(JSON.stringify(written)) > MOST_WEBHOOK_BYTES)
    return [tooLong(["webhook"], MOST_WEBHOOK_BYTES)];
  return [
    ...webhookNameErrors(name, ["name"]),
    ...pathMistakes(path),
    ...rules.flatMap((rule, i) => validateRule(rule, ["rules", i])),
    ...validateSelector(namespaceSelector, ["namespaceSelector"]),
    ...validateSelector(objectSelector, ["objectSelector"]),
    ...conditionMistakes(matchConditions),
  ];
}

/** Whether only the API server can decide if it accepts the expressions: they were not compiled here. */
export const isDoubtful = ({ matchConditions, leastConditions }: DerivedWebhook): boolean =>
  leastConditions === undefined && !matchConditions.every(isOwnCondition);

/** The errors of a Service's path; a URL may have others. */
const pathMistakes = (path: string): readonly FieldError[] =>
  path
    .slice(1)
    .split("/")
    .flatMap((segment, i) =>
      dns1123SubdomainErrors(segment).map((error) => invalid(["path"], path, `segment[${i}]: ${error}`)),
    );

function conditionMistakes(conditions: DerivedWebhook["matchConditions"]): readonly FieldError[] {
  const path = [CONDITIONS];
  const errors: FieldError[] = [];
  if (conditions.length > MOST_CONDITIONS) errors.push(tooMany(path, conditions.length, MOST_CONDITIONS));
  const names = new Set<string>();
  let total = 0;
  conditions.forEach(({ name, expression }, i) => {
    const bytes = Buffer.byteLength(expression);
    total += bytes;
    if (trimSpace(expression) === "") errors.push(required([...path, i, "expression"]));
    if (bytes > MOST_EXPRESSION_BYTES) errors.push(tooLong([...path, i, "expression"], MOST_EXPRESSION_BYTES));
    const at = [...path, i, "name"];
    if (name === "") errors.push(required(at));
    else errors.push(...qualifiedNameErrors(name).map((error) => invalid(at, name, error)));
    if (names.has(name)) errors.push(duplicate(at, name));
    names.add(name);
  });
  if (total > MOST_EXPRESSIONS_BYTES) errors.push(tooLong(path, MOST_EXPRESSIONS_BYTES));
  return errors;
}
