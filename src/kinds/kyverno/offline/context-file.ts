/** Kyverno's files with data for tests: Context and ClusterResource (spec kyverno.md 8.6). */

import { withDoubles } from "../../../data/doubles.js";
import { errorText } from "../../../data/error-text.js";
import { parseSuspectYaml, type YamlError } from "../../../data/yaml.js";
import { parseApiVersion } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../../kubernetes/object.js";
import type { ContextObject } from "../../../world/objects/context-objects.js";
import { type KnownKinds, noSuchKind } from "../../../world/objects/known-kinds.js";
import { type ApiType, any, list, string, struct } from "../../shared/decode/api-type.js";
import { decodeAsGo } from "../../shared/decode/go-json.js";
import { failed, type Read, read } from "./read.js";

/** The contents of a context file. */
export interface ContextData {
  readonly objects: readonly ContextObject[];
  /** Images by reference. */
  readonly images: ReadonlyMap<string, JsonObject>;
}

/** The contents of a file of cluster resources. */
export interface ClusterResources {
  /** Paths of definitions, relative to the file's test. */
  readonly crds: readonly string[];
  readonly objects: readonly JsonObject[];
}

const IMAGE = struct("v1alpha1.ImageData", {
  image: string(),
  resolvedImage: string(),
  registry: string(),
  repository: string(),
  tag: string(),
  digest: string(),
  imageIndex: any,
  manifest: any,
  config: any,
});
const CONTEXT = document("v1alpha1.Context", { resources: list(any), images: list(IMAGE) });
const CLUSTER = document("v1alpha1.ClusterResource", { crds: list(string()), resources: list(any) });

function document(go: string, spec: Readonly<Record<string, ApiType>>): ApiType {
  return struct(go, { apiVersion: string(), kind: string(), metadata: any, spec: struct(`${go}Spec`, spec) });
}

interface Written {
  readonly spec?: {
    readonly resources?: readonly unknown[];
    readonly images?: readonly JsonObject[];
    readonly crds?: readonly string[];
  };
}

/**
 * Reads a context file.
 * @param kinds the known kinds of objects: one of another kind ends the run
 */
export function parseContextFile(source: string, kinds: KnownKinds): Read<ContextData> {
  const decoded = decodedFile(source, CONTEXT);
  if (!decoded.ok) return decoded;
  const { resources = [], images = [] } = decoded.value.spec ?? {};
  const objects: ContextObject[] = [];
  for (const object of resources) {
    if (!isObject(object)) return failed("error unmarshaling JSON: a resource of the context is not an object");
    const apiVersion = text(object, "apiVersion");
    const version = parseApiVersion(apiVersion);
    const known = version && kinds.find({ ...version, kind: text(object, "kind") });
    if (known === undefined) return failed(noSuchKind(apiVersion, text(object, "kind")).message);
    objects.push({ resource: known.resource, object });
  }
  return read({ objects, images: new Map(images.map((image) => [text(image, "image"), imageOf(image)])) });
}

/**
 * Reads a file of cluster resources.
 * @param doubted receives warnings about parts that are not read
 */
export function parseClusterResources(source: string, doubted?: (warning: YamlError) => void): Read<ClusterResources> {
  const decoded = decodedFile(source, CLUSTER, doubted);
  if (!decoded.ok) return decoded;
  const { crds = [], resources = [] } = decoded.value.spec ?? {};
  return read({ crds, objects: resources.filter(isObject) });
}

/** An image: the members that always exist, and the others that are not empty. */
function imageOf(image: JsonObject): JsonObject {
  const names = Object.fromEntries(
    ["image", "resolvedImage", "registry", "repository"].map((name) => [name, text(image, name)]),
  );
  const others = Object.entries(image).filter(([, value]) => value !== "" && value !== null);
  return { ...names, ...(withDoubles(Object.fromEntries(others)) as JsonObject) };
}

/** The first document of a file: the others are ignored. */
function decodedFile(source: string, type: ApiType, warn: (warning: YamlError) => void = () => {}): Read<Written> {
  let documents: readonly unknown[];
  try {
    documents = parseSuspectYaml(source, warn, { uniqueKeys: true });
  } catch (error) {
    return failed(`error converting YAML to JSON: yaml: ${errorText(error)}`);
  }
  const decoded = decodeAsGo(documents[0] ?? {}, type);
  if (decoded.ok) return read(decoded.value as Written);
  return failed(`error unmarshaling JSON: while decoding JSON: ${decoded.error}`);
}
