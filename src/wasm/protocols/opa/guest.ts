/** Runs evaluations of Rego modules (OPA and Gatekeeper alike), byte level of spec kubewarden.md 6.5. */

import { parseJson } from "../../../data/json.js";
import { MISSING_BUILTINS } from "../../names.js";
import { BUDGET_SPENT } from "../../run/guest/budget.js";
import type { InstanceSource } from "../../run/guest/call.js";
import { guardedImports } from "../../run/guest/guarded-imports.js";
import {
  type GuestAnswer,
  type GuestHost,
  type GuestInput,
  GuestStartError,
  type RunGuest,
  type StartedInstance,
  startGuest,
} from "../../run/guest/guest.js";
import { HostAccess } from "../../run/guest/host-access.js";
import { CurrentCall, InstanceImports } from "../../run/guest/instance-call.js";
import type { InstancePlace } from "../../run/guest/place.js";
import { newInstance } from "../../run/guest/start-functions.js";
import type { Builtins } from "../../run/snapshot/captured-state.js";
import type { Builtin } from "./builtins/builtin.js";
import { builtinCost } from "./builtins/cost.js";
import { builtinsFor } from "./builtins/index.js";
import { readRego } from "./read-rego.js";
import { printRego } from "./rego-value.js";

/** The entrypoint that is called: a policy built for Kubewarden has only this one. */
const ENTRYPOINT = 0;

/** Bytes that are searched for a NUL in the time of a simple instruction. */
const SEARCHED_PER_UNIT = 16;

const EMPTY_DOCUMENT = new TextEncoder().encode("{}");

/** Error of `opa_abort`: the module gave up. */
class RegoAbort extends Error {}

/** Makes a {@link RunGuest} for Rego modules. Its import object and its table of builtins serve all calls. */
export function regoRunner(): RunGuest {
  const current = new CurrentCall<RegoCall>();
  const call = current.get;
  const table = builtinsFor({
    trace: (text) => call().host.log("debug", text, "policy"),
    now: () => call().now,
    work: (units) => call().host.work(units),
  });
  const env = guardedImports(regoImports(call, table), () => call().host);
  const imports = new InstanceImports({ env }, () => call().host);
  const known = new WeakMap<WebAssembly.Module, Builtins>();
  return (source, input, host, place) => {
    if (!place) throw new GuestStartError("the module does not import its memory");
    const asked = new RegoCall(place, host);
    return current.during(asked, () => {
      env.memory = place.memory;
      asked.start(source, imports.withMemory(undefined));
      const builtins = source.state?.rego?.builtins ?? known.get(source.module) ?? builtinsOf(asked, table);
      known.set(source.module, builtins);
      asked.builtins = builtins;
      return run(asked, source, input);
    });
  };
}

function run(
  call: RegoCall,
  { state }: InstanceSource,
  { operation, input, data = EMPTY_DOCUMENT }: GuestInput,
): GuestAnswer {
  if (operation === MISSING_BUILTINS)
    return { kind: "answer", bytes: new TextEncoder().encode(JSON.stringify(call.builtins.missing)) };
  const dataAddress = state?.rego?.dataAddress ?? pushFirst(call, data);
  call.host.started?.(call.startedWith(dataAddress));
  const inputAddress = call.push(input);
  const evaluation = call.ask("opa_eval_ctx_new");
  call.ask("opa_eval_ctx_set_input", evaluation, inputAddress);
  call.ask("opa_eval_ctx_set_data", evaluation, dataAddress);
  call.ask("opa_eval_ctx_set_entrypoint", evaluation, ENTRYPOINT);
  call.host.enterCall();
  call.ask("eval", evaluation);
  return { kind: "answer", bytes: call.dump(call.ask("opa_eval_ctx_get_result", evaluation)) };
}

/** Puts the data document at the beginning of the heap. */
function pushFirst(call: RegoCall, data: Uint8Array): number {
  call.ask("opa_heap_ptr_set", call.baseHeap);
  return call.push(data);
}

/** One call of an instance. */
class RegoCall extends HostAccess {
  builtins: Builtins = { names: new Map(), missing: [] };
  /** The begin of the heap for every evaluation. */
  baseHeap = 0;
  #exports: Readonly<Record<string, WebAssembly.ExportValue>> = {};
  readonly memory: WebAssembly.Memory;

  constructor(
    place: InstancePlace,
    readonly host: GuestHost,
  ) {
    super(place);
    this.memory = place.memory;
  }

  /** Milliseconds since 1970, the same throughout the evaluation. */
  get now(): number {
    return this.host.moment.began;
  }

  /** @throws GuestStartError */
  start(source: InstanceSource, imports: WebAssembly.Imports): void {
    startGuest(() => {
      this.#exports = newInstance(source, imports, this.place).exports;
      if (source.state) return;
      this.push(EMPTY_DOCUMENT);
      this.baseHeap = this.ask("opa_heap_ptr_get");
    });
  }

  /** The capturable state of this instance with this data document in its memory. */
  startedWith(dataAddress: number): StartedInstance {
    const rego = { dataAddress, builtins: this.builtins };
    return { exports: this.#exports, memory: this.memory, exited: false, rego };
  }

  /** Calls an exported function. */
  ask(name: string, ...parameters: number[]): number {
    const exported = this.#exports[name];
    if (typeof exported !== "function") throw new GuestStartError(`the module does not export ${name}`);
    return Number((exported as WebAssembly.ExportedFunction)(...parameters) ?? 0);
  }

  /** Puts a JSON document into the guest's memory as a value. */
  push(json: Uint8Array, parse = "opa_json_parse"): number {
    const address = this.ask("opa_malloc", json.length);
    this.write(address, json.length).set(json);
    const value = this.ask(parse, address, json.length);
    if (value === 0) throw new Error("the module can't read its input");
    return value;
  }

  /** A value as JSON; a view of the guest's memory. */
  dump(address: number): Uint8Array {
    return this.bytesAt(this.ask("opa_json_dump", address));
  }

  /** An operand of a builtin, in the module's notation: with sets and keys of any kind where the module can. */
  operand(address: number): Uint8Array {
    return this.#hasValues ? this.bytesAt(this.ask("opa_value_dump", address)) : this.dump(address);
  }

  /** Puts a builtin's answer into the guest's memory. */
  answer(value: Uint8Array): number {
    return this.push(value, this.#hasValues ? "opa_value_parse" : "opa_json_parse");
  }

  get #hasValues(): boolean {
    return this.#exports.opa_value_dump !== undefined && this.#exports.opa_value_parse !== undefined;
  }

  /** A text in the guest's memory, up to its NUL. */
  bytesAt(address: number): Uint8Array {
    const bytes = this.read(0, this.memory.buffer.byteLength);
    const { outputBytes } = this.host.limits;
    // Charged before the search: a missing NUL takes longest.
    this.host.work(Math.min(outputBytes, Math.max(0, bytes.length - address)) / SEARCHED_PER_UNIT);
    const length = bytes.subarray(address, address + outputBytes + 1).indexOf(0);
    if (length >= 0) {
      this.host.work(length);
      return bytes.subarray(address, address + length);
    }
    if (bytes.length - address > outputBytes)
      throw this.host.limitPassed(`the policy's answer is longer than ${outputBytes} bytes`);
    throw new Error("a text without end in the guest's memory");
  }
}

function builtinsOf(call: RegoCall, table: Readonly<Record<string, Builtin>>): Builtins {
  return startGuest(() => {
    const ids = parseJson(new TextDecoder().decode(call.dump(call.ask("builtins")))) as Record<string, number>;
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
    const missing = Object.keys(ids).filter((name) => !Object.hasOwn(table, name));
    return { names, missing: missing.sort() };
  });
}

function regoImports(call: () => RegoCall, table: Readonly<Record<string, Builtin>>) {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const textAt = (address: number): string => decoder.decode(call().bytesAt(address));
  const builtin = (id: number, _context: number, ...parameters: number[]): number => {
    const asking = call();
    const name = asking.builtins.names.get(id) ?? `builtin ${id}`;
    const serve = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!serve) throw new Error(`the builtin ${name} is not there`);
    const operands = parameters.map((address) => decoder.decode(asking.operand(address)));
    asking.host.work(builtinCost(name, operands));
    const value = encoder.encode(printRego(serve(...operands.map(readRego))));
    // The charge was an estimate.
    if (asking.host.budget.isSpent) throw BUDGET_SPENT;
    return asking.answer(value);
  };
  return {
    opa_abort(address: number) {
      throw new RegoAbort(textAt(address));
    },
    opa_println: (address: number) => call().host.log("info", textAt(address), "policy"),
    opa_builtin0: builtin,
    opa_builtin1: builtin,
    opa_builtin2: builtin,
    opa_builtin3: builtin,
    opa_builtin4: builtin,
  };
}
