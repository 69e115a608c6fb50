/** Errors among the arguments of a call. */
import { CAN, type Out } from "./code.js";
import { h } from "./names.js";

/** The beginning of a conditional that ends with the first argument that is an error. */
export function guarded(args: readonly Out[]): string {
  return args
    .filter(({ can }) => (can & CAN.ERROR) !== 0)
    .map(({ code }) => `${code} instanceof ${h.E}?${code}:`)
    .join("");
}
