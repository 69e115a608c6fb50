/** Host functions as guests get them: what they throw costs fuel. */
import type { GuestHost } from "./guest.js";

/**
 * Units of what a host function throws: some ten microseconds, in which the engine makes the error, notes the stack and looks for a handler. A guest may
 * catch it and go on, and would else hold its thread for long between two looks at the clock.
 */
const THROW_UNITS = 20_000;

type HostFunction = (...parameters: never[]) => unknown;

/**
 * Makes functions that do the same.
 * @param host of the call that runs
 */
export function guardedImports(
  functions: Readonly<Record<string, HostFunction>>,
  host: () => GuestHost,
): WebAssembly.ModuleImports {
  const guarded: WebAssembly.ModuleImports = {};
  for (const [name, run] of Object.entries(functions)) {
    guarded[name] = (...parameters: unknown[]): unknown => {
      try {
        return run(...(parameters as never[]));
      } catch (error) {
        host().work(THROW_UNITS);
        throw error;
      }
    };
  }
  return guarded;
}
