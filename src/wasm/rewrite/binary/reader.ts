/** Reads the WebAssembly binary format: numbers, texts and skipped entries. */
import { WasmLoadError } from "../../errors.js";

/** `\0asm` and version 1, little endian. */
export const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00] as const;
/** Set in the flags of a memory or table that has a maximum. */
export const LIMITS_HAVE_MAXIMUM = 0x01;
/** The kind of an import that is a memory. */
export const IMPORT_MEMORY = 2;

/**
 * Skips the description of an import, behind its two names.
 * @throws WasmLoadError `wasm-invalid`
 */
export function skipImportDescription(reader: Reader): void {
  const kind = reader.byte();
  if (kind === 0) reader.unsigned();
  else if (kind === 1) {
    skipValueType(reader);
    skipLimits(reader);
  } else if (kind === IMPORT_MEMORY) skipLimits(reader);
  else if (kind === 3) {
    skipValueType(reader);
    reader.byte();
  } else if (kind === 4) {
    reader.byte();
    reader.unsigned();
  } else throw new WasmLoadError("wasm-invalid", `invalid wasm file: import kind ${kind} is unknown`);
}

/** Skips a value type: one byte, or a typed reference (0x63, 0x64) followed by its heap type. */
export function skipValueType(reader: Reader): void {
  const type = reader.byte();
  if (type === 0x63 || type === 0x64) reader.unsigned();
}

/** Skips the limits of a memory or a table. */
export function skipLimits(reader: Reader): void {
  const flags = reader.byte();
  reader.unsigned();
  if (flags & LIMITS_HAVE_MAXIMUM) reader.unsigned();
}

/** Reads the binary format from front to back. Its methods throw a WasmLoadError `wasm-invalid` where the bytes end too early. */
export class Reader {
  readonly #source: Uint8Array;

  constructor(
    source: Uint8Array,
    public position: number,
  ) {
    this.#source = source;
  }

  get done(): boolean {
    return this.position >= this.#source.length;
  }

  /** The next byte, without reading it. */
  peek(): number | undefined {
    return this.#source[this.position];
  }

  byte(): number {
    const value = this.#source[this.position];
    if (value === undefined)
      throw new WasmLoadError("wasm-invalid", "invalid wasm file: it ends in the middle of a section");
    this.position++;
    return value;
  }

  /** LEB128, unsigned, up to 64 bits read (a heap type's sign bit does not matter where it is skipped). */
  unsigned(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
    throw new WasmLoadError("wasm-invalid", "invalid wasm file: an integer is too long");
  }

  /** LEB128, signed, 32 bits. */
  signed(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) !== 0) continue;
      const unused = 32 - shift - 7;
      return unused > 0 ? (value << unused) >> unused : value;
    }
    throw new WasmLoadError("wasm-invalid", "invalid wasm file: an integer is too long");
  }

  bytes(length: number): Uint8Array {
    if (this.position + length > this.#source.length)
      throw new WasmLoadError("wasm-invalid", "invalid wasm file: it ends in the middle of a section");
    this.position += length;
    return this.#source.subarray(this.position - length, this.position);
  }

  slice(start: number): Uint8Array {
    return this.#source.subarray(start, this.position);
  }

  text(): string {
    return Buffer.from(this.bytes(this.unsigned())).toString("utf8");
  }
}
