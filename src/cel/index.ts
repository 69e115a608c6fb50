/**
 * The public face of the CEL engine: an {@link Environment} declares what an expression may use, compiles it once, and the
 * {@link Program} evaluates it as often as wanted.
 *
 * The engine imports nothing of this project; it could be published alone. Reference: spec kubernetes-cel.md.
 */
export { createEnvironment } from "./environment.js";
export type * from "./public-types.js";
export { Lazy } from "./values/lazy.js";
