/** Runs one call of a WASI command, spec kubewarden.md 6.4. */
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

const SUCCESS = 0;
const FAILURE = 1;

/** See {@link RunGuest}. */
export function runWasi(
  module: WebAssembly.Module,
  call: GuestInput,
  host: GuestHost,
  given?: WebAssembly.Memory,
): GuestAnswer {
  const encoder = new TextEncoder();
  const stdin = new InputQueue();
  stdin.push(call.input);
  const stdout: Uint8Array[] = [];
  let written = 0;

  let instance: WebAssembly.Instance | undefined;
  const memory = (): WebAssembly.Memory => {
    const found = given ?? instance?.exports.memory;
    if (!(found instanceof WebAssembly.Memory)) throw new Error("cannot find 'mem' export");
    return found;
  };
  const name = (pointer: number, length: number) =>
    new TextDecoder().decode(bytes(pointer, Math.min(length >>> 0, NAME_BYTES)));
  const bytes = (pointer: number, length: number) => new Uint8Array(memory().buffer, pointer >>> 0, length >>> 0);
  const imports = wasiImports(
    memory,
    {
      args: ["policy.wasm", call.operation],
      stdin,
      stdout(chunk) {
        written += chunk.length;
        if (written > host.limits.outputBytes)
          throw new GuestLimitError(`the policy's answer is longer than ${host.limits.outputBytes} bytes`);
        stdout.push(chunk.slice());
      },
      stderr: (chunk) => host.stderr(chunk),
    },
    host,
  );
  /** The answer, or the error's text, is appended to standard input; note that 0 means success here, 1 in waPC. */
  const hostCall = (
    bp: number,
    bl: number,
    np: number,
    nl: number,
    op: number,
    ol: number,
    pp: number,
    pl: number,
  ): number => {
    const result = host.call(name(bp, bl), name(np, nl), name(op, ol), bytes(pp, pl));
    stdin.push(result.ok ? result.payload : encoder.encode(result.error));
    return result.ok ? SUCCESS : FAILURE;
  };

  try {
    instance = new WebAssembly.Instance(module, {
      wasi_snapshot_preview1: imports as WebAssembly.ModuleImports,
      host: { call: hostCall },
      "kubewarden:javy/host": { call: hostCall },
      ...(given && { [MEMORY_MODULE]: { [MEMORY_NAME]: given } }),
    });
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    throw new GuestStartError(error instanceof Error ? error.message : String(error));
  }
  const start = instance.exports._start;
  if (typeof start !== "function") throw new GuestStartError("cannot find `_start` function inside of module");
  host.enterCall();
  try {
    start();
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    // A trap's only trace for the user is what the guest has written before, as with an exit code.
    if (!(error instanceof ExitStatus) || error.code !== 0)
      return { kind: "guest-error", text: host.stderrText().trim() };
  }
  const stderr = host.stderrText().trim();
  if (stderr) host.log("warn", `${call.operation}: ${stderr}`, "output");
  return { kind: "answer", bytes: stdout.length === 1 && stdout[0] ? stdout[0] : Buffer.concat(stdout) };
}
