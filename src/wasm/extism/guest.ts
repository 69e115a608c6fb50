/**
 * Runs one call of an Extism plugin with the Extism SDK, inside of a worker that the host owns. Plugins built for WASI get the host's own
 * preview 1 (their imports and start functions were renamed at load, see module/prepare.ts), so that the SDK neither opens file descriptors nor sleeps natively.
 */
import { type CallContext, createPlugin } from "@extism/extism";
import {
  type GuestAnswer,
  type GuestHost,
  type GuestInput,
  GuestLimitError,
  GuestStartError,
} from "../worker/guest.js";
import type { GuestLogLevel } from "../worker/messages.js";
import { ExitStatus, InputQueue, wasiImports } from "../worker/wasi-preview1.js";
import {
  EXTISM_MODULE,
  HOST_CALL_MODULE,
  HOST_CALL_NAME,
  PLUGIN_ERROR_PREFIX,
  RENAMED_START,
  RENAMED_WASI,
} from "./names.js";

const PAGE_BYTES = 64 * 1024;
/** What a block costs the host besides its content, roughly: many small ones must not get around the limit. */
const BLOCK_BYTES = 1024;
/** Variables outlive nothing here (every call has its own instance), so they need no more room than a request. */
const VARIABLE_BYTES = 1024 * 1024;

/** See {@link RunGuest}. */
export async function runExtism(module: WebAssembly.Module, call: GuestInput, host: GuestHost): Promise<GuestAnswer> {
  const wasi = importsWasi(module) ? lateWasi(host) : undefined;
  let plugin: Awaited<ReturnType<typeof createPlugin>>;
  try {
    plugin = await createPlugin(module, {
      logger: logger(host),
      logLevel: "trace",
      // The SDK's own limit on memory adds up all blocks at every allocation, and only after it has allocated.
      memory: { maxVarBytes: VARIABLE_BYTES },
      functions: {
        [EXTISM_MODULE]: { alloc: boundedAlloc(host.limits.memoryPages * PAGE_BYTES) },
        [HOST_CALL_MODULE]: { [HOST_CALL_NAME]: hostCall(host) },
        ...(wasi && { [RENAMED_WASI]: wasi.functions }),
      },
    });
    if (wasi) startWasi(wasi, (await plugin.getInstance()).exports);
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    throw new GuestStartError(error instanceof Error ? error.message : String(error));
  }
  host.enterCall();
  try {
    const answer = await plugin.call(call.operation, call.input);
    if (answer === null) return { kind: "answer", bytes: new Uint8Array() };
    if (answer.bytes().length > host.limits.outputBytes)
      throw new GuestLimitError(`the policy's answer is longer than ${host.limits.outputBytes} bytes`);
    return { kind: "answer", bytes: answer.bytes() };
  } catch (error) {
    if (error instanceof Error && error.message.startsWith(PLUGIN_ERROR_PREFIX))
      return { kind: "guest-error", text: error.message.slice(PLUGIN_ERROR_PREFIX.length) };
    if (error instanceof ExitStatus) return { kind: "guest-error", text: error.message };
    throw error;
  }
}

/** Whether a module imports WASI; the others do not pay for it. */
function importsWasi(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some((entry) => entry.module === RENAMED_WASI);
}

interface LateWasi {
  readonly functions: Record<string, (context: CallContext, ...rest: number[]) => unknown>;
  /** Set once the instance is there. */
  memory: WebAssembly.Memory | undefined;
}

/** WASI for an instance that does not exist yet, in the form in which the SDK takes functions. */
function lateWasi(host: GuestHost): LateWasi {
  const output = (bytes: Uint8Array) => host.log("info", new TextDecoder().decode(bytes).trimEnd(), "output");
  const memory = () => {
    if (!wasi.memory) throw new Error("the module's memory is not there yet");
    return wasi.memory;
  };
  const streams = { args: ["policy.wasm"], stdin: new InputQueue(), stdout: output, stderr: output };
  const wasi: LateWasi = {
    memory: undefined,
    functions: Object.fromEntries(
      Object.entries(wasiImports(memory, streams, host)).map(([name, serve]) => [
        name,
        (_: CallContext, ...rest: number[]) => (serve as (...all: number[]) => unknown)(...rest),
      ]),
    ),
  };
  return wasi;
}

/** Runs the start functions that the SDK was kept from running. */
function startWasi(wasi: LateWasi, exports: Readonly<Record<string, WebAssembly.ExportValue>>): void {
  if (exports.memory instanceof WebAssembly.Memory) wasi.memory = exports.memory;
  for (const renamed of Object.values(RENAMED_START)) {
    const start = exports[renamed];
    if (typeof start === "function") runStart(start as () => void);
  }
}

function runStart(start: () => void): void {
  try {
    start();
  } catch (error) {
    if (!(error instanceof ExitStatus) || error.code !== 0) throw error;
  }
}

/** Limits what the blocks of a call take, before they take it. */
function boundedAlloc(limit: number): (context: CallContext, size: bigint) => bigint {
  let used = 0;
  return (context, size) => {
    used += Number(BigInt.asUintN(64, size)) + BLOCK_BYTES;
    if (used > limit) throw new GuestLimitError(`the policy allocated more than ${limit} bytes from the host`);
    return context.alloc(size);
  };
}

/**
 * `host_call(namespace, operation, payload) -> block`: the host capabilities of spec kubewarden.md 7 for Extism guests. The block that comes back is
 * one byte, 1 for an answer and 0 for an error, followed by the answer or the error's text.
 */
function hostCall(
  host: GuestHost,
): (context: CallContext, namespace: bigint, operation: bigint, payload: bigint) => bigint {
  return (context, namespace, operation, payload) => {
    const text = (address: bigint) => context.read(address)?.text() ?? "";
    const bytes = context.read(payload)?.bytes().slice() ?? new Uint8Array();
    const answer = host.call("kubewarden", text(namespace), text(operation), bytes);
    const body = answer.ok ? answer.payload : new TextEncoder().encode(answer.error);
    const block = new Uint8Array(body.length + 1);
    block[0] = answer.ok ? 1 : 0;
    block.set(body, 1);
    return context.store(block);
  };
}

function logger(host: GuestHost): Console {
  const line = (level: GuestLogLevel) => (text: string) => host.log(level, String(text), "policy");
  // The SDK types its logger as a whole Console and calls these five.
  return Object.assign(Object.create(null), {
    trace: line("trace"),
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
  }) as Console;
}
