/** Runs calls of waPC guests, byte level of spec kubewarden.md 6.2. */
import { type TextPieces, writePieces } from "../../../kubernetes/client/text-pieces.js";
import type { InstanceSource } from "../../run/guest/call.js";
import { guardedImports } from "../../run/guest/guarded-imports.js";
import {
  type GuestAnswer,
  type GuestHost,
  type GuestInput,
  GuestStartError,
  type RunGuest,
  startGuest,
} from "../../run/guest/guest.js";
import { CurrentCall, type HostCallParameters, InstanceCall, InstanceImports } from "../../run/guest/instance-call.js";
import type { InstancePlace } from "../../run/guest/place.js";
import { afterExit, callStart } from "../../run/guest/start-functions.js";
import { wasiImports } from "../../run/guest/wasi-preview1.js";

const NOTHING = new Uint8Array();
/** Names of operations, in bytes for guests. */
const OPERATIONS: ReadonlyMap<string, Uint8Array> = new Map(
  ["validate", "validate_settings"].map((name) => [name, Buffer.from(name)]),
);
/** Called once per instance, in this order, when the module has them. */
const START_FUNCTIONS = ["_start", "wapc_init"] as const;

class WapcCall extends InstanceCall {
  readonly args = [];
  readonly operation: Uint8Array;
  readonly payload: Uint8Array;
  answer: Uint8Array | undefined;
  error: Uint8Array | undefined;
  hostAnswer: Uint8Array | TextPieces = NOTHING;
  hostError: Uint8Array = NOTHING;

  constructor({ operation, input }: GuestInput, host: GuestHost, place: InstancePlace | undefined) {
    super(host, place);
    this.operation = OPERATIONS.get(operation) ?? Buffer.from(operation);
    this.payload = input;
  }
}

/** Makes a {@link RunGuest} for waPC guests. Its import object serves all calls: a new one for each would cost more than the instance. */
export function wapcRunner(): RunGuest {
  const current = new CurrentCall<WapcCall>();
  const imports = new InstanceImports(
    {
      wapc: guardedImports(wapcImports(current.get), () => current.get().host),
      wasi_snapshot_preview1: wasiImports(current.get),
    },
    () => current.get().host,
  );
  return (source, input, host, place) => {
    const call = new WapcCall(input, host, place);
    return current.during(call, () => run(source, call, imports));
  };
}

function wapcImports(call: () => WapcCall) {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  /** Cuts a text to the length of a log line. */
  const cut = (pointer: number, length: number) =>
    call().read(pointer, Math.min(length >>> 0, call().host.limits.logLineBytes));
  const give = (pointer: number, bytes: Uint8Array): void => {
    call().host.work(bytes.length);
    call().write(pointer, bytes.length).set(bytes);
  };
  return {
    __guest_request(operationPointer: number, payloadPointer: number) {
      const { operation, payload, host } = call();
      host.work(payload.length);
      call().write(operationPointer, operation.length).set(operation);
      call().write(payloadPointer, payload.length).set(payload);
    },
    __guest_response(pointer: number, length: number) {
      const { host } = call();
      const { outputBytes } = host.limits;
      if (length >>> 0 > outputBytes) throw host.limitPassed(`the policy's answer is longer than ${outputBytes} bytes`);
      host.work(length >>> 0);
      call().answer = call().read(pointer, length).slice();
    },
    __guest_error(pointer: number, length: number) {
      const text = cut(pointer, length);
      call().host.work(text.length);
      call().error = text.slice();
    },
    __host_call(...parameters: HostCallParameters): number {
      const result = call().askHost(...parameters);
      call().hostAnswer = result.ok ? (result.pieces ?? result.payload) : NOTHING;
      call().hostError = result.ok ? NOTHING : encoder.encode(result.error);
      return result.ok ? 1 : 0;
    },
    __host_response_len: () => call().hostAnswer.length,
    __host_response(pointer: number) {
      const { hostAnswer, host } = call();
      if (hostAnswer instanceof Uint8Array) return give(pointer, hostAnswer);
      host.work(hostAnswer.length);
      writePieces(hostAnswer, call().write(pointer, hostAnswer.length));
    },
    __host_error_len: () => call().hostError.length,
    __host_error: (pointer: number) => give(pointer, call().hostError),
    __console_log: (pointer: number, length: number) =>
      call().host.log("info", decoder.decode(cut(pointer, length)), "policy"),
  };
}

function run(source: InstanceSource, call: WapcCall, imports: InstanceImports): GuestAnswer {
  const { host, operation, payload } = call;
  let exited = source.state?.exited ?? false;
  const exports = startGuest(() => {
    const made = call.instantiate(source, imports);
    if (!source.state) for (const name of START_FUNCTIONS) if (callStart(made, name)) exited = true;
    return made;
  });
  const guestCall = exports.__guest_call;
  if (typeof guestCall !== "function") throw new GuestStartError("the module does not export __guest_call");
  host.started?.({ exports, memory: call.memory, exited });
  host.enterCall();
  let success: number | bigint | undefined;
  try {
    success = guestCall(operation.length, payload.length);
  } catch (error) {
    throw exited && error instanceof WebAssembly.RuntimeError ? afterExit(error) : error;
  }
  if (success !== 0 && call.answer) return { kind: "answer", bytes: call.answer };
  if (call.error) return { kind: "guest-error", text: new TextDecoder().decode(call.error) };
  return {
    kind: "guest-error",
    text: success !== 0 ? "No error message OR response set for call success" : "No error message set for call failure",
  };
}
