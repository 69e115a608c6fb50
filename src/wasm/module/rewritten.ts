/** All that is done to a module's bytes before the engine compiles them: limits, state, small functions, floor or marks, metering. */

import { WasmLoadError } from "../errors.js";
import { HOST_MODULE, MEMORY_NAME } from "../names.js";
import { rewriteModule } from "../rewrite/binary/rewrite.js";
import { readSections, SECTION_CODE } from "../rewrite/binary/sections.js";
import type { GuestMemory } from "../rewrite/binary/types.js";
import { floorFor } from "../rewrite/floor/floor.js";
import { raiseStores } from "../rewrite/floor/raise-stores.js";
import { inlineCalls } from "../rewrite/inline-functions/inline-calls.js";
import { meterModule } from "../rewrite/meter/meter.js";
import type { IndexSpaces } from "../rewrite/meter/segments.js";
import { type Extracted, extractState } from "../rewrite/snapshot/extract.js";
import type { MemorySnapshot } from "../rewrite/snapshot/memory-snapshot.js";
import { type Marking, markingFor } from "../rewrite/write-barriers/marking.js";
import { METADATA_SECTION } from "./metadata.js";

/**
 * Bytes of code up to which a module marks what it writes to, and from which on. Between them are policies that compute for some tenths of a millisecond in a memory of a
 * MiB or two: marking costs them more than to look through it, or through what is above a floor. Larger ones bring along engines, such as for patterns, whose states have many
 * MiB.
 */
const LITTLE_CODE = 64 * 1024;
const MUCH_CODE = 1536 * 1024;
/**
 * Pages of a memory from which on its module marks its writes: scanning a page takes a microsecond, and marking a twentieth to a sixth of the guest's
 * time.
 */
const MARKED_PAGES = 8;

/**
 * Bytes of code up to which a module may have a floor. It is metered again without one, on the main thread and at a stretch, when a call first runs on a thread: that takes
 * some 30 ms for a hundred KiB. And what begins on threads anyway would be compiled twice at load.
 */
const FLOORED_CODE = 256 * 1024;

/**
 * Custom sections that are read, with the most bytes that they may have; the engine would keep the others in each process as long as the module. A metadata section that is
 * larger than it may be is refused where it is read. The names of functions of a Go program of 20 MB have one MiB.
 */
const CUSTOM_SECTIONS = { [METADATA_SECTION]: Number.POSITIVE_INFINITY, name: 4 * 1024 * 1024 } as const;

/** A module to be rewritten. */
export interface RewriteOrder {
  readonly bytes: Uint8Array;
  /** Most pages of its memory. */
  readonly maximumPages: number;
  /**
   * Its role in its policy: the only module, the main one of several, or one beside that. A captured state does not include imports between modules;
   * modules beside the main one keep their memory, with the same limit.
   */
  readonly role: "only" | "main" | "beside";
}

/** A module that can be compiled; data only, so that another thread may have made it. */
export interface Rewritten {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The original bytes with changed memory and limits, without unused custom sections. */
  readonly limited: Uint8Array<ArrayBuffer>;
  /** The memory that it imports now, if it has one. */
  readonly memory?: GuestMemory;
  /** The first content of its memory; absent: zeros, or it writes its data itself. */
  readonly image?: MemorySnapshot;
  /** The reason why no state of its instances can be captured. */
  readonly coldBecause?: string;
  readonly marking?: Marking;
  /** An address below which it can't write, and what the module without that is made of. */
  readonly floor?: {
    readonly address: number;
    readonly unmetered: Uint8Array<ArrayBuffer>;
    readonly own?: IndexSpaces;
  };
}

/**
 * Rewrites a module.
 * @throws WasmLoadError
 */
export function rewritten({ bytes, maximumPages, role }: RewriteOrder): Rewritten {
  if (role === "beside") {
    const { bytes: limited } = rewriteModule(bytes, { maximumPages, customSections: CUSTOM_SECTIONS });
    return { limited, bytes: meterModule(inlineCalls(limited)) };
  }
  const { bytes: limited, importedMemory: memory } = rewriteModule(bytes, {
    maximumPages,
    importMemoryAs: { module: HOST_MODULE, name: MEMORY_NAME },
    customSections: CUSTOM_SECTIONS,
  });
  const extracted: Extracted =
    role === "main" ? { bytes: limited, coldBecause: "it has several modules" } : extractState(limited, memory);
  const { own, image, coldBecause } = extracted;
  const expanded = inlineCalls(extracted.bytes, own);
  const common = {
    limited,
    ...(memory && { memory }),
    ...(image && { image }),
    ...(coldBecause !== undefined && { coldBecause }),
  };
  const metered = (): Uint8Array<ArrayBuffer> => meterModule(expanded, undefined, own);
  if (!memory || coldBecause !== undefined) return { ...common, bytes: metered() };
  const code = readSections(extracted.bytes).find(({ id }) => id === SECTION_CODE)?.body.length ?? 0;
  const marking = markingOf(code, memory);
  const marked = marking && unlessRefused(() => meterModule(expanded, marking, own));
  if (marking && marked) return { ...common, bytes: marked, marking };
  const mayHaveFloor = marking === undefined && code <= FLOORED_CODE;
  const address = mayHaveFloor && image ? floorFor(expanded, image) : undefined;
  const raised = address === undefined ? undefined : raiseStores(expanded, address);
  const above = raised && unlessRefused(() => meterModule(raised, undefined, own));
  if (address === undefined || !above) return { ...common, bytes: metered() };
  return { ...common, bytes: above, floor: { address, unmetered: expanded, ...(own && { own }) } };
}

/** The module that has a floor, without it. @throws WasmLoadError */
export function withoutFloor({ unmetered, own }: NonNullable<Rewritten["floor"]>): Uint8Array<ArrayBuffer> {
  return meterModule(unmetered, undefined, own);
}

/** The marking for a module with this many bytes of code; undefined: restoring all of its memory takes no longer than marking. */
function markingOf(code: number, memory: GuestMemory): Marking | undefined {
  if (memory.initial < MARKED_PAGES) return undefined;
  return code <= LITTLE_CODE || code >= MUCH_CODE ? markingFor(memory.initial, code >= MUCH_CODE) : undefined;
}

/** The result of `make`, unless a function became too large by it, or the module has unknown parts, which metering reports. */
function unlessRefused<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof WasmLoadError) return undefined;
    throw error;
  }
}
