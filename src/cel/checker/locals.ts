import type { Type } from "../types.js";

/** The variables of comprehensions in scope, a stack: inner ones hide outer ones of the same name. */
export class Locals {
  readonly #names: string[] = [];
  readonly #types: Type[] = [];

  /** How many variables are in scope. */
  get depth(): number {
    return this.#names.length;
  }

  /** The type of a variable, if it is in scope. */
  find(name: string): Type | undefined {
    const index = this.#names.lastIndexOf(name);
    return index < 0 ? undefined : this.#types[index];
  }

  /** Brings a variable into scope. */
  add(name: string, type: Type): void {
    this.#names.push(name);
    this.#types.push(type);
  }

  /** Takes all but the outermost `depth` variables out of scope. */
  leave(depth: number): void {
    this.#names.length = depth;
    this.#types.length = depth;
  }
}
