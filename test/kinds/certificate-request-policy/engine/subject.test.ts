import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  attribute,
  bits,
  der,
  EC_KEY,
  oid,
  pem,
  request as requestOf,
  SEQUENCE,
} from "../../../x509/pkcs10/requests.js";
import { type Asked, objectionsTo, policy, request, saidOf } from "./asked.js";
import type { Row } from "./row.js";

const EMAIL = "1.2.840.113549.1.9.1";
const UPN = "1.3.6.1.4.1.311.20.2.3";
const OTHERS = `spec.allowed.subject.otherAttributes[${EMAIL}]`;
const NAMES = `spec.allowed.otherNames[${UPN}]`;
const NO_TEXT =
  "uses an unsupported ASN.1 type or string encoding; re-issue the certificate with a UTF8String or PrintableString subject";

const ofSubject = (...subject: NonNullable<Asked["subject"]>): Asked => ({ subject });
const upn = (value: string): Asked => ({
  dnsNames: ["a.example"],
  generalNames: { otherNames: [{ oid: UPN, value }] },
});
const A_EXAMPLE = { dnsNames: { values: ["a.example"] } };
const UPNS = { ...A_EXAMPLE, otherNames: [{ oid: UPN, values: ["*@t.example"] }] };
const MAIL = { oid: EMAIL, values: ["*@t.example"] };

const ROWS: readonly Row[] = [
  [
    "49: a common name beside the one that is looked for",
    { commonName: { value: "*.t.example" } },
    ofSubject(["CN", "kubernetes-admin"], ["CN", "app.t.example"]),
    'spec.allowed.commonName[0].value: Invalid value: "kubernetes-admin": *.t.example',
  ],
  [
    "50: common names that all fit",
    { commonName: { value: "*.t.example" } },
    ofSubject(["CN", "a.t.example"], ["CN", "b.t.example"]),
    "",
  ],
  [
    "51: a serial number behind the one that is looked for",
    { subject: { serialNumber: { value: "legit-*" } } },
    ofSubject(["serialNumber", "legit-001"], ["serialNumber", "smuggled-002"]),
    'spec.allowed.subject.serialNumber[1].value: Invalid value: "smuggled-002": legit-*',
  ],
  [
    "52: an attribute without a field",
    undefined,
    ofSubject([EMAIL, "r@v.corp"]),
    `${OTHERS}: Invalid value: ["r@v.corp"]: no allowed values`,
  ],
  [
    "53: an attribute without a field that does not fit",
    { subject: { otherAttributes: [MAIL] } },
    ofSubject([EMAIL, "r@v.corp"]),
    `${OTHERS}.values: Invalid value: ["r@v.corp"]: *@t.example`,
  ],
  [
    "54: an attribute without a field that is required",
    { subject: { otherAttributes: [{ ...MAIL, required: true }] } },
    {},
    `${OTHERS}.required: Required value: true`,
  ],
  ["55: an otherName", A_EXAMPLE, upn("adm@v.corp"), `${NAMES}: Invalid value: ["adm@v.corp"]: no allowed values`],
  ["56: an otherName that fits", UPNS, upn("u@t.example"), ""],
  [
    "56: an otherName that does not",
    UPNS,
    upn("adm@v.corp"),
    `${NAMES}.values: Invalid value: ["adm@v.corp"]: *@t.example`,
  ],
  [
    "57: an otherName that is required",
    { ...A_EXAMPLE, otherNames: [{ oid: UPN, values: ["*@t.example"], required: true }] },
    { dnsNames: ["a.example"] },
    `${NAMES}.required: Required value: true`,
  ],
  [
    "58: a registered ID",
    A_EXAMPLE,
    { dnsNames: ["a.example"], generalNames: { registeredIds: 1 } },
    'spec.allowed.subjectAltName.registeredID: Invalid value: "registeredID": registeredID SAN entries are not permitted',
  ],
  [
    "59: an X.400 address, twice",
    A_EXAMPLE,
    { dnsNames: ["a.example"], generalNames: { x400Addresses: 2 } },
    'spec.allowed.subjectAltName.x400Address: Invalid value: "x400Address": x400Address SAN entries are not permitted',
  ],
  [
    "60: names that cannot be decoded, and nothing else",
    A_EXAMPLE,
    { ...ofSubject(["CN", "x"]), dnsNames: ["b.example"], generalNames: { undecodable: "why" } },
    "subjectAltName (SAN) extension could not be decoded: why",
  ],
  [
    "61: an organization that is no text",
    undefined,
    ofSubject(["O", undefined]),
    `spec.allowed.subject.organizations: Invalid value: "<non-string value>": subject attribute ${NO_TEXT}`,
  ],
  [
    "62: a common name that is no text",
    { commonName: { value: "*" } },
    ofSubject(["CN", undefined]),
    `spec.allowed.commonName: Invalid value: "<non-string value>": subject attribute 2.5.4.3 ${NO_TEXT}`,
  ],
  ["64: organizations", { subject: { organizations: { values: ["a", "b"] } } }, ofSubject(["O", "a"], ["O", "b"]), ""],
  [
    "values that are no text are seen, but not compared",
    { subject: { otherAttributes: [{ ...MAIL, required: true }], organizations: { values: ["a"] } } },
    ofSubject(["O", "a"], ["O", undefined], [EMAIL, undefined]),
    `[spec.allowed.subject.organizations: Invalid value: "<non-string value>": subject attribute ${NO_TEXT}, ` +
      `${OTHERS}: Invalid value: "<non-string value>": subject attribute ${NO_TEXT}]`,
  ],
  [
    "of several entries for one identifier the last one counts, and each may require",
    { subject: { otherAttributes: [{ oid: EMAIL, values: ["*"] }, MAIL, { oid: "1.2.3", required: true }] } },
    ofSubject([EMAIL, "r@v.corp"]),
    `[${OTHERS}.values: Invalid value: ["r@v.corp"]: *@t.example, spec.allowed.subject.otherAttributes[1.2.3].required: Required value: true]`,
  ],
];

describe("subjects and names (spec certificate-request-policy.md 8.3)", () => {
  for (const [title, allowed, asked, objections, more] of ROWS) {
    test(title, () => assert.equal(objectionsTo(allowed === undefined ? {} : { allowed }, asked, more), objections));
  }
});

describe("requests as they are encoded (spec certificate-request-policy.md 8.3)", () => {
  const CN = "2.5.4.3";
  const universal = Buffer.from("\0\0\0a\0\0\0p\0\0\0p", "latin1");
  const bmp = Buffer.from("app.t.example", "utf16le").swap16();
  const named = (identifier: number, value: Buffer) =>
    request({ request: pem(requestOf({ names: [attribute(CN, der(identifier, value))] })) });
  const DENIED = "Denied: No policy approved this request: [p: ";
  const OK = 'Approved: Approved by CertificateRequestPolicy: "p"';
  const ours = policy({ allowed: { commonName: { value: "*.t.example" } } });

  test("62: a common name as UniversalString", async () => {
    assert.equal(
      await saidOf([policy({ allowed: { commonName: { value: "*" } } })], named(0x1c, universal)),
      `${DENIED}spec.allowed.commonName: Invalid value: "<non-string value>": subject attribute 2.5.4.3 ${NO_TEXT}]`,
    );
  });
  test("63: a common name as BMPString", async () => assert.equal(await saidOf([ours], named(0x1e, bmp)), OK));
  test("63: a common name as T61String", async () =>
    assert.equal(await saidOf([ours], named(0x14, Buffer.from("app.t.example"))), OK));
  test("64: an organization for each name", async () => {
    const names = ["a", "b"].map((each) => attribute("2.5.4.10", der(0x0c, Buffer.from(each))));
    const asked = request({ request: pem(requestOf({ names })) });
    assert.equal(
      await saidOf([policy({ allowed: { subject: { organizations: { values: ["a", "b"] } } } })], asked),
      OK,
    );
  });
  test("65: no PEM", async () =>
    assert.equal(
      await saidOf([ours], request({ request: Buffer.from("nothing") })),
      "Error: error decoding certificate request PEM block: no PEM data was found in given input",
    ));
  test("66: a key on secp256k1, whatever the policy says of keys", async () => {
    const algorithm = der(SEQUENCE, oid("1.2.840.10045.2.1"), oid("1.3.132.0.10"));
    const key = der(SEQUENCE, algorithm, bits(Buffer.alloc(65, 4)));
    const asked = request({ request: pem(requestOf({ key })) });
    assert.equal(await saidOf([policy()], asked), "Error: x509: unsupported elliptic curve");
    assert.equal(await saidOf([policy()], request({ request: pem(requestOf({ key: EC_KEY })) })), OK);
  });
  test("26: usages that stand in the signing request alone are not looked at", async () => {
    const keyUsage = der(SEQUENCE, oid("2.5.29.15"), der(4, der(3, Buffer.from([1, 6]))));
    const attributes = [der(SEQUENCE, oid("1.2.840.113549.1.9.14"), der(0x31, der(SEQUENCE, keyUsage)))];
    assert.equal(await saidOf([policy()], request({ request: pem(requestOf({ attributes })) })), OK);
  });
  test("20, 21: addresses and URIs are compared as they are printed", async () => {
    const address = Buffer.from("20010db8000000000000000000000001", "hex");
    const alternatives = [der(0x87, address), der(0x86, Buffer.from("SPIFFE://td/x"))];
    const allowed = { ipAddresses: { values: ["2001:db8::1"] }, uris: { values: ["spiffe://td/*"] } };
    assert.equal(await saidOf([policy({ allowed })], request({ request: pem(requestOf({ alternatives })) })), OK);
  });
});
