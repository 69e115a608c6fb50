import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Asked, objectionsTo } from "./asked.js";
import type { Row } from "./row.js";

const cn = (value: string): Asked => ({ subject: [["CN", value]] });
const dns = (...dnsNames: readonly string[]): Asked => ({ dnsNames });

const ROWS: readonly Row[] = [
  ["1: nothing is allowed, and nothing is asked for", undefined, {}, ""],
  [
    "2: nothing is allowed",
    undefined,
    cn("hello"),
    'spec.allowed.commonName: Invalid value: "hello": no allowed value',
  ],
  [
    "3: nothing of a list is allowed",
    undefined,
    dns("a.com", "b.com"),
    'spec.allowed.dnsNames: Invalid value: ["a.com","b.com"]: no allowed values',
  ],
  [
    "4: what is required is missing, even where anything fits",
    { commonName: { required: true, value: "*" } },
    {},
    "spec.allowed.commonName.required: Required value: true",
  ],
  ["5: an empty pattern", { commonName: { value: "" } }, cn("x"), 'spec.allowed.commonName.value: Invalid value: "x"'],
  [
    "6: an entry that allows nothing",
    { commonName: { required: false } },
    cn("x"),
    'spec.allowed.commonName: Invalid value: "x": no allowed value',
  ],
  [
    "7: no patterns",
    { dnsNames: { values: [] } },
    dns("a.com"),
    'spec.allowed.dnsNames.values: Invalid value: ["a.com"]',
  ],
  [
    "8: no patterns, and required",
    { dnsNames: { values: [], required: true } },
    {},
    "spec.allowed.dnsNames.required: Required value: true",
  ],
  [
    "9: rules are not run over nothing that is required",
    { dnsNames: { required: true, validations: [{ rule: "false" }] } },
    {},
    "spec.allowed.dnsNames.required: Required value: true",
  ],
  ["10: rules are not run over nothing", { dnsNames: { validations: [{ rule: "false" }] } }, {}, ""],
  [
    "11: values that fit nothing",
    { dnsNames: { values: ["example.com2", "foo.bar2"] } },
    dns("example.com", "foo.bar"),
    'spec.allowed.dnsNames.values: Invalid value: ["example.com","foo.bar"]: example.com2, foo.bar2',
  ],
  [
    "12: one value that fits nothing",
    { dnsNames: { values: ["a.com"] } },
    dns("a.com", "b.com"),
    'spec.allowed.dnsNames.values: Invalid value: ["a.com","b.com"]: a.com',
  ],
  [
    "13: a star stands for labels and for stars",
    { dnsNames: { values: ["*.example.com"] } },
    dns("*.example.com", "x.y.example.com"),
    "",
  ],
  [
    "14: a star does not stand for the dot behind it",
    { dnsNames: { values: ["*.example.com"] } },
    dns("example.com"),
    'spec.allowed.dnsNames.values: Invalid value: ["example.com"]: *.example.com',
  ],
  [
    "15: letter case counts",
    { dnsNames: { values: ["example.com"] } },
    dns("Example.com"),
    'spec.allowed.dnsNames.values: Invalid value: ["Example.com"]: example.com',
  ],
  [
    "16: a question mark is no wildcard",
    { commonName: { value: "exam?le" } },
    cn("example"),
    'spec.allowed.commonName.value: Invalid value: "example": exam?le',
  ],
  ["17: a star stands for nothing, too", { commonName: { value: "hello-*" } }, cn("hello-"), ""],
  [
    "18: many stars",
    { commonName: { value: "*a*a*a*a*a*a*a*a*!" } },
    cn("a".repeat(50)),
    `spec.allowed.commonName.value: Invalid value: "${"a".repeat(50)}": *a*a*a*a*a*a*a*a*!`,
  ],
  ["19: addresses", { ipAddresses: { values: ["1.1*", "*2.3.4.5"] } }, { ipAddresses: ["1.1.1.1", "2.3.4.5"] }, ""],
  [
    "20: addresses in canonical form",
    { ipAddresses: { values: ["2001:db8::1"] } },
    { ipAddresses: ["2001:db8::1"] },
    "",
  ],
  ["21: URIs as they are printed", { uris: { values: ["spiffe://td/*"] } }, { uris: ["spiffe://td/x"] }, ""],
  ["22: a CA is not allowed", { isCA: false }, {}, "spec.allowed.isCA: Invalid value: true: false", { isCA: true }],
  ["22: nothing is said of a CA", {}, {}, "spec.allowed.isCA: Invalid value: true: nil", { isCA: true }],
  ["22: a CA is allowed", { isCA: true }, {}, "", { isCA: true }],
  [
    "23: no usages are allowed",
    { usages: [] },
    {},
    'spec.allowed.usages: Invalid value: ["server auth"]',
    { usages: ["server auth"] },
  ],
  [
    "23: nothing is said of usages",
    {},
    {},
    'spec.allowed.usages: Invalid value: ["server auth"]: nil',
    { usages: ["server auth"] },
  ],
  [
    "24: one usage is not allowed",
    { usages: ["crl sign", "server auth"] },
    {},
    'spec.allowed.usages: Invalid value: ["crl sign","client auth"]: crl sign, server auth',
    { usages: ["crl sign", "client auth"] },
  ],
  [
    "25: any stands for itself",
    { usages: ["any"] },
    {},
    'spec.allowed.usages: Invalid value: ["server auth"]: any',
    { usages: ["server auth"] },
  ],
  [
    "27: texts and lists are quoted in two ways",
    undefined,
    { ...cn('a"b'), ...dns("a&b") },
    '[spec.allowed.commonName: Invalid value: "a\\"b": no allowed value, spec.allowed.dnsNames: Invalid value: ["a\\u0026b"]: no allowed values]',
  ],
  [
    "31: a pattern and a rule are both asked",
    { commonName: { value: "other", validations: [{ rule: "true" }] } },
    cn("x"),
    'spec.allowed.commonName.value: Invalid value: "x": other',
  ],
  [
    "an empty name in a list is a name",
    { dnsNames: { values: ["a"] } },
    dns(""),
    'spec.allowed.dnsNames.values: Invalid value: [""]: a',
  ],
  ["an empty common name is none", undefined, cn(""), ""],
];

describe("attributes (spec certificate-request-policy.md 8.1)", () => {
  for (const [title, allowed, asked, objections, more] of ROWS) {
    test(title, () => assert.equal(objectionsTo(allowed === undefined ? {} : { allowed }, asked, more), objections));
  }
});
