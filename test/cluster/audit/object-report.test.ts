/** Reports of objects about which policies say more than a report has room for. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AuditedPolicy, AuditFinding } from "../../../src/cluster/audit/audited-policy.js";
import { objectReport, REPORT_APIS } from "../../../src/cluster/audit/object-report.js";
import type { ServedPolicy } from "../../../src/policy/served/policy-set.js";

const MIB = 1024 * 1024;

/** What etcd is given for a value: JSON by Go's encoding/json, which escapes `<`, `>`, `&`, U+2028 and U+2029. */
const storedAs = (value: unknown): number =>
  Buffer.byteLength(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, "\\u0000"));

const resource = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "shop",
  name: "c",
  uid: "0b3c6f0e-5d5a-4c5e-9d0f-7a6f5b1c2d3e",
  resourceVersion: "7",
};

/** @param namespace of the policy; `""`: it is for the whole cluster */
function policy(name: string, namespace: string, more: Partial<AuditedPolicy["reported"]> = {}): AuditedPolicy {
  return {
    served: { id: name, mode: "protect" } as unknown as ServedPolicy,
    reported: { name, namespace, source: "s", annotations: {}, countsSkips: true, ...more },
    rules: [],
    namespace: "",
    properties: {},
    seesNamespaces: true,
    asGuest: false,
    looksElsewhere: false,
    finding: () => undefined,
  };
}

const failed = (message = "no", properties = {}): AuditFinding => ({ status: "fail", message, properties });

interface Result {
  readonly policy: string;
  readonly category?: string;
  readonly message?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

function reported(pairs: readonly (readonly [AuditedPolicy, AuditFinding])[], api = REPORT_APIS.openreports) {
  const findings = pairs.map(([policy, finding]) => ({ policy, finding }));
  const report = objectReport({ api, author: "default" }, resource, findings, 1_700_000_000);
  assert.ok(report !== undefined);
  const body = report.body as { results: readonly Result[]; summary: { fail: number } };
  return { body, bytes: storedAs(body), named: body.results.map((each) => each.policy) };
}

describe("a report", () => {
  for (const [what, text] of [
    ["letters", "x"],
    ["characters of three bytes", "字"],
    ["characters of four bytes", "😀"],
    ["what Go escapes", "<"],
    ["control characters", "\u0001"],
    ["halves of characters", "\ud800"],
  ] as const) {
    test(`stays below a mebibyte, and has all hundred results, whatever is long in them: ${what}`, () => {
      const long = text.repeat(20_000);
      const properties = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${i}${long}`, long]));
      const annotations = {
        "policies.kyverno.io/category": long,
        "policies.kyverno.io/severity": long,
        "policies.kyverno.io/scored": long,
      };
      const exceptions = Array.from({ length: 50 }, () => long);
      for (const api of Object.values(REPORT_APIS)) {
        const { body, bytes } = reported(
          Array.from({ length: 100 }, (_, i) => [
            policy(`${i}${long}`, "shop", { annotations, source: long, process: long }),
            { ...failed(long, properties), exceptions },
          ]),
          api,
        );
        assert.ok(bytes < MIB, `${bytes} bytes`);
        assert.equal(body.results.length, 100);
        for (const { message = "", properties: shown = {}, category = "" } of body.results) {
          assert.ok(message.length > 500 && category.length > 50, "each has a part of all");
          assert.equal(Object.keys(shown).length, 20);
        }
      }
    });
  }

  test("says short things whole", () => {
    const properties = { binding: "b", "policy/note": "x".repeat(500) };
    const { body } = reported([
      [
        policy("p", "shop", { annotations: { "policies.kyverno.io/category": "c".repeat(100) } }),
        { ...failed("m".repeat(1000), properties), exceptions: ["e", "f"] },
      ],
    ]);
    const { timestamp: _, ...result } = body.results[0] as unknown as Record<string, unknown>;
    assert.deepEqual(result, {
      source: "s",
      policy: "shop/p",
      category: "c".repeat(100),
      result: "fail",
      scored: true,
      message: "m".repeat(1000),
      properties: { ...properties, exceptions: "e,f" },
    });
  });

  test("cuts between characters", () => {
    const { body } = reported([[policy("p", ""), failed(`${"m".repeat(998)}😀😀`, { note: "😀".repeat(600) })]]);
    assert.equal(body.results[0]?.message, `${"m".repeat(998)}…`);
    assert.match(body.results[0]?.properties?.note ?? "", /^(?:😀)+…$/u);
  });

  test("has what policies of the whole cluster say first, and no namespace takes the room of another", () => {
    const crowd = Array.from({ length: 130 }, (_, i) => [policy(`n${i}`, "shop"), failed()] as const);
    const { named, body } = reported([
      ...crowd,
      [policy("cluster-a", ""), failed()],
      [{ ...policy("guest", ""), namespace: "shop" }, failed()],
      [policy("other-a", "team"), failed()],
      [policy("other-b", "team"), failed()],
      [policy("cluster-b", ""), failed()],
    ]);
    assert.deepEqual(named.slice(0, 6), [
      "cluster-a",
      "cluster-b",
      "shop/n0",
      "team/other-a",
      "shop/n1",
      "team/other-b",
    ]);
    assert.equal(named.length, 100);
    assert.equal(named.includes("guest"), false, "it is one of 131 of its namespace");
    assert.equal(body.summary.fail, 135, "all are counted");
  });
});
