import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { parseJson, stringifyJson } from "../../../data/json.js";
import { PublicError } from "../../../data/public-text.js";
import type { ObjectTexts } from "../../../kubernetes/reader.js";
import { JsonBytes, JsonPieces, type ResourceKind } from "../host.js";
import { type FieldMasks, fieldMasks, masked } from "./field-masks.js";

/** Sets of masks whose texts are kept: they are written in policies, so that there are few. */
const MASK_SETS = 16;
/** Bytes of the texts that are kept for one set of masks. */
const MASKED_BYTES = 4 * 1024 * 1024;
/** Bytes that are written before requests get their turn: some milliseconds. */
const BYTES_AT_ONCE = 4 * 1024 * 1024;
/** The same where texts are parsed and masked. */
const MASKED_AT_ONCE = 256 * 1024;

/**
 * Makes answers of lists from the texts of their objects. Equal questions share one answer while it is made and in use: a large cluster's takes a
 * hundred megabytes. Masked objects are kept as long as there is room.
 */
export class ListTexts {
  /** Masked objects, by masks. */
  readonly #masked = new LRUCache<string, LRUCache<object, Uint8Array>>({ max: MASK_SETS });
  /** Answers, by head and masks, as long as their objects are the same. */
  readonly #answers = new WeakMap<ObjectTexts, Map<string, Made>>();

  /**
   * The answer to a list, spec kubewarden.md 7.6.
   * @param room most bytes that it may have
   * @throws PublicError when it would have more, before it is made
   */
  async answer(
    { apiVersion, kind }: ResourceKind,
    texts: ObjectTexts,
    masks: readonly string[] = [],
    room: number = Number.POSITIVE_INFINITY,
  ): Promise<JsonBytes | JsonPieces> {
    const wanted = fieldMasks(masks);
    const written = `${stringifyJson({ apiVersion, kind: `${kind}List`, metadata: {} }).slice(0, -1)},"items":[`;
    const head = Buffer.from(written);
    const least = head.length + Math.max(0, texts.count - 1) + END.length;
    const size = least + (wanted === undefined ? texts.bytes : 0);
    if (size > room) throw tooLarge(apiVersion, kind, size, room);
    const pieces = wanted === undefined ? texts.pieces?.(head, END) : undefined;
    if (pieces !== undefined) return new JsonPieces(pieces);
    const names = [...new Set(masks)].sort().join("\n");
    const made = this.#answers.get(texts) ?? new Map<string, Made>();
    this.#answers.set(texts, made);
    const key = `${written}\n${names}`;
    const known = made.get(key);
    const fitting = (answer: JsonBytes): JsonBytes => {
      const { length } = answer.bytes;
      if (length > room) throw tooLarge(apiVersion, kind, length, room);
      return answer;
    };
    const kept = known?.answer?.deref();
    if (kept !== undefined) return fitting(kept);
    if (known?.making !== undefined && known.room >= room) return fitting(await known.making);
    const making = this.#make(head, size, texts, wanted, names, (bytes) => {
      if (bytes > room) throw tooLarge(apiVersion, kind, bytes, room);
    });
    const entry: Made = { making, room };
    made.set(key, entry);
    making.then(
      (answer) => {
        entry.making = undefined;
        entry.answer = new WeakRef(answer);
      },
      () => made.delete(key),
    );
    return making;
  }

  async #make(
    head: Uint8Array,
    least: number,
    texts: ObjectTexts,
    masks: FieldMasks,
    names: string,
    check: (bytes: number) => void,
  ): Promise<JsonBytes> {
    if (masks === undefined) {
      // Waiting threads share the bytes, without copies.
      const answer = new Uint8Array(new SharedArrayBuffer(least));
      await fill(answer, head, texts.count, (index) => texts.text(index));
      return new JsonBytes(answer);
    }
    const parts: Uint8Array[] = [];
    let [bytes, read] = [least, 0];
    for (let index = 0; index < texts.count; index++) {
      const part = this.#maskedText(texts, index, masks, names);
      parts.push(part.text);
      bytes += part.text.length;
      check(bytes);
      read += part.read;
      if (read < MASKED_AT_ONCE) continue;
      await nextTurn();
      read = 0;
    }
    const answer = new Uint8Array(new SharedArrayBuffer(bytes));
    await fill(answer, head, parts.length, (index) => parts[index] ?? NOTHING);
    return new JsonBytes(answer);
  }

  /** A masked object, with the number of bytes parsed for it. */
  #maskedText(
    texts: ObjectTexts,
    index: number,
    masks: FieldMasks,
    names: string,
  ): { readonly text: Uint8Array; readonly read: number } {
    let known = this.#masked.get(names);
    if (known === undefined) {
      known = new LRUCache({ maxSize: MASKED_BYTES, sizeCalculation: ({ length }) => 1 + length });
      this.#masked.set(names, known);
    }
    const identity = texts.identity(index);
    const kept = known.get(identity);
    if (kept !== undefined) return { text: kept, read: 0 };
    const whole = texts.text(index);
    const text = Buffer.from(stringifyJson(masked(parseJson(Buffer.from(whole).toString("utf8")), masks)));
    known.set(identity, text);
    return { text, read: whole.length };
  }
}

/** An answer that is being made with a size limit, or was made. */
interface Made {
  making: Promise<JsonBytes> | undefined;
  readonly room: number;
  answer?: WeakRef<JsonBytes>;
}

const NOTHING = new Uint8Array();
const END = Buffer.from("]}");

/** Writes a list's text, giving up its turn in between. */
async function fill(
  answer: Uint8Array,
  head: Uint8Array,
  count: number,
  part: (index: number) => Uint8Array,
): Promise<void> {
  answer.set(head);
  let at = head.length;
  let turn = at;
  for (let index = 0; index < count; index++) {
    if (index > 0) answer[at++] = COMMA;
    const bytes = part(index);
    answer.set(bytes, at);
    at += bytes.length;
    if (at - turn < BYTES_AT_ONCE) continue;
    await nextTurn();
    turn = at;
  }
  answer.set(END, at);
}

const COMMA = 0x2c;

const tooLarge = (apiVersion: string, kind: string, bytes: number, room: number): PublicError =>
  new PublicError(
    `the list of ${apiVersion}/${kind} has ${bytes} bytes or more, and the policy's memory may have ${room} in all: ` +
      "narrow it by a namespace, selectors or field masks, or raise the policy's memory limit",
  );
