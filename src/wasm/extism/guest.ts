/** Runs calls of Extism plugins: Extism 1.x, with a kernel of our own for what plugin and host share (kernel.wat). */
import type { InstanceSource } from "../guest/call.js";
import { type GuestAnswer, type GuestInput, GuestStartError, type RunGuest, startGuest } from "../guest/guest.js";
import { CurrentCall, InstanceCall, InstanceImports } from "../guest/instance-call.js";
import { afterExit, callStart } from "../guest/start-functions.js";
import { ExitStatus, wasiArguments, wasiImports } from "../guest/wasi-preview1.js";
import { EnvironmentReader } from "./environment.js";
import { compileKernel, Kernel } from "./kernel.js";
import { START_ONLY } from "./names.js";

/** The answer to {@link START_ONLY}. */
const NOTHING = new Uint8Array();
const ARGUMENTS = wasiArguments("policy.wasm");

/** The first of these that a module has is called. */
const START_FUNCTIONS = ["_initialize", "_start", "__wasm_call_ctors"] as const;

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
  const environments = new EnvironmentReader();
  let kept: KernelWithImports | undefined;
  const current = new CurrentCall<PluginCall>();
  const wasi = wasiImports(current.get) as WebAssembly.ModuleImports;
  const withImports = (kernel: Kernel): KernelWithImports => ({
    kernel,
    imports: new InstanceImports({ ...kernel.imports, wasi_snapshot_preview1: wasi }, () => current.get().host),
  });
  return (source, input, host, memory) => {
    const used = kept ?? withImports(new Kernel(compiled, host));
    kept = undefined;
    const { kernel, imports } = used;
    kernel.begin(host, environments.read(input.data));
    const call = new PluginCall(host, memory);
    const answer = current.during(call, () => run(kernel, source, call, input, imports));
    if (kernel.reusable) kept = used;
    return answer;
  };
}

interface KernelWithImports {
  readonly kernel: Kernel;
  readonly imports: InstanceImports;
}

function run(
  kernel: Kernel,
  source: InstanceSource,
  call: PluginCall,
  { operation: name, input }: GuestInput,
  imports: InstanceImports,
): GuestAnswer {
  const { host } = call;
  let exited = false;
  const exports = startGuest(() => {
    const made = call.instantiate(source, imports);
    exited = initialize(made);
    return made;
  });
  if (name === START_ONLY) return { kind: "answer", bytes: NOTHING };
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
    throw exited && error instanceof WebAssembly.RuntimeError ? afterExit(error) : error;
  }
  return { kind: "answer", bytes: kernel.output() };
}

/**
 * Runs what must run before the first call: Haskell's runtime, or a WASI reactor's or command's start, or else the constructors of static objects (which the
 * others run themselves).
 * @returns whether the module ended by an exit with status 0, as a command may
 */
function initialize(exports: Exports): boolean {
  if (exports.hs_init) {
    callStart(exports, "_initialize");
    return callStart(exports, "hs_init");
  }
  const name = START_FUNCTIONS.find((start) => exports[start] !== undefined);
  return name !== undefined && callStart(exports, name);
}
