/** State of an instance that its host can't read: a module whose code changes any has none that could be taken. */
import { errorText } from "../../../data/error-text.js";
import { InstructionWalker } from "../binary/instruction-walker.js";
import { codes, GC_BASE, MISC_BASE, OP } from "../binary/instructions.js";
import { Reader, skipValueType } from "../binary/reader.js";
import { SECTION_CODE, type Section } from "../binary/sections.js";

const STRUCT_SET = GC_BASE + 5;
const ARRAY_SET = GC_BASE + 14;
const DATA_DROP = MISC_BASE + 9;
const ELEMENT_DROP = MISC_BASE + 13;

/** By instruction, what it changes. */
const CHANGES: ReadonlyMap<number, string> = new Map([
  [OP.tableSet, "its tables"],
  [OP.tableInit, "its tables"],
  [OP.tableCopy, "its tables"],
  [OP.tableGrow, "its tables"],
  [OP.tableFill, "its tables"],
  [STRUCT_SET, "objects"],
  [ARRAY_SET, "objects"],
  [OP.arrayFill, "objects"],
  [OP.arrayCopy, "objects"],
  [OP.arrayInitData, "objects"],
  [OP.arrayInitElem, "objects"],
  [DATA_DROP, "its segments"],
  [ELEMENT_DROP, "its segments"],
]);

const CHANGING = codes(...CHANGES.keys());

/** @returns why no state can be taken, undefined when all of it is in memory and globals */
export function unseenState(sections: readonly Section[]): string | undefined {
  const code = sections.find(({ id }) => id === SECTION_CODE);
  if (!code) return undefined;
  try {
    const changed = firstChange(code.body);
    return changed === undefined ? undefined : `its code changes ${changed}`;
  } catch (error) {
    return errorText(error);
  }
}

function firstChange(body: Uint8Array): string | undefined {
  const reader = new Reader(body, 0);
  const walker = new InstructionWalker(body, 0, 0);
  for (let functions = reader.unsigned(); functions > 0; functions--) {
    const length = reader.unsigned();
    const end = reader.position + length;
    for (let groups = reader.unsigned(); groups > 0; groups--) {
      reader.unsigned();
      skipValueType(reader);
    }
    walker.moveTo(reader.position, end);
    if (walker.seek(CHANGING)) return CHANGES.get(walker.code);
    reader.position = end;
  }
  return undefined;
}
