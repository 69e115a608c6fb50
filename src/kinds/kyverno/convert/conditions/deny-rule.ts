/** `validate.deny`. */
import { isObject, member } from "../../../../kubernetes/object.js";
import { type Cel, conditional, literal } from "../cel-text.js";
import type { RuleWriter } from "../convert-rule.js";
import { messageOf } from "../jmespath/template.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import { type Condition, type Conditions, readConditions, testOf } from "./conditions.js";
import { ALWAYS, type Test } from "./test.js";

/** A denial: its test and its message. */
export interface Denial {
  /** Whether it denies. */
  readonly test: Test;
  readonly message: string | Cel;
}

export const denyRule: RuleWriter = (body, message, scope, path) => {
  const denial = readDenial(body, message, scope);
  scope.draft.validate(
    denial.test.no,
    typeof denial.message === "string"
      ? denial.message
      : { expression: denial.message, otherwise: withoutMessage(scope) },
    path,
  );
};

/** Kyverno's message of a rule without one. */
export const withoutMessage = ({ rule }: Scope): string => `validation error: rule ${rule} failed`;

/**
 * Reads `deny`. Without conditions it always denies.
 * @param prefix what stands before the message
 */
export function readDenial(body: unknown, message: string, scope: Scope, prefix = ""): Denial {
  if (!isObject(body)) throw new NotConverted([], "deny is a map with conditions");
  const value = member(body, "conditions");
  if (value === undefined || value === null) return { test: ALWAYS, message: said(prefix, [message], scope) };
  const conditions = placed(["conditions"], () => readConditions(value, scope));
  return { test: testOf(conditions, true), message: messageFor(conditions, prefix, message, scope) };
}

const said = (prefix: string, parts: readonly string[], scope: Scope): string | Cel => {
  const joined = parts.filter((part) => part !== "").join("; ");
  return joined === "" ? `${prefix}${withoutMessage(scope)}` : messageOf(`${prefix}${joined}`, scope);
};

/** The rule's message and those of the conditions that hold: of `any` only the first one. */
function messageFor({ any = [], all }: Conditions, prefix: string, message: string, scope: Scope): string | Cel {
  const rest = all.map((condition) => condition.message);
  const choices = any.map((condition) => said(prefix, [message, condition.message, ...rest], scope));
  const [first, ...others] = choices;
  if (first === undefined) return said(prefix, [message, ...rest], scope);
  if (others.every((other) => textOf(other).text === textOf(first).text)) return first;
  return any
    .slice(0, -1)
    .reduceRight<Cel>(
      (otherwise, { test }: Condition, index) => conditional(test.yes, textOf(choices[index]), otherwise),
      textOf(choices.at(-1)),
    );
}

export const textOf = (message: string | Cel | undefined): Cel =>
  typeof message === "object" ? message : literal(message ?? "");
