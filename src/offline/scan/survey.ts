/** A look over all files before the first resource is judged: how many there are, and the exceptions among them (spec kyverno.md 5.1 and 8.9). */
import type { ExceptionResource } from "../../kinds/kyverno/index.js";
import { readResource } from "../../kinds/kyverno/read.js";
import { CONTEXT_ENTRY_KIND, EXCEPTION_KIND } from "../../kinds/kyverno/resource.js";
import type { InputFile } from "./input-files.js";
import { jsonDoubts } from "./json-doubts.js";
import type { KnownKinds } from "./known-kinds.js";
import { type Doubts, judged, type Resource, readResources } from "./resource.js";
import type { Batch } from "./split/batch.js";
import { split } from "./split/split.js";

/** What was found. */
export interface Survey {
  readonly resources: number;
  /** The name of the first one. */
  readonly first: string;
  readonly exceptions: readonly ExceptionResource[];
  /** The resources themselves, when there are so few that they need not be read again. */
  readonly held: readonly Resource[] | undefined;
  /** What is doubtful in files whose resources are held. */
  readonly warnings: readonly string[];
}

/** Bytes of files whose resources are held: of them a mistake at the end is said before anything is judged. Objects take some ten times as much. */
const HELD_BYTES = 4 * 1024 * 1024;

/**
 * Looks over the files.
 * @throws ScanError as reading does, for as much as is read
 */
export async function survey(files: readonly InputFile[], kinds: KnownKinds): Promise<Survey> {
  const hold = files.reduce((sum, { bytes }) => sum + bytes, 0) <= HELD_BYTES;
  const held: Resource[] = [];
  const exceptions: ExceptionResource[] = [];
  const warnings: string[] = [];
  const repeating = new Set<string>();
  const doubts: Doubts = { warn: (line) => warnings.push(line), repeated: (file) => repeating.add(file) };
  let resources = 0;
  let first: string | undefined;
  for await (const batch of batchesOf(files)) {
    if (!hold && first !== undefined && !needsReading(batch)) {
      resources += batch.ends.length;
      continue;
    }
    const read = judged(readResources(batch, kinds, hold ? doubts : undefined));
    resources += read.length;
    first ??= read[0]?.name;
    if (hold) held.push(...read);
    for (const { kind, object } of read) if (kind === EXCEPTION_KIND) exceptions.push(...exceptionOf(object));
  }
  for (const file of files) if (repeating.has(file.name)) warnings.push(...(await jsonDoubts(file)));
  return { resources, first: first ?? "", exceptions, held: hold ? held : undefined, warnings };
}

/** All that stands in files, in order. */
export async function* batchesOf(files: readonly InputFile[]): AsyncGenerator<Batch> {
  for (const file of files) yield* split(file.name, file.read());
}

/** Where a text may be more than one resource, none, or an exception: each of these stands in it somewhere. */
const NEED_READING = [EXCEPTION_KIND, CONTEXT_ENTRY_KIND, "List"];

function needsReading({ bytes }: Batch): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return NEED_READING.some((word) => buffer.includes(word));
}

function exceptionOf(object: unknown): readonly ExceptionResource[] {
  const read = readResource(object);
  return read.kind === "exception" ? [read.resource] : [];
}
