/**
 * Decides which match conditions the API server may evaluate before the call. Such a condition must have the same result there as here for every request of the
 * policy: where that is not certain, it is left to the policy.
 */
import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  AUTHORIZER,
  createEnvironment,
  DYN,
  type Environment,
  namesVariable,
  RESOURCE_CHECK,
} from "../../cel/index.js";
import { qualifiedNameErrors } from "../../kubernetes/name-formats.js";
import { text } from "../../kubernetes/object.js";
import type { MatchCondition } from "./demand.js";
import { listOf } from "./rules.js";

/** Most conditions of a webhook (the API server's own limit). */
export const MOST_CONDITIONS = 64;

/**
 * Most bytes of one expression, and of all of a webhook's. Compiling these takes an API server a tenth of a second and a third; without a limit it took half a
 * minute, and gave up.
 */
export const MOST_EXPRESSION_BYTES = 8 * 1024;
export const MOST_EXPRESSIONS_BYTES = 32 * 1024;

/** The first version with stable match conditions in webhooks: every later one has the functions of its CEL. */
const OLDEST_CEL = "1.30";

/** The inputs of the decision beside the conditions' texts. */
export interface ConditionUse {
  /** Number of further conditions of the webhook. */
  readonly others: number;
  /** Operations at which `object` has the API server's value; absent: all. */
  readonly objectAt?: ReadonlySet<string>;
  /** The same for `oldObject`. */
  readonly oldObjectAt?: ReadonlySet<string>;
  /** The operations of the policy. */
  readonly operations: ReadonlySet<string>;
}

/** Decides which conditions are for webhooks. Made once for many policies. */
export class PortableConditions {
  #environment: Environment | undefined;

  /**
   * The conditions if the API server may evaluate all of them; else none. There, one that errors does not count when another is false, so that none may be
   * missing.
   */
  of(conditions: readonly MatchCondition[], use: ConditionUse): readonly MatchCondition[] {
    const { length } = conditions;
    if (length + use.others > MOST_CONDITIONS) return [];
    if (new Set(conditions.map(({ name }) => name)).size < length) return [];
    const bytes = conditions.map(({ expression }) => Buffer.byteLength(expression));
    if (bytes.some((each) => each > MOST_EXPRESSION_BYTES)) return [];
    if (bytes.reduce((sum, each) => sum + each, 0) > MOST_EXPRESSIONS_BYTES) return [];
    return conditions.every((condition) => this.#isPortable(condition, use)) ? conditions : [];
  }

  #isPortable({ name, expression }: MatchCondition, { objectAt, oldObjectAt, operations }: ConditionUse): boolean {
    if (qualifiedNameErrors(name).length > 0) return false;
    this.#environment ??= webhookEnvironment();
    const compiled = this.#environment.compile(expression);
    if (!compiled.ok || compiled.program.type.kind !== "bool") return false;
    const { references } = compiled.program;
    const present = (at: ReadonlySet<string> | undefined): boolean =>
      at === undefined || [...operations].every((operation) => at.has(operation));
    return (
      (!namesVariable(references, "object") || present(objectAt)) &&
      (!namesVariable(references, "oldObject") || present(oldObjectAt))
    );
  }
}

/**
 * Conditions with ours before them. Where there are too many, ours becomes part of the shortest one that can be read: what can't be read could end ours.
 * @returns undefined: none can be read
 */
export function withOwn(
  own: MatchCondition | undefined,
  conditions: readonly MatchCondition[],
): readonly MatchCondition[] | undefined {
  if (own === undefined) return conditions;
  if (conditions.length !== MOST_CONDITIONS) return [own, ...conditions];
  const environment = webhookEnvironment();
  const isReadable = ({ expression }: MatchCondition): boolean => {
    const read = environment.compile(expression, { check: false });
    return read.ok || read.phase === "program";
  };
  const host = conditions.filter(isReadable).sort((a, b) => a.expression.length - b.expression.length)[0];
  // A comment ends with its line.
  const both = host && { name: host.name, expression: `(${own.expression}) && (${host.expression}\n)` };
  return both && conditions.map((each) => (each === host ? both : each));
}

/** Conditions as they stand in a document. */
export const readConditions = (value: unknown): readonly MatchCondition[] =>
  listOf(value).map((each) => ({ name: text(each, "name"), expression: text(each, "expression") }));

/** The names that webhooks' expressions can use: no parameters, no Namespace, no variables of the policy. */
const webhookEnvironment = (): Environment =>
  createEnvironment({
    flavour: "kubernetes",
    version: OLDEST_CEL,
    objectTypes: ADMISSION_TYPES,
    variables: [
      { name: "object", type: DYN },
      { name: "oldObject", type: DYN },
      { name: "request", type: ADMISSION_REQUEST },
      { name: "authorizer", type: AUTHORIZER },
      { name: "authorizer.requestResource", type: RESOURCE_CHECK },
    ],
  });
