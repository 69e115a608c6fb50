/** Mistakes in `metadata` of cluster-scoped objects that are named by DNS-1123 subdomains, as the API server finds them when it creates one. */
import { isSince, type KubernetesVersion, NEWEST_VERSION } from "../../../cel/index.js";
import { isPrintable } from "../../../data/go/quote.js";
import { type FieldError, type FieldPath, invalid, required, tooLong } from "../../../kubernetes/field-error.js";
import { dns1123SubdomainErrors, labelValueErrors, qualifiedNameErrors } from "../../../kubernetes/name-formats.js";
import { isObject } from "../../../kubernetes/object.js";
import { distinctOwners, type OwnerReference, ownerErrors } from "./owner-references.js";

// Mistakes in `metadata.managedFields`. Entries that cannot be decoded are dropped by the API server without a message, all at once; and it only checks the
// manager and the subresource.

/** The manager that last set some fields. */
interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** Limits of the API, in bytes. */
const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

/** How a member of a set of fields begins: the set itself, a field, a value, the key of an item, or an index. */
const FIELD = /^(\.$|[fvki]:)/;

/** The mistakes of entries. */
function managedFieldsErrors(entries: readonly ManagedFieldsEntry[]): FieldError[] {
  return entries.every(isReadable)
    ? entries.flatMap((entry, i) => entryErrors(entry, ["metadata", "managedFields", i]))
    : [];
}

const isReadable = ({ operation, apiVersion = "", fieldsType, fieldsV1 }: ManagedFieldsEntry): boolean =>
  (operation === "Apply" || operation === "Update") &&
  apiVersion !== "" &&
  fieldsType === "FieldsV1" &&
  (fieldsV1 === undefined || isFieldSet(fieldsV1));

const isFieldSet = (value: unknown): boolean =>
  isObject(value) && Object.entries(value).every(([key, inner]) => FIELD.test(key) && isFieldSet(inner));

function entryErrors({ manager = "", subresource = "" }: ManagedFieldsEntry, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const at = [...path, "manager"];
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) errors.push(tooLong(at, MAX_MANAGER_BYTES));
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalid(at, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  if (Buffer.byteLength(subresource) > MAX_SUBRESOURCE_BYTES) {
    errors.push(tooLong([...path, "subresource"], MAX_SUBRESOURCE_BYTES));
  }
  return errors;
}

/** The checked members of `metadata`. */
export interface Metadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Limits of the API, in bytes. */
const MAX_ANNOTATION_BYTES = 256 * 1024;
/** Limit of `generateName`, before the five characters that the server adds. */
const MAX_GENERATED_BYTES = 58;

/** The name an object gets: a generated one ends in five characters that the server chooses. */
export function effectiveName({ name = "", generateName = "" }: Metadata): string {
  if (name !== "" || generateName === "") return name;
  return `${Buffer.from(generateName).subarray(0, MAX_GENERATED_BYTES)}xxxxx`;
}

/** The mistakes of `metadata`, in the words of a server's version. */
export function validateMetadata(metadata: Metadata, { version = NEWEST_VERSION }: Writing = {}): FieldError[] {
  const { labels = {}, annotations = {}, ownerReferences = [], finalizers = [], managedFields = [] } = metadata;
  return [
    ...nameErrors(metadata),
    ...Object.entries(labels).flatMap(([key, value]) => [
      ...qualifiedNameErrors(key).map((error) => invalid(["metadata", "labels"], key, error)),
      ...labelValueErrors(value).map((error) => invalid(["metadata", "labels"], value, error)),
    ]),
    ...annotationErrors(annotations),
    ...ownerErrors(distinctOwners(ownerReferences).kept, version),
    ...finalizerErrors(finalizers),
    ...managedFieldsErrors(managedFields),
  ];
}

function nameErrors(metadata: Metadata): FieldError[] {
  const errors: FieldError[] = [];
  const { generateName = "" } = metadata;
  if (generateName !== "") {
    // The prefix may end in a dash, because a suffix follows; the server leaves out the byte before it, too.
    const dashed = generateName.length > 1 && generateName.endsWith("-");
    const prefix = dashed ? `${Buffer.from(generateName).subarray(0, -2)}a` : generateName;
    errors.push(
      ...dns1123SubdomainErrors(prefix).map((error) => invalid(["metadata", "generateName"], generateName, error)),
    );
  }
  const path = ["metadata", "name"];
  const name = effectiveName(metadata);
  if (name === "") errors.push(required(path, "name or generateName is required"));
  else errors.push(...dns1123SubdomainErrors(name).map((error) => invalid(path, name, error)));
  return errors;
}

function annotationErrors(annotations: Readonly<Record<string, string>>): FieldError[] {
  const path = ["metadata", "annotations"];
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    errors.push(...qualifiedNameErrors(goLowerCase(key)).map((error) => invalid(path, key, error)));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) errors.push(tooLong(path, MAX_ANNOTATION_BYTES));
  return errors;
}

/** Lower case as Go has it, one character for each. Only the dotted capital I has more in JavaScript. */
const goLowerCase = (text: string): string => text.replaceAll("\u0130", "i").toLowerCase();

function finalizerErrors(finalizers: readonly string[]): FieldError[] {
  const path = ["metadata", "finalizers"];
  const errors: FieldError[] = finalizers.flatMap((finalizer) =>
    qualifiedNameErrors(finalizer).map((error) => invalid(path, finalizer, error)),
  );
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.push(invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return errors;
}

/** Suffix of names that only the API server's own files may have. */
export const STATIC_SUFFIX = ".static.k8s.io";
const STATIC_SUFFIX_TEXT = `names ending with "${STATIC_SUFFIX}" are reserved for static manifest-based configurations and cannot be managed via the API`;
/** The first version of a server that warns of the suffix, and the first that refuses it. */
const SUFFIX_WARNED_SINCE: KubernetesVersion = "1.36";
const SUFFIX_REFUSED_SINCE: KubernetesVersion = "1.37";

/** The server that writes the object, and how. */
export interface Writing {
  /** The server's version; default: the newest. */
  readonly version?: KubernetesVersion;
  /** Whether the object exists already: it cannot be renamed. */
  readonly update?: boolean;
}

/** The errors of a name: reserved suffixes are refused through the API, by the versions that know them. */
export function validateNameSuffix(
  metadata: Metadata,
  { version = NEWEST_VERSION, update = false }: Writing = {},
): FieldError[] {
  const name = effectiveName(metadata);
  const refused = name.endsWith(STATIC_SUFFIX) && isSince(version, SUFFIX_REFUSED_SINCE) && !update;
  return refused ? [invalid(["metadata", "name"], name, STATIC_SUFFIX_TEXT)] : [];
}

/** The warnings of a server when it stores an object with such metadata. Texts contain the place. */
export function metadataWarnings(
  metadata: Metadata,
  { version = NEWEST_VERSION, update = false }: Writing = {},
): FieldError[] {
  const warnings: FieldError[] = [];
  const { repeated } = distinctOwners(metadata.ownerReferences ?? []);
  if (repeated.length > 0) {
    const text = `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(", ")}`;
    warnings.push({ path: ["metadata", "ownerReferences"], text });
  }
  const warned = isSince(version, SUFFIX_WARNED_SINCE) && (update || !isSince(version, SUFFIX_REFUSED_SINCE));
  if (warned && effectiveName(metadata).endsWith(STATIC_SUFFIX)) {
    warnings.push({ path: ["metadata", "name"], text: `metadata.name: ${STATIC_SUFFIX_TEXT}` });
  }
  return warnings;
}
