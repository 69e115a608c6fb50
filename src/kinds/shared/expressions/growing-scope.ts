/** The scope of a policy's expressions while its variables are declared one after another. */
import { createHash } from "node:crypto";
import type { Type } from "../../../cel/index.js";
import type { Scope } from "../dialect.js";

/** A scope in which the variables declared so far are visible. Declaring one takes the same time, however many there are. */
export class GrowingScope implements Scope {
  readonly variables = new Map<string, Type>();
  #key = "";

  /** @param optional words of the dialect's optional variables */
  constructor(readonly optional: readonly string[]) {}

  /** A digest of the declared variables, in their order. */
  get key(): string {
    return this.#key;
  }

  /** Declares a variable, in place of one that has the name already. */
  declare(name: string, type: Type): void {
    this.variables.set(name, type);
    const declared = JSON.stringify([this.#key, name, type]);
    this.#key = createHash("sha256").update(declared).digest("base64");
  }
}
