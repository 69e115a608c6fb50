import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { GroupVersionResource } from "../../../src/kubernetes/names.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { EquivalentResource } from "../../../src/kubernetes/shared-storage.js";
import type { Outcome } from "../../../src/policy/outcome.js";
import type { AdmissionQuestion } from "../../../src/policy/review.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { readVectors } from "../../support/vap-vectors.js";
import { asked as askedOf, prepare, worldWith } from "./prepared.js";
import { binding, matching, policy, request, rule } from "./tricky.js";

/** What a policy says that denies, and tells what it saw. */
async function outcome(asked: JsonObject, rules: readonly JsonObject[], ...documents: JsonObject[]): Promise<Outcome> {
  const told = { expression: "false", messageExpression: "'saw ' + object.apiVersion + ' as ' + request.kind.version" };
  const own = policy({ ...matching(...rules), validations: [told] });
  const prepared = prepare([own, ...documents]);
  assert.deepEqual(prepared.problems, []);
  const review: AdmissionQuestion = {
    kind: "admission",
    request: asked as unknown as AdmissionQuestion["request"],
    requestBytes: () => new Uint8Array(),
  };
  const patience = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
  return await askedOf(prepared).evaluate(review, patience);
}

const words = (said: Outcome): string =>
  `${said.verdict}: ${said.verdict === "skip" ? said.reason : said.message}`.replace(
    /ValidatingAdmissionPolicy 'p.acme.example' denied request: /,
    "",
  );

const widget = (version: string, more: JsonObject = {}) =>
  request(["multi.example.com", version, "widgets", "Widget"], { namespace: "ns", ...more });
const V1 = rule("multi.example.com", "v1", "widgets");
const addressed = (version: string) => ({
  requestKind: { group: "multi.example.com", version, kind: "Widget" },
  requestResource: { group: "multi.example.com", version, resource: "widgets" },
});
const CRD = (strategy: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.multi.example.com" },
  spec: {
    group: "multi.example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    conversion: { strategy },
    versions: [
      { name: "v1", served: true },
      { name: "v2", served: true },
    ],
  },
});

describe("a request in another version than the policy's rules name is never allowed for that", () => {
  test("what the API server has converted is judged as it is", async () => {
    assert.equal(words(await outcome(widget("v1", addressed("v2")), [V1])), "deny: saw multi.example.com/v1 as v1");
  });

  test("without a way to know, it is an error that says what is missing", async () => {
    assert.equal(
      words(await outcome(widget("v2"), [V1])),
      "error: failed to configure policy: cannot tell whether multi.example.com/v2 widgets are the same objects as " +
        "multi.example.com/v1: give the CustomResourceDefinition beside the policy or run with a cluster that serves them",
    );
  });

  test("the failure policy decides about that as about other errors", async () => {
    const ignoring = { ...policy({ ...matching(V1), failurePolicy: "Ignore" }, "ignoring.acme.example") };
    const review = {
      kind: "admission",
      request: widget("v2"),
      requestBytes: () => new Uint8Array(),
    } as unknown as AdmissionQuestion;
    const said = await askedOf(prepare([ignoring])).evaluate(review, {
      deadline: Infinity,
      signal: new AbortController().signal,
    });
    assert.equal(said?.verdict, "allow");
  });

  test("a CustomResourceDefinition beside the policy tells; with a conversion webhook nobody here converts", async () => {
    assert.equal(words(await outcome(widget("v2"), [V1], CRD("None"))), "deny: saw multi.example.com/v1 as v1");
    assert.equal(
      words(await outcome(widget("v2"), [V1], CRD("Webhook"))),
      "error: failed to configure binding: failed to convert object version: its conversion webhook cannot be asked here",
    );
  });

  test("what was addressed is not made up from what it was converted to", async () => {
    const said = words(await outcome(widget("v2", addressed("v1")), [V1]));
    assert.equal(
      said,
      "error: failed to configure binding: failed to convert object version: only the API server can convert between its versions",
    );
  });

  test("versions of built-in resources are known", async () => {
    const of = async (kind: string, resource: string, asked: string, named: string) => {
      const [group = "", version = ""] = asked.split("/");
      const [ruleGroup = "", ruleVersion = ""] = named.split("/");
      return words(
        await outcome(request([group, version, resource, kind], { namespace: "ns" }), [
          rule(ruleGroup, ruleVersion, resource),
        ]),
      );
    };
    const unconverted =
      "error: failed to configure binding: failed to convert object version: only the API server can convert between its versions";
    assert.equal(await of("CronJob", "cronjobs", "batch/v1", "batch/v1beta1"), "deny: saw batch/v1beta1 as v1beta1");
    const classes = await of("DeviceClass", "deviceclasses", "resource.k8s.io/v1beta2", "resource.k8s.io/v1");
    assert.equal(classes, "deny: saw resource.k8s.io/v1 as v1");
    assert.equal(
      await of("ResourceClaim", "resourceclaims", "resource.k8s.io/v1beta1", "resource.k8s.io/v1"),
      unconverted,
    );
    assert.equal(await of("Event", "events", "events.k8s.io/v1", "/v1"), unconverted);
    assert.equal(await of("Pod", "pods", "/v1", "/v2"), "skip: no resource rule matches", "the core group has one");
  });

  test("versions that a server newer than the table may have are not known, but for rules on anything", async () => {
    const claim = request(["resource.k8s.io", "v1beta1", "resourceclaims", "ResourceClaim"], { namespace: "ns" });
    const v2 = rule("resource.k8s.io", "v2", "resourceclaims");
    const unknown =
      /cannot tell whether resource\.k8s\.io\/v1beta1 resourceclaims are the same objects as resource\.k8s\.io\/v2/;
    assert.match(words(await outcome(claim, [v2])), unknown);
    assert.match(words(await outcome(claim, [rule("apps", "v1", "deployments"), v2])), unknown);
    const beside = { ...v2, apiVersions: ["v2", "v1beta2"] };
    assert.match(
      words(await outcome(claim, [beside])),
      /failed to convert object version/,
      "one that is known matches",
    );
    for (const passed of [
      rule("*", "v2", "resourceclaims"),
      rule("resource.k8s.io", "v2", "*"),
      { ...v2, resourceNames: ["other"] },
      { ...v2, operations: ["DELETE"] },
    ]) {
      assert.equal(words(await outcome(claim, [passed])), "skip: no resource rule matches", JSON.stringify(passed));
    }
  });

  test("an object that does not say what it is is what the review says, so that its shape is not made up", async () => {
    const v2 = rule("autoscaling", "v2", "horizontalpodautoscalers");
    const v1 = request(["autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler"]);
    const [apiVersion, kind] = ["autoscaling/v1", "HorizontalPodAutoscaler"];
    for (const label of [{ apiVersion, kind }, {}, { apiVersion }, { kind }]) {
      const object = { ...label, spec: { targetCPUUtilizationPercentage: 5 } };
      const said = words(await outcome({ ...v1, object }, [v2]));
      assert.match(said, /failed to convert object version: only the API server/, JSON.stringify(label));
    }
    for (const more of [{}, addressed("v2")]) {
      const said = words(await outcome({ ...widget("v1", more), object: { spec: {} } }, [V1]));
      assert.equal(said, "deny: saw multi.example.com/v1 as v1");
    }
  });

  test("what the API server has converted to counts in a group that nobody here knows to share, among other policies too", async () => {
    const asked = widget("v1", {
      requestKind: { group: "old.example.com", version: "v1", kind: "Widget" },
      requestResource: { group: "old.example.com", version: "v1", resource: "widgets" },
    });
    const another = policy(matching(rule("apps", "v1", "deployments")), "another.acme.example");
    assert.equal((await outcome(asked, [V1])).verdict, "deny");
    assert.equal((await outcome(asked, [V1], another)).verdict, "deny");
  });

  test("other requests are none of the policy's business", async () => {
    for (const rules of [
      [rule("other.example.com", "v1", "widgets")],
      [rule("multi.example.com", "v1", "gadgets")],
      [rule("multi.example.com", "v1", "widgets/status")],
      [rule("multi.example.com", "v1", "widgets", { resourceNames: ["other"] })],
    ]) {
      assert.equal(words(await outcome(widget("v2"), rules)), "skip: no resource rule matches");
    }
  });

  test("whoever converts, the verdict is that of the API server", async () => {
    for (const { id, written, expected } of readVectors("equivalents.jsonl")) {
      const { policies, bindings, request: asked, equivalents } = written as Record<string, readonly JsonObject[]>;
      const sets = (equivalents ?? []).map(({ resources }) => ({
        resources: (resources as (JsonObject & EquivalentResource & GroupVersionResource)[]).map(
          ({ group, version, resource, kind }) => ({ resource: { group, version, resource }, subresource: "", kind }),
        ),
      }));
      const prepared = prepare([...(policies ?? []), ...(bindings ?? [])]);
      const resources = new FileResources(prepared.objects, {
        guessScope: true,
        synthesiseNamespaces: true,
        equivalentSets: sets,
      });
      const served = prepared.policy(id, worldWith({ resources }));
      const review = {
        kind: "admission",
        request: asked,
        requestBytes: () => new Uint8Array(),
      } as unknown as AdmissionQuestion;
      const said = await served.evaluate(review, {
        deadline: Infinity,
        signal: new AbortController().signal,
      });
      assert.equal(
        said?.verdict === "deny",
        !(expected as { allowed: boolean }).allowed,
        `${id}: ${JSON.stringify(said)}`,
      );
      assert.notEqual(said?.verdict, "error", id);
    }
  });

  test("a binding's rules are taken the same way", async () => {
    const narrowed = binding({ matchResources: { resourceRules: [V1] } });
    const said = words(await outcome(widget("v2"), [rule("*", "*", "*")], narrowed));
    assert.match(said, /^error: .*failed to configure binding: cannot tell whether multi\.example\.com\/v2 widgets/);
  });
});
