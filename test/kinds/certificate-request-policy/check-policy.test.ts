/** Spec certificate-request-policy.md 2.5 and 8.6, row by row; what the released webhook says of several hundred policies is in the vectors. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkPolicy } from "../../../src/kinds/certificate-request-policy/check-policy.js";
import { decodePolicy } from "../../../src/kinds/certificate-request-policy/decode-policy.js";
import { createRuleCompiler } from "../../../src/kinds/certificate-request-policy/dialect.js";
import { formatFieldError } from "../../../src/kubernetes/field-error.js";

const compiler = createRuleCompiler();

function errors(spec: object, registeredPlugins: readonly string[] = []): readonly string[] {
  const decoded = decodePolicy({ metadata: { name: "p" }, spec: { selector: { issuerRef: {} }, ...spec } });
  assert.ok(decoded.ok);
  return checkPolicy(decoded.policy, { compiler, registeredPlugins }).map(formatFieldError);
}

const NO_SELECTOR =
  "spec.selector: Required value: one of issuerRef or namespace must be defined, hint: `{}` on either matches everything";
const CANONICAL = 'must be a valid, canonical dotted ASN.1 object identifier (e.g. "1.3.6.1.4.1.311.20.2.3")';
const DEDICATED =
  "this OID is covered by a dedicated allowed.commonName / allowed.subject.* field; configure it there instead of otherAttributes";
const values = (path: string): string =>
  `spec.allowed.${path}.values: Required value: at least one of 'values' or 'validations' must be defined if field is 'required'`;
const value = (path: string): string =>
  `spec.allowed.${path}.value: Required value: at least one of 'value' or 'validations' must be defined if field is 'required'`;
const rule = (path: string, text: string, error: string): string =>
  `spec.allowed.${path}: Invalid value: ${JSON.stringify(text)}: ${error}`;
const CEL = "ERROR: <input>:1:1: undeclared reference to 'cel' (in container '')\n | cel\n | ^";
const REQUIRED = { required: true };
const RULES = { validations: [{ rule: "cel" }] };

describe("a policy is refused", () => {
  for (const [what, spec, expected, plugins] of [
    ["93: without a selector", { selector: {} }, [NO_SELECTOR]],
    [
      "94: with plugins that there are not, by their names",
      { plugins: { foo: {}, bar: {}, "a\u007f": {} }, selector: {} },
      [
        'spec.plugins: Unsupported value: "a\\x7f": supported values: "foo", "baz"',
        'spec.plugins: Unsupported value: "bar": supported values: "foo", "baz"',
        NO_SELECTOR,
      ],
      ["foo", "baz"],
    ],
    ["with a plugin where there is none", { plugins: { bar: {} } }, ['spec.plugins: Unsupported value: "bar"']],
    ["95: for what is required, and nothing is allowed", { allowed: { dnsNames: REQUIRED } }, [values("dnsNames")]],
    [
      "98: for a rule that is no bool",
      { allowed: { commonName: { validations: [{ rule: "true" }, { rule: "self" }] } } },
      [rule("commonName.validations[1]", "self", "got string, wanted bool result type")],
    ],
    [
      "97: for a rule with a mistake, at its place",
      { allowed: { dnsNames: { validations: [{ rule: "self > 2" }] } } },
      [
        rule(
          "dnsNames.validations[0]",
          "self > 2",
          "ERROR: <input>:1:6: found no matching overload for '_>_' applied to '(string, int)'\n | self > 2\n | .....^",
        ),
      ],
    ],
    [
      "109: in the order of the reference: lists, then single values, then lists by object identifier",
      {
        allowed: {
          otherNames: [
            { oid: "1.02", ...REQUIRED },
            { oid: "1.2", ...RULES },
          ],
          commonName: RULES,
          subject: {
            otherAttributes: [{ oid: "2.5.4.3", ...REQUIRED }],
            serialNumber: REQUIRED,
            postalCodes: REQUIRED,
            organizations: RULES,
          },
          emailAddresses: RULES,
          dnsNames: RULES,
        },
      },
      [
        rule("dnsNames.validations[0]", "cel", CEL),
        rule("emailAddresses.validations[0]", "cel", CEL),
        rule("subject.organizations.validations[0]", "cel", CEL),
        values("subject.postalCodes"),
        rule("commonName.validations[0]", "cel", CEL),
        value("subject.serialNumber"),
        `spec.allowed.otherNames[0].oid: Invalid value: "1.02": ${CANONICAL}`,
        values("otherNames[0]"),
        rule("otherNames[1].validations[0]", "cel", CEL),
        `spec.allowed.subject.otherAttributes[0].oid: Invalid value: "2.5.4.3": ${DEDICATED}`,
        values("subject.otherAttributes[0]"),
      ],
    ],
    [
      "105: for object identifiers that nothing is printed as",
      { allowed: { otherNames: [{ oid: "1.2.3.04" }, { oid: "not-an-oid" }, { oid: "1.2.3.-4" }, { oid: "1.-0" }] } },
      [
        `spec.allowed.otherNames[0].oid: Invalid value: "1.2.3.04": ${CANONICAL}`,
        `spec.allowed.otherNames[1].oid: Invalid value: "not-an-oid": ${CANONICAL}`,
        'spec.allowed.otherNames[2].oid: Invalid value: "1.2.3.-4": OID arcs must be non-negative',
        `spec.allowed.otherNames[3].oid: Invalid value: "1.-0": ${CANONICAL}`,
      ],
    ],
    [
      "for arcs of more than 64 bits",
      {
        allowed: {
          otherNames: [{ oid: "9223372036854775807" }, { oid: "9223372036854775808" }, { oid: "1".repeat(5000) }],
        },
      },
      [
        `spec.allowed.otherNames[1].oid: Invalid value: "9223372036854775808": ${CANONICAL}`,
        `spec.allowed.otherNames[2].oid: Invalid value: "${"1".repeat(5000)}": ${CANONICAL}`,
      ],
    ],
    [
      "106: for sizes of keys that have one size",
      { constraints: { privateKey: { algorithm: "Ed25519", minSize: 100, maxSize: 500 } } },
      [
        "spec.constraints.privateKey.maxSize: Invalid value: 500: maxSize cannot be defined with algorithm constraint Ed25519",
        "spec.constraints.privateKey.minSize: Invalid value: 100: minSize cannot be defined with algorithm constraint Ed25519",
      ],
    ],
    [
      "for everything that can be wrong with a key, in order",
      { constraints: { privateKey: { algorithm: "x<", minSize: 9007199254740993n, maxSize: -1 } } },
      [
        'spec.constraints.privateKey.algorithm: Unsupported value: "x\\u003c": supported values: "RSA", "ECDSA", "Ed25519"',
        "spec.constraints.privateKey.maxSize: Invalid value: -1: must be between 0 and 8192 inclusive",
        "spec.constraints.privateKey.minSize: Invalid value: 9007199254740993: must be between 0 and 8192 inclusive",
        "spec.constraints.privateKey.maxSize: Invalid value: -1: maxSize must be the same value as minSize or larger",
      ],
    ],
    [
      "107: for durations that nothing is between, or below nothing",
      { constraints: { minDuration: "-1m", maxDuration: "-2m" } },
      [
        'spec.constraints.maxDuration: Invalid value: "-2m0s": maxDuration must be the same value as minDuration or larger',
        'spec.constraints.maxDuration: Invalid value: "-2m0s": maxDuration must be a value greater or equal to 0',
        'spec.constraints.minDuration: Invalid value: "-1m0s": minDuration must be a value greater or equal to 0',
      ],
    ],
  ] as readonly (readonly [string, object, readonly string[], (readonly string[])?])[]) {
    test(what, () => assert.deepEqual(errors(spec, plugins), expected));
  }

  test("for labels that cannot be", () => {
    const [error = "", ...more] = errors({ selector: { namespace: { matchLabels: { $x: "y" } } } });
    assert.deepEqual(more, []);
    assert.match(
      error,
      /^spec\.selector\.namespace\.matchLabels: Invalid value: \{"\$x":"y"\}: key: Invalid value: "\$x": name part must consist of/,
    );
  });
});

describe("a policy is accepted", () => {
  for (const [what, spec, plugins] of [
    ["96: that requires what can never be", { allowed: { commonName: { required: true, value: "" } } }],
    ["that allows an empty list", { allowed: { dnsNames: { required: true, values: [] } } }],
    [
      "that has a rule where something is required",
      { allowed: { uris: { required: true, validations: [{ rule: "true" }] } } },
    ],
    ["for every namespace", { selector: { namespace: {} } }],
    ["with a plugin that there is", { plugins: { foo: {} } }, ["foo"]],
    [
      "that names an object identifier of the subject for other names",
      { allowed: { otherNames: [{ oid: "2.5.4.3" }] } },
    ],
    [
      "at the limits",
      { constraints: { maxDuration: "60m", minDuration: "1h", privateKey: { minSize: 0, maxSize: 8192 } } },
    ],
  ] as readonly (readonly [string, object, (readonly string[])?])[]) {
    test(what, () => assert.deepEqual(errors(spec, plugins), []));
  }
});
