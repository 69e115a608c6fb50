/** The world of a test's policies, from its files (spec kyverno.md 4.7 and 8.6). */
import { errorText } from "../../data/error-text.js";
import { parseSuspectYaml, warningText, type YamlError } from "../../data/yaml.js";
import {
  mockedAnswers,
  parseClusterResources,
  parseContextFile,
  type Read,
  writtenEntries,
} from "../../kinds/kyverno/offline/index.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { NO_OPINION } from "../../world/authorizer/authorizer.js";
import type { ExternalData } from "../../world/external.js";
import { ContextImages } from "../../world/images/context-images.js";
import { KnownKinds } from "../../world/objects/known-kinds.js";
import { MemoryObjects } from "../../world/objects/memory-objects.js";
import { commandLineData, fakeClusterData } from "../../world/offline-values.js";
import { FileResources } from "../../world/resources/file-resources.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import type { World } from "../../world/world.js";
import type { Values } from "../scan/circumstances.js";
import { textOf } from "../scan/input-files.js";
import type { ScanTools } from "../scan/open-scan.js";
import type { Resource } from "../scan/resource.js";
import { TestRunError } from "./run-error.js";
import type { TestDocument } from "./test-file.js";

/** Surroundings of a test: HTTP without a mock, images, and the loader of other kinds of policies. */
export type TestSurroundings = Omit<ScanTools, "cluster">;

/** The sources of a test's data. */
export interface TestData {
  readonly document: TestDocument;
  /** Resolves a path of the test. */
  readonly at: (path: string) => string;
  readonly values: Values;
  readonly resources: readonly Resource[];
  readonly mocks: TestMocks;
  /** The requester's bindings of roles. */
  readonly bindings: readonly JsonObject[];
  /** The first subject, for messages; `undefined`: none, and no context is needed. */
  readonly about: string | undefined;
}

/** Mocks of a test for data that would be fetched. */
export interface TestMocks {
  /** Answers of HTTP servers, by method and address. */
  readonly answers: ReadonlyMap<string, JsonObject>;
  /** Entries of the global context, by name. */
  readonly entries: ReadonlyMap<string, unknown>;
}

/** Objects in a test's cluster beside its resources. */
export interface ClusterObjects {
  readonly definitions: readonly JsonObject[];
  readonly objects: readonly JsonObject[];
}

/**
 * Reads the cluster resources of a test; `undefined` when it has none.
 * @param warn receives warnings about them, with the place
 * @throws TestRunError
 */
export async function loadCluster(
  { document: { clusterResources }, at }: Pick<TestData, "document" | "at">,
  warn: (line: string) => void,
): Promise<ClusterObjects | undefined> {
  if (clusterResources.length === 0) return undefined;
  const objects: JsonObject[] = [];
  const definitions: JsonObject[] = [];
  for (const path of clusterResources.map(at)) {
    const refused = (reason: string) => new TestRunError(`error: failed to load Kubernetes resources: ${reason}`);
    const read = unwrapped(
      parseClusterResources(textOf(path, refused), (doubt) => warn(warningText(doubt, path))),
      refused,
    );
    objects.push(...read.objects);
    for (const crd of read.crds.map(at)) {
      const unusable = (reason: string) => new TestRunError(`error: failed to load CRDs from path ${crd}: ${reason}`);
      const doubted = (doubt: YamlError): void => warn(warningText(doubt, crd));
      definitions.push(definitionOf(textOf(crd, unusable), unusable, doubted));
    }
  }
  return { definitions, objects };
}

/** The relevant document of a definition's file. */
function definitionOf(
  written: string,
  unusable: (reason: string) => Error,
  doubted: (doubt: YamlError) => void,
): JsonObject {
  try {
    const [definition] = parseSuspectYaml(written, doubted);
    if (isObject(definition)) return definition;
  } catch (error) {
    throw unusable(errorText(error));
  }
  throw unusable("it holds no object");
}

/**
 * The world of a test.
 * @param cluster with it, context, mocks and entries are ignored
 * @throws TestRunError
 */
export async function worldOfTest(
  data: TestData,
  cluster: ClusterObjects | undefined,
  network: TestSurroundings,
): Promise<World> {
  const external = cluster === undefined ? await filesOf(data, network) : clusterOf(data, cluster, network);
  const { now, date } = network;
  return { resources: new FileResources(data.values.namespaces), authorizer: NO_OPINION, external, now, date };
}

/**
 * Reads the mocks of a test. Errors in them are reported whether they are used or not.
 * @param warn receives warnings about their files, with the place
 * @throws TestRunError
 */
export async function loadMocks(
  { apiCallResponses, globalContextEntries }: TestDocument,
  at: (path: string) => string,
  warn: (line: string) => void,
): Promise<TestMocks> {
  const refused = (reason: string) => new TestRunError(reason);
  const answers = unwrapped(mockedAnswers(apiCallResponses), refused);
  const unreadable = (reason: string) => new Error(`read: ${reason}`);
  const written = await writtenEntries(globalContextEntries, {
    text: async (path) => textOf(at(path), unreadable),
    doubted: (doubt, path) => warn(warningText(doubt, at(path))),
  });
  return { answers, entries: unwrapped(written, refused) };
}

async function filesOf(
  { document, at, mocks, about, bindings }: TestData,
  { http, trust, images }: TestSurroundings,
): Promise<ExternalData> {
  const { context = "" } = document;
  const { answers, entries } = mocks;
  const given = { entries, bindings, mocks: answers };
  if (context === "" || about === undefined) return commandLineData(given, http, trust, images);
  const refused = (reason: string) => new TestRunError(`${about} (${reason})`);
  const read = unwrapped(parseContextFile(textOf(at(context), refused), new KnownKinds()), refused);
  return commandLineData({ ...read, ...given }, http, trust, images);
}

function clusterOf(
  { resources, values }: TestData,
  cluster: ClusterObjects,
  { http, trust, images }: TestSurroundings,
): ExternalData {
  const own = resources.map(({ object }) => object);
  const kinds = new KnownKinds(cluster.definitions);
  const objects = new MemoryObjects([...own, ...cluster.objects, ...cluster.definitions], kinds);
  for (const resource of resources) mustBeKnown(resource, objects, values);
  return fakeClusterData(objects, { http, images: new ContextImages(undefined, images), trust });
}

/** Checks that a resource has a known kind, and an existing Namespace, as in a cluster. */
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
