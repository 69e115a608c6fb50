/**
 * The source being written: lines, temporaries, constants. No text of an expression ever becomes source: strings and values go through the array of
 * constants, and names of variables do too.
 */
import type { Value } from "../values/value.js";

/** The values that a piece of code may yield, as a set of bits; the emitter leaves out the tests that can't fail. */
export const CAN = { BOOL: 1, NUMBER: 2, STRING: 4, OTHER: 8, ERROR: 16 } as const;
/** All bits. */
export const ANY = 31;

/** The result of a node: an expression without effects that may be read several times, and what it can be. */
export interface Out {
  readonly code: string;
  readonly can: number;
  /** The value, when it is a constant. */
  readonly constant?: Value;
  /** An expression for the number of code points, where that is known already; only meaningful when the value is a text. */
  readonly size?: string;
  /** The same for the number of octets in UTF-8. */
  readonly octets?: string;
}

/** A function body under construction. */
export class Code {
  readonly #lines: string[] = [];
  readonly #constants: unknown[] = [];
  readonly #constantNames = new Map<unknown, string>();
  #temporaries = 0;
  #labels = 0;

  /** Appends a statement. */
  add(line: string): void {
    this.#lines.push(line);
  }

  /** Characters written so far. */
  get length(): number {
    return this.#lines.reduce((sum, line) => sum + line.length + 1, 0);
  }

  /** A fresh variable. */
  temp(): string {
    this.#temporaries += 1;
    return `t${this.#temporaries}`;
  }

  /** A fresh label. */
  label(): string {
    this.#labels += 1;
    return `l${this.#labels}`;
  }

  /** An expression for a constant. */
  constant(value: unknown): string {
    if (value === null || value === undefined || typeof value === "boolean") return String(value);
    // In parentheses, because a dot may follow. -0 is not an int, and is never a bare number.
    if (typeof value === "number" && Number.isSafeInteger(value)) return `(${value})`;
    let name = this.#constantNames.get(value);
    if (name === undefined) {
      name = `k${this.#constants.length}`;
      this.#constants.push(value);
      this.#constantNames.set(value, name);
    }
    return name;
  }

  /**
   * Makes the function.
   * @param helpers the functions that the code may call, by name
   * @param parameters the parameters' names
   * @param head declarations that come first
   * @param kind `generator` where the code yields
   */
  build(
    helpers: Readonly<Record<string, unknown>>,
    parameters: string,
    head: string,
    kind: "function" | "function*" = "function",
  ): unknown {
    const names = Object.keys(helpers);
    const temps = Array.from({ length: this.#temporaries }, (_, index) => `t${index + 1}`);
    const declared = temps.length === 0 ? "" : `let ${temps.join(",")};\n`;
    const constants = this.#constants.map((_, index) => `k${index}=K[${index}]`);
    const outer = `"use strict";const {${names.join(",")}}=H;\n${constants.length === 0 ? "" : `const ${constants.join(",")};\n`}`;
    const body = `${outer}return (${kind}(${parameters}){\n${declared}${head}${this.#lines.join("\n")}\n})`;
    return new Function("H", "K", body)(helpers, this.#constants);
  }
}
