/** Whether a request asks only for what a policy allows (spec certificate-request-policy.md 4). */
import { CelError, Waiting } from "../../../cel/index.js";
import type { Attempt } from "../../../cel-policy/expressions/attempt.js";
import { wildcardMatches } from "../../../kubernetes/wildcard.js";
import type { CertificationRequest } from "../../../x509/pkcs10/index.js";
import type { RequestValue } from "../request-value.js";
import type { SubjectList } from "../resource.js";
import { runRules } from "../rules.js";
import { SUBJECT_LISTS } from "../words.js";
import type { CertificateRequest } from "./certificate-request.js";
import type { CompiledAllowed, CompiledByOid, CompiledEntry } from "./compiled-policy.js";
import type { Objection } from "./decision.js";
import { type ObjectionBudget, ObjectionList } from "./objections.js";

const COMMON_NAME = "2.5.4.3";
const SERIAL_NUMBER = "2.5.4.5";
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

const ALLOWED = "spec.allowed";
const SUBJECT = `${ALLOWED}.subject`;
const NON_STRING = "<non-string value>";
const unsupported = (oid = ""): string =>
  `subject attribute${oid} uses an unsupported ASN.1 type or string encoding; re-issue the certificate with a UTF8String or PrintableString subject`;

/** Values of the subject by what judges them. */
interface SubjectValues {
  /** `undefined`: one of them is no text. */
  readonly commonNames: readonly string[] | undefined;
  readonly serialNumbers: readonly string[] | undefined;
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** The paths of attributes that are no text, in order. */
  readonly nonStrings: readonly string[];
  /** By object identifier, as they appear first. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Those whose value is no text, too. */
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
  const lists = new Map<string, string[]>();
  const nonStrings: string[] = [];
  const others = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const { oid, value } of csr.subject) {
    if (oid === COMMON_NAME || oid === SERIAL_NUMBER) continue;
    const name = LIST_OF_OID.get(oid);
    if (name === undefined) seen.add(oid);
    if (value === undefined)
      nonStrings.push(name === undefined ? `${SUBJECT}.otherAttributes[${oid}]` : `${SUBJECT}.${name}`);
    else add(name === undefined ? others : lists, name ?? oid, value);
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

function add(to: Map<string, string[]>, key: string, value: string): void {
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

/** What is looked at. */
export interface AllowedInputs {
  readonly allowed: CompiledAllowed;
  readonly request: CertificateRequest;
  readonly names: RequestedNames;
  /** The value of `cr`. */
  readonly cr: RequestValue;
  readonly attempt: Attempt;
  readonly budget: ObjectionBudget;
}

/** What `allowed` of a policy says against a request; {@link Waiting} when others must have their turn first, or the request ends. */
export const evaluateAllowed = (inputs: AllowedInputs): readonly Objection[] | Waiting =>
  new AllowedEvaluation(inputs).objections();

/** One evaluation (disposable). */
class AllowedEvaluation {
  readonly #allowed: CompiledAllowed;
  readonly #request: CertificateRequest;
  readonly #names: RequestedNames;
  readonly #cr: RequestValue;
  readonly #attempt: Attempt;
  readonly #list: ObjectionList;

  constructor({ allowed, request, names, cr, attempt, budget }: AllowedInputs) {
    this.#allowed = allowed;
    this.#request = request;
    this.#names = names;
    this.#cr = cr;
    this.#attempt = attempt;
    this.#list = new ObjectionList(budget);
  }

  objections(): readonly Objection[] | Waiting {
    const { csr } = this.#names;
    if ("undecodable" in csr.generalNames) {
      this.#list.plain(`subjectAltName (SAN) extension could not be decoded: ${csr.generalNames.undecodable}`);
      return this.#list.all;
    }
    const allowed = this.#allowed;
    const { commonNames, serialNumbers } = this.#names.subject;
    const whole =
      this.#texts(allowed.commonName, COMMON_NAME, commonNames, `${ALLOWED}.commonName`) &&
      this.#values(allowed.dnsNames, csr.dnsNames, `${ALLOWED}.dnsNames`) &&
      this.#values(allowed.ipAddresses, csr.ipAddresses, `${ALLOWED}.ipAddresses`) &&
      this.#values(allowed.uris, csr.uris, `${ALLOWED}.uris`) &&
      this.#values(allowed.emailAddresses, csr.emailAddresses, `${ALLOWED}.emailAddresses`) &&
      this.#isCA() &&
      this.#usages() &&
      this.#otherNames() &&
      this.#subjectLists() &&
      this.#texts(allowed.serialNumber, SERIAL_NUMBER, serialNumbers, `${SUBJECT}.serialNumber`) &&
      this.#otherAttributes();
    return whole ? this.#list.all : Waiting.INSTANCE;
  }

  /** An attribute that has one value, unless somebody smuggles in more. */
  #texts(entry: CompiledEntry | undefined, oid: string, values: readonly string[] | undefined, path: string): boolean {
    if (values === undefined) {
      this.#list.invalid(path, NON_STRING, unsupported(` ${oid}`));
      return true;
    }
    if (values.length < 2) return this.#text(entry, values[0] ?? "", path);
    return values.every((value, i) => this.#text(entry, value, `${path}[${i}]`));
  }

  #text(entry: CompiledEntry | undefined, value: string, path: string): boolean {
    if (value === "") {
      if (entry?.required) this.#list.required(`${path}.required`);
      return true;
    }
    if (entry === undefined || isEmpty(entry)) {
      this.#list.invalid(path, value, "no allowed value");
      return true;
    }
    if (entry.patterns !== undefined) {
      if (!this.#mayGoOn(entry.patterns, [value])) return false;
      if (!matchesAny(entry.patterns, value)) this.#list.invalid(`${path}.value`, value, entry.patternText);
    }
    return this.#validate(entry, [value], path);
  }

  #values(entry: CompiledEntry | undefined, values: readonly string[], path: string): boolean {
    if (values.length === 0) {
      if (entry?.required) this.#list.required(`${path}.required`);
      return true;
    }
    if (entry === undefined || isEmpty(entry)) {
      this.#list.invalid(path, values, "no allowed values");
      return true;
    }
    const { patterns } = entry;
    if (patterns !== undefined) {
      if (!this.#mayGoOn(patterns, values)) return false;
      if (!values.every((value) => matchesAny(patterns, value)))
        this.#list.invalid(`${path}.values`, values, entry.patternText);
    }
    return this.#validate(entry, values, path);
  }

  /** Every rule on every value; false when others must have their turn. */
  #validate({ rules, details }: CompiledEntry, items: readonly string[], path: string): boolean {
    if (rules.length === 0) return true;
    const results = runRules(rules, { items, cr: this.#cr, attempt: this.#attempt, about: path });
    if (results instanceof Waiting) return false;
    for (const [i, result] of results.entries()) {
      if (result === true) continue;
      const rule = i % rules.length;
      const at = `${path}.validations[${rule}]`;
      if (result instanceof CelError) this.#list.internal(at, result.message);
      else this.#list.invalid(at, items[Math.floor(i / rules.length)] ?? "", details[rule] ?? "");
    }
    return true;
  }

  #isCA(): boolean {
    if (this.#request.isCA && this.#allowed.isCA !== true)
      this.#list.invalid(`${ALLOWED}.isCA`, true, this.#allowed.isCA === undefined ? "nil" : "false");
    return true;
  }

  #usages(): boolean {
    const { usages } = this.#request;
    if (usages.length === 0) return true;
    const patterns = this.#allowed.usages;
    if (patterns === undefined) this.#list.invalid(`${ALLOWED}.usages`, usages, "nil");
    else if (!this.#mayGoOn(patterns, usages)) return false;
    else if (!usages.every((usage) => matchesAny(patterns, usage)))
      this.#list.invalid(`${ALLOWED}.usages`, usages, patterns.join(", "));
    return true;
  }

  /** Names in subjectAltName that have no list: some of them may be allowed, the others never are. */
  #otherNames(): boolean {
    const { generalNames } = this.#names.csr;
    if ("undecodable" in generalNames) return true;
    const never = [
      ["directoryName", generalNames.directoryNames],
      ["x400Address", generalNames.x400Addresses],
      ["ediPartyName", generalNames.ediPartyNames],
      ["registeredID", generalNames.registeredIds],
    ] as const;
    for (const [name, count] of never) {
      if (count > 0)
        this.#list.invalid(`${ALLOWED}.subjectAltName.${name}`, name, `${name} SAN entries are not permitted`);
    }
    const { otherNames } = this.#names;
    return this.#byOid(this.#allowed.otherNames, otherNames, otherNames, `${ALLOWED}.otherNames`);
  }

  #byOid(
    entries: readonly CompiledByOid[],
    values: ReadonlyMap<string, readonly string[]>,
    seen: { has(oid: string): boolean },
    path: string,
  ): boolean {
    for (const [oid, list] of values) {
      // Of several entries, which no API server lets through, the last one counts.
      const entry = entries.findLast((each) => each.oid === oid);
      if (entry === undefined) this.#list.invalid(`${path}[${oid}]`, list, "no allowed values");
      else if (!this.#values(entry, list, `${path}[${oid}]`)) return false;
    }
    for (const { oid, required } of entries) {
      if (required && !seen.has(oid)) this.#list.required(`${path}[${oid}].required`);
    }
    return true;
  }

  #subjectLists(): boolean {
    const { lists } = this.#names.subject;
    return SUBJECT_LISTS.every((name) =>
      this.#values(this.#allowed.subject[name], lists.get(name) ?? [], `${SUBJECT}.${name}`),
    );
  }

  #otherAttributes(): boolean {
    const { nonStrings, others, seen } = this.#names.subject;
    for (const path of nonStrings) this.#list.invalid(path, NON_STRING, unsupported());
    return this.#byOid(this.#allowed.otherAttributes, others, seen, `${SUBJECT}.otherAttributes`);
  }

  /** What comparing with patterns takes counts as work: both may be long. */
  #mayGoOn(patterns: readonly string[], values: readonly string[]): boolean {
    this.#attempt.count(textLength(patterns) * textLength(values));
    return !this.#attempt.over();
  }
}

const isEmpty = ({ patterns, rules }: CompiledEntry): boolean => patterns === undefined && rules.length === 0;

const matchesAny = (patterns: readonly string[], value: string): boolean =>
  patterns.some((pattern) => wildcardMatches(pattern, value));

function textLength(texts: readonly string[]): number {
  let length = texts.length;
  for (const text of texts) length += text.length;
  return length;
}
