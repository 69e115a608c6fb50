/**
 * Gives manifests and configurations of images the shape of Go's go-containerregistry, which Kyverno's expressions see (spec kyverno.md 4.5): unknown
 * members are left out, and empty optional ones.
 */
import { isJsonObject } from "../data/same-value.js";

type JsonObject = Readonly<Record<string, unknown>>;

/** Converts a member. */
type Shape = (value: unknown) => unknown;

/** Members of an object: those that are always present, each with its value when missing, and the optional ones. */
interface Members {
  readonly always: Readonly<Record<string, readonly [missing: unknown, shape: Shape]>>;
  readonly optional: Readonly<Record<string, Shape>>;
}

const same: Shape = (value) => value;
const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) ? value.map(shape) : value;
const objectOf =
  ({ always, optional }: Members): Shape =>
  (value) => {
    const given: JsonObject = isJsonObject(value) ? value : {};
    const shaped: Record<string, unknown> = {};
    for (const [name, [missing, shape]] of Object.entries(always)) shaped[name] = shape(given[name] ?? missing);
    for (const [name, shape] of Object.entries(optional)) {
      if (Object.hasOwn(given, name) && !isEmpty(given[name])) shaped[name] = shape(given[name]);
    }
    return shaped;
  };

function isEmpty(value: unknown): boolean {
  if (value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

const plain = (names: string): Readonly<Record<string, Shape>> =>
  Object.fromEntries(names.split(" ").map((name) => [name, same]));

const PLATFORM = objectOf({
  always: { architecture: ["", same], os: ["", same] },
  optional: plain("os.version os.features variant features"),
});
const DESCRIPTOR = objectOf({
  always: { mediaType: ["", same], size: [0, same], digest: ["", same] },
  optional: { ...plain("data urls annotations artifactType"), platform: PLATFORM },
});

/** A manifest. */
export const shapedManifest = objectOf({
  always: { schemaVersion: [0, same], config: [{}, DESCRIPTOR], layers: [null, listOf(DESCRIPTOR)] },
  optional: { ...plain("mediaType annotations artifactType"), subject: DESCRIPTOR },
});

/** Go's text of the zero time. */
const NO_TIME = "0001-01-01T00:00:00Z";
const HISTORY = objectOf({
  always: { created: [NO_TIME, same] },
  optional: plain("author created_by comment empty_layer"),
});
const CONTAINER = objectOf({
  always: {},
  optional: plain(
    "AttachStderr AttachStdin AttachStdout Cmd Healthcheck Domainname Entrypoint Env Hostname Image Labels OnBuild OpenStdin StdinOnce " +
      "Tty User Volumes WorkingDir ExposedPorts ArgsEscaped NetworkDisabled MacAddress StopSignal Shell",
  ),
});

/** A configuration. */
export const shapedConfig = objectOf({
  always: {
    architecture: ["", same],
    created: [NO_TIME, same],
    os: ["", same],
    rootfs: [{}, objectOf({ always: { type: ["", same], diff_ids: [null, same] }, optional: {} })],
    config: [{}, CONTAINER],
  },
  optional: { ...plain("author container docker_version os.version variant os.features"), history: listOf(HISTORY) },
});
