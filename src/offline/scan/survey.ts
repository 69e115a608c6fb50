/** Reads all files before the first resource is evaluated: the number of resources, and the exceptions among them (spec kyverno.md 5.1 and 8.9). */
import { type ExceptionResource, isOldException } from "../../kinds/kyverno/index.js";
import { readResource } from "../../kinds/kyverno/read.js";
import { CONTEXT_ENTRY_KIND, EXCEPTION_KIND } from "../../kinds/kyverno/resource.js";
import type { InputFile } from "./input-files.js";
import { jsonDoubts } from "./json-doubts.js";
import type { KnownKinds } from "./known-kinds.js";
import { type Doubts, judged, type Resource, readResources } from "./resource.js";
import type { Batch } from "./split/batch.js";
import { split } from "./split/split.js";

/** The result of the survey. */
export interface Survey {
  readonly resources: number;
  /** The name of the first one. */
  readonly first: string;
  readonly exceptions: readonly ExceptionResource[];
  /** The errors of PolicyExceptions that can't be read. */
  readonly unreadable: readonly string[];
  /** The resources themselves, if they are few enough to be kept. */
  readonly held: readonly Resource[] | undefined;
  /** Paths of the command line without any resource. */
  readonly empty: readonly string[];
  /** Warnings about files whose resources are kept. */
  readonly warnings: readonly string[];
}

/** Most bytes of files whose resources are kept: an error at their end is reported before any evaluation. Objects take some ten times as much. */
const HELD_BYTES = 4 * 1024 * 1024;

/**
 * Surveys the files.
 * @param paths those that were named, which each should have a resource
 * @throws ScanError for unreadable parts
 */
export async function survey(
  files: readonly InputFile[],
  kinds: KnownKinds,
  paths: readonly string[] = [],
): Promise<Survey> {
  const hold = files.reduce((sum, { bytes }) => sum + bytes, 0) <= HELD_BYTES;
  const held: Resource[] = [];
  const exceptions: ExceptionResource[] = [];
  const unreadable: string[] = [];
  const warnings = new Set<string>();
  const repeating = new Set<string>();
  const doubts: Doubts = { warn: (line) => warnings.add(line), repeated: (file) => repeating.add(file) };
  let resources = 0;
  let first: string | undefined;
  const full = new Set<string>();
  for (const file of files) {
    for await (const batch of batchesOf([file])) {
      if (!hold && first !== undefined && !needsReading(batch)) {
        resources += batch.ends.length;
        full.add(file.given);
        continue;
      }
      const all = readResources(batch, kinds, hold ? doubts : undefined);
      const read = judged(all);
      if (all.length > 0) full.add(file.given);
      resources += read.length;
      first ??= read[0]?.name;
      if (hold) held.push(...read);
      for (const { kind, object } of read) {
        if (kind !== EXCEPTION_KIND) continue;
        const found = readResource(object);
        if (found.kind === "exception") exceptions.push(found.resource);
        if (isOldException(object)) exceptions.push(object as unknown as ExceptionResource);
        if (found.kind === "unreadable") unreadable.push(`${batch.file}: ${found.text}`);
      }
    }
  }
  const empty = [...new Set(paths)].filter((path) => !full.has(path));
  for (const file of files) if (repeating.has(file.name)) for (const line of await jsonDoubts(file)) warnings.add(line);
  return {
    resources,
    first: first ?? "",
    exceptions,
    unreadable,
    held: hold ? held : undefined,
    empty,
    warnings: [...warnings],
  };
}

/** The batches of files, in order. */
export async function* batchesOf(files: readonly InputFile[]): AsyncGenerator<Batch> {
  for (const file of files) yield* split(file.name, file.read());
}

/** Words in a text that may be several resources, none, or an exception: such a text must be parsed. */
const NEED_READING = [EXCEPTION_KIND, CONTEXT_ENTRY_KIND, "List"];

function needsReading({ bytes }: Batch): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return NEED_READING.some((word) => buffer.includes(word));
}
