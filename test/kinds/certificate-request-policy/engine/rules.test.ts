import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Asked, objectionsTo } from "./asked.js";
import type { Row } from "./row.js";

const cn = (value: string): Asked => ({ subject: [["CN", value]] });
const dns = (...dnsNames: readonly string[]): Asked => ({ dnsNames });
const CN = "spec.allowed.commonName.validations[0]";
const DNS = "spec.allowed.dnsNames.validations";

/** An entry with rules; a pair is a rule with its message. */
type Rule = string | readonly [string, string];
const rules = (...of: readonly Rule[]) => ({
  validations: of.map((each) => (typeof each === "string" ? { rule: each } : { rule: each[0], message: each[1] })),
});
const ofCn = (...of: readonly Rule[]) => ({ commonName: rules(...of) });
const ofDns = (...of: readonly Rule[]) => ({ dnsNames: rules(...of) });

const IS_ACCOUNT = "isServiceAccount(cr.username)";
const GROUPS = "cr.groups.exists(g, self.matches('tool-%s'.format([g])))";
const SPIFFE = "self.startsWith('spiffe://t/ns/%s/sa/'.format([cr.namespace]))";
const EIGHT_LOOPS = "abcdefgh"
  .split("")
  .reduceRight((inner, name) => `[0,1,2,3,4,5,6,7,8,9].all(${name}, ${inner})`, 'self != ""');

const ROWS: readonly Row[] = [
  [
    "28: names of the request's namespace",
    ofDns(["self.endsWith(cr.namespace + '.svc')", "local only"]),
    dns("a.com", "b.com"),
    `[${DNS}[0]: Invalid value: "a.com": local only, ${DNS}[0]: Invalid value: "b.com": local only]`,
  ],
  [
    "29: a rule without a message is quoted",
    ofCn("self.contains('cn-1')"),
    cn("hello-world"),
    `${CN}: Invalid value: "hello-world": failed rule: self.contains('cn-1')`,
  ],
  ["30: an empty message", ofCn(["false", ""]), cn("x"), `${CN}: Invalid value: "x"`],
  [
    "32: a rule beside patterns that fit",
    { uris: { values: ["spiffe://*"], ...rules("self.startsWith('spiffe://foo.bar/ns/')") } },
    { uris: ["spiffe://cluster.local/ns/foo/sa/bar"] },
    "spec.allowed.uris.validations[0]: Invalid value: \"spiffe://cluster.local/ns/foo/sa/bar\": failed rule: self.startsWith('spiffe://foo.bar/ns/')",
  ],
  [
    "33: a rule beside patterns that do not fit",
    { emailAddresses: { values: ["foo@e.com"], ...rules("self == cr.namespace + '@e.com'") } },
    { emailAddresses: ["foo@e.com", "bar@e.com"] },
    '[spec.allowed.emailAddresses.values: Invalid value: ["foo@e.com","bar@e.com"]: foo@e.com, ' +
      "spec.allowed.emailAddresses.validations[0]: Invalid value: \"bar@e.com\": failed rule: self == cr.namespace + '@e.com']",
  ],
  [
    "34: both are content",
    { dnsNames: { values: ["*.com"], ...rules("self.endsWith(cr.namespace + '.com')") } },
    dns("foo.com"),
    "",
  ],
  [
    "35: what says the same is said once",
    ofDns("false"),
    dns("a.com", "a.com"),
    `${DNS}[0]: Invalid value: "a.com": failed rule: false`,
  ],
  [
    "36: by item, then by rule",
    ofDns(["self == 'q'", "r0"], ["self == 'r'", "r1"]),
    dns("a", "b"),
    `[${DNS}[0]: Invalid value: "a": r0, ${DNS}[1]: Invalid value: "a": r1, ${DNS}[0]: Invalid value: "b": r0, ${DNS}[1]: Invalid value: "b": r1]`,
  ],
  ["37: a rule that fails", ofCn("1 / 0 == 1"), cn("x"), `${CN}: Internal error: division by zero`],
  [
    "38: a failure that nothing depends on",
    ofCn(["self == 'ok' && 1 / 0 == 1", "m"]),
    cn("no"),
    `${CN}: Invalid value: "no": m`,
  ],
  [
    "38: a failure that decides",
    ofCn(["self == 'ok' && 1 / 0 == 1", "m"]),
    cn("ok"),
    `${CN}: Internal error: division by zero`,
  ],
  [
    "39: who is no service account has no name of one",
    ofCn("serviceAccount(cr.username).getName() == self"),
    cn("x"),
    `${CN}: Internal error: Unable to convert to serviceaccount: err: Username must be in the form system:serviceaccount:namespace:name, username: bob`,
    { username: "bob" },
  ],
  [
    "40: who is no service account, asked first",
    ofCn([`${IS_ACCOUNT} && serviceAccount(cr.username).getName() == self`, "m"]),
    cn("x"),
    `${CN}: Invalid value: "x": m`,
    { username: "bob" },
  ],
  ["41: a name of the namespace", { uris: rules(SPIFFE) }, { uris: ["spiffe://t/ns/foo/sa/b"] }, ""],
  [
    "41: a name of another one",
    { uris: rules(SPIFFE) },
    { uris: ["spiffe://t/ns/bar/sa/b"] },
    `spec.allowed.uris.validations[0]: Invalid value: "spiffe://t/ns/bar/sa/b": failed rule: ${SPIFFE}`,
  ],
  ["42: a service account", ofCn(IS_ACCOUNT), cn("x"), "", { username: "system:serviceaccount:a:b" }],
  ...["system:serviceaccount:A:b", "system:serviceaccount:a:b:c", ""].map(
    (username): Row => [
      `42: no service account: ${JSON.stringify(username)}`,
      ofCn(IS_ACCOUNT),
      cn("x"),
      `${CN}: Invalid value: "x": failed rule: ${IS_ACCOUNT}`,
      { username },
    ],
  ),
  ["43: a pattern that fits within", ofCn(GROUPS), cn("my-tool-t1-x"), "", { groups: ["admin", "t1"] }],
  ["44: nobody's group", ofCn(GROUPS), cn("tool-t2"), `${CN}: Invalid value: "tool-t2": failed rule: ${GROUPS}`],
  [
    "45: an empty name is absent",
    ofCn("has(cr.username)"),
    cn("x"),
    `${CN}: Invalid value: "x": failed rule: has(cr.username)`,
  ],
  ["46: the first of no groups", ofCn("cr.groups[0] == 'a'"), cn("x"), `${CN}: Internal error: index out of bounds: 0`],
  [
    "47: a rule that costs too much",
    ofCn(EIGHT_LOOPS),
    cn("x"),
    `${CN}: Internal error: operation cancelled: actual cost limit exceeded`,
  ],
  [
    "48: a rule that does not compile, once for all items",
    ofDns("cel"),
    dns("a", "b"),
    `${DNS}[0]: Internal error: ERROR: <input>:1:1: undeclared reference to 'cel' (in container '')\n | cel\n | ^`,
  ],
];

describe("rules (spec certificate-request-policy.md 8.2)", () => {
  for (const [title, allowed, asked, objections, more] of ROWS) {
    test(title, () => assert.equal(objectionsTo({ allowed }, asked, more), objections));
  }
});
