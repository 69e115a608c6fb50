/** Shifts function indices outside of the code section, since metering adds an import: those behind the imported functions grow by one. */

import { WasmLoadError } from "../../errors.js";
import { InstructionWalker } from "../binary/instruction-walker.js";
import { IMMEDIATES, IMMEDIATES_OF, OP } from "../binary/instructions.js";
import { Reader, skipLimits, skipValueType } from "../binary/reader.js";
import { KIND_FUNCTION, KIND_GLOBAL } from "../binary/sections.js";
import { Writer } from "../binary/writer.js";
import type { IndexSpaces } from "./segments.js";

/** The parts of the name section that begin with a function index. */
const FUNCTION_NAMES = 1;
const LOCAL_NAMES = 2;
const LABEL_NAMES = 3;
/** Prefix of custom sections about offsets in the code, which are no longer the same: they are dropped. */
const CODE_METADATA = "metadata.code.";
const NAME_SECTION = "name";

/** Set in an element segment's flags: it is not active; it has a table's index, or is declarative; its elements are expressions. */
const SEGMENT_NOT_ACTIVE = 1;
const SEGMENT_EXPLICIT = 2;
const SEGMENT_EXPRESSIONS = 4;
/** The first byte of a table that has an initial value. */
const TABLE_WITH_VALUE = 0x40;

/** Rewrites sections whose entries refer to functions. All of its methods throw a WasmLoadError. */
export class Shift {
  readonly #firstShifted: number;
  readonly #spaces: IndexSpaces;

  /** @param firstShifted the index that the added import takes */
  constructor(firstShifted: number, spaces: IndexSpaces) {
    this.#firstShifted = firstShifted;
    this.#spaces = spaces;
  }

  exports(body: Uint8Array): Uint8Array {
    const reader = new Reader(body, 0);
    const out = new Writer(body.length + 64);
    const count = reader.unsigned();
    out.unsigned(count);
    for (let left = count; left > 0; left--) {
      out.block(reader.bytes(reader.unsigned()));
      const kind = reader.byte();
      const index = reader.unsigned();
      if (kind === KIND_GLOBAL && index >= this.#spaces.globals) throw absent("global", index);
      out.byte(kind);
      out.unsigned(kind === KIND_FUNCTION ? this.#function(index) : index);
    }
    return this.#complete(reader, out);
  }

  start(body: Uint8Array): Uint8Array {
    const reader = new Reader(body, 0);
    const out = new Writer();
    out.unsigned(this.#function(reader.unsigned()));
    return this.#complete(reader, out);
  }

  tables(body: Uint8Array): Uint8Array {
    const reader = new Reader(body, 0);
    const out = new Writer(body.length + 64);
    const count = reader.unsigned();
    out.unsigned(count);
    for (let left = count; left > 0; left--) {
      const start = reader.position;
      const withValue = reader.peek() === TABLE_WITH_VALUE;
      if (withValue) reader.bytes(2);
      skipValueType(reader);
      skipLimits(reader);
      out.raw(reader.slice(start));
      if (withValue) this.#expression(reader, body, out);
    }
    return this.#complete(reader, out);
  }

  /** @param added entries that follow the module's own */
  globals(body: Uint8Array, added: readonly Uint8Array[]): Uint8Array {
    const reader = new Reader(body, 0);
    const out = new Writer(body.length + 64);
    const count = reader.unsigned();
    out.unsigned(count + added.length);
    for (let left = count; left > 0; left--) {
      const start = reader.position;
      skipValueType(reader);
      reader.byte();
      out.raw(reader.slice(start));
      this.#expression(reader, body, out);
    }
    for (const entry of added) out.raw(entry);
    return this.#complete(reader, out);
  }

  elements(body: Uint8Array): Uint8Array {
    const reader = new Reader(body, 0);
    const out = new Writer(body.length + 1_024);
    const count = reader.unsigned();
    out.unsigned(count);
    for (let left = count; left > 0; left--) {
      const flags = reader.unsigned();
      if (flags > 7)
        throw new WasmLoadError("wasm-invalid", `invalid wasm file: an element segment has flags ${flags}`);
      out.unsigned(flags);
      if ((flags & SEGMENT_NOT_ACTIVE) === 0) {
        if (flags & SEGMENT_EXPLICIT) out.unsigned(reader.unsigned());
        this.#expression(reader, body, out);
      }
      // The element kind is only written when it is not the usual one.
      if (flags & (SEGMENT_NOT_ACTIVE | SEGMENT_EXPLICIT)) {
        const start = reader.position;
        skipValueType(reader);
        out.raw(reader.slice(start));
      }
      const elements = reader.unsigned();
      out.unsigned(elements);
      for (let rest = elements; rest > 0; rest--)
        if (flags & SEGMENT_EXPRESSIONS) this.#expression(reader, body, out);
        else out.unsigned(this.#function(reader.unsigned()));
    }
    return this.#complete(reader, out);
  }

  /** @returns undefined for a section that would no longer be right */
  custom(body: Uint8Array): Uint8Array | undefined {
    const reader = new Reader(body, 0);
    const name = reader.text();
    if (name.startsWith(CODE_METADATA)) return undefined;
    if (name !== NAME_SECTION) return body;
    try {
      return this.#names(reader, body);
    } catch (error) {
      // Unreadable names have no meaning, and are not an error either (core specification, 7.4).
      if (error instanceof WasmLoadError) return undefined;
      throw error;
    }
  }

  #names(reader: Reader, body: Uint8Array): Uint8Array {
    const out = new Writer(body.length + 1_024);
    out.raw(reader.slice(0));
    while (!reader.done) {
      const kind = reader.byte();
      const part = reader.bytes(reader.unsigned());
      const indirect = kind === LOCAL_NAMES || kind === LABEL_NAMES;
      out.section(kind, kind === FUNCTION_NAMES || indirect ? this.#nameMap(part, indirect) : part);
    }
    return out.view();
  }

  /** @param indirect whether each entry is a map of its own */
  #nameMap(part: Uint8Array, indirect: boolean): Uint8Array {
    const reader = new Reader(part, 0);
    const out = new Writer(part.length + 64);
    const count = reader.unsigned();
    out.unsigned(count);
    for (let left = count; left > 0; left--) {
      const index = reader.unsigned();
      out.unsigned(index < this.#firstShifted ? index : index + 1);
      const start = reader.position;
      if (indirect)
        for (let names = reader.unsigned(); names > 0; names--) {
          reader.unsigned();
          reader.bytes(reader.unsigned());
        }
      else reader.bytes(reader.unsigned());
      out.raw(reader.slice(start));
    }
    return this.#complete(reader, out);
  }

  /** Copies a constant expression. */
  #expression(reader: Reader, body: Uint8Array, out: Writer): void {
    const walker = new InstructionWalker(body, reader.position, body.length);
    let copied = reader.position;
    for (;;) {
      walker.next();
      const immediates = IMMEDIATES_OF[walker.code];
      if (immediates === IMMEDIATES.functionIndex) {
        out.copy(body, copied, walker.indexAt);
        out.unsigned(this.#function(walker.index));
        copied = walker.position;
      } else if (immediates === IMMEDIATES.globalIndex && walker.index >= this.#spaces.globals)
        throw absent("global", walker.index);
      if (walker.code === OP.end) break;
    }
    out.copy(body, copied, walker.position);
    reader.position = walker.position;
  }

  #function(index: number): number {
    if (index >= this.#spaces.functions) throw absent("function", index);
    return index < this.#firstShifted ? index : index + 1;
  }

  #complete(reader: Reader, out: Writer): Uint8Array {
    if (!reader.done) throw new WasmLoadError("wasm-invalid", "invalid wasm file: a section has more than its entries");
    return out.view();
  }
}

function absent(what: string, index: number): WasmLoadError {
  return new WasmLoadError("wasm-invalid", `invalid wasm file: it names ${what} ${index}, which is not there`);
}
