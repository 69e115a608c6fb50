/** Mistakes in `metadata` of cluster-scoped objects that are named by DNS-1123 subdomains. */
import { type FieldError, invalid, required } from "../../kubernetes/field-error.js";
import { dns1123SubdomainErrors, labelValueErrors, qualifiedNameErrors } from "../../kubernetes/name-formats.js";

/** What of `metadata` is checked. */
export interface Metadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Suffix of names that only the API server's own files may have. */
const STATIC_SUFFIX = ".static.k8s.io";

/** The name an object gets: a generated one ends in five characters that the server chooses. */
export const effectiveName = ({ name = "", generateName = "" }: Metadata): string =>
  name === "" && generateName !== "" ? `${generateName}xxxxx` : name;

/** The mistakes of `metadata`. */
export function validateMetadata(metadata: Metadata): FieldError[] {
  const errors: FieldError[] = [];
  const { generateName = "", labels = {}, annotations = {} } = metadata;
  const name = effectiveName(metadata);
  if (generateName !== "") {
    // The prefix may end in a dash, because a suffix follows.
    const prefix = generateName.replace(/-$/, "a");
    errors.push(
      ...dns1123SubdomainErrors(prefix).map((error) => invalid(["metadata", "generateName"], generateName, error)),
    );
  }
  const path = ["metadata", "name"];
  if (name === "") errors.push(required(path, "name or generateName is required"));
  else errors.push(...dns1123SubdomainErrors(name).map((error) => invalid(path, name, error)));
  for (const [key, value] of Object.entries(labels)) {
    errors.push(...qualifiedNameErrors(key).map((error) => invalid(["metadata", "labels"], key, error)));
    errors.push(...labelValueErrors(value).map((error) => invalid(["metadata", "labels"], value, error)));
  }
  for (const key of Object.keys(annotations)) {
    const lower = key.toLowerCase();
    errors.push(...qualifiedNameErrors(lower).map((error) => invalid(["metadata", "annotations"], key, error)));
  }
  return errors;
}

/** Names with a reserved suffix are refused through the API. */
export function validateNameSuffix(metadata: Metadata): FieldError[] {
  const name = effectiveName(metadata);
  if (!name.endsWith(STATIC_SUFFIX)) return [];
  const detail = `names ending with "${STATIC_SUFFIX}" are reserved for static manifest-based configurations and cannot be managed via the API`;
  return [invalid(["metadata", "name"], name, detail)];
}
