/** What of a module runs before it is asked: its start section, and the functions that its protocol calls first. */
import { errorText } from "../../data/error-text.js";
import type { InstanceSource } from "./call.js";
import { GuestLimitError, GuestStartError } from "./guest.js";
import { SET_GLOBALS_NAME, START_NAME } from "./names.js";
import { ExitStatus } from "./wasi-preview1.js";

/** A command's `main` ends by an exit with status 0 when all is well; the module's other exports can be called all the same. */
const MAY_EXIT = "_start";

/** How the engine's own messages about imports, segments and memory begin; whatever else is thrown comes from the module's code. */
const ENGINE = "WebAssembly.Instance()";

/**
 * Makes an instance and sets its state, or runs its start section.
 * @throws GuestStartError when its start section ends it; what the engine throws when it does not fit its imports
 */
export function newInstance({ module, state }: InstanceSource, imports: WebAssembly.Imports): WebAssembly.Instance {
  try {
    const instance = new WebAssembly.Instance(module, imports);
    const first = instance.exports[state ? SET_GLOBALS_NAME : START_NAME];
    if (typeof first !== "function") return instance;
    if (state) first(...state.globals);
    else first();
    return instance;
  } catch (error) {
    if (error instanceof GuestLimitError || errorText(error).startsWith(ENGINE)) throw error;
    throw endedIn("start section", error);
  }
}

/**
 * Calls a start function, if the instance has it.
 * @returns whether the module ended in it by an exit with status 0, as `_start` may
 * @throws GuestStartError when it ends in any other way but by returning
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

/** The error of a call, which a module that had ended in `_start` explains: runtimes of some languages trap after that. */
export function afterExit(error: unknown): Error {
  return new Error(`${errorText(error)}, after the module had ended in its function _start by exit status 0`, {
    cause: error,
  });
}
