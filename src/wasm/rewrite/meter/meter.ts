/**
 * Metered modules: the code checks its fuel at every function's entry and every loop's begin, and asks its host for more when it is used up.
 *
 * The module imports one more function, {@link METER_MODULE}.{@link REFILL} of type () -> i32: units for the next slice, or 0 and less to end the
 * guest by a trap, which the guest can't catch. It has one more global, the fuel, and some functions (`helpers.ts`), all of them behind its own, so
 * that it can't refer to them. At any time it has run at most as many units (`weights.ts`) as it was given, and those of one segment, one function
 * without a charge and one bulk operation, which is charged by its length before it runs.
 */

import { WasmLoadError } from "../../errors.js";
import { highMarksName, lowMarksName } from "../../names.js";
import { HEADER, Reader } from "../binary/reader.js";
import {
  bodyOf,
  KIND_FUNCTION,
  NO_ENTRIES,
  readImports,
  readSections,
  SECTION_CODE,
  SECTION_CUSTOM,
  SECTION_ELEMENT,
  SECTION_EXPORT,
  SECTION_FUNCTION,
  SECTION_GLOBAL,
  SECTION_IMPORT,
  SECTION_MEMORY,
  SECTION_START,
  SECTION_TABLE,
  SECTION_TYPE,
  type Section,
  withSections,
} from "../binary/sections.js";
import { readTypes } from "../binary/types.js";
import { Writer } from "../binary/writer.js";
import type { Marking } from "../write-barriers/marking.js";
import { markGlobal, RANGE_TYPE } from "../write-barriers/write-marks.js";
import { meterCode } from "./code.js";
import { ADDED_TYPES, HELPERS, METER_MODULE, type MeterIndices, REFILL, REFILL_TYPE, typeOfHelper } from "./helpers.js";
import type { IndexSpaces } from "./segments.js";
import { Shift } from "./shift.js";

/** A mutable i32 that is 0: the first charge asks the host. */
const FUEL = Uint8Array.of(0x7f, 1, 0x41, 0, 0x0b);

/** Sections in which metering adds an entry. */
const ADDED_TO = [SECTION_TYPE, SECTION_IMPORT, SECTION_FUNCTION, SECTION_GLOBAL, SECTION_CODE] as const;

/**
 * Meters a module.
 * @param marking how it notes what it writes to; absent: it does not
 * @param own numbers of the guest's own functions and globals; the first global behind them has the pages of its memory
 *   (`snapshot/extract.ts`). Absent: all are its own, and its memory has the size of the memory itself
 * @throws WasmLoadError `wasm-invalid` when the bytes are not a module, `wasm-meter` when it has unknown parts,
 *   `wasm-imports` when it has the meter's own import
 */
export function meterModule(bytes: Uint8Array, marking?: Marking, own?: IndexSpaces): Uint8Array<ArrayBuffer> {
  const sections = readSections(bytes);
  const body = (id: number): Uint8Array => bodyOf(sections, id) ?? NO_ENTRIES;
  const types = readTypes(body(SECTION_TYPE));
  if (!types.complete)
    throw new WasmLoadError("wasm-meter", `type ${types.types.length} is of a form that is not known`);
  const imports = readImports(body(SECTION_IMPORT));
  if (imports.functionModules.has(METER_MODULE))
    throw new WasmLoadError("wasm-imports", `the module imports from ${METER_MODULE}, which is the host's own`);
  const defined = readFunctionTypes(body(SECTION_FUNCTION));
  const importedFunctions = imports.functions.length;
  const functions = importedFunctions + defined.length;
  const globals = imports.globals + new Reader(body(SECTION_GLOBAL), 0).unsigned();
  const indices: MeterIndices = {
    refill: importedFunctions,
    helpers: functions + 1,
    fuel: globals,
    hasMemory: imports.memories + new Reader(body(SECTION_MEMORY), 0).unsigned() > 0,
    ...(own && { size: own.globals }),
  };
  const parameters = defined.map((type) => types.types[type]?.parameters.length ?? 0);
  const shift = new Shift(importedFunctions, { functions, globals });
  const meterCodeOf = ({ body: old, at }: Section) => {
    const functionTypes = [...imports.functions, ...defined];
    const context = {
      functions,
      globals,
      own: own ?? { functions, globals },
      importedFunctions,
      parameters,
      types: types.types,
      functionTypes,
    };
    const source = at < 0 ? { bytes: old, start: 0 } : { bytes, start: at };
    return meterCode(source.bytes, { start: source.start, end: source.start + old.length }, context, indices, marking);
  };
  const all = withSections(sections, marking ? [...ADDED_TO, SECTION_EXPORT] : ADDED_TO);
  const codeSection = all.find(({ id }) => id === SECTION_CODE);
  const metered = codeSection && meterCodeOf(codeSection);
  const marks = metered?.always && addedByMarks(metered.always);
  const rewrite = ({ id, body: old }: Section): Uint8Array | undefined => {
    switch (id) {
      case SECTION_CUSTOM:
        return shift.custom(old);
      case SECTION_TYPE:
        return withEntries(old, marks ? [...ADDED_TYPES, RANGE_TYPE] : ADDED_TYPES);
      case SECTION_IMPORT:
        return withEntries(old, [refillImport(types.types.length + REFILL_TYPE)]);
      case SECTION_FUNCTION:
        return withEntries(
          old,
          [...HELPERS.map(typeOfHelper), ...(marks?.types ?? [])].map((type) => unsigned(types.types.length + type)),
        );
      case SECTION_TABLE:
        return shift.tables(old);
      case SECTION_GLOBAL:
        return shift.globals(old, [FUEL, ...(marks?.globals ?? [])]);
      case SECTION_EXPORT:
        return withEntries(shift.exports(old), marks?.exportsFrom(indices.helpers + HELPERS.length) ?? []);
      case SECTION_START:
        return shift.start(old);
      case SECTION_ELEMENT:
        return shift.elements(old);
      default:
        return old;
    }
  };
  const out = new Writer(Math.ceil(bytes.length * 1.3) + 1_024);
  out.raw(HEADER);
  for (const section of all) {
    if (section.id === SECTION_CODE && metered) {
      out.section(SECTION_CUSTOM, metered.hints);
      out.section(SECTION_CODE, metered.body);
      continue;
    }
    const rewritten = rewrite(section);
    if (rewritten) out.section(section.id, rewritten);
  }
  return out.finish();
}

/** Additions of marks to a module beside its code. */
function addedByMarks(always: readonly bigint[]) {
  const names = always.flatMap((_, level) => [lowMarksName(level), highMarksName(level)]);
  return {
    types: [ADDED_TYPES.length, ...names.map(() => REFILL_TYPE)],
    globals: always.map(markGlobal),
    exportsFrom: (first: number) =>
      names.map((name, number) => {
        const out = new Writer();
        out.text(name);
        out.byte(KIND_FUNCTION);
        out.unsigned(first + 1 + number);
        return out.finish();
      }),
  };
}

function withEntries(body: Uint8Array, added: readonly ArrayLike<number>[]): Uint8Array {
  const reader = new Reader(body, 0);
  const out = new Writer(body.length + 64);
  out.unsigned(reader.unsigned() + added.length);
  out.copy(body, reader.position, body.length);
  for (const entry of added) out.raw(entry);
  return out.view();
}

function refillImport(type: number): Uint8Array {
  const out = new Writer();
  out.text(METER_MODULE);
  out.text(REFILL);
  out.byte(KIND_FUNCTION);
  out.unsigned(type);
  return out.view();
}

function unsigned(value: number): Uint8Array {
  const out = new Writer();
  out.unsigned(value);
  return out.view();
}

function readFunctionTypes(body: Uint8Array): readonly number[] {
  const reader = new Reader(body, 0);
  const types: number[] = [];
  for (let left = reader.unsigned(); left > 0; left--) types.push(reader.unsigned());
  return types;
}
