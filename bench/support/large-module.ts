/** A module as large as those that bring a language's runtime along, made of a small one: what it does stays the same, and each is another one. */
import { HEADER, Reader } from "../../src/wasm/rewrite/binary/reader.js";
import {
  readSections,
  SECTION_CODE,
  SECTION_CUSTOM,
  SECTION_FUNCTION,
} from "../../src/wasm/rewrite/binary/sections.js";
import { Writer } from "../../src/wasm/rewrite/binary/writer.js";

/**
 * The module with copies of its functions behind them, which nobody calls.
 * @param least bytes of its code
 * @param name what tells it from others
 */
export function largeModule(module: Uint8Array, least: number, name: string): Uint8Array {
  const sections = readSections(Uint8Array.from(module));
  const own = (id: number): Uint8Array => sections.find((section) => section.id === id)?.body ?? new Uint8Array([0]);
  const types = new Reader(own(SECTION_FUNCTION), 0);
  const typesOf = Array.from({ length: types.unsigned() }, () => types.unsigned());
  const code = own(SECTION_CODE);
  const times = Math.ceil(least / code.length);
  const [functions, bodies] = [new Writer(), new Writer(least)];
  const reader = new Reader(code, 0);
  const count = reader.unsigned();
  functions.unsigned(count * times);
  bodies.unsigned(count * times);
  for (let time = 0; time < times; time++) {
    for (const type of typesOf) functions.unsigned(type);
    bodies.raw(code.subarray(reader.position));
  }
  const label = new Writer();
  label.text(name);
  const out = new Writer(least);
  out.raw(HEADER);
  const made = new Map([
    [SECTION_FUNCTION, functions.view()],
    [SECTION_CODE, bodies.view()],
  ]);
  for (const { id, body } of sections) out.section(id, made.get(id) ?? body);
  out.section(SECTION_CUSTOM, label.view());
  return out.finish();
}
