/** Checks that a request stays within `allowed` of a policy (spec certificate-request-policy.md 4). */
import { CelError, Waiting } from "../../../cel/index.js";
import type { Wildcard } from "../../../kubernetes/wildcard.js";
import type { Attempt } from "../../shared/expressions/attempt.js";
import type { RequestValue } from "../request-value.js";
import { runRule } from "../rules.js";
import { SUBJECT_LISTS } from "../words.js";
import type { CertificateRequest } from "./certificate-request.js";
import type { CompiledAllowed, CompiledEntry, EntriesByOid } from "./compiled-policy.js";
import type { Objection } from "./decision.js";
import { type ObjectionBudget, ObjectionList } from "./objections.js";
import { COMMON_NAME, type RequestedNames, SERIAL_NUMBER } from "./requested-names.js";

const ALLOWED = "spec.allowed";
const SUBJECT = `${ALLOWED}.subject`;
const NON_STRING = "<non-string value>";
const unsupported = (oid = ""): string =>
  `subject attribute${oid} uses an unsupported ASN.1 type or string encoding; re-issue the certificate with a UTF8String or PrintableString subject`;

/** Steps of work (`Attempt.count`) for comparing with a pattern beside the text's length, and for checking an attribute. */
const STEPS_PER_PATTERN = 50;
const STEPS_PER_PART = 200;
/** Steps of work for printing, comparing and keeping a character of an objection. */
const STEPS_PER_PRINTED = 10;

/** Inputs of the check. */
export interface AllowedInputs {
  readonly allowed: CompiledAllowed;
  readonly request: CertificateRequest;
  readonly names: RequestedNames;
  /** The value of `cr`. */
  readonly cr: RequestValue;
  readonly budget: ObjectionBudget;
}

/**
 * Objections by `allowed` of one policy to one request (disposable). An attempt that gives up its turn is followed by another one, which skips the
 * finished parts and continues within the current one.
 */
export class AllowedEvaluation {
  readonly #allowed: CompiledAllowed;
  readonly #request: CertificateRequest;
  readonly #names: RequestedNames;
  readonly #cr: RequestValue;
  readonly #list: ObjectionList;
  /** Parts that this attempt has passed, and finished parts. */
  #passed = 0;
  #done = 0;
  /** Progress of the current part: whether all values fit, compared values and patterns, evaluated rules. */
  #fit: boolean | undefined;
  #value = 0;
  #pattern = 0;
  #ruled = 0;

  constructor({ allowed, request, names, cr, budget }: AllowedInputs) {
    this.#allowed = allowed;
    this.#request = request;
    this.#names = names;
    this.#cr = cr;
    this.#list = new ObjectionList(budget);
  }

  /** The objections; {@link Waiting} when the turn is over, or the request is stopped. */
  objections(attempt: Attempt): readonly Objection[] | Waiting {
    const { csr } = this.#names;
    if ("undecodable" in csr.generalNames) {
      this.#list.plain(`subjectAltName (SAN) extension could not be decoded: ${csr.generalNames.undecodable}`);
      return this.#list.all;
    }
    this.#passed = 0;
    // Further objections do not change the decision.
    return this.#parts(attempt) || this.#list.full ? this.#list.all : Waiting.INSTANCE;
  }

  /** Checks all parts in order (spec 4.6); false when one is not finished. */
  #parts(attempt: Attempt): boolean {
    const allowed = this.#allowed;
    const { csr, subject, otherNames } = this.#names;
    return (
      this.#texts(allowed.commonName, COMMON_NAME, subject.commonNames, `${ALLOWED}.commonName`, attempt) &&
      this.#values(allowed.dnsNames, csr.dnsNames, `${ALLOWED}.dnsNames`, attempt) &&
      this.#values(allowed.ipAddresses, csr.ipAddresses, `${ALLOWED}.ipAddresses`, attempt) &&
      this.#values(allowed.uris, csr.uris, `${ALLOWED}.uris`, attempt) &&
      this.#values(allowed.emailAddresses, csr.emailAddresses, `${ALLOWED}.emailAddresses`, attempt) &&
      this.#isCA() &&
      this.#usages(attempt) &&
      this.#forbiddenNames() &&
      this.#byOid(allowed.otherNames, otherNames, otherNames, `${ALLOWED}.otherNames`, attempt) &&
      this.#subjectLists(attempt) &&
      this.#texts(allowed.serialNumber, SERIAL_NUMBER, subject.serialNumbers, `${SUBJECT}.serialNumber`, attempt) &&
      this.#nonStrings(attempt) &&
      this.#byOid(allowed.otherAttributes, subject.others, subject.seen, `${SUBJECT}.otherAttributes`, attempt)
    );
  }

  /** Whether the next part is still to be done. */
  #begins(): boolean {
    this.#passed += 1;
    return this.#passed > this.#done;
  }

  /** Finishes a part; returns whether to continue. */
  #ends(): boolean {
    this.#done = this.#passed;
    this.#fit = undefined;
    this.#ruled = 0;
    return !this.#list.full;
  }

  /** Checks an attribute with one value, unless a client sends more. */
  #texts(
    entry: CompiledEntry | undefined,
    oid: string,
    values: readonly string[] | undefined,
    path: string,
    attempt: Attempt,
  ): boolean {
    if (values === undefined) {
      if (!this.#begins()) return true;
      this.#list.invalid(path, NON_STRING, unsupported(` ${oid}`));
      return this.#ends();
    }
    if (values.length < 2) return this.#text(entry, values, path, attempt);
    return values.every((value, i) => this.#text(entry, [value], `${path}[${i}]`, attempt));
  }

  #text(entry: CompiledEntry | undefined, values: readonly string[], path: string, attempt: Attempt): boolean {
    const [value = ""] = values;
    return value === "" ? this.#absent(entry, path) : this.#present(entry, values, value, path, attempt);
  }

  #values(entry: CompiledEntry | undefined, values: readonly string[], path: string, attempt: Attempt): boolean {
    return values.length === 0 ? this.#absent(entry, path) : this.#present(entry, values, values, path, attempt);
  }

  #absent(entry: CompiledEntry | undefined, path: string): boolean {
    if (entry?.required !== true || !this.#begins()) return true;
    this.#list.required(`${path}.required`);
    return this.#ends();
  }

  /** @param shown the values in the form for objections: one text, or a list */
  #present(
    entry: CompiledEntry | undefined,
    values: readonly string[],
    shown: string | readonly string[],
    path: string,
    attempt: Attempt,
  ): boolean {
    if (!this.#begins()) return true;
    attempt.count(STEPS_PER_PART);
    const one = typeof shown === "string";
    if (entry === undefined || isEmpty(entry)) {
      this.#object(path, shown, one ? "no allowed value" : "no allowed values", attempt);
      return this.#ends();
    }
    if (this.#fit === undefined) {
      this.#fit = entry.patterns === undefined || this.#fits(entry.patterns, values, attempt);
      if (this.#fit === undefined) return false;
      if (!this.#fit) this.#object(`${path}.${one ? "value" : "values"}`, shown, entry.patternText, attempt);
    }
    return this.#validate(entry, values, path, attempt);
  }

  #fits(patterns: readonly Wildcard[], values: readonly string[], attempt: Attempt): boolean | undefined {
    for (; this.#value < values.length; this.#value++) {
      const value = values[this.#value] ?? "";
      let fits = false;
      for (; !fits && this.#pattern < patterns.length; this.#pattern++) {
        attempt.count(STEPS_PER_PATTERN + value.length);
        if (attempt.leavesOff()) return undefined;
        fits = patterns[this.#pattern]?.matches(value) ?? false;
      }
      this.#pattern = 0;
      if (!fits) break;
    }
    const all = this.#value === values.length;
    this.#value = 0;
    return all;
  }

  /** Evaluates every rule on every value; false when the turn is over. */
  #validate({ rules, details }: CompiledEntry, items: readonly string[], path: string, attempt: Attempt): boolean {
    if (rules.length === 0) return this.#ends();
    let item = Math.floor(this.#ruled / rules.length);
    for (; item < items.length && !this.#list.full; item++) {
      const self = items[item] ?? "";
      const bindings = { self, cr: this.#cr };
      for (let i = this.#ruled - item * rules.length; i < rules.length; i++) {
        const rule = rules[i];
        if (rule === undefined) break;
        // A rule that does not compile has the same objection to every item.
        if (rule.program === undefined && item > 0) {
          this.#ruled += 1;
          continue;
        }
        const result = runRule(rule, bindings, attempt);
        if (result instanceof Waiting) return false;
        this.#ruled += 1;
        if (result === true) continue;
        const at = `${path}.validations[${i}]`;
        if (result instanceof CelError) this.#fault(at, result.message, attempt);
        else this.#object(at, self, details[i] ?? "", attempt);
      }
    }
    return this.#ends();
  }

  #isCA(): boolean {
    if (!this.#request.isCA || this.#allowed.isCA === true || !this.#begins()) return true;
    this.#list.invalid(`${ALLOWED}.isCA`, true, this.#allowed.isCA === undefined ? "nil" : "false");
    return this.#ends();
  }

  #usages(attempt: Attempt): boolean {
    const { usages } = this.#request;
    if (usages.length === 0 || !this.#begins()) return true;
    const patterns = this.#allowed.usages;
    if (patterns === undefined) {
      this.#object(`${ALLOWED}.usages`, usages, "nil", attempt);
      return this.#ends();
    }
    const fit = this.#fits(patterns, usages, attempt);
    if (fit === undefined) return false;
    if (!fit) this.#object(`${ALLOWED}.usages`, usages, this.#allowed.usagesText, attempt);
    return this.#ends();
  }

  /** Checks for names in subjectAltName that no policy can allow. */
  #forbiddenNames(): boolean {
    const { generalNames } = this.#names.csr;
    if ("undecodable" in generalNames || !this.#begins()) return true;
    this.#forbid("directoryName", generalNames.directoryNames);
    this.#forbid("x400Address", generalNames.x400Addresses);
    this.#forbid("ediPartyName", generalNames.ediPartyNames);
    this.#forbid("registeredID", generalNames.registeredIds);
    return this.#ends();
  }

  #forbid(name: string, count: number): void {
    if (count > 0)
      this.#list.invalid(`${ALLOWED}.subjectAltName.${name}`, name, `${name} SAN entries are not permitted`);
  }

  #byOid(
    { byOid, required }: EntriesByOid,
    values: ReadonlyMap<string, readonly string[]>,
    seen: { has(oid: string): boolean },
    path: string,
    attempt: Attempt,
  ): boolean {
    for (const [oid, list] of values) {
      if (!this.#values(byOid.get(oid), list, `${path}[${oid}]`, attempt)) return false;
    }
    if (required.length === 0 || !this.#begins()) return true;
    for (const oid of required) {
      if (!seen.has(oid)) this.#list.required(`${path}[${oid}].required`);
    }
    return this.#ends();
  }

  #subjectLists(attempt: Attempt): boolean {
    const { lists } = this.#names.subject;
    const { subject } = this.#allowed;
    for (const name of SUBJECT_LISTS) {
      if (!this.#values(subject[name], lists.get(name) ?? NONE, `${SUBJECT}.${name}`, attempt)) return false;
    }
    return true;
  }

  #nonStrings(attempt: Attempt): boolean {
    const { nonStrings } = this.#names.subject;
    if (nonStrings.length === 0 || !this.#begins()) return true;
    for (const place of nonStrings) this.#object(`${SUBJECT}.${place}`, NON_STRING, unsupported(), attempt);
    return this.#ends();
  }

  #object(path: string, value: string | readonly string[], detail: string, attempt: Attempt): void {
    if (this.#list.full) return;
    const length = typeof value === "string" ? value.length : lengthOf(value);
    attempt.count(STEPS_PER_PRINTED * (path.length + length + detail.length));
    this.#list.invalid(path, value, detail);
  }

  #fault(path: string, detail: string, attempt: Attempt): void {
    if (this.#list.full) return;
    attempt.count(STEPS_PER_PRINTED * (path.length + detail.length));
    this.#list.internal(path, detail);
  }
}

const NONE: readonly string[] = [];

const isEmpty = ({ patterns, rules }: CompiledEntry): boolean => patterns === undefined && rules.length === 0;

function lengthOf(texts: readonly string[]): number {
  let length = texts.length;
  for (const text of texts) length += text.length;
  return length;
}
