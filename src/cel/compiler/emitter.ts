/**
 * Writes a plan as the source of one JavaScript function `(V, c) => result`: `V` are the bindings, `c` the {@link Meter}. Errors are values; only what
 * ends the evaluation (limit, deadline, suspension) is thrown.
 *
 * Cost is counted in the local variable `cost`. A program has two forms: the plain one looks at the limit once per iteration and at the end, the
 * exact one after every addition. Cost never falls, so both exceed the limit for the same inputs; the exact one then tells the cost at which.
 */
import { LIST_COST, MAP_COST, STRUCT_COST } from "../cost/runtime-cost.js";
import type { Bindings } from "../public-types.js";
import type { Result } from "../values/value.js";
import { ANY, CAN, Code, type Out } from "./code.js";
import { emitAttribute, emitMaybe } from "./emit-attribute.js";
import { emitCall } from "./emit-call.js";
import { emitFold } from "./emit-fold.js";
import type { EmitOptions, Emitting, Local } from "./emitting.js";
import type { Meter } from "./meter.js";
import { emptyList, h, m } from "./names.js";
import type {
  ConditionalPlan,
  ConstPlan,
  ListPlan,
  LogicPlan,
  MapPlan,
  MembershipPlan,
  OptionalOrPlan,
  Plan,
  Slot,
  StructPlan,
} from "./plan.js";
import { helpersOf } from "./runtime.js";

/** A plan's compiled function. */
export type CompiledFunction = (bindings: Bindings, meter: Meter) => Result;

/** A plan's compiled generator: it yields when the meter's slice is over, and goes on where it was. */
export type CompiledGenerator = (bindings: Bindings, meter: Meter) => Generator<undefined, Result, undefined>;

/** Number of strings up to which membership in a set is tested by comparisons; beyond, by a look-up. */
const MAX_COMPARED = 8;

/** The work of turning a part of a message's field into what the message holds. */
const FIELD_UNITS = 20;

/** Writes one function; an instance serves for one. */
export class Emitter implements Emitting {
  readonly code = new Code();
  readonly #globals = new Map<string, string>();
  readonly #locals = new Map<Slot, Local>();
  readonly lazy = new Map<Slot, () => Local>();

  constructor(readonly options: EmitOptions) {}

  /** The function for a plan. Only for options without pauses. */
  build(plan: Plan): CompiledFunction {
    return this.#build(plan, "function") as CompiledFunction;
  }

  /** The generator for a plan. Only for options with pauses. */
  buildGenerator(plan: Plan): CompiledGenerator {
    return this.#build(plan, "function*") as CompiledGenerator;
  }

  #build(plan: Plan, kind: "function" | "function*"): unknown {
    const out = this.emit(plan);
    if (this.options.counting && !this.options.exact) this.code.add(`if(cost>L)${h.exceeded}(cost,c);`);
    this.code.add(`${m.cost}=cost;return ${out.code};`);
    const globals = [...this.#globals].map(([name, variable]) => `${variable}=${this.#binding(name)}`);
    const head = `let cost=0;const L=${m.limit},D=${m.timed}${globals.map((global) => `,${global}`).join("")};\n`;
    return this.code.build(helpersOf(this.options), "V,c", head, kind);
  }

  emit(plan: Plan): Out {
    const out = this.#emitKind(plan);
    this.traced(plan.id, out.code);
    return out;
  }

  emitRootless(plan: Plan): Out {
    if (plan.kind !== "attribute" && plan.kind !== "conditional") return this.emit(plan);
    const out = plan.kind === "attribute" ? emitAttribute(this, plan, false) : this.#conditional(plan);
    this.traced(plan.id, out.code);
    return out;
  }

  #emitKind(plan: Plan): Out {
    switch (plan.kind) {
      case "const":
        return this.#constant(plan);
      case "attribute":
        return emitAttribute(this, plan, true);
      case "conditional":
        return this.#conditional(plan);
      case "and":
      case "or":
        return this.#logic(plan);
      case "or-optional":
      case "or-value":
        return this.#optionalOr(plan);
      case "call":
        return emitCall(this, plan);
      case "membership":
        return this.#membership(plan);
      case "list":
        return this.#list(plan);
      case "map":
        return this.#map(plan);
      case "struct":
        return this.#struct(plan);
      case "fold":
        return emitFold(this, plan);
    }
  }

  traced(id: number, value: string): void {
    if (this.options.trace) this.code.add(`${m.trace}(${id},${value});`);
  }

  units(count: number | string): void {
    if (!this.options.counting || count === 0) return;
    this.code.add(this.options.exact ? `if((cost+=${count})>L)${h.exceeded}(L+1,c);` : `cost+=${count};`);
  }

  lump(cost: number | string): void {
    if (!this.options.counting || cost === 0) return;
    this.code.add(this.options.exact ? `if((cost+=${cost})>L)${h.exceeded}(cost,c);` : `cost+=${cost};`);
  }

  work(units: number | string): void {
    this.code.add(
      this.options.pauses ? `if(D){${m.spend}(${units});if(${m.due})yield;}` : `if(D)${m.spend}(${units});`,
    );
  }

  global(name: string): string {
    let variable = this.#globals.get(name);
    if (variable === undefined) {
      variable = `g${this.#globals.size}`;
      this.#globals.set(name, variable);
    }
    return variable;
  }

  /** The binding of a name. A name that every object has must be the bindings' own property. */
  #binding(name: string): string {
    const key = this.code.constant(name);
    return name in Object.prototype ? `${h.hasOwn}(V,${key})?V[${key}]:undefined` : `V[${key}]`;
  }

  bind(slot: Slot, local: Local): void {
    this.#locals.set(slot, local);
  }

  local(slot: Slot): Local {
    const lazy = this.lazy.get(slot);
    if (lazy !== undefined) return lazy();
    return this.#locals.get(slot) as Local;
  }

  #constant(plan: ConstPlan): Out {
    const { value, cost = 0 } = plan;
    this.lump(cost);
    const can =
      typeof value === "string"
        ? CAN.STRING
        : typeof value === "boolean"
          ? CAN.BOOL
          : typeof value === "number"
            ? CAN.NUMBER
            : CAN.OTHER;
    return { code: this.code.constant(value), can, constant: value };
  }

  #conditional(plan: ConditionalPlan): Out {
    const { code } = this;
    const condition = this.emit(plan.condition);
    const result = code.temp();
    code.add(`if(${condition.code}===true){`);
    const yes = this.emitRootless(plan.yes);
    code.add(`${result}=${yes.code};}else if(${condition.code}===false){`);
    const no = this.emitRootless(plan.no);
    code.add(`${result}=${no.code};}else ${result}=${h.notBool}(${condition.code});`);
    return { code: result, can: yes.can | no.can | (condition.can === CAN.BOOL ? 0 : CAN.ERROR) };
  }

  #logic(plan: LogicPlan): Out {
    const { code } = this;
    const and = plan.kind === "and";
    const [decisive, neutral] = and ? ["false", "true"] : ["true", "false"];
    const left = this.emit(plan.left);
    const result = code.temp();
    if (left.can === CAN.BOOL) {
      code.add(`if(${left.code}===${decisive})${result}=${decisive};else{`);
      const right = this.emit(plan.right);
      const value =
        right.can === CAN.BOOL
          ? right.code
          : `typeof ${right.code}==="boolean"?${right.code}:${h.notBool}(${right.code})`;
      code.add(`${result}=${value};}`);
      return { code: result, can: right.can === CAN.BOOL ? CAN.BOOL : CAN.BOOL | CAN.ERROR };
    }
    code.add(`if(${left.code}===${decisive})${result}=${decisive};else{`);
    const right = this.emit(plan.right);
    const helper = and ? h.and : h.or;
    code.add(
      `${result}=${right.code}===${decisive}?${decisive}:${left.code}===${neutral}&&${right.code}===${neutral}?${neutral}:${helper}(${left.code},${right.code});}`,
    );
    return { code: result, can: CAN.BOOL | CAN.ERROR };
  }

  #optionalOr(plan: OptionalOrPlan): Out {
    const { code } = this;
    const value = plan.kind === "or-value";
    const result = code.temp();
    const left = plan.left.kind === "attribute" ? emitMaybe(this, plan.left) : undefined;
    if (left !== undefined && value) {
      // The optional is never made: none is undefined here.
      this.traced(plan.left.id, `${h.optional}(${left.code})`);
      code.add(`if(${left.code}===undefined){`);
      const right = this.emit(plan.right);
      code.add(`${result}=${right.code};}else ${result}=${left.code};`);
      return { code: result, can: ANY };
    }
    const operand = left === undefined ? this.emit(plan.left) : { code: `${code.temp()}`, can: ANY };
    if (left !== undefined) code.add(`${operand.code}=${h.optional}(${left.code});`);
    code.add(`if(${operand.code} instanceof ${h.O}){if(${operand.code}.value===undefined){`);
    const right = this.emit(plan.right);
    const present = value ? `${operand.code}.value` : operand.code;
    code.add(`${result}=${right.code};}else ${result}=${present};}else ${result}=${h.notBool}(${operand.code});`);
    return { code: result, can: ANY };
  }

  #membership(plan: MembershipPlan): Out {
    const { code } = this;
    const element = this.emit(plan.element);
    const result = code.temp();
    let test: string;
    if (plan.strings !== undefined && plan.strings.size <= MAX_COMPARED) {
      test = [...plan.strings].map((text) => `${element.code}===${code.constant(text)}`).join("||");
    } else if (plan.strings !== undefined) {
      test = `${code.constant(plan.strings)}.has(${element.code})`;
    } else {
      test = `${code.constant(plan.contains)}(${element.code})`;
    }
    const absent = `(${m.cost}=cost,${h.absent}(${element.code}))`;
    code.add(`${result}=${test}?true:typeof ${element.code}==="object"?${absent}:false;`);
    if (plan.cost > 0) {
      // After an element that failed nothing is evaluated.
      code.add(`if(!(${element.code} instanceof ${h.E})){`);
      this.lump(plan.cost);
      code.add("}");
    }
    return { code: result, can: CAN.BOOL | (element.can & CAN.ERROR) };
  }

  #list(plan: ListPlan): Out {
    const { code } = this;
    const result = code.temp();
    const fixed = plan.elements.every((_, index) => plan.optional[index] !== true);
    const label = code.label();
    if (fixed && plan.elements.length === 1) {
      const element = this.emit(plan.elements[0] as Plan);
      const list = this.options.marksLists ? `${h.MadeList}.of(${element.code})` : `[${element.code}]`;
      code.add(
        `${result}=${(element.can & CAN.ERROR) === 0 ? list : `${element.code} instanceof ${h.E}?${element.code}:${list}`};`,
      );
      this.#lumpUnlessFailed(LIST_COST, element);
      return { code: result, can: CAN.OTHER | (element.can & CAN.ERROR) };
    }
    const list = code.temp();
    const failure = code.temp();
    code.add(`${label}:{${list}=${emptyList(this)};`);
    plan.elements.forEach((each, index) => {
      const element = this.emit(each);
      if (plan.optional[index] === true) {
        code.add(
          `if((${failure}=${h.pushOptional}(${list},${element.code}))!==undefined){${result}=${failure};break ${label};}`,
        );
      } else {
        if ((element.can & CAN.ERROR) !== 0)
          code.add(`if(${element.code} instanceof ${h.E}){${result}=${element.code};break ${label};}`);
        code.add(`${list}.push(${element.code});`);
      }
    });
    this.#closeLiteral(`${result}=${list};`, LIST_COST);
    return { code: result, can: CAN.OTHER | CAN.ERROR };
  }

  #map(plan: MapPlan): Out {
    const { code } = this;
    const [result, map, failure] = [code.temp(), code.temp(), code.temp()];
    const label = code.label();
    code.add(`${label}:{${map}=new ${h.MapValue}();`);
    for (const entry of plan.entries) {
      const key = this.emit(entry.key);
      if ((key.can & CAN.ERROR) !== 0)
        code.add(`if(${key.code} instanceof ${h.E}){${result}=${key.code};break ${label};}`);
      const value = this.emit(entry.value);
      if ((value.can & CAN.ERROR) !== 0)
        code.add(`if(${value.code} instanceof ${h.E}){${result}=${value.code};break ${label};}`);
      code.add(
        `${m.cost}=cost;if((${failure}=${h.setEntry}(${map},${key.code},${value.code},${entry.optional}))!==undefined){${result}=${failure};break ${label};}`,
      );
    }
    this.#closeLiteral(`${result}=${map};`, MAP_COST);
    return { code: result, can: CAN.OTHER | CAN.ERROR };
  }

  #struct(plan: StructPlan): Out {
    const { code } = this;
    const [result, fields, failure] = [code.temp(), code.temp(), code.temp()];
    const label = code.label();
    code.add(`${label}:{${fields}=new Map();`);
    for (const { name, value, optional } of plan.fields) {
      const out = this.emit(value);
      if ((out.can & CAN.OTHER) !== 0) this.work(`${FIELD_UNITS}*${h.weighAll}(${out.code},c)`);
      const key = code.constant(name);
      if ((out.can & CAN.ERROR) !== 0)
        code.add(`if(${out.code} instanceof ${h.E}){${result}=${out.code};break ${label};}`);
      if (optional) {
        code.add(
          `if((${failure}=${h.setField}(${fields},${key},${out.code}))!==undefined){${result}=${failure};break ${label};}`,
        );
      } else code.add(`${fields}.set(${key},${out.code});`);
    }
    this.#closeLiteral(`${result}=${code.constant(plan.construct)}(${fields});`, STRUCT_COST);
    return { code: result, can: ANY };
  }

  /** Ends the block in which a literal is made, and counts its cost: also that of one of which a part failed, until 1.38. */
  #closeLiteral(made: string, cost: number): void {
    this.code.add(made);
    if (this.#chargesFailed) this.code.add("}");
    this.lump(cost);
    if (!this.#chargesFailed) this.code.add("}");
  }

  /** The cost of what is made of one part, which may have failed. */
  #lumpUnlessFailed(cost: number, part: Out): void {
    const tests = !this.#chargesFailed && (part.can & CAN.ERROR) !== 0;
    if (tests) this.code.add(`if(!(${part.code} instanceof ${h.E})){`);
    this.lump(cost);
    if (tests) this.code.add("}");
  }

  get #chargesFailed(): boolean {
    return this.options.behaviour !== "1.38";
  }
}
