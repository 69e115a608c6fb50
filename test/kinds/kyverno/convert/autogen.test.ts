import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { convertPolicy } from "../../../../src/kinds/kyverno/convert/index.js";
import { converted, documentsOf, type Json, judged, matching, object, policyOf, reasonsOf, specsOf } from "./judged.js";

const ANNOTATION = "pod-policies.kyverno.io/autogen-controllers";
const pods = matching({ kinds: ["Pod"] });
const validate = { message: "host", pattern: { spec: { hostNetwork: false } } };
const annotated = (value: string): Json => ({ metadata: { name: "p", annotations: { [ANNOTATION]: value } } });

const pod = (hostNetwork: boolean): Json => ({ spec: { hostNetwork, containers: [] } });
const workload = (kind: string, hostNetwork: boolean) =>
  object(kind, "w", "shop", { spec: { template: pod(hostNetwork) } });
const cron = (hostNetwork: boolean) =>
  object("batch/v1/CronJob", "c", "shop", { spec: { jobTemplate: { spec: { template: pod(hostNetwork) } } } });

/** The kinds that a rule judges beside Pods. */
function controllers(rule: Json, more: Json = {}, spec: Json = {}): readonly string[] {
  const rules = specsOf(converted(policyOf({ validate, match: pods, ...rule }, spec, more)))[0]?.matchConstraints
    ?.resourceRules;
  return (rules ?? []).flatMap(({ resources = [] }) => resources).filter((each) => !each.startsWith("pods"));
}

describe("a rule about Pods", () => {
  test("judges controllers by their templates", async () => {
    const made = converted(policyOf({ validate, match: pods }));
    const objects = [
      object("Pod", "p", "shop", pod(true)),
      object("Pod", "q", "shop", pod(false)),
      ...[
        "apps/v1/Deployment",
        "apps/v1/DaemonSet",
        "apps/v1/StatefulSet",
        "apps/v1/ReplicaSet",
        "batch/v1/Job",
        "ReplicationController",
      ].map((kind) => workload(kind, true)),
      workload("apps/v1/Deployment", false),
      cron(true),
      cron(false),
    ];
    const answers = (await judged(made, objects)).map((answer) => answer.split(" ")[0]);
    assert.deepEqual(answers, ["fail", "pass", "fail", "fail", "fail", "fail", "fail", "fail", "pass", "fail", "pass"]);
    assert.deepEqual(
      specsOf(made)[0]?.variables?.map(({ name }) => name),
      ["pod"],
    );
  });

  test("judges those that the annotation names, word for word", () => {
    assert.deepEqual(controllers({}, annotated("Deployment,CronJob")), ["deployments", "cronjobs"]);
    assert.deepEqual(controllers({}, annotated("Deployment, Job")), ["deployments"]);
    assert.deepEqual(controllers({}, annotated("Deployment,Nope")), ["deployments"]);
    for (const value of ["none", "", "Service"]) assert.deepEqual(controllers({}, annotated(value)), []);
  });

  test("judges no controllers where names, selectors, annotations or other kinds are in a block of any rule", () => {
    const blocks = [
      { names: ["p*"] },
      { name: "p" },
      { selector: { matchLabels: { a: "b" } } },
      { annotations: { a: "b" } },
    ];
    for (const block of blocks) {
      assert.deepEqual(controllers({ match: matching({ kinds: ["Pod"], ...block }) }), []);
      assert.deepEqual(controllers({ exclude: matching(block) }), []);
    }
    assert.deepEqual(controllers({ match: matching({ kinds: ["v1/Pod"] }) }), []);
    assert.deepEqual(controllers({ match: matching({ kinds: ["Pod", "ConfigMap"] }) }), ["configmaps"]);
    assert.equal(
      controllers({
        match: matching({ kinds: ["Pod"], namespaces: ["shop"], namespaceSelector: { matchLabels: { a: "b" } } }),
      }).length,
      7,
    );
    const second = { name: "second", match: matching({ kinds: ["Pod"], names: ["x"] }), validate };
    assert.deepEqual(controllers({}, {}, { rules: [{ name: "first", match: pods, validate }, second] }), []);
    assert.deepEqual(controllers({ exclude: matching({ kinds: ["Deployment"], namespaces: ["bank"] }) }), []);
  });

  test("excludes controllers as it excludes Pods", async () => {
    const made = converted(
      policyOf({ validate, match: pods, exclude: matching({ kinds: ["Pod"], namespaces: ["bank"] }) }),
    );
    const inBank = { ...workload("apps/v1/Deployment", true), metadata: { name: "w", namespace: "bank" } };
    assert.deepEqual(
      (await judged(made, [inBank, workload("apps/v1/Deployment", true)])).map((each) => each.split(" ")[0]),
      ["skip", "fail"],
    );
  });

  test("with other kinds in another block is refused, as Kyverno judges those twice", () => {
    const match = matching({ kinds: ["Pod"] }, { kinds: ["Deployment"] });
    assert.match(
      reasonsOf(convertPolicy(policyOf({ validate, match })))[0] ?? "",
      /^spec\.rules\.0\.match\.any\.1\.resources\.kinds: .*twice/,
    );
    assert.deepEqual(reasonsOf(convertPolicy(policyOf({ validate, match }, {}, annotated("none")))), []);
  });
});

describe("a rule in CEL about Pods", () => {
  const cel = (rule: Json = {}, more: Json = {}) =>
    converted(
      policyOf(
        {
          match: matching({ kinds: ["Pod"], operations: ["CREATE", "UPDATE"] }),
          validate: {
            cel: { expressions: [{ expression: "object.spec.?hostNetwork.orValue(false) == false", message: "host" }] },
          },
          ...rule,
        },
        {},
        more,
      ),
    );

  test("uses the new kind's autogen, and a second policy for what that does not know", async () => {
    const made = cel();
    assert.deepEqual(
      documentsOf(made).map(({ metadata }) => (metadata as Json).name),
      ["p", "p-beside-autogen"],
    );
    assert.deepEqual(
      specsOf(made).map((spec) => [spec.autogen, spec.matchConstraints?.resourceRules?.map((rule) => rule.resources)]),
      [
        [undefined, [["pods"]]],
        [undefined, [["pods/ephemeralcontainers", "replicationcontrollers"]]],
      ],
    );
    assert.equal(specsOf(made)[0]?.validations?.[0]?.expression, "object.spec.?hostNetwork.orValue(false) == false");
    const objects = [
      object("Pod", "p", "shop", pod(true)),
      workload("apps/v1/Deployment", true),
      workload("ReplicationController", true),
      workload("ReplicationController", false),
      cron(true),
    ];
    assert.deepEqual(await judged(made, objects), ["fail host", "fail host", "fail host", "pass", "fail host"]);
  });

  test("names the controllers where they are not all", () => {
    assert.deepEqual(specsOf(cel({}, annotated("Deployment,CronJob")))[0]?.autogen, {
      podControllers: { controllers: ["deployments", "cronjobs"] },
    });
    const [only, ...others] = specsOf(cel({}, annotated("none")));
    assert.deepEqual(
      [only?.matchConstraints?.resourceRules?.[0]?.resources, others],
      [["pods", "pods/ephemeralcontainers"], []],
    );
  });
});
