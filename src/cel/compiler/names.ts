/** The names that generated code uses, as values: a misspelt one does not compile. */

import type { EmitOptions } from "./emitting.js";
import type { Meter } from "./meter.js";
import { HELPERS } from "./runtime.js";

/** A helper of generated code. */
export type HelperName = keyof typeof HELPERS;

/** Every helper's name under itself: `h.walk` is `walk`. */
export const h = Object.fromEntries(Object.keys(HELPERS).map((name) => [name, name])) as {
  readonly [Name in HelperName]: Name;
};

const members = <Name extends keyof Meter>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, `c.${name}`])) as { readonly [Each in Name]: `c.${Each}` };

/** Members of the meter, which generated code calls `c`: `m.steps` is `c.steps`. */
export const m = members("cost", "steps", "keys", "limit", "timed", "spend", "due", "trace");

/** An empty list that is going to be filled. */
export const emptyList = ({ options }: { readonly options: Pick<EmitOptions, "marksLists"> }): string =>
  options.marksLists ? `new ${h.MadeList}()` : "[]";
