import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../../src/config/documents/problem.js";
import { parseResources } from "../../../src/config/documents/source-document.js";
import { createRuleCompiler } from "../../../src/kinds/certificate-request-policy/dialect.js";
import { preparePolicies } from "../../../src/kinds/certificate-request-policy/kind.js";

const compiler = createRuleCompiler();

function prepared(yaml: string, lenient = false) {
  const { documents, problems } = parseResources(yaml, "p.yaml");
  assert.deepEqual(problems, []);
  const found = preparePolicies(documents, { compiler, lenient });
  return {
    names: found.policies.map(({ name }) => name),
    problems: found.problems.map((problem) => formatProblem(problem).split("\n")[0]),
  };
}

const GOOD = `apiVersion: policy.cert-manager.io/v1alpha1
kind: CertificateRequestPolicy
metadata: {name: good}
spec:
  selector: {issuerRef: {}}
`;
const BAD = `apiVersion: policy.cert-manager.io/v1alpha1
kind: CertificateRequestPolicy
metadata: {name: bad}
spec:
  plugins: {vault: {}}
  allowed:
    commonName:
      required: true
    dnsNames:
      validations:
        - rule: "true"
        - rule: |
            self == 'a' &&
              foo
    uris: {values: ["*"], validations: [{rule: self}]}
  constraints:
    maxDuration: 1h
    minDuration: 2h
    privateKey: {algorithm: DSA}
  selector: {}
`;

describe("documents", () => {
  test("have all their mistakes told at once, each at its place, inside of rules too", () => {
    assert.deepEqual(prepared(`${GOOD}---\n${BAD}`), {
      names: ["good"],
      problems: [
        'p.yaml:25:29: spec.constraints.privateKey.algorithm: Unsupported value: "DSA": supported values: "RSA", "ECDSA", "Ed25519"',
        'p.yaml:11:12: spec.plugins: Unsupported value: "vault"',
        "p.yaml:26:13: spec.selector: Required value: one of issuerRef or namespace must be defined, hint: `{}` on either matches everything",
        "p.yaml:20:15: spec.allowed.dnsNames.validations[1].rule: Invalid value: \"self == 'a' &&\\n  foo\\n\": ERROR: <input>:2:3: undeclared reference to 'foo' (in container '')",
        'p.yaml:21:48: spec.allowed.uris.validations[0].rule: Invalid value: "self": got string, wanted bool result type',
        "p.yaml:14:7: spec.allowed.commonName.value: Required value: at least one of 'value' or 'validations' must be defined if field is 'required'",
        'p.yaml:23:18: spec.constraints.maxDuration: Invalid value: "1h0m0s": maxDuration must be the same value as minDuration or larger',
      ],
    });
  });

  test("of a cluster are kept with their mistakes, which are doubts then", () => {
    const { names, problems } = prepared(`${GOOD}---\n${BAD}`, true);
    assert.deepEqual(names, ["good", "bad"]);
    assert.equal(problems.length, 7);
    for (const problem of problems) assert.match(problem ?? "", /^p\.yaml:\d+:\d+: warning: /);
  });

  test("are left out all the same when they cannot be read, or have a field that nobody knows", () => {
    for (const line of ["  constraint: {maxDuration: 1h}", "  constraints: {maxDuration: 1d}", "  allowed: []"]) {
      const { names, problems } = prepared(`${GOOD}${line}\n`, true);
      assert.deepEqual(names, [], line);
      assert.match(problems.join(), /^p\.yaml:6:\d+: spec\./, line);
    }
  });

  test("that are none are refused", () => {
    assert.deepEqual(prepared("[]").names, []);
    assert.equal(prepared("[]").problems.length, 1);
  });
});
