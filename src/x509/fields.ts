/** The contents of certificates beyond those on which their trust depends, each as one value: object identifiers, names, extensions, general names. */
import { contextTag, DerReader, readAll, TAG } from "./der.js";

/** A part of a name: its type as an object identifier, and its text. */
export interface NamePart {
  readonly type: readonly number[];
  readonly value: string;
}

/** An extension as it is encoded. */
export interface Extension {
  readonly id: readonly number[];
  readonly critical: boolean;
  readonly value: Buffer;
}

/** A general name: the number of its tag (1 mail, 2 DNS, 6 URI, 7 address) and its content. */
export interface GeneralName {
  readonly tag: number;
  readonly value: Buffer;
}

const MORE = 0x80;
const BMP_STRING = 0x1e;
/** The bits of context-specific tags beside their number. */
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

/** The numbers of an object identifier's content. */
export function identifierOf(content: Buffer): readonly number[] {
  const numbers: number[] = [];
  let number = 0;
  for (const octet of content) {
    number = number * MORE + (octet & (MORE - 1));
    if ((octet & MORE) !== 0) continue;
    if (numbers.length > 0) numbers.push(number);
    else numbers.push(Math.min(2, Math.floor(number / 40)), number - 40 * Math.min(2, Math.floor(number / 40)));
    number = 0;
  }
  return numbers;
}

/** The parts of a name's content, in their order. */
export function nameParts(name: Buffer): readonly NamePart[] {
  const parts: NamePart[] = [];
  for (const sets = new DerReader(name); !sets.atEnd; ) {
    for (const set = new DerReader(sets.expect(TAG.set)); !set.atEnd; ) {
      const part = new DerReader(set.expect(TAG.sequence));
      const type = identifierOf(part.expect(TAG.oid));
      const { tag, value } = part.element();
      parts.push({ type, value: textOf(tag, value) });
    }
  }
  return parts;
}

function textOf(tag: number, value: Buffer): string {
  if (tag === TAG.utf8String) return value.toString("utf8");
  return tag === BMP_STRING ? Buffer.from(value).swap16().toString("utf16le") : value.toString("latin1");
}

/** The extensions of a list of them. */
export function extensionsOf(list: Buffer): readonly Extension[] {
  const extensions: Extension[] = [];
  for (const reader = new DerReader(list); !reader.atEnd; ) {
    const part = new DerReader(reader.expect(TAG.sequence));
    const id = identifierOf(part.expect(TAG.oid));
    extensions.push({ id, critical: part.optionalBoolean(), value: part.expect(TAG.octetString) });
  }
  return extensions;
}

/** The general names of a list of them. */
export function generalNames(list: Buffer): readonly GeneralName[] {
  const names: GeneralName[] = [];
  for (const reader = new DerReader(list); !reader.atEnd; ) {
    const { tag, value } = reader.element();
    names.push({ tag: tag & ~(CONTEXT | CONSTRUCTED), value });
  }
  return names;
}

/** The elements of a sequence without anything behind it. */
export const sequenceOf = (der: Buffer): Buffer => readAll(der, (reader) => reader.expect(TAG.sequence));

/** The content of the optional element with a tag of the context; `undefined` when another comes next. */
export function tagged(reader: DerReader, number: number): Buffer | undefined {
  for (const constructed of [true, false]) {
    const tag = contextTag(number, constructed);
    if (reader.peek(tag)) return reader.expect(tag);
  }
  return undefined;
}

/** A signed integer's content. */
export function integerOf(content: Buffer): bigint {
  if (content.length === 0) return 0n;
  return BigInt.asIntN(content.length * 8, BigInt(`0x${content.toString("hex")}`));
}
