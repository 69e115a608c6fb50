/** Names in a signing request, sorted by the policy's fields that check them (spec certificate-request-policy.md 1.2, 4.5). */
import type { CertificationRequest } from "../../../x509/pkcs10/index.js";
import type { SubjectList } from "../resource.js";
import { SUBJECT_LISTS } from "../words.js";

/** Attributes of the subject that have one value, unless a client sends more. */
export const COMMON_NAME = "2.5.4.3";
export const SERIAL_NUMBER = "2.5.4.5";
/** The object identifiers of a subject's lists. */
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

/** Values of the subject, by the fields that check them. */
interface SubjectValues {
  /** `undefined`: one of them is not a text. */
  readonly commonNames: readonly string[] | undefined;
  readonly serialNumbers: readonly string[] | undefined;
  readonly lists: ReadonlyMap<SubjectList, readonly string[]>;
  /** Paths below the policy's `subject` of attributes that are not texts, in order. */
  readonly nonStrings: readonly string[];
  /** Other values by object identifier, in order of first appearance. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Object identifiers in the subject, including those whose value is not a text. */
  readonly seen: ReadonlySet<string>;
}

/** The names in a signing request, prepared once for all policies. */
export interface RequestedNames {
  readonly csr: CertificationRequest;
  readonly subject: SubjectValues;
  /** Other names by object identifier, in order of first appearance. */
  readonly otherNames: ReadonlyMap<string, readonly string[]>;
}

/** Sorts the names in a signing request. */
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
