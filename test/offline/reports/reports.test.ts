import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseYamlDocuments } from "../../../src/data/yaml.js";
import type { Finding, ReportedPolicy, ReportedResource } from "../../../src/offline/reports/finding.js";
import { junitReport } from "../../../src/offline/reports/junit.js";
import { policyReports, type ReportedEntry, reportText } from "../../../src/offline/reports/policy-report.js";
import { resultEntry } from "../../../src/offline/reports/result-entry.js";
import { resultTable } from "../../../src/offline/reports/result-table.js";
import { sarifReport } from "../../../src/offline/reports/sarif.js";

const RESOURCE: ReportedResource = {
  apiVersion: "v1",
  kind: "Pod",
  namespace: "true",
  name: "123",
  uid: "u",
  resourceVersion: "9",
};
const POLICY: ReportedPolicy = {
  name: "one",
  namespace: "",
  source: "KyvernoValidatingPolicy",
  annotations: { "policies.kyverno.io/category": "C: x", "policies.kyverno.io/severity": "high" },
  process: "background scan",
  countsSkips: true,
};
const UNSCORED: ReportedPolicy = {
  ...POLICY,
  name: "soft",
  namespace: "team-a",
  annotations: { "policies.kyverno.io/scored": "false", "policies.kyverno.io/severity": "bogus" },
};
const FINDING: Finding = {
  policy: 0,
  rule: "",
  status: "fail",
  message: "line one\nline 'two' <b> & {x} # no\n",
  properties: { "cel.validationIndex": "0" },
  exceptions: [],
};
const OPTIONS = { auditWarn: false, time: 7 };

const entry = (finding: Partial<Finding> = {}, policy = POLICY, options = OPTIONS): ReportedEntry => ({
  policy,
  entry: resultEntry(policy, { ...FINDING, ...finding }, RESOURCE, options),
});

describe("a result", () => {
  test("has what the policy's annotations say", () => {
    const { entry: made } = entry();
    assert.equal(made.category, "C: x");
    assert.equal(made.severity, "high");
    assert.equal(made.scored, true);
    assert.deepEqual(made.properties, { "cel.validationIndex": "0", process: "background scan" });
  });
  test("of an unscored policy is a warning when it fails, and has no severity that nobody knows", () => {
    const { entry: made } = entry({}, UNSCORED);
    assert.equal(made.result, "warn");
    assert.equal("scored" in made, false);
    assert.equal("severity" in made, false);
    assert.equal(made.policy, "team-a/soft");
  });
  test("names the exceptions without their namespaces", () =>
    assert.equal(entry({ exceptions: ["e1", "e2"] }).entry.properties?.exceptions, "e1,e2"));
  test("has no members that are empty", () => {
    const { entry: made } = entry({ message: "" });
    assert.equal("message" in made || "rule" in made, false);
  });
  const OVERRIDES: [Finding["status"], Record<string, string>, string][] = [
    ["fail", { failMessage: "custom" }, "custom"],
    ["pass", { failMessage: "custom" }, "said"],
    ["skip", { skipMessage: "custom", message: "any" }, "any"],
    ["error", { errorMessage: "" }, "said"],
  ];
  for (const [status, properties, expected] of OVERRIDES)
    test(`${status} with ${JSON.stringify(properties)} says ${expected}`, () =>
      assert.equal(entry({ status, message: "said", properties }).entry.message, expected));
});

test("the reports of a cluster and of a namespace, as Kyverno's command prints them in YAML", () => {
  const text = reportText(policyReports([entry(), entry({}, UNSCORED)], "openreports.io/v1alpha1"), "yaml");
  assert.equal(
    text,
    `apiVersion: openreports.io/v1alpha1
kind: ClusterReport
metadata:
  name: merged
results:
- category: 'C: x'
  message: |
    line one
    line 'two' <b> & {x} # no
  policy: one
  properties:
    cel.validationIndex: "0"
    process: background scan
  resources:
  - apiVersion: v1
    kind: Pod
    name: "123"
    namespace: "true"
    resourceVersion: "9"
    uid: u
  result: fail
  scored: true
  severity: high
  source: KyvernoValidatingPolicy
  timestamp:
    nanos: 0
    seconds: 7
source: ""
summary:
  error: 0
  fail: 1
  pass: 0
  skip: 0
  warn: 0

---
apiVersion: openreports.io/v1alpha1
kind: PolicyReport
metadata:
  name: soft
  namespace: team-a
results:
- message: |
    line one
    line 'two' <b> & {x} # no
  policy: team-a/soft
  properties:
    cel.validationIndex: "0"
    process: background scan
  resources:
  - apiVersion: v1
    kind: Pod
    name: "123"
    namespace: "true"
    resourceVersion: "9"
    uid: u
  result: warn
  source: KyvernoValidatingPolicy
  timestamp:
    nanos: 0
    seconds: 7
source: ""
summary:
  error: 0
  fail: 0
  pass: 0
  skip: 0
  warn: 1

`,
  );
});

test("the same in JSON, as Go prints it, and in the older API", () => {
  const [report = {}] = policyReports([entry({ message: "a<b" })], "wgpolicyk8s.io/v1alpha2");
  assert.equal(
    reportText([report], "json"),
    '{"kind":"ClusterPolicyReport","apiVersion":"wgpolicyk8s.io/v1alpha2","metadata":{"name":"merged"},' +
      '"summary":{"pass":0,"fail":1,"warn":0,"error":0,"skip":0},"results":[{"source":"KyvernoValidatingPolicy","policy":"one",' +
      '"category":"C: x","severity":"high","timestamp":{"seconds":7,"nanos":0},"result":"fail","scored":true,' +
      '"resources":[{"kind":"Pod","namespace":"true","name":"123","uid":"u","apiVersion":"v1","resourceVersion":"9"}],' +
      '"message":"a\\u003cb","properties":{"cel.validationIndex":"0","process":"background scan"}}]}\n',
  );
});

test("nothing is reported of nothing", () =>
  assert.equal(reportText(policyReports([], "openreports.io/v1alpha1"), "yaml"), ""));

test("JUnit: a suite for each policy", () => {
  const text = junitReport([entry({ message: 'a "b" <c>' }), entry({ status: "pass" }), entry({ status: "error" })]);
  assert.match(text, /<testsuite name="one" tests="3" failures="1" errors="1" skipped="0">/);
  assert.match(
    text,
    /<testcase classname="one" name="v1\/Pod\/true\/123">\n {6}<failure message="a &quot;b&quot; &lt;c&gt;"\/>/,
  );
});

test("SARIF: rules for policies, results for what is not in order", () => {
  const document = JSON.parse(
    sarifReport([entry(), entry({ status: "pass" }), entry({}, UNSCORED)], [POLICY, UNSCORED]).text,
  );
  const [run] = document.runs;
  assert.equal(document.version, "2.1.0");
  assert.deepEqual(
    run.tool.driver.rules.map(({ id }: { id: string }) => id),
    ["one", "team-a/soft"],
  );
  assert.deepEqual(
    run.results.map((each: { level: string; ruleIndex: number }) => [each.level, each.ruleIndex]),
    [
      ["error", 0],
      ["warning", 1],
    ],
  );
});

// Terminals obey the first ones; go-yaml 2 takes `=` and `<<` for something else, and stops at U+007F.
const HOSTILE = [
  "a\u001b[2Kb\rc",
  "\u202egnp\u2066",
  "\u009b1A",
  "a\u007fb",
  "a\u0085b\u2028c",
  "\ufeffa\ufffe",
  "on",
  "=",
  "<<",
  "1:30",
];

test("a report in YAML says what was said, whatever that is", () => {
  for (const message of HOSTILE) {
    const [report = {}] = policyReports(
      [entry({ message, properties: { [message]: message } })],
      "openreports.io/v1alpha1",
    );
    const text = reportText([report], "yaml");
    assert.deepEqual(parseYamlDocuments(text), [JSON.parse(JSON.stringify(report))]);
    assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/u);
  }
});

test("what SARIF's readers show has no links of its author, and is not turned round", () => {
  const message = "see [the docs](https://evil.example), containers[0] \u202egnp\nsecond line";
  const { runs } = JSON.parse(sarifReport([entry({ message })], [POLICY]).text) as {
    runs: { results: { message: { text: string } }[] }[];
  };
  assert.equal(
    runs[0]?.results[0]?.message.text,
    "v1/Pod/true/123: see \\[the docs](https://evil.example), containers[0] \\u202egnp\nsecond line",
  );
});

describe("the table", () => {
  const row = (finding: Partial<Finding>, policy = POLICY, resource = RESOURCE) => ({
    policy,
    finding: { ...FINDING, message: "said", ...finding },
    resource,
  });
  const PLAIN = { detailed: false, color: false, auditWarn: false };

  test("as Kyverno's command draws it", () => {
    const cluster = { ...RESOURCE, namespace: "", kind: "Namespace", name: "x" };
    assert.equal(
      resultTable([row({}), row({ status: "error" }, UNSCORED, cluster)], { ...PLAIN, detailed: true }),
      `│────│─────────────│──────│──────────────│────────│────────│─────────│
│ ID │ POLICY      │ RULE │ RESOURCE     │ RESULT │ REASON │ MESSAGE │
│────│─────────────│──────│──────────────│────────│────────│─────────│
│ 1  │ one         │      │ true/Pod/123 │ Fail   │        │ said    │
│ 2  │ team-a/soft │      │ Namespace/x  │ Error  │        │ said    │
│────│─────────────│──────│──────────────│────────│────────│─────────│
`,
    );
  });
  test("failures are warnings where that is asked for", () =>
    assert.match(resultTable([row({})], { ...PLAIN, auditWarn: true }), /│ Warn {3}│/));
  test("without rows there is none", () => assert.equal(resultTable([], PLAIN), ""));
  test("colours change nothing but colours", () => {
    const colored = resultTable([row({}), row({ status: "pass" })], { ...PLAIN, color: true });
    assert.ok(colored.includes("\u001b[31;1mFail\u001b[0m"));
    const esc = "\u001b";
    assert.equal(
      colored.replaceAll(new RegExp(`${esc}\\[[0-9;]*m`, "g"), ""),
      resultTable([row({}), row({ status: "pass" })], PLAIN),
    );
  });
});
