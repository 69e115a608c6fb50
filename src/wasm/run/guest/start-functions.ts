/** Runs a module's start section, and the functions that its protocol calls first. */
import { errorText } from "../../../data/error-text.js";
import { GET_GLOBALS_NAME, SET_GLOBALS_NAME, START_NAME } from "../../names.js";
import type { InstanceSource } from "./call.js";
import { GuestLimitError, GuestStartError } from "./guest.js";
import type { InstancePlace } from "./place.js";
import { ExitStatus } from "./wasi-preview1.js";

/** The start function that may exit: a command's `main` ends by an exit with status 0 when it succeeds; the module's other exports can still be called. */
const MAY_EXIT = "_start";

/** Prefix of the engine's own messages about imports, segments and memory; any other error comes from the module's code. */
const ENGINE = "WebAssembly.Instance()";

/**
 * Makes an instance, or takes the one of the place, and sets its state, or runs its start section.
 * @throws GuestStartError when its start section ends it; the engine's error when it does not fit its imports
 */
export function newInstance(
  source: InstanceSource,
  imports: WebAssembly.Imports,
  place?: InstancePlace,
): WebAssembly.Instance {
  const { state } = source;
  try {
    const used = place?.used.get(imports);
    const instance = used?.instance ?? new WebAssembly.Instance(source.module, imports);
    if (!used && source.isResettable) place?.used.set(imports, { instance, globals: globalsOf(instance) });
    place?.entered(instance);
    const globals = state?.globals ?? used?.globals;
    if (globals) call(instance, SET_GLOBALS_NAME, globals);
    if (!state) call(instance, START_NAME, []);
    return instance;
  } catch (error) {
    if (error instanceof GuestLimitError || errorText(error).startsWith(ENGINE)) throw error;
    throw endedIn("start section", error);
  }
}

/** Values of the module's mutable globals, as its hidden functions pass them. */
export function globalsOf({ exports }: Pick<WebAssembly.Instance, "exports">): readonly (number | bigint)[] {
  const read = exports[GET_GLOBALS_NAME];
  const values: unknown = typeof read === "function" ? read() : [];
  return (Array.isArray(values) ? values : [values]) as (number | bigint)[];
}

function call({ exports }: WebAssembly.Instance, name: string, values: readonly (number | bigint)[]): void {
  const exported = exports[name];
  if (typeof exported === "function") exported(...values);
}

/**
 * Calls a start function, if the instance has it.
 * @returns whether the module ended in it by an exit with status 0, as `_start` may
 * @throws GuestStartError when it ends in any other way than by returning
 */
export function callStart(exports: WebAssembly.Instance["exports"], name: string): boolean {
  const start = exports[name];
  if (typeof start !== "function") return false;
  try {
    (start as WebAssembly.ExportedFunction)();
    return false;
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    if (error instanceof ExitStatus && error.code === 0 && name === MAY_EXIT) return true;
    throw endedIn(`function ${name}`, error);
  }
}

const endedIn = (what: string, error: unknown): GuestStartError =>
  new GuestStartError(`the module ends in its ${what}: ${errorText(error)}`, { cause: error });

/** The error of a call to a module that had exited in `_start`: runtimes of some languages trap after that. */
export function afterExit(error: unknown): Error {
  return new Error(`${errorText(error)}, after the module had ended in its function _start by exit status 0`, {
    cause: error,
  });
}
