/** Runs one evaluation of a Rego module (OPA and Gatekeeper alike), byte level of spec kubewarden.md 6.5. */
import { parseJson } from "../../data/json.js";
import {
  type GuestAnswer,
  type GuestHost,
  type GuestInput,
  GuestLimitError,
  GuestStartError,
} from "../worker/guest.js";
import { type Builtin, builtinsFor } from "./builtins/index.js";
import { MISSING_BUILTINS } from "./names.js";
import { printRego, readRego } from "./rego-value.js";

/** The entrypoint that is asked: a policy built for Kubewarden has only this one. */
const ENTRYPOINT = 0;

const EMPTY_DOCUMENT = new TextEncoder().encode("{}");

/** Raised for `opa_abort`: the module gave up. */
class RegoAbort extends Error {}

/** See {@link RunGuest}. */
export function runRego(
  module: WebAssembly.Module,
  call: GuestInput,
  host: GuestHost,
  memory?: WebAssembly.Memory,
): GuestAnswer {
  if (!memory) throw new GuestStartError("the module does not import its memory");
  const rego = instantiate(module, memory, host);
  if (call.operation === MISSING_BUILTINS)
    return { kind: "answer", bytes: new TextEncoder().encode(JSON.stringify(rego.missingBuiltins)) };
  const { call: ask, push } = rego;
  rego.setHeap(rego.baseHeap);
  const data = push(call.data ?? EMPTY_DOCUMENT);
  const input = push(call.input);
  const evaluation = ask("opa_eval_ctx_new");
  ask("opa_eval_ctx_set_input", evaluation, input);
  ask("opa_eval_ctx_set_data", evaluation, data);
  ask("opa_eval_ctx_set_entrypoint", evaluation, ENTRYPOINT);
  host.enterCall();
  ask("eval", evaluation);
  return { kind: "answer", bytes: rego.dump(ask("opa_eval_ctx_get_result", evaluation)) };
}

interface Rego {
  readonly baseHeap: number;
  /** Names of builtins that the module needs and the host lacks. */
  readonly missingBuiltins: readonly string[];
  setHeap(address: number): void;
  call(name: string, ...parameters: number[]): number;
  /** Puts a JSON document into the guest's memory as a value. */
  push(json: Uint8Array): number;
  /** A value as JSON; a view of the guest's memory. */
  dump(address: number): Uint8Array;
}

function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory, host: GuestHost): Rego {
  const encoder = new TextEncoder();
  let exports: Readonly<Record<string, WebAssembly.ExportValue>> = {};
  const table: Readonly<Record<string, Builtin>> = builtinsFor({
    trace: (text) => host.log("debug", text, "policy"),
    now: () => Date.now(),
  });
  const names = new Map<number, string>();

  const decoder = new TextDecoder();
  /** A text in the guest's memory, up to its NUL. */
  const bytesAt = (address: number): Uint8Array => {
    const bytes = new Uint8Array(memory.buffer);
    const end = bytes.indexOf(0, address);
    if (end < 0) throw new Error("a text without end in the guest's memory");
    if (end - address > host.limits.outputBytes)
      throw new GuestLimitError(`the policy's answer is longer than ${host.limits.outputBytes} bytes`);
    return bytes.subarray(address, end);
  };
  const textAt = (address: number): string => decoder.decode(bytesAt(address));
  const call = (name: string, ...parameters: number[]): number => {
    const exported = exports[name];
    if (typeof exported !== "function") throw new GuestStartError(`the module does not export ${name}`);
    return Number((exported as WebAssembly.ExportedFunction)(...parameters) ?? 0);
  };
  const dump = (address: number) => bytesAt(call("opa_json_dump", address));
  const pull = (address: number) => decoder.decode(dump(address));
  const push = (bytes: Uint8Array): number => {
    const address = call("opa_malloc", bytes.length);
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
    const value = call("opa_json_parse", address, bytes.length);
    if (value === 0) throw new Error("the module can't read its input");
    return value;
  };
  const builtin = (id: number, _context: number, ...parameters: number[]): number => {
    const name = names.get(id) ?? `builtin ${id}`;
    const serve = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!serve) throw new Error(`the builtin ${name} is not there`);
    const result = serve(...parameters.map((address) => readRego(pull(address))));
    return push(encoder.encode(printRego(result)));
  };

  try {
    const env: WebAssembly.ModuleImports = {
      memory,
      opa_abort(address: number) {
        throw new RegoAbort(textAt(address));
      },
      opa_println: (address: number) => host.log("info", textAt(address), "policy"),
      opa_builtin0: builtin,
      opa_builtin1: builtin,
      opa_builtin2: builtin,
      opa_builtin3: builtin,
      opa_builtin4: builtin,
    };
    exports = new WebAssembly.Instance(module, { env }).exports;
    push(EMPTY_DOCUMENT);
    const baseHeap = call("opa_heap_ptr_get");
    const ids = parseJson(pull(call("builtins"))) as Record<string, number>;
    for (const [name, id] of Object.entries(ids)) names.set(id, name);
    return {
      baseHeap,
      missingBuiltins: Object.keys(ids)
        .filter((name) => !Object.hasOwn(table, name))
        .sort(),
      setHeap: (address) => {
        call("opa_heap_ptr_set", address);
      },
      call,
      push,
      dump,
    };
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    throw new GuestStartError(error instanceof Error ? error.message : String(error));
  }
}
