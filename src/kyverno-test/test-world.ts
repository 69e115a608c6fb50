/** What the policies of a test can ask about: what its files say (spec kyverno.md 4.7 and 8.6). */
import { readFile } from "node:fs/promises";
import { errorText } from "../data/error-text.js";
import { parseYamlDocuments } from "../data/yaml.js";
import {
  mockedAnswers,
  parseClusterResources,
  parseContextFile,
  type Read,
  writtenEntries,
} from "../kinds/kyverno/offline/index.js";
import { isObject, type JsonObject } from "../kubernetes/object.js";
import type { Values } from "../scan/circumstances.js";
import { reasonOf } from "../scan/input-files.js";
import type { Resource } from "../scan/resource.js";
import { NO_OPINION } from "../world/authorizer/authorizer.js";
import { commandLineData, fakeClusterData } from "../world/command-line.js";
import type { ExternalData } from "../world/external.js";
import type { HttpSource } from "../world/http/http-source.js";
import { KnownKinds } from "../world/objects/known-kinds.js";
import { MemoryObjects } from "../world/objects/memory-objects.js";
import { FileResources } from "../world/resources/file-resources.js";
import { LookupFailure } from "../world/resources/resource-source.js";
import type { World } from "../world/world.js";
import { TestRunError } from "./run-error.js";
import type { TestDocument } from "./test-file.js";

/** What is outside of a test. */
export interface TestSurroundings {
  /** Asked for what no mock answers. */
  readonly http: HttpSource;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Where a test's data come from. */
export interface TestData {
  readonly document: TestDocument;
  /** A path of the test's as one that can be opened. */
  readonly at: (path: string) => string;
  readonly values: Values;
  readonly resources: readonly Resource[];
}

/** The objects that a test's cluster holds beside its resources. */
export interface ClusterObjects {
  readonly definitions: readonly JsonObject[];
  readonly objects: readonly JsonObject[];
}

/**
 * Reads the cluster resources of a test; `undefined` when it has none.
 * @throws TestRunError
 */
export async function loadCluster({
  document: { clusterResources },
  at,
}: Pick<TestData, "document" | "at">): Promise<ClusterObjects | undefined> {
  if (clusterResources.length === 0) return undefined;
  const objects: JsonObject[] = [];
  const definitions: JsonObject[] = [];
  for (const path of clusterResources.map(at)) {
    const refused = (reason: string) => new TestRunError(`error: failed to load Kubernetes resources: ${reason}`);
    const read = unwrapped(parseClusterResources(await textOf(path, refused)), refused);
    objects.push(...read.objects);
    for (const crd of read.crds.map(at)) {
      const unusable = (reason: string) => new TestRunError(`error: failed to load CRDs from path ${crd}: ${reason}`);
      definitions.push(definitionOf(await textOf(crd, unusable), unusable));
    }
  }
  return { definitions, objects };
}

/** The one document that counts in a file of a definition. */
function definitionOf(written: string, unusable: (reason: string) => Error): JsonObject {
  try {
    const [definition] = parseYamlDocuments(written);
    if (isObject(definition)) return definition;
  } catch (error) {
    throw unusable(errorText(error));
  }
  throw unusable("it holds no object");
}

/**
 * The world of a test.
 * @param cluster with it, neither context nor mocks nor entries are looked at
 * @throws TestRunError
 */
export async function worldOfTest(
  data: TestData,
  cluster: ClusterObjects | undefined,
  { http, now }: TestSurroundings,
): Promise<World> {
  const external = cluster === undefined ? await filesOf(data, http) : await clusterOf(data, cluster, http);
  return { resources: new FileResources(data.values.namespaces), authorizer: NO_OPINION, external, now };
}

async function filesOf({ document, at }: TestData, http: HttpSource): Promise<ExternalData> {
  const refused = (reason: string) => new TestRunError(reason);
  const { context = "", apiCallResponses, globalContextEntries } = document;
  const mocks = unwrapped(mockedAnswers(apiCallResponses), refused);
  const entries = unwrapped(await writtenEntries(globalContextEntries, (path) => readFile(at(path), "utf8")), refused);
  const written = context === "" ? undefined : await textOf(at(context), refused);
  const read = written === undefined ? {} : unwrapped(parseContextFile(written, new KnownKinds()), refused);
  return commandLineData({ ...read, entries, mocks }, http);
}

async function clusterOf(data: TestData, cluster: ClusterObjects, http: HttpSource): Promise<ExternalData> {
  // What is wrong with them is said all the same.
  const { images } = await filesOf({ ...data, document: { ...data.document, context: "" } }, http);
  const own = data.resources.map(({ object }) => object);
  const kinds = new KnownKinds(cluster.definitions);
  const objects = new MemoryObjects([...own, ...cluster.objects, ...cluster.definitions], kinds);
  for (const resource of data.resources) mustBeKnown(resource, objects, data.values);
  return fakeClusterData(objects, { http, images });
}

/** In a cluster, a resource is of a kind that there is, and in a Namespace that there is. */
function mustBeKnown({ apiVersion, kind, name, namespace }: Resource, objects: MemoryObjects, values: Values): void {
  const refused = (reason: string) => new TestRunError(`failed to apply policies on resource ${name} (${reason})`);
  const known = values.namespaces.some((each) => isObject(each.metadata) && each.metadata.name === namespace);
  if (namespace !== "" && kind !== "Namespace" && !known) {
    const found = objects.get({ apiVersion: "v1", resource: "namespaces", namespace: "" }, namespace);
    if (found === undefined || found instanceof LookupFailure)
      throw refused(`failed to get the resource's namespace (namespaces "${namespace}" not found)`);
  }
  const resource = objects.resourceOf(apiVersion, kind);
  if (resource instanceof LookupFailure)
    throw refused(`failed to map gvk to gvr ${apiVersion}, Kind=${kind}: ${resource.message}`);
}

function unwrapped<T>(read: Read<T>, refused: (reason: string) => Error): T {
  if (read.ok) return read.value;
  throw refused(read.error);
}

async function textOf(path: string, refused: (reason: string) => Error): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw refused(`open ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
}
