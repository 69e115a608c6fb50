/** Runs one call of a waPC guest, byte level of spec kubewarden.md 6.2. */
import {
  type GuestAnswer,
  type GuestHost,
  type GuestInput,
  GuestLimitError,
  GuestStartError,
  NAME_BYTES,
} from "../worker/guest.js";
import { MEMORY_MODULE, MEMORY_NAME } from "../worker/memories.js";
import { ExitStatus, InputQueue, wasiImports } from "../worker/wasi-preview1.js";

const NOTHING = new Uint8Array();
/** Called once per instance, in this order, when the module has them. */
const START_FUNCTIONS = ["_start", "wapc_init"] as const;

/** See {@link RunGuest}. */
export function runWapc(
  module: WebAssembly.Module,
  call: GuestInput,
  host: GuestHost,
  given?: WebAssembly.Memory,
): GuestAnswer {
  const encoder = new TextEncoder();
  const operation = encoder.encode(call.operation);
  const payload = call.input;
  let answer: Uint8Array | undefined;
  let guestError: Uint8Array | undefined;
  let hostAnswer: Uint8Array = NOTHING;
  let hostError: Uint8Array = NOTHING;

  let instance: WebAssembly.Instance | undefined;
  const memory = (): WebAssembly.Memory => {
    const found = given ?? instance?.exports.memory;
    if (!(found instanceof WebAssembly.Memory)) throw new Error("the module does not export its memory");
    return found;
  };
  // Read at every use, because the memory may have grown since.
  const bytes = (pointer: number, length: number) => new Uint8Array(memory().buffer, pointer >>> 0, length >>> 0);
  const text = (pointer: number, length: number) => new TextDecoder().decode(bytes(pointer, length));
  const name = (pointer: number, length: number) => text(pointer, Math.min(length >>> 0, NAME_BYTES));
  const output = (chunk: Uint8Array) => host.output(chunk);

  const wapc = {
    __guest_request(operationPointer: number, payloadPointer: number) {
      bytes(operationPointer, operation.length).set(operation);
      bytes(payloadPointer, payload.length).set(payload);
    },
    __guest_response(pointer: number, length: number) {
      if (length >>> 0 > host.limits.outputBytes)
        throw new GuestLimitError(`the policy's answer is longer than ${host.limits.outputBytes} bytes`);
      answer = bytes(pointer, length).slice();
    },
    __guest_error(pointer: number, length: number) {
      guestError = bytes(pointer, Math.min(length >>> 0, host.limits.logLineBytes)).slice();
    },
    __host_call(
      bp: number,
      bl: number,
      np: number,
      nl: number,
      op: number,
      ol: number,
      pp: number,
      pl: number,
    ): number {
      hostAnswer = NOTHING;
      hostError = NOTHING;
      const result = host.call(name(bp, bl), name(np, nl), name(op, ol), bytes(pp, pl));
      if (result.ok) hostAnswer = result.payload;
      else hostError = encoder.encode(result.error);
      return result.ok ? 1 : 0;
    },
    __host_response_len: () => hostAnswer.length,
    __host_response: (pointer: number) => bytes(pointer, hostAnswer.length).set(hostAnswer),
    __host_error_len: () => hostError.length,
    __host_error: (pointer: number) => bytes(pointer, hostError.length).set(hostError),
    __console_log: (pointer: number, length: number) =>
      host.log("info", text(pointer, Math.min(length >>> 0, host.limits.logLineBytes)), "policy"),
  };
  const wasi = wasiImports(memory, { args: [], stdin: new InputQueue(), stdout: output, stderr: output }, host);

  try {
    instance = new WebAssembly.Instance(module, {
      wapc,
      wasi_snapshot_preview1: wasi as WebAssembly.ModuleImports,
      ...(given && { [MEMORY_MODULE]: { [MEMORY_NAME]: given } }),
    });
    for (const name of START_FUNCTIONS) start(instance.exports[name]);
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    throw new GuestStartError(error instanceof Error ? error.message : String(error));
  }
  const guestCall = instance.exports.__guest_call;
  if (typeof guestCall !== "function") throw new GuestStartError("the module does not export __guest_call");
  host.enterCall();
  const success = guestCall(operation.length, payload.length);
  if (success !== 0 && answer) return { kind: "answer", bytes: answer };
  if (guestError) return { kind: "guest-error", text: new TextDecoder().decode(guestError) };
  return {
    kind: "guest-error",
    text: success !== 0 ? "No error message OR response set for call success" : "No error message set for call failure",
  };
}

function start(candidate: WebAssembly.ExportValue | undefined): void {
  if (typeof candidate !== "function") return;
  try {
    candidate();
  } catch (error) {
    if (!(error instanceof ExitStatus) || error.code !== 0) throw error;
  }
}
