/** Runs calls of Extism plugins: Extism 1.x, with a kernel of our own for what plugin and host share (kernel.wat). */
import {
  type GuestAnswer,
  type GuestHost,
  type GuestInput,
  GuestLimitError,
  GuestStartError,
  type RunGuest,
} from "../worker/guest.js";
import { MEMORY_MODULE, MEMORY_NAME } from "../worker/memories.js";
import { ExitStatus, InputQueue, wasiImports } from "../worker/wasi-preview1.js";
import { compileKernel, Kernel } from "./kernel.js";

type Exports = WebAssembly.Instance["exports"];

/**
 * Makes a {@link RunGuest} for Extism plugins. It keeps its kernel from one call to the next, wiped: an answer's bytes are valid until then. A call that
 * ends in any way but by returning takes its kernel with it.
 */
export function extismRunner(): RunGuest {
  const compiled = compileKernel();
  let kept: Kernel | undefined;
  return (module, call, host, memory) => {
    const kernel = kept ?? new Kernel(compiled, host);
    kept = undefined;
    kernel.begin(host);
    const answer = run(kernel, module, call, host, memory);
    if (kernel.reusable) kept = kernel;
    return answer;
  };
}

function run(
  kernel: Kernel,
  module: WebAssembly.Module,
  call: GuestInput,
  host: GuestHost,
  memory: WebAssembly.Memory | undefined,
): GuestAnswer {
  let exports: Exports;
  try {
    exports = instantiate(kernel, module, host, memory);
    initialize(exports);
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    throw new GuestStartError(error instanceof Error ? error.message : String(error));
  }
  const operation = exports[call.operation];
  if (typeof operation !== "function") throw new GuestStartError(`the module does not export ${call.operation}`);
  kernel.input(call.input);
  host.enterCall();
  try {
    const status = Number(operation() ?? 0);
    const error = kernel.error();
    if (error !== undefined) return { kind: "guest-error", text: error };
    if (status !== 0) return { kind: "guest-error", text: `returned non-zero exit code: ${status}` };
  } catch (error) {
    if (error instanceof ExitStatus) return { kind: "guest-error", text: error.message };
    throw error;
  }
  return { kind: "answer", bytes: kernel.output() };
}

function instantiate(
  kernel: Kernel,
  module: WebAssembly.Module,
  host: GuestHost,
  given: WebAssembly.Memory | undefined,
): Exports {
  let instance: WebAssembly.Instance | undefined;
  let wasi: WebAssembly.ModuleImports | undefined;
  const memory = (): WebAssembly.Memory => {
    const found = given ?? instance?.exports.memory;
    if (!(found instanceof WebAssembly.Memory)) throw new Error("the module does not export its memory");
    return found;
  };
  const output = (bytes: Uint8Array) => host.output(bytes);
  const streams = { args: ["policy.wasm"], stdin: new InputQueue(), stdout: output, stderr: output };
  instance = new WebAssembly.Instance(module, {
    ...kernel.imports,
    ...(given && { [MEMORY_MODULE]: { [MEMORY_NAME]: given } }),
    // Read once for every import of WASI: most plugins have none, and should not wait for the making of fifty functions.
    get wasi_snapshot_preview1() {
      wasi ??= wasiImports(memory, streams, host) as WebAssembly.ModuleImports;
      return wasi;
    },
  });
  return instance.exports;
}

/**
 * Runs what must run before the first call: Haskell's runtime, or a WASI reactor's or command's start, or else the constructors of static objects (which the
 * others run themselves).
 */
function initialize(exports: Exports): void {
  if (exports.hs_init) {
    start(exports._initialize);
    start(exports.hs_init);
  } else start(exports._initialize ?? exports._start ?? exports.__wasm_call_ctors);
}

function start(candidate: WebAssembly.ExportValue | undefined): void {
  if (typeof candidate !== "function") return;
  try {
    candidate();
  } catch (error) {
    if (!(error instanceof ExitStatus) || error.code !== 0) throw error;
  }
}
