/** What the policies of a test can ask about: what its files say (spec kyverno.md 4.7 and 8.6). */
import type { Values } from "../scan/circumstances.js";
import type { Resource } from "../scan/resource.js";
import { NO_OPINION } from "../world/authorizer/authorizer.js";
import { FileResources } from "../world/resources/file-resources.js";
import type { World } from "../world/world.js";
import type { TestDocument } from "./test-file.js";

/** Where the data come from. */
export interface TestData {
  readonly document: TestDocument;
  /** A path of the test's as one that can be opened. */
  readonly at: (path: string) => string;
  readonly values: Values;
  readonly resources: readonly Resource[];
  readonly say: (line: string) => void;
}

/** The world of a test. */
export async function worldOfTest({ values }: TestData): Promise<World> {
  return { resources: new FileResources(values.namespaces), authorizer: NO_OPINION, now: () => performance.now() };
}
