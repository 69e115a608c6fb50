/** Runs calls of Extism plugins: Extism 1.x, with a kernel of our own for what plugin and host share (kernel.wat). */
import { type GuestAnswer, type GuestInput, GuestLimitError, GuestStartError, type RunGuest } from "../worker/guest.js";
import { CurrentCall, InstanceCall } from "../worker/instance-call.js";
import { ExitStatus, InputQueue, type WasiCall, wasiArguments, wasiImports } from "../worker/wasi-preview1.js";
import { compileKernel, Kernel } from "./kernel.js";

const ARGUMENTS = wasiArguments("policy.wasm");

type Exports = WebAssembly.Instance["exports"];

/** One call as WASI sees it. */
class PluginCall extends InstanceCall implements WasiCall {
  readonly args: readonly Uint8Array[] = ARGUMENTS;
  readonly stdin = new InputQueue();

  readonly stdout = (bytes: Uint8Array): void => this.host.output(bytes);

  get stderr() {
    return this.stdout;
  }
}

/**
 * Makes a {@link RunGuest} for Extism plugins. It keeps its kernel from one call to the next, wiped: an answer's bytes are valid until then. A call that
 * ends in any way but by returning takes its kernel with it.
 */
export function extismRunner(): RunGuest {
  const compiled = compileKernel();
  let kept: Kernel | undefined;
  const current = new CurrentCall<PluginCall>();
  const wasi = wasiImports(current.get) as WebAssembly.ModuleImports;
  const runner: RunGuest = (module, input, host, memory) => {
    const kernel = kept ?? new Kernel(compiled, host);
    kept = undefined;
    kernel.begin(host);
    const call = new PluginCall(host, memory);
    const answer = current.during(call, () => run(kernel, module, call, input, wasi));
    if (kernel.reusable) kept = kernel;
    return answer;
  };
  runner.forget = current.forget;
  return runner;
}

function run(
  kernel: Kernel,
  module: WebAssembly.Module,
  call: PluginCall,
  { operation: name, input }: GuestInput,
  wasi: WebAssembly.ModuleImports,
): GuestAnswer {
  const { host } = call;
  let exports: Exports;
  try {
    exports = call.instantiate(module, { ...kernel.imports, wasi_snapshot_preview1: wasi });
    initialize(exports);
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    throw new GuestStartError(error instanceof Error ? error.message : String(error));
  }
  const operation = exports[name];
  if (typeof operation !== "function") throw new GuestStartError(`the module does not export ${name}`);
  kernel.input(input);
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
