/**
 * Attributes: a root and its chain of steps (spec kubernetes-cel.md 2.7, 5.2). Runs of constant keys on plain objects and arrays are read in place in one
 * condition; whatever doesn't fit goes to a helper that knows every kind.
 *
 * A chain becomes optional at its first optional step, or when its root is an optional at run time; in an optional chain `undefined` is "none".
 */
import { isQualifier } from "../operators/qualify.js";
import type { Value } from "../values/value.js";
import { ANY, CAN, type Out } from "./code.js";
import { emitPiece, pieceOf } from "./emit-piece.js";
import type { Emitting } from "./emitting.js";
import { h, m } from "./names.js";
import type { AttributePlan, ConditionalPlan, Plan, Qualifier } from "./plan.js";

/**
 * Names that something other than a plain object may answer to: of all built-in prototypes a value can have. Reading any other name in place
 * yields a value of the data, or `undefined`.
 */
const UNSAFE_NAMES: ReadonlySet<string> = new Set(
  [
    Object.prototype,
    Array.prototype,
    Number.prototype,
    Uint8Array.prototype,
    Object.getPrototypeOf(Uint8Array.prototype) as object,
  ].flatMap((prototype) => Object.getOwnPropertyNames(prototype)),
);

const isSafeName = (name: string): boolean => /^[A-Za-z_]/.test(name) && !UNSAFE_NAMES.has(name);

/** The access to a safe name; only what is an identifier in every language is written as one. */
function access(emitter: Emitting, name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `.${name}` : `[${emitter.code.constant(name)}]`;
}

/** The test that a value is a plain object (or an array: those have none of the safe names). */
const plain = (value: string): string => `typeof ${value}==="object"&&${value}!==null&&${value}[${h.MARK}]===undefined`;

/** A chain that is being written. */
interface Chain {
  readonly label: string;
  /** The variable that gets the outcome when the chain ends early. */
  readonly result: string;
  /** The outcome "none": absent to `has()`, `undefined` to everything else. */
  readonly none: "false" | "undefined";
  /** The value so far. */
  current: string;
  /** Whether the chain is optional: known, or in a variable. */
  optional: boolean | string;
  /** In a branch of a conditional: the variable that holds `optional` for both branches, also where the chain ends there. */
  flag: string | undefined;
}

/** Writes an attribute; its value is an optional when the chain is. */
export function emitAttribute(emitter: Emitting, plan: AttributePlan, countRoot: boolean): Out {
  if (plan.qualifiers.length === 0) return emitBareRoot(emitter, plan, countRoot);
  const { value, chain } = emitChain(emitter, plan, countRoot);
  if (chain.optional === false) return value;
  const { code } = emitter;
  const result = code.temp();
  if (plan.qualifiers.at(-1)?.test === true) return value;
  if (chain.optional === true) {
    code.add(`${result}=${h.optional}(${value.code});`);
    return { code: result, can: CAN.OTHER | CAN.ERROR };
  }
  code.add(`${result}=${chain.optional}?${h.optional}(${value.code}):${value.code};`);
  return { code: result, can: ANY };
}

/** Writes an attribute that is certainly an optional chain, leaving `undefined` for none; `undefined` when it is not certain. */
export function emitMaybe(emitter: Emitting, plan: AttributePlan): Out | undefined {
  if (!plan.qualifiers.some(({ optional }) => optional) || plan.qualifiers.at(-1)?.test === true) return undefined;
  return emitChain(emitter, plan, true).value;
}

function emitBareRoot(emitter: Emitting, plan: AttributePlan, countRoot: boolean): Out {
  const root = emitRoot(emitter, plan);
  if (countRoot) emitter.units(1);
  return root;
}

function emitRoot(emitter: Emitting, plan: AttributePlan): Out {
  const { code } = emitter;
  switch (plan.root.kind) {
    case "local":
      return emitter.local(plan.root.slot);
    case "operand":
    case "choice":
      return emitter.emit(plan.root.plan);
    case "global": {
      const variable = emitter.global(plan.root.name);
      const value = code.temp();
      const special = `${variable}===undefined||typeof ${variable}==="object"&&${variable}!==null&&${variable}[${h.MARK}]!==undefined`;
      code.add(`${value}=${special}?${h.global}(${variable},${code.constant(plan.root.name)}):${variable};`);
      return { code: value, can: ANY };
    }
  }
}

function emitChain(emitter: Emitting, plan: AttributePlan, countRoot: boolean): { value: Out; chain: Chain } {
  const { code } = emitter;
  const test = plan.qualifiers.at(-1)?.test === true;
  const none = test ? "false" : "undefined";
  const chain: Chain = {
    label: code.label(),
    result: code.temp(),
    current: "",
    optional: false,
    none,
    flag: undefined,
  };
  code.add(`${chain.label}:{`);
  const piece = pieceOf(emitter, plan);
  if (piece !== undefined) chain.current = emitPiece(emitter, piece, (value) => leaving(chain, value));
  else if (plan.root.kind === "choice") emitChoice(emitter, chain, plan.root.plan, plan.maybeOptional);
  else emitStart(emitter, chain, plan);
  emitSteps(emitter, chain, piece === undefined ? plan.qualifiers : plan.qualifiers.slice(1));
  if (chain.current !== chain.result) code.add(`${chain.result}=${chain.current};`);
  code.add("}");
  // Behind the branches of a conditional an attribute costs nothing of its own. In Kubernetes `has()` takes back what one would cost.
  const free = test && emitter.options.flavour === "kubernetes";
  const choice = plan.root.kind === "choice";
  const back = free && choice && !chargesFailedSteps(emitter);
  if (countRoot && back && emitter.options.counting) code.add("if(cost>0)cost-=1;");
  else if (countRoot && !free && !choice) emitter.units(1);
  return { value: { code: chain.result, can: test ? CAN.BOOL | CAN.ERROR : ANY }, chain };
}

/** The root of an attribute, as far as its steps. */
function emitStart(emitter: Emitting, chain: Chain, plan: AttributePlan): void {
  const { code } = emitter;
  const root = emitRoot(emitter, plan);
  emitter.traced(plan.rootId, root.code);
  if ((root.can & CAN.ERROR) !== 0) {
    code.add(`if(${root.code} instanceof ${h.E}){${chain.result}=${root.code};break ${chain.label};}`);
  }
  chain.current = root.code;
  if (plan.maybeOptional && (root.can & CAN.OTHER) !== 0) emitUnwrap(emitter, chain);
}

/** The branch of a conditional that is chosen, as the beginning of a chain; what follows is written once, after it. */
function emitChoice(emitter: Emitting, chain: Chain, plan: ConditionalPlan, maybeOptional: boolean): void {
  const { code } = emitter;
  const condition = emitter.emit(plan.condition);
  const value = code.temp();
  const flag = chain.flag ?? code.temp();
  const branch = (chosen: Plan): Chain["optional"] => {
    const start: Chain = { ...chain, flag };
    emitBranch(emitter, start, chosen, maybeOptional);
    code.add(`${value}=${start.current};`);
    return start.optional;
  };
  code.add(`${flag}=false;if(${condition.code}===true){`);
  const yes = branch(plan.yes);
  code.add(`}else if(${condition.code}===false){`);
  const no = branch(plan.no);
  code.add(`}else{${chain.result}=${h.notBool}(${condition.code});break ${chain.label};}`);
  chain.current = value;
  chain.optional = yes === no && typeof yes === "boolean" ? yes : flag;
}

function emitBranch(emitter: Emitting, chain: Chain, plan: Plan, maybeOptional: boolean): void {
  if (plan.kind === "conditional") emitChoice(emitter, chain, plan, maybeOptional);
  else if (plan.kind !== "attribute" || plan.qualifiers.at(-1)?.test === true) {
    const root = { kind: "operand", plan } as const;
    emitStart(emitter, chain, { kind: "attribute", id: plan.id, rootId: plan.id, root, maybeOptional, qualifiers: [] });
  } else {
    if (plan.root.kind === "choice") emitChoice(emitter, chain, plan.root.plan, plan.maybeOptional);
    else emitStart(emitter, chain, plan);
    emitSteps(emitter, chain, plan.qualifiers);
  }
}

/** Applies the steps to the content when the root is an optional. */
function emitUnwrap(emitter: Emitting, chain: Chain): void {
  const { code } = emitter;
  const flag = chain.flag ?? code.temp();
  const content = code.temp();
  const marked = `typeof ${chain.current}==="object"&&${chain.current}!==null&&${chain.current}[${h.MARK}]!==undefined`;
  code.add(
    `${content}=${chain.current};${flag}=false;if(${marked}&&${chain.current} instanceof ${h.O}){${flag}=true;if((${content}=${chain.current}.value)===undefined){${chain.result}=${chain.none};break ${chain.label};}}`,
  );
  chain.current = content;
  chain.optional = flag;
}

function emitSteps(emitter: Emitting, chain: Chain, qualifiers: readonly Qualifier[]): void {
  let run: Value[] = [];
  let last: Qualifier | undefined;
  const flush = (): void => {
    if (run.length > 0) emitRun(emitter, chain, run);
    run = [];
  };
  for (const qualifier of qualifiers) {
    if (qualifier.optional && chain.optional !== true) {
      flush();
      chain.optional = true;
      if (chain.flag !== undefined) emitter.code.add(`${chain.flag}=true;`);
    }
    if (qualifier.test) {
      last = qualifier;
      break;
    }
    if (qualifier.declared === true) {
      flush();
      emitDeclaredStep(emitter, chain, qualifier);
    } else if (qualifier.key.kind !== "const" || !isQualifier(qualifier.key.value)) {
      flush();
      emitComputedStep(emitter, chain, qualifier);
    } else {
      run.push(qualifier.key.value);
      // One at a time when each step's value or absence matters.
      if (emitter.options.trace || chain.optional === true) flush();
    }
    if (emitter.options.trace) emitter.traced(qualifier.id, chain.current);
  }
  flush();
  if (last !== undefined) emitTest(emitter, chain, last);
}

/** The in-place read of a constant key: a condition that assigns `to` and holds when the value was there. `undefined` when there is none. */
function inPlace(emitter: Emitting, from: string, key: Value, to: string): string | undefined {
  if (typeof key === "string") {
    return isSafeName(key) ? `${plain(from)}&&(${to}=${from}${access(emitter, key)})!==undefined` : undefined;
  }
  if (typeof key === "number" && Number.isSafeInteger(key) && key >= 0) {
    return `${h.isArray}(${from})&&(${to}=${from}[${key}])!==undefined`;
  }
  return undefined;
}

function emitRun(emitter: Emitting, chain: Chain, keys: readonly Value[]): void {
  const { code } = emitter;
  const conditions: (string | undefined)[] = [];
  let from = chain.current;
  for (const key of keys) {
    const to = code.temp();
    conditions.push(inPlace(emitter, from, key, to));
    from = to;
  }
  const walk = `${from}=${h.walk}(${chain.current},${code.constant(keys)},c,${chain.optional});`;
  const leave = leaving(chain, from);
  if (conditions.includes(undefined)) {
    code.add(walk);
    emitter.units(m.steps);
    code.add(leave);
  } else {
    code.add(`if(${conditions.join("&&")}){`);
    emitter.units(keys.length);
    code.add(`}else{${walk}`);
    emitter.units(m.steps);
    code.add(`${leave}}`);
  }
  chain.current = from;
}

/** Whether a step of an optional chain that fails costs a unit, as steps that succeed do: so since 1.38. */
const chargesFailedSteps = ({ options }: Emitting): boolean => options.behaviour === "1.38";

/** Code that ends the chain when a step failed, or found nothing in an optional chain. */
function leaving(chain: Chain, value: string): string {
  const failed = `if(${value} instanceof ${h.E}){${chain.result}=${value};break ${chain.label};}`;
  if (chain.optional === false) return failed;
  return `if(${value}===undefined){${chain.result}=${chain.none};break ${chain.label};}${failed}`;
}

/** The name of the selected field. */
const fieldOf = ({ key }: Qualifier): string => (key as { value: Value }).value as string;

/** Writes a field that a provided type declares. A value of such a type is not an optional, and no step before it was optional. */
function emitDeclaredStep(emitter: Emitting, chain: Chain, qualifier: Qualifier): void {
  const { code } = emitter;
  const to = code.temp();
  code.add(`${to}=${h.declared}(${chain.current},${code.constant(fieldOf(qualifier))});`);
  emitter.units(1);
  code.add(leaving(chain, to));
  chain.current = to;
}

function emitComputedStep(emitter: Emitting, chain: Chain, qualifier: Qualifier): void {
  const { code } = emitter;
  const key = emitter.emitRootless(qualifier.key);
  const to = code.temp();
  const { current, label, result } = chain;
  if ((key.can & CAN.ERROR) !== 0) {
    code.add(`if(${key.code} instanceof ${h.E}){${result}=${key.code};`);
    if (chain.optional === false || chargesFailedSteps(emitter)) emitter.units(1);
    else if (chain.optional !== true) code.add(`${conditionalUnit(emitter, `!${chain.optional}`)}`);
    code.add(`break ${label};}`);
  }
  const { keyKind } = qualifier;
  const own = `typeof ${key.code}==="string"&&${plain(current)}&&(${to}=${current}[${key.code}])!==undefined&&typeof ${to}!=="function"&&${key.code}!=="__proto__"&&!${h.isArray}(${current})&&${current}.BYTES_PER_ELEMENT===undefined`;
  const indexed = `typeof ${key.code}==="number"&&${h.isArray}(${current})&&(${to}=${current}[${key.code}])!==undefined`;
  const fast = keyKind === "int" ? indexed : keyKind === "string" ? own : `${own}||${indexed}`;
  code.add(`if(!(${fast})){${to}=${h.step}(${current},${key.code},${chain.optional},${keyName(emitter, qualifier)});`);
  if (chain.optional === false) {
    code.add(`if(${to} instanceof ${h.E}){${result}=${to};`);
    emitter.units(1);
    code.add(`break ${label};}}`);
  } else {
    code.add(`if(${to}===undefined||${to} instanceof ${h.E}){${result}=${to}===undefined?${chain.none}:${to};`);
    const charged = chargesFailedSteps(emitter) ? [`${to} instanceof ${h.E}`] : [];
    if (chain.optional !== true) charged.push(`!${chain.optional}`);
    if (charged.length > 0) code.add(conditionalUnit(emitter, charged.join("||")));
    code.add(`break ${label};}}`);
  }
  emitter.units(1);
  chain.current = to;
}

/** The argument by which the step names a key that is none: since 1.38 its parts, before that whether it is read as it was bound. */
const keyName = (emitter: Emitting, { key, keyParts }: Qualifier): string =>
  keyParts === undefined ? String(isVariable(key)) : emitter.code.constant(keyParts);

/** Whether a key is read from a variable of the environment, not from one of a loop or from an operation. */
function isVariable(key: Plan): boolean {
  if (key.kind === "conditional") return isVariable(key.yes);
  if (key.kind !== "attribute") return false;
  return key.root.kind === "choice" ? isVariable(key.root.plan) : key.root.kind === "global";
}

/** One unit of cost when a condition holds. */
function conditionalUnit(emitter: Emitting, condition: string): string {
  if (!emitter.options.counting) return "";
  return emitter.options.exact ? `if((${condition})&&++cost>L)${h.exceeded}(L+1,c);` : `if(${condition})cost++;`;
}

/** The last step of `has()`. In an optional chain a missing one is free. */
function emitTest(emitter: Emitting, chain: Chain, qualifier: Qualifier): void {
  const { code } = emitter;
  const name = fieldOf(qualifier);
  const present = code.temp();
  const { current } = chain;
  const slow = `${qualifier.declared === true ? h.isDeclaredPresent : h.isPresent}(${current},${code.constant(name)})`;
  const fast = isSafeName(name)
    ? `${plain(current)}&&${current}${access(emitter, name)}!==undefined?true:${slow}`
    : slow;
  code.add(`${present}=${fast};`);
  if (chain.optional === false) emitter.units(1);
  else {
    const charged = chargesFailedSteps(emitter) ? `${present}!==false` : `${present}===true`;
    code.add(conditionalUnit(emitter, chain.optional === true ? charged : `!${chain.optional}||${charged}`));
  }
  chain.current = present;
}
