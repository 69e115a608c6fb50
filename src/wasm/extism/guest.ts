/** Runs calls of Extism plugins: Extism 1.x, with a kernel of our own for what plugin and host share (kernel.wat). */
import { type GuestAnswer, type GuestInput, GuestStartError, type RunGuest, startGuest } from "../guest/guest.js";
import { CurrentCall } from "../guest/instance-call.js";
import { afterExit } from "../guest/start-functions.js";
import { ExitStatus, wasiImports } from "../guest/wasi-preview1.js";
import { EnvironmentReader } from "./environment.js";
import { compileKernel, Kernel } from "./kernel.js";
import { instantiateLinked } from "./linking.js";
import { START_ONLY } from "./names.js";
import { PluginCall, type Started, start } from "./plugin-call.js";

/** The answer to {@link START_ONLY}. */
const NOTHING = new Uint8Array();

/**
 * Makes a {@link RunGuest} for Extism plugins. It keeps its kernel from one call to the next, wiped: an answer's bytes are valid until then. A call that
 * ends in any way but by returning takes its kernel with it.
 */
export function extismRunner(): RunGuest {
  const compiled = compileKernel();
  const environments = new EnvironmentReader();
  let kept: Kernel | undefined;
  const current = new CurrentCall<PluginCall>();
  const wasi = wasiImports(current.get) as WebAssembly.ModuleImports;
  const runner: RunGuest = (module, input, host, memory, linked) => {
    const kernel = kept ?? new Kernel(compiled, host);
    kept = undefined;
    kernel.begin(host, environments.read(input.data));
    const call = new PluginCall(host, memory);
    const answer = current.during(call, () => {
      const hosts = { ...kernel.imports, wasi_snapshot_preview1: wasi };
      return run(kernel, call, input, () =>
        linked ? instantiateLinked(call, module, linked, hosts) : start(call.instantiate(module, hosts)),
      );
    });
    if (kernel.reusable) kept = kernel;
    return answer;
  };
  runner.forget = current.forget;
  return runner;
}

/** @param make makes the instance, initialised */
function run(
  kernel: Kernel,
  call: PluginCall,
  { operation: name, input }: GuestInput,
  make: () => Started,
): GuestAnswer {
  const { host } = call;
  const { exports, exited } = startGuest(make);
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
