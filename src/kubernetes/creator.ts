/** The creator of an object, where the object names it. */
import { isObject, type JsonObject, member, text } from "./object.js";

/** The user who created an object, as the API server knows them. */
export interface Creator {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The creator of a CertificateRequest: cert-manager's webhook writes it into the spec, and refuses any other (spec
 * certificate-request-policy.md 1.1). Members of a wrong type are left out.
 * @returns `undefined` for one that does not name it, and for objects of all other kinds
 */
export function creatorOf(object: unknown): Creator | undefined {
  if (!isObject(object) || object.kind !== "CertificateRequest" || !isCertManagers(object)) return undefined;
  const { spec } = object;
  const username = text(spec, "username");
  if (username === "") return undefined;
  const uid = text(spec, "uid");
  const groups = member(spec, "groups");
  const extra = member(spec, "extra");
  return {
    username,
    ...(uid !== "" && { uid }),
    ...(areTexts(groups) && { groups }),
    ...(isObject(extra) && Object.values(extra).every(areTexts) && { extra: extra as Creator["extra"] & {} }),
  };
}

const isCertManagers = (object: JsonObject): boolean => text(object, "apiVersion").startsWith("cert-manager.io/");

const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");
