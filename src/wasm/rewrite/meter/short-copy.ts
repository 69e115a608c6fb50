/**
 * Does a `memory.copy` of a few bytes without the engine's own function, whose call takes longer than the copy. Guests copy names and small
 * structures: of 756 copies that a policy in Rust makes for a Pod, 679 have up to 32 bytes.
 */
import { OP } from "../binary/instructions.js";
import type { Writer } from "../binary/writer.js";

/** Most bytes that are copied here. */
const MOST_BYTES = 32;

const I32 = 0x7f;
const I64 = 0x7e;
const V128 = 0x7b;
const EMPTY = 0x40;
/** An access to any address, without an offset. */
const PLAIN = [0, 0] as const;

/** The width of an access: two accesses, one at each end, cover all bytes. */
interface Width {
  readonly bytes: number;
  readonly load: readonly number[];
  readonly store: readonly number[];
  /** The locals for both. */
  readonly first: number;
  readonly last: number;
}

const [TO, FROM, LENGTH] = [0, 1, 2];
const WIDTHS: readonly Width[] = [
  { bytes: 16, load: [0xfd, 0x00], store: [0xfd, 0x0b], first: 3, last: 4 },
  { bytes: 8, load: [0x29], store: [0x37], first: 5, last: 6 },
  { bytes: 4, load: [0x28], store: [0x36], first: 7, last: 8 },
  { bytes: 1, load: [0x2d], store: [0x3a], first: 7, last: 8 },
];
/** The local for the middle one of three bytes. */
const MIDDLE = 9;
const LOCALS = [3, 2, V128, 2, I64, 3, I32] as const;

/**
 * Writes the body of a function (where to, where from, how many bytes) that does what `memory.copy` does, with its locals. All bytes are read before
 * any is written, since both may overlap, and the last bytes are written first: if they are outside of the memory, nothing was written.
 */
export function writeShortCopy(out: Writer): void {
  out.raw(LOCALS);
  // Adding up addresses must not pass 4 GiB: both begin below 2 GiB.
  out.raw([OP.localGet, LENGTH, OP.i32Const, 1, OP.i32Sub, OP.i32Const, MOST_BYTES, OP.i32LtU]);
  out.raw([OP.localGet, TO, OP.localGet, FROM, OP.i32Or, OP.i32Const, 0, OP.i32GeS, OP.i32And, OP.if, EMPTY]);
  for (const width of WIDTHS) {
    const isLast = width.bytes === 1;
    if (!isLast) out.raw([OP.localGet, LENGTH, OP.i32Const, width.bytes, OP.i32GeU, OP.if, EMPTY]);
    writeMove(out, width);
    if (!isLast) out.byte(OP.end);
  }
  out.byte(OP.end);
  out.raw([OP.localGet, TO, OP.localGet, FROM, OP.localGet, LENGTH, 0xfc, 0x0a, 0, 0, OP.end]);
}

function writeMove(out: Writer, { bytes, load, store, first, last }: Width): void {
  const access = (instruction: readonly number[]): readonly number[] => [...instruction, ...PLAIN];
  const behind = (of: number): readonly number[] => [OP.localGet, of, OP.localGet, LENGTH, OP.i32Add];
  const end = (of: number): readonly number[] => [...behind(of), OP.i32Const, bytes, OP.i32Sub];
  const half = [OP.localGet, LENGTH, OP.i32Const, 1, OP.i32ShrU] as const;
  const middle = (of: number): readonly number[] => [OP.localGet, of, ...half, OP.i32Add];
  out.raw([...end(FROM), ...access(load), OP.localSet, last]);
  out.raw([OP.localGet, FROM, ...access(load), OP.localSet, first]);
  if (bytes === 1) out.raw([...middle(FROM), ...access(load), OP.localSet, MIDDLE]);
  out.raw([...end(TO), OP.localGet, last, ...access(store)]);
  out.raw([OP.localGet, TO, OP.localGet, first, ...access(store)]);
  if (bytes === 1) out.raw([...middle(TO), OP.localGet, MIDDLE, ...access(store)]);
  out.byte(OP.return);
}
