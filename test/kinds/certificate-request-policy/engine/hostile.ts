/** Requests that ask for as much as they can, and policies with much to say about them. */
import type { CertificateRequest } from "../../../../src/kinds/certificate-request-policy/engine/certificate-request.js";
import type { CompiledPolicy } from "../../../../src/kinds/certificate-request-policy/engine/compiled-policy.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import { attribute, der, oid, pem, type RequestParts, request as requestOf } from "../../../x509/pkcs10/requests.js";
import { policy, request } from "./asked.js";

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const text = (value: string): Buffer => Buffer.from(value);
const asking = (parts: RequestParts, more: Partial<CertificateRequest> = {}): CertificateRequest =>
  request({ request: pem(requestOf(parts)), ...more });

const otherName = (id: string, value: string): Buffer => der(0xa0, oid(id), der(0xa0, der(0x0c, text(value))));

/** As much as fits into the 36,500 octets that are read. */
export const REQUESTS: Readonly<Record<string, CertificateRequest>> = {
  "3,000 DNS names": asking({ alternatives: times(3_000, (i) => der(0x82, text(`a${i}.b`))) }),
  "1,500 attributes of the subject, each of its own kind": asking({
    names: times(1_450, (i) => attribute(`1.2.${i}`, der(0x0c, text("a")))),
  }),
  "1,500 common names": asking({ names: times(1_450, () => attribute("2.5.4.3", der(0x0c, text("a")))) }),
  "1,500 otherNames": asking({ alternatives: times(1_500, (i) => otherName(`1.2.${i}`, "u")) }),
  "one name of 26,000 characters": asking({ alternatives: [der(0x82, text("ab".repeat(13_000)))] }),
  "one name of one character": asking({ alternatives: [der(0x82, text("a".repeat(26_000)))] }),
  "an issuer with a name of 60,000 characters": request({
    issuerRef: { name: "ab".repeat(30_000), kind: "", group: "" },
  }),
  "10,000 groups": request({ groups: times(10_000, (i) => `group-${i}`) }),
};

const ATTRIBUTES = ["dnsNames", "uris", "emailAddresses"] as const;
/** The same for whatever is asked for. */
const entries = (entry: JsonObject): JsonObject => ({
  ...Object.fromEntries(ATTRIBUTES.map((name) => [name, entry])),
  commonName: { ...entry, ...("values" in entry && { values: undefined, value: (entry.values as string[])[0] }) },
  otherNames: times(3, (i) => ({ oid: `1.2.${i}`, ...entry })),
  subject: { otherAttributes: times(3, (i) => ({ oid: `1.2.${i}`, ...entry })) },
});
const rules = (...of: readonly string[]): JsonObject => ({ validations: of.map((rule) => ({ rule })) });
const set = (count: number, spec: (i: number) => JsonObject) => (): readonly CompiledPolicy[] =>
  times(count, (i) => policy(spec(i), { name: `p${i}` }));

const STARS = `${"a*b*".repeat(25)}c`;
const LOOPS = "[0,1,2,3,4,5,6,7,8,9]";
/** Nearly a million units of cost. */
const DEAR = `${LOOPS}.all(a, ${LOOPS}.all(b, ${LOOPS}.all(c, ${LOOPS}.all(d, [1,2,3,4,5,6,7].all(e, self != "" && e != 0)))))`;

/** Sets of policies, none of which approves what asks for anything. */
export const POLICIES: Readonly<Record<string, () => readonly CompiledPolicy[]>> = {
  "nothing is allowed": set(400, () => ({})),
  "100 patterns": set(400, (i) => ({
    allowed: entries({ values: times(100, (j) => (j < 50 ? `a*-${i}-${j}.example.com` : `*x${j}*`)) }),
  })),
  "patterns of 50 stars": set(400, (i) => ({
    allowed: entries({ values: times(40, (j) => `${STARS}${i}-${j}`) }),
    selector: { issuerRef: { name: `*${STARS}${"*b".repeat(20)}*` } },
  })),
  "ten rules": set(400, () => ({
    allowed: entries(rules(...times(10, (j) => `self.startsWith('b${j}')`))),
  })),
  "ten regular expressions": set(400, () => ({
    allowed: entries(rules(...times(10, (j) => `self.matches('^(a|b|ab)*(a?b?)+${j}$')`))),
  })),
  "rules that cost all that they may": set(400, () => ({ allowed: entries(rules(DEAR, "self == 'no'")) })),
  "no rule compiles": set(400, () => ({ allowed: entries(rules("nobody", "knows", "self +")) })),
};

/** Those that any policy approves: they are large in other ways. */
export const ASKING_FOR_NOTHING: ReadonlySet<string> = new Set([
  "an issuer with a name of 60,000 characters",
  "10,000 groups",
]);
