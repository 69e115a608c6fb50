/** Runs calls of Extism plugins: Extism 1.x, with a kernel of our own for what plugin and host share (kernel.wat). */
import { type GuestAnswer, type GuestInput, GuestStartError, type RunGuest, startGuest } from "../worker/guest.js";
import { CurrentCall, InstanceCall } from "../worker/instance-call.js";
import { callStart, ExitStatus, wasiArguments, wasiImports } from "../worker/wasi-preview1.js";
import { compileKernel, Kernel } from "./kernel.js";

const ARGUMENTS = wasiArguments("policy.wasm");

type Exports = WebAssembly.Instance["exports"];

class PluginCall extends InstanceCall {
  readonly args = ARGUMENTS;
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
  const exports = startGuest(() => {
    const made = call.instantiate(module, { ...kernel.imports, wasi_snapshot_preview1: wasi });
    initialize(made);
    return made;
  });
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
    callStart(exports._initialize);
    callStart(exports.hs_init);
  } else callStart(exports._initialize ?? exports._start ?? exports.__wasm_call_ctors);
}
