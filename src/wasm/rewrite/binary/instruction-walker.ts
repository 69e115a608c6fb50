/** Walks over instructions, one after the other, without interpreting them. */
import { WasmLoadError } from "../../errors.js";
import { ALL_CODES, FIRST_PREFIX, IMMEDIATES, IMMEDIATES_OF, LAST_PREFIX, PREFIX_BASES } from "./instructions.js";

/** The first bytes of a reference type that is followed by its heap type. */
const REFERENCE = 0x64;
const NULLABLE_REFERENCE = 0x63;
/** Set in a memory argument's alignment when the memory's index follows. */
const HAS_MEMORY_INDEX = 0x40;
/** Most bytes of LEB128 for 32 and for 64 bits. */
const LEB32_BYTES = 5;
const LEB64_BYTES = 10;
/** The lowest byte of LEB128 that is not the last one. */
const LEB_CONTINUES = 0x80;

/** Other immediates than integers of one byte. */
const OTHERS = 3;
/**
 * Usual immediates by the first byte of an opcode: a number of integers of one byte each, or {@link OTHERS}. Most of a module's instructions are
 * such, and the time of its load is that of passing them some five times.
 */
const INTEGERS: Readonly<Uint8Array> = IMMEDIATES_OF.slice(0, FIRST_PREFIX).map(integersOf);

function integersOf(immediates: number): number {
  switch (immediates) {
    case IMMEDIATES.none:
      return 0;
    case IMMEDIATES.localIndex:
    case IMMEDIATES.index:
    case IMMEDIATES.functionIndex:
    case IMMEDIATES.globalIndex:
    case IMMEDIATES.integer:
      return 1;
    case IMMEDIATES.memory:
      return 2;
    default:
      return OTHERS;
  }
}

/** A walker, at one instruction at a time. Its fields are plain, because passes read them for each of millions of instructions. */
export class InstructionWalker {
  /** Begin of the instruction. */
  start = 0;
  /** The instruction's code (`instructions.ts`). */
  code = 0;
  /** The first index behind the opcode, if there is one. */
  index = 0;
  /** Begin of this index. */
  indexAt = 0;
  /** Position behind the instruction. */
  position: number;
  readonly #source: Uint8Array;
  #end: number;

  /**
   * @param position the first instruction
   * @param end the end of the instructions
   */
  constructor(source: Uint8Array, position: number, end: number) {
    this.#source = source;
    this.position = position;
    this.#end = end;
  }

  get done(): boolean {
    return this.position >= this.#end;
  }

  /** Moves to other instructions of the same bytes. */
  moveTo(position: number, end: number): void {
    this.position = position;
    this.#end = end;
  }

  /**
   * Moves to the next instruction.
   * @throws WasmLoadError `wasm-meter` when it is unknown, `wasm-invalid` when the bytes end within it
   */
  next(): void {
    if (!this.seek(ALL_CODES)) throw ended();
  }

  /**
   * Moves to the next instruction of some kinds.
   * @param wanted by code, not 0 for those kinds
   * @returns whether there is one
   * @throws WasmLoadError as {@link next}, also for instructions that it passes
   */
  seek(wanted: Readonly<Uint8Array>): boolean {
    const source = this.#source;
    const end = this.#end;
    let position = this.position;
    while (position < end) {
      const start = position++;
      const code = source[start] ?? 0;
      const integers = INTEGERS[code] ?? OTHERS;
      const first = position < end ? (source[position] ?? LEB_CONTINUES) : LEB_CONTINUES;
      if (integers === 0) {
        if (wanted[code] === 0) continue;
        this.code = code;
      } else if (integers === 1 && first < LEB_CONTINUES) {
        position++;
        if (wanted[code] === 0) continue;
        this.code = code;
        this.index = first;
        this.indexAt = position - 1;
      } else if (integers === 2 && first < HAS_MEMORY_INDEX && (source[position + 1] ?? 0) < LEB_CONTINUES) {
        position += 2;
        if (position > end) throw ended();
        if (wanted[code] === 0) continue;
        this.code = code;
      } else {
        this.start = start;
        this.position = position;
        this.#decode(code);
        position = this.position;
        if (wanted[this.code] === 0) continue;
      }
      this.start = start;
      this.position = position;
      return true;
    }
    this.position = position;
    return false;
  }

  /** Reads an instruction, from behind the first byte of its opcode. */
  #decode(first: number): void {
    const code = first >= FIRST_PREFIX && first <= LAST_PREFIX ? this.#prefixed(first) : first;
    this.code = code;
    switch (IMMEDIATES_OF[code]) {
      case IMMEDIATES.none:
        return;
      case IMMEDIATES.localIndex:
      case IMMEDIATES.index:
      case IMMEDIATES.functionIndex:
      case IMMEDIATES.globalIndex:
        this.indexAt = this.position;
        this.index = this.unsigned();
        return;
      case IMMEDIATES.integer:
        this.skipLeb(LEB64_BYTES);
        return;
      case IMMEDIATES.memory:
        this.#memoryArgument();
        return;
      case IMMEDIATES.blockType:
        this.#type();
        return;
      case IMMEDIATES.heapType:
        this.skipLeb(LEB32_BYTES);
        return;
      case IMMEDIATES.twoIndices:
        this.indexAt = this.position;
        this.index = this.unsigned();
        this.skipLeb(LEB32_BYTES);
        return;
      case IMMEDIATES.labels:
        for (let left = this.unsigned(); left >= 0; left--) this.skipLeb(LEB32_BYTES);
        return;
      case IMMEDIATES.fourBytes:
        this.skip(4);
        return;
      case IMMEDIATES.eightBytes:
        this.skip(8);
        return;
      case IMMEDIATES.sixteenBytes:
        this.skip(16);
        return;
      case IMMEDIATES.byte:
        this.skip(1);
        return;
      case IMMEDIATES.memoryLane:
        this.#memoryArgument();
        this.skip(1);
        return;
      case IMMEDIATES.valueTypes:
        for (let left = this.unsigned(); left > 0; left--) this.#type();
        return;
      case IMMEDIATES.cast:
        this.skip(1);
        this.skipLeb(LEB32_BYTES);
        this.skipLeb(LEB32_BYTES);
        this.skipLeb(LEB32_BYTES);
        return;
      case IMMEDIATES.catches:
        this.#type();
        for (let left = this.unsigned(); left > 0; left--) {
          // The first two kinds name a tag before the label.
          if (this.byte() < 2) this.skipLeb(LEB32_BYTES);
          this.skipLeb(LEB32_BYTES);
        }
        return;
      default:
        throw this.#unknown();
    }
  }

  /** @throws WasmLoadError `wasm-invalid` at the end */
  byte(): number {
    if (this.position >= this.#end) throw ended();
    return this.#source[this.position++] ?? 0;
  }

  /** @throws WasmLoadError `wasm-invalid` when more bytes are needed than there are */
  skip(count: number): void {
    this.position += count;
    if (this.position > this.#end) throw ended();
  }

  /** LEB128 of 32 bits. @throws WasmLoadError `wasm-invalid` */
  unsigned(): number {
    let value = 0;
    let factor = 1;
    for (let left = LEB32_BYTES; left > 0; left--) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < LEB_CONTINUES) return value;
      factor *= 0x80;
    }
    throw new WasmLoadError("wasm-invalid", "invalid wasm file: an integer in the code is too long");
  }

  /** @throws WasmLoadError `wasm-invalid` */
  skipLeb(bytes: number): void {
    for (let left = bytes; left > 0; left--) if (this.byte() < LEB_CONTINUES) return;
    throw new WasmLoadError("wasm-invalid", "invalid wasm file: an integer in the code is too long");
  }

  #prefixed(prefix: number): number {
    const number = this.unsigned();
    const base = PREFIX_BASES[prefix - FIRST_PREFIX] ?? 0;
    const code = base + number;
    if (code >= (PREFIX_BASES[prefix - FIRST_PREFIX + 1] ?? 0)) throw this.#unknown();
    return code;
  }

  /** A block type, or a value type: one byte, an index, or a reference with its heap type. */
  #type(): void {
    const first = this.#source[this.position];
    if (first === REFERENCE || first === NULLABLE_REFERENCE) this.position++;
    this.skipLeb(LEB32_BYTES);
  }

  #memoryArgument(): void {
    const alignment = this.unsigned();
    if (alignment & HAS_MEMORY_INDEX) this.skipLeb(LEB32_BYTES);
    this.skipLeb(LEB64_BYTES);
  }

  #unknown(): WasmLoadError {
    const opcode = Buffer.from(this.#source.subarray(this.start, this.position)).toString("hex");
    return new WasmLoadError("wasm-meter", `instruction 0x${opcode} at offset ${this.start} is not known`);
  }
}

function ended(): WasmLoadError {
  return new WasmLoadError("wasm-invalid", "invalid wasm file: a function ends in the middle of an instruction");
}
