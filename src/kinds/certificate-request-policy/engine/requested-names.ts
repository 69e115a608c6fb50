/** What a signing request asks for, sorted by what of a policy judges it (spec certificate-request-policy.md 1.2, 4.5). */
import type { CertificationRequest } from "../../../x509/pkcs10/index.js";
import type { SubjectList } from "../resource.js";
import { SUBJECT_LISTS } from "../words.js";

/** Attributes of the subject that have one value, unless a client smuggles in more. */
export const COMMON_NAME = "2.5.4.3";
export const SERIAL_NUMBER = "2.5.4.5";
/** The object identifiers of the lists of a subject. */
const SUBJECT_OIDS: Readonly<Record<SubjectList, string>> = {
  organizations: "2.5.4.10",
  countries: "2.5.4.6",
  organizationalUnits: "2.5.4.11",
  localities: "2.5.4.7",
  provinces: "2.5.4.8",
  streetAddresses: "2.5.4.9",
  postalCodes: "2.5.4.17",
};
const LIST_OF_OID: ReadonlyMap<string, SubjectList> = new Map(
  SUBJECT_LISTS.map((name) => [SUBJECT_OIDS[name], name] as const),
);

/** Values of the subject by what judges them. */
interface SubjectValues {
  /** `undefined`: one of them is not a text. */
  readonly commonNames: readonly string[] | undefined;
  readonly serialNumbers: readonly string[] | undefined;
  readonly lists: ReadonlyMap<SubjectList, readonly string[]>;
  /** Where below the policy's `subject` attributes are judged that are no text, in order. */
  readonly nonStrings: readonly string[];
  /** By object identifier, as they appear first. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Those whose value is not a text, too. */
  readonly seen: ReadonlySet<string>;
}

/** A signing request as policies look at it: what does not depend on a policy is done once. */
export interface RequestedNames {
  readonly csr: CertificationRequest;
  readonly subject: SubjectValues;
  /** By object identifier, as they appear first. */
  readonly otherNames: ReadonlyMap<string, readonly string[]>;
}

/** Sorts what a signing request asks for. */
export function requestedNames(csr: CertificationRequest): RequestedNames {
  const lists = new Map<SubjectList, string[]>();
  const nonStrings: string[] = [];
  const others = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const { oid, value } of csr.subject) {
    if (oid === COMMON_NAME || oid === SERIAL_NUMBER) continue;
    const name = LIST_OF_OID.get(oid);
    if (name === undefined) seen.add(oid);
    if (value === undefined) nonStrings.push(name === undefined ? `otherAttributes[${oid}]` : name);
    else if (name === undefined) add(others, oid, value);
    else add(lists, name, value);
  }
  const otherNames = new Map<string, string[]>();
  if ("otherNames" in csr.generalNames) {
    for (const { oid, value } of csr.generalNames.otherNames) add(otherNames, oid, value);
  }
  const subject = {
    commonNames: textsOf(csr, COMMON_NAME),
    serialNumbers: textsOf(csr, SERIAL_NUMBER),
    lists,
    nonStrings,
    others,
    seen,
  };
  return { csr, subject, otherNames };
}

function add<K>(to: Map<K, string[]>, key: K, value: string): void {
  const values = to.get(key);
  if (values === undefined) to.set(key, [value]);
  else values.push(value);
}

function textsOf({ subject }: CertificationRequest, wanted: string): readonly string[] | undefined {
  const texts: string[] = [];
  for (const { oid, value } of subject) {
    if (oid !== wanted) continue;
    if (value === undefined) return undefined;
    texts.push(value);
  }
  return texts;
}
