/**
 * Objects of built-in kinds in the shape in which a cluster shows them: the API server keeps typed objects, so that empty optional
 * members are absent, unknown ones gone, and quantities canonical (spec validating-admission-policy.md 4.4). A file holds what a person wrote.
 */
import { isBuiltin } from "../../kubernetes/builtin-kinds.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import { canonicalQuantity } from "../../kubernetes/quantity.js";

/** Members besides apiVersion, kind and metadata, of kinds that are parameters most often. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  ConfigMap: ["immutable", "data", "binaryData"],
  Secret: ["immutable", "data", "type"],
  Namespace: ["spec", "status"],
};

/** Kinds whose `spec` and `status` are there even when they are empty: they are no optional members of the typed object. */
const WITH_SPEC: ReadonlySet<string> = new Set(
  (
    "CertificateSigningRequest CronJob DaemonSet Deployment HorizontalPodAutoscaler Ingress IngressClass Job LimitRange Namespace " +
    "NetworkPolicy Node PersistentVolume PersistentVolumeClaim Pod PodDisruptionBudget ReplicaSet ReplicationController ResourceQuota " +
    "Service StatefulSet"
  ).split(" "),
);
const WITHOUT_STATUS: ReadonlySet<string> = new Set(["IngressClass", "LimitRange", "NetworkPolicy"]);

/** Maps from a resource's name to a quantity, by the name of the member that holds them. */
const QUANTITY_MAPS: ReadonlySet<string> = new Set([
  "allocatable",
  "allocatedResources",
  "capacity",
  "default",
  "defaultRequest",
  "hard",
  "limits",
  "max",
  "maxLimitRequestRatio",
  "min",
  "overhead",
  "requests",
  "used",
]);

/** The object as a cluster would show it; objects of other kinds as they are. */
export function asStored(object: JsonObject): JsonObject {
  const version = parseApiVersion(text(object, "apiVersion"));
  const kind = text(object, "kind");
  if (version === undefined || !isBuiltin({ ...version, kind })) return object;
  const known = version.group === "" ? MEMBERS[kind] : undefined;
  const stored: Record<string, unknown> = {};
  if (WITH_SPEC.has(kind)) Object.assign(stored, { spec: {} }, !WITHOUT_STATUS.has(kind) && { status: {} });
  for (const [key, value] of Object.entries(kind === "Secret" ? withStringData(object) : object)) {
    if (value === null) continue;
    if (key === "metadata") stored[key] = storedMetadata(value);
    else if (key === "apiVersion" || key === "kind") stored[key] = value;
    else if (known === undefined) stored[key] = canonical(value);
    else if (known.includes(key) && !isEmpty(value)) stored[key] = value;
  }
  return stored;
}

function storedMetadata(metadata: unknown): unknown {
  if (!isObject(metadata)) return metadata;
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null && !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === "" || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** `stringData` is for writing only: the server encodes it into `data`. */
function withStringData(object: JsonObject): JsonObject {
  const written = object.stringData;
  if (!isObject(written)) return object;
  const encoded = Object.fromEntries(
    Object.entries(written).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]),
  );
  return { ...object, data: { ...(isObject(object.data) ? object.data : {}), ...encoded } };
}

/** Nulls are absent members; quantities print in canonical form. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (inner === null) continue;
    Object.defineProperty(result, key, {
      value: QUANTITY_MAPS.has(key) && isObject(inner) ? quantities(inner) : canonical(inner),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return result;
}

const quantities = (map: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(map).map(([key, value]) => [
      key,
      typeof value === "string" || typeof value === "number" ? canonicalQuantity(String(value)) : canonical(value),
    ]),
  );
