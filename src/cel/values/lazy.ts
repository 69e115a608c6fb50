import type { Waiting } from "../questions.js";
import { MARK } from "./mark.js";
import type { Result } from "./value.js";

/** A binding whose value is made when first used; it must memoise itself if making it is costly. */
export class Lazy {
  get [MARK](): true {
    return true;
  }

  constructor(readonly get: () => Result | Waiting) {}
}
