/**
 * Random CertificateRequestPolicies about random requests. Who approves is also told by a second implementation, which shares no code with the first: it
 * knows what was asked for because it was asked for here, and compares by regular expressions. With `CERTIFICATE_REQUEST_ORACLE`, a command that reads
 * cases as they stand in the vectors and adds what the reference says of them, results and messages must also be the same, those of requests that
 * are broken or odd included.
 */
import { spawnSync } from "node:child_process";
import { createRuleCompiler } from "../../src/kinds/certificate-request-policy/index.js";
import type { JsonObject } from "../../src/kubernetes/object.js";
import { decideReview } from "../../src/offline/cases/certificate-request-policy/review.js";
import { attribute, der, oid, pem, request as requestOf } from "../x509/pkcs10/requests.js";
import type { Fuzzer } from "./fuzzer.js";
import { pick, type Random, random } from "./random.js";
import { randomRequest } from "./random-requests.js";

const UNDECODABLE = /(subjectAltName \(SAN\) extension could not be decoded: )[^\]]*/g;
const BATCH = 200;
const MOST_FAULTS = 5;

/** What is asked for under a name, and how it is written down. */
interface Attribute {
  readonly at: readonly string[];
  readonly words: readonly string[];
  /** It has one value. */
  readonly one?: boolean;
  readonly oid?: string;
  readonly encode: (value: string) => { readonly name?: Buffer; readonly alternative?: Buffer };
}

const utf8 = (value: string): Buffer => der(0x0c, Buffer.from(value));
const inSubject = (id: string) => (value: string) => ({ name: attribute(id, utf8(value)) });
const alternative = (tag: number) => (value: string) => ({ alternative: der(tag, Buffer.from(value)) });
const address = (value: string) => ({ alternative: der(0x87, Buffer.from(value.split(".").map(Number))) });
const otherName = (id: string) => (value: string) => ({ alternative: der(0xa0, oid(id), der(0xa0, utf8(value))) });

const WORDS = ["a", "ab", "web.foo.svc", "a*b", "*", "foo", "a.b", 'b"c', "é", "x?", "A"];
const HOSTS = ["a", "web.foo.svc", "*.foo.svc", "a..b", ".", "A.b", "a&b"];
const UPN = "1.3.6.1.4.1.311.20.2.3";
const MAIL = "1.2.840.113549.1.9.1";
const ATTRIBUTES: readonly Attribute[] = [
  { at: ["commonName"], words: WORDS, one: true, encode: inSubject("2.5.4.3") },
  { at: ["dnsNames"], words: HOSTS, encode: alternative(0x82) },
  { at: ["emailAddresses"], words: ["a@b", "ab@foo", "a"], encode: alternative(0x81) },
  { at: ["uris"], words: ["spiffe://a/b", "https://foo/a", "urn:a"], encode: alternative(0x86) },
  { at: ["ipAddresses"], words: ["10.0.0.1", "1.1.1.1"], encode: address },
  { at: ["otherNames"], oid: UPN, words: WORDS, encode: otherName(UPN) },
  { at: ["otherNames"], oid: "1.2.3", words: WORDS, encode: otherName("1.2.3") },
  { at: ["subject", "organizations"], words: WORDS, encode: inSubject("2.5.4.10") },
  { at: ["subject", "organizationalUnits"], words: WORDS, encode: inSubject("2.5.4.11") },
  { at: ["subject", "serialNumber"], words: WORDS, one: true, encode: inSubject("2.5.4.5") },
  { at: ["subject", "otherAttributes"], oid: MAIL, words: WORDS, encode: inSubject(MAIL) },
];

/** Rules with what they say; what fails says no. */
const RULES: readonly (readonly [string, (self: string) => boolean])[] = [
  ["true", () => true],
  ["self != ''", () => true],
  ["self.startsWith('a')", (self) => self.startsWith("a")],
  [
    "self.endsWith(cr.namespace + '.svc') || self.size() < 4",
    (self) => self.endsWith("foo.svc") || [...self].length < 4,
  ],
  ["self.matches('a|b')", (self) => self.includes("a") || self.includes("b")],
  ["cr.groups.exists(g, g == self)", (self) => self === "a" || self === "ab"],
  ["self == 'a' || 1 / 0 == 1", (self) => self === "a"],
  ["self == 'a' && 1 / 0 == 1", () => false],
  ["isServiceAccount(cr.username)", () => true],
  ["self", () => false],
  ["self.nope()", () => false],
];
const USAGES = ["server auth", "client auth", "any"];

interface Entry {
  readonly patterns: readonly string[] | undefined;
  readonly rules: readonly (typeof RULES)[number][];
  readonly required: boolean;
}

interface MadePolicy {
  readonly stored: JsonObject;
  /** By attribute; `undefined`: no entry. */
  readonly entries: readonly (Entry | undefined)[];
  readonly isCA: boolean | undefined;
  readonly usages: readonly string[] | undefined;
}

const some = <T>(next: Random, most: number, make: () => T): T[] => Array.from({ length: next(most + 1) }, make);

function patternOf(next: Random, words: readonly string[]): string {
  const word = pick(next, words);
  const at = next(word.length + 1);
  return pick(next, [
    word,
    "*",
    `${word.slice(0, at)}*`,
    `*${word.slice(at)}`,
    `${word.slice(0, at)}*${word.slice(at)}`,
    "",
  ]);
}

function entry(next: Random, { words, one = false }: Attribute): Entry | undefined {
  if (next(8) === 0) return undefined;
  // Most allow a lot: where nothing is approved nothing is found.
  const generous = next(4) > 0;
  const patterns = generous ? ["*"] : some(next, 3, () => patternOf(next, words));
  return {
    patterns: next(6) === 0 || (one && patterns.length === 0) ? undefined : one ? patterns.slice(0, 1) : patterns,
    rules: next(4) === 0 ? some(next, 2, () => pick(next, RULES)) : [],
    required: next(40) === 0,
  };
}

function policyOf(next: Random, name: string): MadePolicy {
  const entries = ATTRIBUTES.map((each) => entry(next, each));
  const allowed: Record<string, unknown> = {};
  for (const [i, { at, oid: id, one = false }] of ATTRIBUTES.entries()) {
    const made = entries[i];
    if (made === undefined) continue;
    const { patterns, rules, required } = made;
    const stored = {
      ...(id !== undefined && { oid: id }),
      ...(patterns !== undefined && (one ? { value: patterns[0] } : { values: patterns })),
      ...(rules.length > 0 && { validations: rules.map(([rule]) => ({ rule })) }),
      ...(required && { required }),
    };
    let owner = allowed;
    for (const key of at.slice(0, -1)) {
      owner[key] ??= {};
      owner = owner[key] as Record<string, unknown>;
    }
    const last = at.at(-1) ?? "";
    if (id === undefined) owner[last] = stored;
    else owner[last] = [...((owner[last] ?? []) as JsonObject[]), stored];
  }
  const isCA = pick(next, [undefined, true, true, false]);
  const usages = pick(next, [undefined, USAGES, ["*"], ["server*"]]);
  const spec = {
    selector: { issuerRef: {} },
    allowed: { ...allowed, ...(isCA !== undefined && { isCA }), ...(usages !== undefined && { usages }) },
  };
  const status = { conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] };
  const kind = { apiVersion: "policy.cert-manager.io/v1alpha1", kind: "CertificateRequestPolicy" };
  return { stored: { ...kind, metadata: { name }, spec, status }, entries, isCA, usages };
}

interface MadeRequest {
  readonly pem: string;
  /** By attribute; `undefined` where nobody knows what the request says. */
  readonly values: readonly (readonly string[])[] | undefined;
  readonly isCA: boolean;
  readonly usages: readonly string[];
}

function requestFor(next: Random): MadeRequest {
  const isCA = next(6) === 0;
  const usages = some(next, 2, () => pick(next, USAGES));
  const values = ATTRIBUTES.map(({ words }) => (next(5) === 0 ? some(next, 2, () => pick(next, words)) : []));
  const parts = ATTRIBUTES.flatMap(({ encode }, i) => (values[i] ?? []).map(encode));
  const names = parts.flatMap(({ name }) => name ?? []);
  const alternatives = parts.flatMap((part) => ("alternative" in part ? (part.alternative ?? []) : []));
  const made = requestOf({ names, ...(alternatives.length > 0 && { alternatives }) });
  const odd = next(4);
  if (odd > 0) return { pem: pem(made).toString(), values, isCA, usages };
  if (next(2) === 0) return { pem: pem(randomRequest(next)).toString(), values: undefined, isCA, usages };
  made[next(made.length)] = next(256);
  return { pem: pem(made).toString(), values: undefined, isCA, usages };
}

/** What a pattern takes, as a regular expression. */
const expressionOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
      .join("[^]*")}$`,
  );
const fits = (patterns: readonly string[], value: string): boolean =>
  patterns.some((pattern) => expressionOf(pattern).test(value));

function accepts(made: Entry | undefined, values: readonly string[], one: boolean): boolean {
  const asked = one ? values.filter((value) => value !== "") : values;
  if (made === undefined) return asked.length === 0;
  const { patterns, rules, required } = made;
  if (asked.length === 0) return !required;
  if (patterns === undefined && rules.length === 0) return false;
  return asked.every(
    (value) => (patterns === undefined || fits(patterns, value)) && rules.every(([, says]) => says(value)),
  );
}

const approves = (policy: MadePolicy, { isCA, usages }: MadeRequest, values: readonly (readonly string[])[]): boolean =>
  ATTRIBUTES.every(({ one = false }, i) => accepts(policy.entries[i], values[i] ?? [], one)) &&
  (!isCA || policy.isCA === true) &&
  usages.every((usage) => policy.usages !== undefined && fits(policy.usages, usage));

/** A case as it stands in the vectors, and the policies that approve; `undefined` where only an oracle could tell. */
interface Case {
  readonly written: JsonObject;
  readonly approving: readonly string[] | undefined;
}

function caseOf(next: Random, id: string): Case {
  const policies = Array.from({ length: 1 + next(4) }, (_, i) => policyOf(next, `p${i}`));
  const request = requestFor(next);
  const { values } = request;
  const certificateRequest = {
    apiVersion: "cert-manager.io/v1",
    kind: "CertificateRequest",
    metadata: { name: "r", namespace: "foo" },
    spec: {
      request: Buffer.from(request.pem).toString("base64"),
      issuerRef: { name: "i" },
      username: "system:serviceaccount:foo:bar",
      groups: ["a", "ab"],
      ...(request.isCA && { isCA: true }),
      ...(request.usages.length > 0 && { usages: request.usages }),
    },
  };
  const bound = policies.map((_, i) => `p${i}`).filter(() => next(8) > 0);
  const approving =
    values && bound.filter((name) => policies.some((each, i) => name === `p${i}` && approves(each, request, values)));
  const stored = policies.map((each) => each.stored);
  return {
    written: { id, kind: "review", policies: stored, bound, certificateRequest, csrPem: request.pem },
    approving,
  };
}

/** What a run found. */
export interface FoundPolicies {
  readonly cases: number;
  readonly results: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

/** Tries for so many seconds, or cases. */
export async function run(
  seconds: number,
  seed: number,
  most = Number.POSITIVE_INFINITY,
  oracle = process.env.CERTIFICATE_REQUEST_ORACLE,
): Promise<FoundPolicies> {
  const next = random(seed);
  const compiler = createRuleCompiler();
  const results = new Map<string, number>();
  const faults: string[] = [];
  let cases = 0;
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end && cases < most && faults.length < MOST_FAULTS) {
    const batch = Array.from({ length: Math.min(BATCH, most - cases) }, (_, i) => caseOf(next, `${seed}/${cases + i}`));
    const answers: string[] = [];
    for (const { written, approving } of batch) {
      const { result, message = "" } = await decideReview(written, compiler);
      answers.push(message.includes(NOT_UTF8) ? NOT_UTF8 : comparable(result, message));
      results.set(result, (results.get(result) ?? 0) + 1);
      const wanted = approving === undefined ? undefined : expected(written, approving);
      if (wanted !== undefined && wanted !== (result === "Approved" ? message : result))
        faults.push(`${result} ${message}, not ${wanted}: ${JSON.stringify(written)}`);
    }
    cases += batch.length;
    if (oracle === undefined) continue;
    for (const [i, answer] of ask(oracle, batch).entries()) {
      if (answers[i] === NOT_UTF8 ? DECIDED.test(answer) : answer === answers[i]) continue;
      faults.push(`${answers[i]}, not ${answer}: ${JSON.stringify(batch[i]?.written)}`);
    }
  }
  return { cases, results, faults };
}

function expected({ bound }: JsonObject, [first]: readonly string[]): string {
  if (first !== undefined) return `Approved by CertificateRequestPolicy: "${first}"`;
  return Array.isArray(bound) && bound.length > 0 ? "Denied" : "Unprocessed";
}

/** Where the reference goes on with octets that are no text, and comes to something of its own. */
const NOT_UTF8 = "could not be decoded: the value of an otherName is not valid UTF-8";
const DECIDED = /^(?:Approved|Denied): /;

const comparable = (result: string, message: string): string =>
  result === "Error" ? result : `${result}: ${message.replace(UNDECODABLE, "$1…")}`;

function ask(oracle: string, batch: readonly Case[]): readonly string[] {
  const input = batch.map(({ written }) => `${JSON.stringify(written)}\n`).join("");
  const { stdout, stderr, error } = spawnSync(oracle, { input, maxBuffer: 2 ** 28 });
  if (error !== undefined) throw error;
  const lines = stdout.toString("utf8").trimEnd().split("\n");
  if (lines.length !== batch.length)
    throw new Error(`${lines.length} of ${batch.length} answered: ${stderr.toString()}`);
  return lines.map((line) => {
    const { expect } = JSON.parse(line) as { expect: { result: string; message?: string } };
    return comparable(expect.result, expect.message ?? "");
  });
}

/** `npm run fuzz -- request-policies`. */
export const requestPolicyFuzzer: Fuzzer = {
  name: "request-policies",
  async run(milliseconds, seed) {
    const { cases, results, faults } = await run(milliseconds / 1_000, seed);
    console.log(`${cases} cases: ${[...results].map(([result, count]) => `${count} ${result}`).join(", ")}`);
    return faults;
  },
};
