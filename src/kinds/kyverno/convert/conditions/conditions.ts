/** Conditions (`any`, `all`) of preconditions and denials, and `validate.deny`. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject, member } from "../../../../kubernetes/object.js";
import { type Cel, conditional, list, literal, method, TRUE } from "../cel-text.js";
import { messageOf, template } from "../jmespath/template.js";
import { shared, type Value } from "../jmespath/value.js";
import { NotConverted, placed } from "../not-converted.js";
import { hasWildcard } from "../pattern/scalar.js";
import { loopOf, type RuleWriter, type Scope } from "../scope.js";
import type { Term } from "../term.js";
import { type Comparison, durations, equals, ordered } from "./comparisons.js";
import { among } from "./membership.js";
import {
  ALWAYS,
  ask,
  both,
  compare,
  either,
  isNever,
  NEVER,
  never,
  type Operand,
  opposite,
  type Test,
  unlessNull,
} from "./test.js";

/** A condition, with its own message. */
interface Condition {
  readonly test: Test;
  /** Of an element's precondition: what must be there, or the element is left out. */
  readonly presence: readonly Test[];
  readonly message: string;
  /** The expressions that may fail before the test has an answer. */
  readonly failing: readonly string[];
}

/** The conditions of a block: both lists must hold where both are there. */
export interface Conditions {
  /** undefined: none are asked for */
  readonly any: readonly Condition[] | undefined;
  readonly all: readonly Condition[];
}

/** Whether conditions hold: lazily from left to right, as the old language evaluates them. */
export const conditionsHold = (conditions: unknown, scope: Scope): Cel => testOf(readConditions(conditions, scope)).yes;

/**
 * Reads `any` and `all`, or the plain list of older policies.
 * @param isSoft whether a key that is missing is null, so that its condition does not hold
 */
export function readConditions(conditions: unknown, scope: Scope, isSoft = false): Conditions {
  const listAt = (list: unknown, path: readonly string[]): readonly Condition[] => {
    if (!Array.isArray(list)) throw new NotConverted(path, "conditions are a list");
    return list.map((each: unknown, index) => placed([...path, index], () => conditionOf(each, scope, isSoft)));
  };
  if (Array.isArray(conditions)) return { any: undefined, all: listAt(conditions, []) };
  if (!isObject(conditions)) throw new NotConverted([], "conditions are a list, or any and all with lists");
  const [any, all] = [member(conditions, "any"), member(conditions, "all")];
  return {
    any: any === undefined || any === null ? undefined : listAt(any, ["any"]),
    all: all === undefined || all === null ? [] : listAt(all, ["all"]),
  };
}

/**
 * Whether conditions hold.
 * @param isDenial whether an error counts as much as a condition that holds
 */
export function testOf({ any, all }: Conditions, isDenial = false): Test {
  // CEL's `||` takes a true operand for an answer where another one fails: of denials no less is denied by that.
  const one = any?.reduceRight<Test>((rest, { test, presence, failing }, index) => {
    if (index === any.length - 1 || presence.length > 0) return both(...presence, either(test, rest));
    return (isDenial && all.length === 0) || failing.length === 0 || isCovered(failing, any[index + 1])
      ? either(test, rest)
      : strictly(test, ALWAYS, rest);
  }, NEVER);
  const every = all.reduceRight<Test>((rest, { test, presence, failing }, index) => {
    const next = all[index + 1];
    if (next === undefined || presence.length > 0) return both(...presence, test, rest);
    return failing.length === 0 || isCovered(failing, next) ? both(test, rest) : strictly(test, rest, NEVER);
  }, ALWAYS);
  if (one === undefined) return every;
  // Both are evaluated, whatever the first one says.
  const [failsOne, failsEvery] = [any ?? [], all].map((list) => list.some(({ failing }) => failing.length > 0));
  if (all.length === 0 || !failsEvery)
    return failsOne && all.length > 0 ? strictly(one, every, NEVER) : both(one, every);
  if (!failsOne) return strictly(every, one, NEVER);
  return compare("==", list([one.yes, every.yes]), list([TRUE, TRUE]));
}

/** Whether the next condition fails wherever the first one does. */
const isCovered = (failing: readonly string[], next: Condition | undefined): boolean =>
  failing.every((text) => next?.failing.some((other) => other === text || other.startsWith(`${text}.`)));

/** `? :`, which evaluates the condition first and fails with it. */
function strictly({ yes }: Test, then: Test, otherwise: Test): Test {
  const failed = compare("==", list([yes]), list([]));
  if (isNever(then) && isNever(otherwise)) return failed;
  if (isNever(opposite(then)) && isNever(opposite(otherwise))) return opposite(failed);
  return { yes: conditional(yes, then.yes, otherwise.yes), no: conditional(yes, then.no, otherwise.no) };
}

function conditionOf(value: unknown, scope: Scope, isSoft: boolean): Condition {
  if (!isObject(value)) throw new NotConverted([], "a condition has key, operator and value");
  for (const name of ["key", "operator", "value"])
    if (value[name] === undefined || value[name] === null)
      throw new NotConverted([], `a condition needs key, operator and value: its ${name} is missing`);
  if (/^\{\{ *request\.operation *\}\}$/.test(String(value.key)))
    for (const known of [value.value].flat())
      if (!/^(CREATE|UPDATE|DELETE|CONNECT|\{\{.*\}\})$/s.test(String(known)))
        throw new NotConverted(
          ["value"],
          `an operation is CREATE, UPDATE, DELETE or CONNECT, and not ${String(known)}`,
        );
  const [key, other] = ["key", "value"].map((name) =>
    placed([name], () => {
      const source = member(value, name);
      return operandOf(template(source, scope), source, isSoft);
    }),
  ) as [Operand, Operand];
  const operator = String(member(value, "operator"));
  const message = member(value, "message");
  const asked = named(key, other, scope, (a, b) => operate(operator, a, b, scope));
  // A test that has one answer only fails all the same where a value can't be had.
  const failed = never(key.fails ? key : other);
  const test = isNever(asked) ? failed : isNever(opposite(asked)) ? opposite(failed) : asked;
  return {
    test,
    presence: [key.presence, other.presence].filter((each) => each !== undefined),
    message: typeof message === "string" ? message : "",
    failing: [key, other].filter((term: Term) => term.fails).map(({ cel }) => cel.text),
  };
}

/** Fields that are texts, or lists of texts, without wildcards. */
const PLAIN =
  /(?:\b(?:name|namespace|kind|apiVersion|image|operation|username|uid|add|drop|finalizers|groups|[a-z]+Name|registry|tag|digest)|keys\(@?[^()]*\))(?:\[\])?$/;

/** Fields of built-in kinds that may have wildcards: rules of roles and webhooks, hosts, and free texts. */
const WILD =
  /\b(?:verbs|resources|apiGroups|resourceNames|nonResourceURLs|hosts?|rules|annotations|command|args|value|data|key)\b/;

/** Fields of Kubernetes' own kinds that are lists of maps or texts. */
const LISTS =
  /(?:^|\.)(?:\w*[cC]ontainers|volumes|volumeMounts|env|envFrom|ports|rules|subjects|tls|hosts|paths|tolerations|verbs|resources|apiGroups)(?:\[\])?$/;

/** Whether a query ends with a field that is a list. */
export const isKnownList = (source: string): boolean => LISTS.test(source.trim());

/** The name of a loop's variable, such as `container` for a list of containers. */
export const loopNameOf = (source: string): string =>
  /(container|volume|mount|port|rule|subject|host|path)s(?:\[\])?$/i.exec(source.trim())?.[1]?.toLowerCase() ??
  "element";

/** A single text of that sort. */
const NAME = /\b(?:name|namespace|kind|apiVersion|image|operation|username|uid|[a-z]+Name)$/;

/**
 * The term of a key or value, with what its source tells.
 * @param source as it stands in the policy
 * @param isSoft whether the condition does not hold, instead of failing, where the value is missing
 */
function operandOf(term: Value, source: unknown, isSoft: boolean): Operand {
  if (term.constant !== undefined) return { ...term, wild: hasWildcard(JSON.stringify(term.constant.value)) };
  const path =
    typeof source === "string" ? /^\{\{((?:[^{}]|\{\{?[^{}]*\}\}?)*)\}\}$/s.exec(source)?.[1]?.trim() : undefined;
  // Of a text with variables: what stands beside them.
  if (path === undefined)
    return {
      ...term,
      wild: true,
      word: typeof source === "string" && /[^\w.+-]/.test(source.replace(/\{\{.*?\}\}/gs, "")),
    };
  const plain = path
    .replace(/\s*\|\|\s*(?:'[^'*?]*'|`\[\]`|`""`)$/, "")
    .replace(/^\((.*)\)$/s, "$1")
    .replace(/\.(?:to_upper|to_lower|trim)\(@\)$/, "");
  const isPath = !/[|&=!<>?:]/.test(plain);
  const isKnown = (term.shape ?? term.items?.shape) !== undefined;
  const wild = !(isPath && PLAIN.test(plain)) && (!isKnown || WILD.test(plain));
  const word = isPath && NAME.test(plain) && (term.type === "dyn" || term.type === "string");
  // At admission every object has a name; labels and annotations are texts.
  const isNamed = /^request\.object\.metadata\.name$/.test(plain);
  const nullable =
    term.nullable &&
    !(term.fails && term.breaks !== true && term.inside === undefined && (isNamed || term.type === "string"));
  const there =
    isSoft && term.fails && term.optional !== undefined
      ? (term.present ?? method(term.optional, "hasValue"))
      : undefined;
  return {
    ...term,
    ...(word && { type: "string" as const, word }),
    ...(there !== undefined && { presence: ask(there) }),
    nullable,
    fails: term.fails && !isNamed && there === undefined,
    wild,
    path,
  };
}

/** A test in which a long expression that stands in it more than once gets a name. */
function named(key: Operand, value: Operand, scope: Scope, make: (key: Operand, value: Operand) => Test): Test {
  const whole = make(key, value);
  const isRepeated = ({ constant, cel: { text } }: Operand) =>
    constant === undefined && text.length > 30 && whole.yes.text.split(text).length > 2;
  const term = [key, value].find(isRepeated);
  if (term === undefined) return whole;
  const inner = scope.inline || scope.depth > 0 ? { ...scope, depth: scope.depth + 1 } : scope;
  const use = (cel: Cel): Test =>
    term === key ? named({ ...key, cel }, value, inner, make) : named(key, { ...value, cel }, inner, make);
  return { yes: shared(term.cel, scope, (cel) => use(cel).yes), no: shared(term.cel, scope, (cel) => use(cel).no) };
}

/** Whether two paths differ in the object only. */
const isSameField = (key: Operand, value: Operand): boolean =>
  key.path !== undefined &&
  key.path.replace(".oldObject.", ".object.") === value.path?.replace(".oldObject.", ".object.");

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ["GreaterThan", ">"],
  ["GreaterThanOrEquals", ">="],
  ["LessThan", "<"],
  ["LessThanOrEquals", "<="],
]);

function operate(operator: string, key: Operand, value: Operand, scope: Scope): Test {
  const comparison = COMPARISONS.get(operator.replace(/^Duration/, ""));
  if (comparison !== undefined)
    return operator.startsWith("Duration") ? durations(comparison, key, value) : ordered(comparison, key, value);
  switch (operator) {
    case "Equal":
    case "Equals":
      return equals(key, value, isSameField(key, value));
    case "NotEqual":
    case "NotEquals":
      return unlessNull(key, opposite(equals(key, value, isSameField(key, value))));
    case "In":
    case "NotIn":
    case "AnyIn":
    case "AllIn":
    case "AnyNotIn":
    case "AllNotIn":
      return among(operator, key, value, loopOf(scope).name);
    default:
      throw new NotConverted(["operator"], `${operator} is not an operator of Kyverno's conditions`);
  }
}

/** A denial: its test and its message. */
export interface Denial {
  /** Whether it denies. */
  readonly test: Test;
  readonly message: string | Cel;
}

export const denyRule: RuleWriter = (body, message, scope, path) => {
  writeDenial(readDenial(body, message, scope), scope, path);
};

export function writeDenial({ test, message }: Denial, scope: Scope, path: FieldPath): void {
  const words = typeof message === "string" ? message : { expression: message, otherwise: withoutMessage(scope) };
  scope.draft.validate(test.no, words, path);
}

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
