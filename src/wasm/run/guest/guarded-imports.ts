/** Host functions for guests: their exceptions cost fuel. */
import type { GuestHost } from "./guest.js";

/**
 * Units of a host function's exception: some ten microseconds, in which the engine makes the error, records the stack and looks for a handler. A
 * guest may catch it and continue, and would otherwise hold its thread for long between two clock readings.
 */
const THROW_UNITS = 20_000;

type HostFunction = (...parameters: never[]) => unknown;

/**
 * Makes functions that do the same.
 * @param host the host of the running call
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
