/** The images of pods and of pods' controllers: where they stand, and how their tags are replaced by digests (spec kyverno.md 9). */
import { CelError, createEnvironment, DYN, type Program, typeNameOf, type Value } from "../../../cel/index.js";
import type { GroupVersionResource } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import { ImageReference } from "../libraries/image-reference.js";

/** The lists of images, by name: those of `images` in expressions. */
export type ImageLists = Readonly<Record<string, readonly string[]>>;

const LISTS = ["containers", "initContainers", "ephemeralContainers"] as const;

const POD = ["spec"];
const TEMPLATE = ["spec", "template", "spec"];
const CRON_JOB = ["spec", "jobTemplate", "spec", "template", "spec"];

/** The groups, and the place of the pod's spec, by resources of the version v1. */
const SPEC_OF_RESOURCE: ReadonlyMap<string, readonly [group: string, path: readonly string[]]> = new Map([
  ["pods", ["", POD]],
  ["jobs", ["batch", TEMPLATE]],
  ["deployments", ["apps", TEMPLATE]],
  ["statefulsets", ["apps", TEMPLATE]],
  ["daemonsets", ["apps", TEMPLATE]],
  ["replicasets", ["apps", TEMPLATE]],
  ["cronjobs", ["batch", CRON_JOB]],
]);

/** The same by kind, of whatever group and version: where tags are replaced. */
const SPEC_OF_KIND: ReadonlyMap<string, readonly string[]> = new Map([
  ["Pod", POD],
  ...["DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job"].map(
    (kind) => [kind, TEMPLATE] as const,
  ),
  ["CronJob", CRON_JOB],
]);

/** The resource of an object that was not sent to one, as raw payloads and groups' questions are not. */
export function resourceOf(object: unknown): GroupVersionResource {
  const [version = "", group = ""] = text(object, "apiVersion").split("/").reverse();
  return { group, version, resource: `${text(object, "kind").toLowerCase()}s` };
}

/**
 * The images that the policy need not extract itself; none of resources without a known place.
 * @param own the lists that it does extract
 * @returns an error in the words of the reference's own expressions
 */
export function podImages(
  { group, version, resource }: GroupVersionResource,
  object: Value,
  oldObject: Value,
  own: { has(name: string): boolean },
): ImageLists | CelError {
  const [ofGroup, path] = SPEC_OF_RESOURCE.get(resource) ?? NOWHERE;
  if (group !== ofGroup || version !== "v1") return {};
  const lists: Record<string, readonly string[]> = {};
  const found = at(object ?? oldObject, path);
  const spec = isObject(found) ? found : undefined;
  for (const name of LISTS) {
    if (own.has(name)) continue;
    const images = (spec && imagesIn(spec[name])) || askExpression(path, name, object, oldObject);
    if (images instanceof CelError) return images;
    lists[name] = images;
  }
  return lists;
}

const NOWHERE: readonly [group: undefined, path: readonly string[]] = [undefined, []];

function at(object: unknown, path: readonly string[]): unknown {
  let found = object;
  for (const key of path) found = member(found, key);
  return found;
}

/** The images of a usual list of containers; `undefined` where it is not a usual one. */
function imagesIn(containers: unknown): readonly string[] | undefined {
  if (containers === undefined) return NONE;
  if (!Array.isArray(containers)) return undefined;
  const images: string[] = [];
  for (const container of containers) {
    const image = member(container, "image");
    if (typeof image !== "string") return undefined;
    images.push(image);
  }
  return images;
}

const NONE: readonly string[] = [];

/** The reference's extractors, by their text: they are only asked about what is unusual, for the same error. */
const EXTRACTORS = new Map<string, Program | CelError>();

function askExpression(path: readonly string[], list: string, object: Value, oldObject: Value) {
  const source = `(object != null ? object : oldObject).${path.join(".")}.?${list}.orValue([]).map(e, e.image)`;
  let program = EXTRACTORS.get(source);
  if (program === undefined) {
    const variables = ["object", "oldObject"].map((name) => ({ name, type: DYN }));
    const compiled = createEnvironment({ flavour: "kubernetes", version: "1.36", variables }).compile(source);
    program = compiled.ok ? compiled.program : new CelError(compiled.text);
    EXTRACTORS.set(source, program);
  }
  return program instanceof CelError ? program : imageList(program.evaluate({ object, oldObject }).result as Value);
}

/** The images of an extractor's value. */
export function imageList(value: Value | CelError): readonly string[] | CelError {
  if (value instanceof CelError) return value;
  if (!Array.isArray(value))
    return new CelError(`unsupported native conversion from ${typeNameOf(value)} to '[]string'`);
  const other = value.find((image) => typeof image !== "string") as Value | undefined;
  return other === undefined
    ? (value as readonly string[])
    : new CelError(`unsupported type conversion from '${typeNameOf(other)}' to string`);
}

/** An image with a tag, and its place. */
export interface TaggedImage {
  /** In full, as `docker.io/busybox:latest`. */
  readonly image: string;
  readonly list: string;
  readonly index: number;
}

/** Most images of an object whose tags are replaced: as many as the questions of a request. */
const MAX_TAGGED = 2_048;

/** The images of an object that have no digest, or why one of them can't be read. */
export function taggedImages(object: JsonObject): readonly TaggedImage[] | { readonly error: string } {
  const path = SPEC_OF_KIND.get(text(object, "kind"));
  const spec = path && at(object, path);
  const tagged: TaggedImage[] = [];
  if (path === undefined || !isObject(spec)) return tagged;
  for (const list of LISTS) {
    const containers = member(spec, list);
    if (!Array.isArray(containers)) continue;
    for (const [index, container] of containers.entries()) {
      const written = text(container, "image");
      if (written.trim() === "") continue;
      const image = inFull(written);
      if (image instanceof CelError) return { error: `invalid image '${written}' (${image.message})` };
      if (image === undefined) continue;
      if (tagged.push({ image, list, index }) > MAX_TAGGED)
        return { error: `more than ${MAX_TAGGED} images have tags` };
    }
  }
  return tagged;
}

/** An image with its registry and tag; `undefined` where it has a digest. */
function inFull(written: string): string | undefined | CelError {
  const [first = "", ...more] = written.split("/");
  const hasHost = more.length > 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const image = hasHost ? written : `docker.io/${written}`;
  const reference = ImageReference.parse(image);
  if (reference instanceof CelError) return reference;
  if (reference.digest !== "") return undefined;
  return image.lastIndexOf(":") > image.lastIndexOf("/") ? image : `${image}:${reference.tag}`;
}

/** A copy of the object with digests at its images; made in one go, since requests choose their number. */
export function pinned(object: JsonObject, digests: ReadonlyMap<TaggedImage, string>): JsonObject {
  const path = SPEC_OF_KIND.get(text(object, "kind")) ?? POD;
  const lists = new Map<string, unknown[]>();
  for (const [{ image, list, index }, digest] of digests) {
    const containers = lists.get(list) ?? [...(at(object, [...path, list]) as readonly unknown[])];
    containers[index] = replaced(containers[index], ["image"], `${image}@${digest}`);
    lists.set(list, containers);
  }
  let copy: unknown = object;
  for (const [list, containers] of lists) copy = replaced(copy, [...path, list], containers);
  return copy as JsonObject;
}

/** A copy with another value at a place. */
function replaced(value: unknown, [key, ...rest]: readonly string[], other: unknown): unknown {
  return key === undefined ? other : { ...(value as JsonObject), [key]: replaced(member(value, key), rest, other) };
}
