/** For tests: more is expanded than in use, so that there are functions of all kinds in it. */
import type { ExpansionLimits } from "../../../../src/wasm/rewrite/inline-functions/inline-calls.js";

export const GENEROUS: ExpansionLimits = {
  largest: { bytes: 5_000, loopBytes: 5_000, locals: 200 },
  depth: 4,
  functionBytes: 20_000,
  mostFunctionBytes: 100_000,
  share: 50,
};
