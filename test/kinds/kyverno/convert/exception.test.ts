import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { converted, documentsOf, exempted, type Json, judged, matching, object, policyOf } from "./judged.js";

const policy = policyOf({});
const exceptions = (...ruleNames: readonly string[]) => ({ exceptions: [{ policyName: "p", ruleNames }] });
const reasonsOf = (spec: Json, of = policy) => {
  const { documents, reasons } = exempted(spec, of);
  assert.deepEqual(documents, []);
  return reasons.map(({ path, message }) => `${path.join(".")}: ${message}`);
};

describe("an exception", () => {
  test("names the policies that rules became", () => {
    const made = exempted(
      { ...exceptions("check"), match: matching({ kinds: ["ConfigMap"], names: ["legacy-*"] }) },
      policy,
    );
    assert.deepEqual(made.documents, [
      {
        apiVersion: "policies.kyverno.io/v1",
        kind: "PolicyException",
        metadata: { name: "e", namespace: "ops" },
        spec: {
          policyRefs: [{ name: "p", kind: "ValidatingPolicy" }],
          matchConditions: [
            {
              name: "match",
              expression:
                'request.kind.kind == "ConfigMap" && request.?name.or(object.?metadata.?generateName).orValue("").startsWith("legacy-")',
            },
          ],
        },
      },
    ]);
  });

  test("exempts what it matches", async () => {
    const answers = async (spec: Json, of = policy) => {
      const { documents, reasons } = exempted(spec, of);
      assert.deepEqual(reasons, []);
      const objects = [
        object("ConfigMap", "legacy-1"),
        object("ConfigMap", "a"),
        object("ConfigMap", "legacy-2", "bank"),
      ];
      const found = await judged(converted(of), objects, { exceptions: documents });
      return found.map((each) => (each === "skip" ? "." : each === "-" ? "-" : "x")).join("");
    };
    const kinds = ["ConfigMap"];
    assert.equal(await answers({ ...exceptions("ch*"), match: matching({ kinds, names: ["legacy-*"] }) }), ".x.");
    assert.equal(
      await answers({
        ...exceptions("check"),
        match: { all: [{ resources: { kinds, names: ["legacy-*"] } }, { resources: { namespaces: ["bank"] } }] },
      }),
      "xx.",
    );
    const conditions = { all: [{ key: "{{ request.object.metadata.name }}", operator: "Equals", value: "a" }] };
    assert.equal(await answers({ ...exceptions("check"), match: matching({ kinds }), conditions }), "x.x");
    const shop = policyOf({}, {}, { kind: "Policy", metadata: { name: "p", namespace: "shop" } });
    assert.equal(
      await answers(
        { exceptions: [{ policyName: "shop/p", ruleNames: ["*"] }], match: matching({ kinds, names: ["a"] }) },
        shop,
      ),
      "x.-",
    );
  });

  test("from a rule about Pods names the rules about controllers, too", async () => {
    const pods = policyOf({
      match: matching({ kinds: ["Pod"] }),
      validate: { message: "host", pattern: { spec: { hostNetwork: false } } },
    });
    const spec = { hostNetwork: true, containers: [] };
    const objects = [
      object("Pod", "p", "shop", { spec }),
      object("apps/v1/Deployment", "d", "shop", { spec: { template: { spec } } }),
      object("batch/v1/CronJob", "c", "shop", { spec: { jobTemplate: { spec: { template: { spec } } } } }),
    ];
    const answers = async (...names: readonly string[]) => {
      const { documents } = exempted({ ...exceptions(...names), match: matching({ kinds: ["*"] }) }, pods);
      return (await judged(converted(pods), objects, { exceptions: documents }))
        .map((each) => (each === "skip" ? "." : "x"))
        .join("");
    };
    assert.equal(await answers("check"), ".xx");
    assert.equal(await answers("check", "autogen-check"), "..x");
    assert.equal(await answers("*check"), "...");
  });

  test("is refused where it exempts nothing, or what can't be said", () => {
    const match = matching({ kinds: ["ConfigMap"] });
    assert.deepEqual(reasonsOf({ exceptions: [{ policyName: "other", ruleNames: ["check"] }], match }), [
      "spec.exceptions.0.policyName: no policy of this name is there: give its file, too",
    ]);
    assert.match(reasonsOf({ ...exceptions("nope"), match })[0] ?? "", /^spec\.exceptions: no rule/);
    assert.match(
      reasonsOf({
        ...exceptions("check"),
        match: { any: [{ resources: { kinds: ["ConfigMap"] }, subjects: [{ kind: "User", name: "a" }] }] },
      })[0] ?? "",
      /background: false/,
    );
    assert.match(
      reasonsOf({ ...exceptions("check"), match: matching({ namespaceSelector: { matchLabels: { a: "b" } } }) })[0] ??
        "",
      /Namespace is none/,
    );
    assert.match(reasonsOf({ ...exceptions("check"), matches: match })[0] ?? "", /^spec\.matches: unknown member/);
    const baseline = policyOf({
      match: matching({ kinds: ["Pod"] }),
      validate: { podSecurity: { level: "baseline" } },
    });
    assert.equal(documentsOf(converted(baseline)).length > 0, true);
    assert.match(
      reasonsOf(
        {
          ...exceptions("check"),
          match: matching({ kinds: ["Pod"] }),
          podSecurity: [{ controlName: "Host Namespaces" }],
        },
        baseline,
      )[0] ?? "",
      /^spec\.podSecurity: controls/,
    );
  });
});
