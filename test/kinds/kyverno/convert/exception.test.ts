import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { converted, exempted, type Json, judged, matching, object, policyOf } from "./judged.js";

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

  test("from controls of Pod security exempts what breaks no others", async () => {
    const baseline = policyOf({
      match: matching({ kinds: ["Pod"] }),
      validate: { podSecurity: { level: "baseline", exclude: [{ controlName: "Sysctls" }] } },
    });
    const pod = (name: string, privileged: boolean, more: Json) =>
      object("Pod", name, "shop", {
        spec: { hostNetwork: true, containers: [{ name: "c", image: "i", securityContext: { privileged } }], ...more },
      });
    const pods = [
      pod("a", false, { securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } }),
      pod("b", true, {}),
      pod("c", false, { hostPID: true }),
    ];
    const exempt = (...podSecurity: readonly Json[]) =>
      exempted({ ...exceptions("check"), match: matching({ kinds: ["Pod"] }), podSecurity }, baseline);
    const answers = async (...controls: readonly Json[]) =>
      (await judged(converted(baseline), pods, { exceptions: exempt(...controls).documents }))
        .map((each) => (each === "skip" ? "." : "x"))
        .join("");
    assert.equal(await answers({ controlName: "Host Namespaces" }), ".x.");
    assert.equal(
      await answers({ controlName: "Host Namespaces" }, { controlName: "Privileged Containers", images: ["*"] }),
      "...",
    );
    assert.equal(await answers({ controlName: "HostPath Volumes" }), "xxx");
    const wrong = exempt({ controlName: "Privileged Containers" });
    assert.deepEqual([wrong.documents, wrong.reasons[0]?.path], [[], ["spec", "podSecurity"]]);
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
  });
});
