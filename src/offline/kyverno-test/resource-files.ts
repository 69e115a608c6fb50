/** The resources of a test, out of its files (spec kyverno.md 8.2). */
import { Inputs } from "../scan/input-files.js";
import { jsonDoubts } from "../scan/json-doubts.js";
import type { KnownKinds } from "../scan/known-kinds.js";
import { type Resource, readResources } from "../scan/resource.js";
import { ScanError } from "../scan/scan-error.js";
import { split } from "../scan/split/split.js";
import { TestRunError } from "./run-error.js";

/** Resources, each once. */
export interface TestResources {
  readonly resources: readonly Resource[];
  /** Those that an earlier one had the kind and name of. */
  readonly duplicates: readonly Resource[];
}

/**
 * Reads the resources of files and folders.
 * @param warn told of what is doubtful in them
 * @throws TestRunError for what cannot be read
 */
export async function loadResources(
  paths: readonly string[],
  kinds: KnownKinds,
  warn: (line: string) => void,
): Promise<TestResources> {
  const found = new Map<string, Resource>();
  const duplicates: Resource[] = [];
  const inputs = new Inputs();
  try {
    for (const file of await inputs.files(paths)) {
      let repeats = false;
      const repeated = (): void => {
        repeats = true;
      };
      for await (const batch of split(file.name, file.read())) {
        for (const resource of readResources(batch, kinds, { warn, repeated })) {
          const { group, kind, namespace, name } = resource;
          const key = JSON.stringify([group, kind, namespace, name]);
          if (found.has(key)) duplicates.push(resource);
          else found.set(key, resource);
        }
      }
      if (repeats) for (const doubt of await jsonDoubts(file)) warn(doubt);
    }
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    throw new TestRunError(`error: failed to load resources (${error.message})`, { cause: error });
  } finally {
    await inputs.close();
  }
  return { resources: [...found.values()], duplicates };
}
