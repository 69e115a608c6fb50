/** Mistakes in `metadata.ownerReferences`, in the API server's words. */
import { isSince, type KubernetesVersion } from "../../../cel/index.js";
import { type FieldError, type FieldPath, invalid, required } from "../../../kubernetes/field-error.js";
import { parseApiVersion } from "../../../kubernetes/names.js";

/** An owner. */
export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

const PATH: FieldPath = ["metadata", "ownerReferences"];
/** The first version whose messages have the owner's place, and name missing members. */
const PLACES_SINCE: KubernetesVersion = "1.37";

/** The references as the API server keeps them: without repetitions; and the uids of those that were left out. */
export function distinctOwners(references: readonly OwnerReference[]): {
  readonly kept: readonly OwnerReference[];
  readonly repeated: readonly string[];
} {
  const kept = new Map<string, OwnerReference>();
  const repeated: string[] = [];
  for (const reference of references) {
    const key = JSON.stringify(printed(reference));
    if (kept.has(key)) repeated.push(reference.uid ?? "");
    else kept.set(key, reference);
  }
  return { kept: [...kept.values()], repeated };
}

/** The mistakes of distinct references, in the words of a server's version. */
export function ownerErrors(references: readonly OwnerReference[], version: KubernetesVersion): FieldError[] {
  const errors: FieldError[] = [];
  const check = isSince(version, PLACES_SINCE) ? referenceErrors : earlierReferenceErrors;
  let controller: string | undefined;
  references.forEach((reference, i) => {
    errors.push(...check(reference, i));
    if (reference.controller !== true) return;
    const { kind = "", name = "" } = reference;
    const own = `${kind}/${name}`;
    if (controller === undefined) controller = own;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${own}`;
      errors.push(invalid(PATH, references.map(printed), detail));
    }
  });
  return errors;
}

const NAMED = ["kind", "name", "uid"] as const;

function referenceErrors(reference: OwnerReference, i: number): FieldError[] {
  const path = [...PATH, i];
  const { apiVersion = "" } = reference;
  const errors: FieldError[] = [];
  if (apiVersion === "") errors.push(required([...path, "apiVersion"], "must not be empty"));
  else if ((parseApiVersion(apiVersion)?.version ?? "") === "") {
    errors.push(invalid([...path, "apiVersion"], apiVersion, "must be <group>/<version> or <version>"));
  }
  for (const member of NAMED) {
    if ((reference[member] ?? "") === "") errors.push(required([...path, member], "must not be empty"));
  }
  return [...errors, ...bannedOwner(reference, path)];
}

function earlierReferenceErrors(reference: OwnerReference): FieldError[] {
  const { apiVersion = "" } = reference;
  const errors: FieldError[] = [];
  if ((parseApiVersion(apiVersion)?.version ?? "") === "") {
    errors.push(invalid([...PATH, "apiVersion"], apiVersion, "version must not be empty"));
  }
  for (const member of NAMED) {
    if ((reference[member] ?? "") === "") errors.push(invalid([...PATH, member], "", "must not be empty"));
  }
  return [...errors, ...bannedOwner(reference, PATH)];
}

/** The error of an Event as an owner: there are too many Events. */
function bannedOwner(reference: OwnerReference, path: FieldPath): FieldError[] {
  const version = parseApiVersion(reference.apiVersion ?? "");
  const banned = version?.group === "" && version.version === "v1" && reference.kind === "Event";
  return banned ? [invalid(path, printed(reference), "/v1, Kind=Event is disallowed from being an owner")] : [];
}

/** A reference as Go's encoder prints it. */
const printed = ({ apiVersion = "", kind = "", name = "", uid = "", ...flags }: OwnerReference): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  ...(flags.controller !== undefined && { controller: flags.controller }),
  ...(flags.blockOwnerDeletion !== undefined && { blockOwnerDeletion: flags.blockOwnerDeletion }),
});
