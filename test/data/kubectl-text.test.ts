import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf } from "../../src/cluster/sources/document.js";
import { parseJson } from "../../src/data/json.js";
import { kubectlLength, kubectlText } from "../../src/data/kubectl-text.js";

/** What a real API server answers, and what `kubectl get -o json` makes of it. */
const ANSWER = String.raw`{"apiVersion":"policies.kubewarden.io/v1","kind":"ClusterAdmissionPolicy","metadata":{"creationTimestamp":"2026-11-23T07:37:52Z","generation":1,"managedFields":[{"manager":"kubectl"}],"name":"demo","resourceVersion":"210","uid":"d8e5a66a-d1d4-4e13-98b3-bb4db797d5e2"},"spec":{"module":"registry://x/y:v1","mutating":false,"rules":[{"apiGroups":[""],"resources":["configmaps"]}],"settings":{"big":12345678901234567000,"none":{},"empty":[],"expression":"a \u003c b \u0026\u0026 c","f":0.000001,"g":1e+21,"s":"\u003c\u2028\u003e\u0001 é"}},"status":{"policyStatus":"active"}}`;
const PRINTED = String.raw`{
    "apiVersion": "policies.kubewarden.io/v1",
    "kind": "ClusterAdmissionPolicy",
    "metadata": {
        "creationTimestamp": "2026-11-23T07:37:52Z",
        "generation": 1,
        "name": "demo",
        "resourceVersion": "210",
        "uid": "d8e5a66a-d1d4-4e13-98b3-bb4db797d5e2"
    },
    "spec": {
        "module": "registry://x/y:v1",
        "mutating": false,
        "rules": [
            {
                "apiGroups": [
                    ""
                ],
                "resources": [
                    "configmaps"
                ]
            }
        ],
        "settings": {
            "big": 12345678901234567000,
            "empty": [],
            "expression": "a \u003c b \u0026\u0026 c",
            "f": 0.000001,
            "g": 1e+21,
            "none": {},
            "s": "\u003c\u2028\u003e\u0001 é"
        }
    }
}
`;

test("a document's text is what kubectl prints, without status and managedFields", () => {
  const kind = { group: "policies.kubewarden.io", version: "v1", kind: "ClusterAdmissionPolicy" };
  const document = documentOf(parseJson(ANSWER) as Record<string, unknown>, kind);
  assert.equal(document.text, PRINTED);
  assert.deepEqual(
    { ...document, text: "" },
    {
      key: "policies.kubewarden.io/ClusterAdmissionPolicy//demo",
      uid: "d8e5a66a-d1d4-4e13-98b3-bb4db797d5e2",
      resourceVersion: "210",
      generation: 1,
      text: "",
    },
  );
});

test("integers keep their value", () => {
  assert.equal(
    kubectlText(parseJson("[9007199254740993, -1, true, null]")),
    "[\n    9007199254740993,\n    -1,\n    true,\n    null\n]\n",
  );
});

test("its length is known without printing it, but for what is escaped", () => {
  const values = [
    ANSWER.replace(/\\u[0-9a-f]{4}/g, "x"),
    "[]",
    "{}",
    "[[],{}]",
    '{"a":[1,[2,[3,{"b":null}]]]}',
    "12345678901234567890",
    '"x"',
  ];
  for (const text of values) assert.equal(kubectlLength(parseJson(text)), kubectlText(parseJson(text)).length, text);
  const escaped = { "<": "<".repeat(100) };
  assert.ok(
    kubectlLength(escaped) <= kubectlText(escaped).length && kubectlLength(escaped) * 6 >= kubectlText(escaped).length,
  );
});
