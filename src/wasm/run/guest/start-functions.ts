/** What of a module runs before it is asked: its start section, and the functions that its protocol calls first. */
import { errorText } from "../../../data/error-text.js";
import { GET_GLOBALS_NAME, SET_GLOBALS_NAME, START_NAME } from "../../names.js";
import type { InstanceSource } from "./call.js";
import { GuestLimitError, GuestStartError } from "./guest.js";
import type { InstancePlace } from "./place.js";
import { ExitStatus } from "./wasi-preview1.js";

/** A command's `main` ends by an exit with status 0 when all is well; the module's other exports can be called all the same. */
const MAY_EXIT = "_start";

/** How the engine's own messages about imports, segments and memory begin; whatever else is thrown comes from the module's code. */
const ENGINE = "WebAssembly.Instance()";

/**
 * Makes an instance, or takes the one that the place has, and sets its state, or runs its start section.
 * @throws GuestStartError when its start section ends it; what the engine throws when it does not fit its imports
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
