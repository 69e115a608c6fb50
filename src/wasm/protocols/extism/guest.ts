/** Runs calls of Extism plugins: Extism 1.x, with our own kernel for the memory of plugin and host (kernel.wat). */

import { START_ONLY } from "../../names.js";
import type { InstanceSource } from "../../run/guest/call.js";
import {
  type GuestAnswer,
  type GuestInput,
  GuestStartError,
  type RunGuest,
  startGuest,
} from "../../run/guest/guest.js";
import { CurrentCall, InstanceImports } from "../../run/guest/instance-call.js";
import { afterExit } from "../../run/guest/start-functions.js";
import { ExitStatus, wasiImports } from "../../run/guest/wasi-preview1.js";
import { EnvironmentReader } from "./environment.js";
import { compileKernel, Kernel } from "./kernel.js";
import { instantiateLinked } from "./linking.js";
import { PluginCall, start } from "./plugin-call.js";

// The status that a function of a plugin returns: as in Extism's runtime an i32, or nothing, which is 0.

/** Status of a function with any other result: it has failed, as in Extism's runtime. */
const NO_STATUS = -1;

/** A module that imports one function without parameters, of these results, and does nothing: it links with a function of that very type only. */
const importing = (...results: readonly number[]): WebAssembly.Module =>
  new WebAssembly.Module(
    // Magic and version; one type; one import of it, whose names are empty.
    Uint8Array.of(
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...[1, 4 + results.length, 1, 0x60, 0, results.length, ...results],
      ...[2, 5, 1, 0, 0, 0, 0],
    ),
  );

const I32 = 0x7f;

/** Reads statuses; the types of a module's functions are checked once. */
class StatusReader {
  readonly #forms = [importing(I32), importing()];
  readonly #known = new WeakMap<WebAssembly.Module, Map<string, boolean>>();

  /**
   * The status that a function has returned. In JavaScript 0 of a double, and null, look like 0 of an i32.
   * @param module the module that exports the function by this name
   */
  of(returned: unknown, module: WebAssembly.Module, name: string, from: WebAssembly.ExportValue): number {
    return this.#hasStatus(module, name, from) ? Number(returned ?? 0) : NO_STATUS;
  }

  #hasStatus(module: WebAssembly.Module, name: string, from: WebAssembly.ExportValue): boolean {
    const known = this.#known.get(module) ?? new Map<string, boolean>();
    this.#known.set(module, known);
    const is = known.get(name) ?? this.#forms.some((form) => links(form, from));
    known.set(name, is);
    return is;
  }
}

function links(form: WebAssembly.Module, from: WebAssembly.ExportValue): boolean {
  try {
    return new WebAssembly.Instance(form, { "": { "": from } }) !== undefined;
  } catch {
    return false;
  }
}

/** The answer to {@link START_ONLY}. */
const NOTHING = new Uint8Array();

/**
 * Makes a {@link RunGuest} for Extism plugins. It keeps its kernel from one call to the next, wiped: an answer's bytes are valid until then. A call
 * that does not return discards its kernel.
 */
export function extismRunner(): RunGuest {
  const compiled = compileKernel();
  const environments = new EnvironmentReader();
  const statuses = new StatusReader();
  let kept: KernelWithImports | undefined;
  const current = new CurrentCall<PluginCall>();
  const wasi = wasiImports(current.get);
  const withImports = (kernel: Kernel): KernelWithImports => ({
    kernel,
    imports: new InstanceImports({ ...kernel.imports, wasi_snapshot_preview1: wasi }, () => current.get().host),
  });
  return (source, input, host, place) => {
    const used = kept ?? withImports(new Kernel(compiled, host));
    kept = undefined;
    const { kernel, imports } = used;
    kernel.begin(host, environments.read(input.data));
    const call = new PluginCall(host, place);
    const answer = current.during(call, () => run(kernel, source, call, input, imports, statuses));
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
  statuses: StatusReader,
): GuestAnswer {
  const { host } = call;
  const { exports, exited } = startGuest(() => {
    if (source.linked) return instantiateLinked(call, source, imports);
    const made = call.instantiate(source, imports);
    return source.state ? { exports: made, exited: source.state.exited } : start(made);
  });
  if (host.started && !source.linked && kernel.isUntouched) host.started({ exports, memory: call.memory, exited });
  if (name === START_ONLY) return { kind: "answer", bytes: NOTHING };
  const operation = exports[name];
  if (typeof operation !== "function") throw new GuestStartError(`the module does not export ${name}`);
  kernel.input(input);
  host.enterCall();
  try {
    const returned: unknown = operation();
    const error = kernel.error();
    if (error !== undefined) return { kind: "guest-error", text: error };
    const status = statuses.of(returned, source.module, name, operation);
    if (status !== 0) return { kind: "guest-error", text: `returned non-zero exit code: ${status}` };
  } catch (error) {
    if (error instanceof ExitStatus) return { kind: "guest-error", text: error.message };
    throw exited && error instanceof WebAssembly.RuntimeError ? afterExit(error) : error;
  }
  return { kind: "answer", bytes: kernel.output() };
}
