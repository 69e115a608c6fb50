import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bindingsOf, convertPolicy } from "../../../../src/kinds/kyverno/convert/index.js";
import { converted, type Json, judged, judgedNames, matching, object, policyOf, reasonsOf, specsOf } from "./judged.js";

const NO_AUTOGEN = { metadata: { name: "p", annotations: { "pod-policies.kyverno.io/autogen-controllers": "none" } } };
const labelled = (name: string, labels: Json, key = "labels") =>
  object("ConfigMap", name, "shop", { metadata: { [key]: labels } });

describe("kinds", () => {
  const rules = (...kinds: readonly string[]) =>
    specsOf(converted(policyOf({ match: matching({ kinds, operations: ["CREATE"] }) }, {}, NO_AUTOGEN))).map((spec) => [
      spec.matchConstraints?.resourceRules?.map(({ apiGroups, apiVersions, resources }) =>
        [apiGroups, apiVersions, resources].map((each) => each?.join("+")).join("/"),
      ),
      spec.matchConditions?.map(({ expression }) => expression),
    ])[0];

  test("become resource rules", () => {
    assert.deepEqual(rules("Pod"), [["/*/pods+pods/ephemeralcontainers"], undefined]);
    assert.deepEqual(rules("v1/ConfigMap", "apps/v1/Deployment"), [
      ["*/v1/configmaps", "apps/v1/deployments"],
      undefined,
    ]);
    assert.deepEqual(rules("apps/*/Deployment", "apps/*/StatefulSet"), [
      ["apps/*/deployments+statefulsets"],
      undefined,
    ]);
    assert.deepEqual(rules("Pod/exec", "v1/Pod.status"), [["/*/pods/exec", "/v1/pods/status"], undefined]);
    assert.deepEqual(rules("demo.example.com/*/*"), [["demo.example.com/*/*"], undefined]);
    assert.deepEqual(rules("*/*"), [["*/*/*/*"], undefined]);
  });

  test("are told by the request where their resource is not known", () => {
    assert.deepEqual(rules("Widget", "ConfigMap"), [["*/*/*"], ['request.kind.kind in ["Widget", "ConfigMap"]']]);
    assert.deepEqual(rules("demo.example.com/v1/Widget"), [
      ["demo.example.com/v1/*"],
      ['request.kind.group == "demo.example.com" && request.kind.version == "v1" && request.kind.kind == "Widget"'],
    ]);
    assert.deepEqual(rules("*Job", "P?d")?.[1], [
      'request.kind.kind.endsWith("Job") || request.kind.kind.matches("(?s)^P.d$")',
    ]);
  });

  test("have the resource of their CustomResourceDefinition", () => {
    const definitions = [{ group: "demo.example.com", kind: "Widget", plural: "widgetry", namespaced: true }];
    const [spec] = specsOf(converted(policyOf({ match: matching({ kinds: ["Widget"] }) }), { definitions }));
    assert.deepEqual(spec?.matchConstraints?.resourceRules?.[0]?.resources, ["widgetry"]);
    assert.equal(spec?.matchConditions, undefined);
  });

  test("are exact words, whatever the group", async () => {
    const objects = [
      object("ConfigMap", "m"),
      object("apps/v1/Deployment", "d"),
      object("other.example.com/v1/Deployment", "o"),
      object("demo.example.com/v1/Widget", "w"),
    ];
    const names = (...kinds: readonly string[]) => judgedNames({ match: matching({ kinds }) }, objects);
    assert.deepEqual(await names("Deployment"), ["d", "o"]);
    assert.deepEqual(await names("apps/v1/Deployment", "Widget"), ["d", "w"]);
    assert.deepEqual(await names("deployment"), []);
    assert.deepEqual(await names("*"), ["m", "d", "o", "w"]);
    assert.deepEqual(await names("*ment", "W?dget"), ["d", "o", "w"]);
    assert.deepEqual(await names("v2/ConfigMap"), []);
  });

  test("with a subresource are told by the resource: requests for it mostly have a kind of their own, such as PodExecOptions", () => {
    const conditions = (match: Json, exclude?: Json) =>
      specsOf(converted(policyOf({ match, exclude })))[0]?.matchConditions?.map(({ expression }) => expression);
    const [both] = conditions(matching({ kinds: ["Pod/exec"], names: ["a"] }, { kinds: ["ConfigMap"] })) ?? [];
    assert.match(
      both ?? "",
      /^request\.resource\.resource == "pods" && request\.\?subResource\.orValue\(""\) == "exec" &&/,
    );
    const some = matching({ kinds: ["apps/v1/Deployment/scale", "Deployment/status"] });
    assert.deepEqual(conditions(some, matching({ kinds: ["apps/v1/Deployment/scale"] })), [
      '!(request.resource.group == "apps" && request.resource.version == "v1" && request.resource.resource == "deployments" && request.?subResource.orValue("") == "scale")',
    ]);
    // An object is not its status.
    assert.deepEqual(conditions(some, matching({ kinds: ["Deployment"] })), [
      '!(request.kind.kind == "Deployment" && request.?subResource.orValue("") in ["", "ephemeralcontainers"])',
    ]);
  });

  test("with a subresource that no request tells are refused", () => {
    assert.deepEqual(reasonsOf(convertPolicy(policyOf({ match: matching({ kinds: ["Widget/scale"] }) }))), [
      "spec.rules.0.match.any.0.resources.kinds: the resource of Widget/scale is not known, and a request for its subresource does not tell: give the CustomResourceDefinition of the kind, too",
    ]);
  });
});

describe("what a block demands", () => {
  const objects = ["a1", "b", "bxx", "c"].map((name) => object("ConfigMap", name));

  test("of names", async () => {
    const names = (resources: Json) =>
      judgedNames({ match: matching({ kinds: ["ConfigMap"], ...resources }) }, objects);
    assert.deepEqual(await names({ names: ["a?", "b*"] }), ["a1", "b", "bxx"]);
    assert.deepEqual(await names({ name: "c" }), ["c"]);
    assert.deepEqual(await names({ names: ["*1", "c"] }), ["a1", "c"]);
    const generated = object("ConfigMap", "", "shop", { metadata: { name: undefined, generateName: "a" } });
    assert.deepEqual(
      (await judged(converted(policyOf({ match: matching({ kinds: ["ConfigMap"], names: ["a*"] }) })), [generated]))[0],
      "fail matched",
    );
  });

  test("of namespaces, which of a Namespace are its name", async () => {
    const all = [
      object("ConfigMap", "m", "team-1"),
      object("ConfigMap", "n", "shop"),
      object("Namespace", "team-2", ""),
      object("Node", "o", ""),
    ];
    const names = (kinds: readonly string[], namespaces: readonly string[]) =>
      judgedNames({ match: matching({ kinds, namespaces }) }, all);
    assert.deepEqual(await names(["ConfigMap"], ["team-*"]), ["m"]);
    assert.deepEqual(await names(["Namespace"], ["team-*"]), ["team-2"]);
    assert.deepEqual(await names(["*"], ["team-*"]), ["m", "team-2"]);
    assert.deepEqual(await names(["*"], ["*"]), ["m", "n", "team-2", "o"]);
  });

  test("of labels and annotations, with wildcards in keys and values", async () => {
    const all = [
      labelled("a", { app: "web" }),
      labelled("b", { app: "db", "x/y": "" }),
      labelled("c", {}),
      labelled("d", { app: "web" }, "annotations"),
    ];
    const names = (resources: Json) => judgedNames({ match: matching({ kinds: ["ConfigMap"], ...resources }) }, all);
    assert.deepEqual(await names({ selector: { matchLabels: { app: "web" } } }), ["a"]);
    assert.deepEqual(await names({ selector: { matchLabels: { "a*": "?*" } } }), ["a", "b"]);
    assert.deepEqual(await names({ selector: { matchLabels: { "x/y": "*" } } }), ["b"]);
    const expression = (operator: string, values?: readonly string[]) => ({
      selector: { matchExpressions: [{ key: "app", operator, ...(values && { values }) }] },
    });
    assert.deepEqual(await names(expression("In", ["web", "x"])), ["a"]);
    assert.deepEqual(await names(expression("NotIn", ["web"])), ["b", "c", "d"]);
    assert.deepEqual(await names(expression("Exists")), ["a", "b"]);
    assert.deepEqual(await names(expression("DoesNotExist")), ["c", "d"]);
    assert.deepEqual(await names({ annotations: { app: "w*" } }), ["d"]);
  });

  test("of labels of an update are those of the new object", () => {
    const [spec] = specsOf(
      converted(
        policyOf({
          match: matching({ kinds: ["ConfigMap"], operations: ["UPDATE"], selector: { matchLabels: { app: "web" } } }),
        }),
      ),
    );
    assert.deepEqual(spec?.matchConditions, [
      { name: "labels", expression: 'object.metadata.?labels.?app.orValue("") == "web"' },
    ]);
  });

  test("of the namespace's labels, which a Namespace has none of", async () => {
    const all = [object("ConfigMap", "m", "shop"), object("ConfigMap", "n", "bank"), object("Namespace", "shop", "")];
    const situation = { namespaces: { shop: { tier: "gold" }, bank: {} } };
    const names = (kinds: readonly string[], selector: Json) =>
      judgedNames({ match: matching({ kinds, namespaceSelector: selector }) }, all, situation);
    assert.deepEqual(await names(["ConfigMap"], { matchLabels: { tier: "gold" } }), ["m"]);
    assert.deepEqual(await names(["*"], { matchLabels: { "t*": "g*" } }), ["m"]);
    assert.deepEqual(await names(["*"], { matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] }), ["n"]);
    const [plain] = specsOf(
      converted(
        policyOf({ match: matching({ kinds: ["ConfigMap"], namespaceSelector: { matchLabels: { tier: "gold" } } }) }),
      ),
    );
    assert.deepEqual(
      [plain?.matchConstraints?.namespaceSelector, plain?.matchConditions],
      [{ matchLabels: { tier: "gold" } }, undefined],
    );
  });
});

describe("blocks", () => {
  const objects = [
    object("ConfigMap", "a"),
    object("ConfigMap", "b"),
    object("Service", "a", "bank"),
    object("Service", "c"),
  ];
  const labels = async (match: Json, exclude?: Json) => {
    const answers = await judged(converted(policyOf({ match, ...(exclude && { exclude }) })), objects);
    return answers.map((answer) => (answer.startsWith("fail") ? "x" : ".")).join("");
  };

  test("of any are alternatives", async () => {
    assert.equal(
      await labels(matching({ kinds: ["ConfigMap"], names: ["a"] }, { kinds: ["Service"], namespaces: ["bank"] })),
      "x.x.",
    );
    assert.equal(await labels(matching({ kinds: ["ConfigMap"] }, { kinds: ["Service"], names: ["c"] })), "xx.x");
    const [spec] = specsOf(
      converted(
        policyOf({
          match: matching(
            { kinds: ["ConfigMap"], operations: ["CREATE"] },
            { kinds: ["Service"], operations: ["UPDATE"] },
          ),
        }),
      ),
    );
    assert.equal(spec?.matchConditions, undefined);
    assert.deepEqual(
      spec?.matchConstraints?.resourceRules?.map((rule) => rule.operations),
      [["CREATE"], ["UPDATE"]],
    );
  });

  test("of all hold together", async () => {
    const both = {
      all: [{ resources: { kinds: ["ConfigMap"] } }, { resources: { kinds: ["ConfigMap"], names: ["b"] } }],
    };
    assert.equal(await labels(both), ".x..");
    assert.equal(
      await labels({ all: [{ resources: { kinds: ["ConfigMap"] } }, { resources: { kinds: ["Service"] } }] }),
      "....",
    );
  });

  test("may be the match itself, as older policies have it", async () => {
    assert.equal(await labels({ resources: { kinds: ["Service"], names: ["a"] } }), "..x.");
  });

  test("of exclude leave out", async () => {
    const kinds = ["ConfigMap", "Service"];
    assert.equal(
      await labels(matching({ kinds }), matching({ namespaces: ["bank"] }, { kinds: ["ConfigMap"], names: ["b"] })),
      "x..x",
    );
    assert.equal(
      await labels(matching({ kinds }), {
        all: [{ resources: { kinds: ["Service"] } }, { resources: { names: ["a"] } }],
      }),
      "xx.x",
    );
    assert.equal(await labels(matching({ kinds }), { resources: { namespaces: ["shop"] } }), "..x.");
    assert.equal(await labels(matching({ kinds }), matching({ operations: ["CREATE"] })), "....");
    assert.match(
      reasonsOf(convertPolicy(policyOf({ exclude: matching({ kinds: ["ConfigMap", "Secret"] }) })))[0] ?? "",
      /^spec\.rules\.0\.exclude\.any\.0: it excludes all/,
    );
  });
});

describe("operations", () => {
  const operations = (rule: Json) =>
    specsOf(converted(policyOf(rule)))[0]?.matchConstraints?.resourceRules?.[0]?.operations;
  const pattern = { message: "m", pattern: { data: { k: "?*" } } };

  test("are all that the rule can judge, without any named", () => {
    assert.deepEqual(operations({}), ["CREATE", "UPDATE", "DELETE"]);
    assert.deepEqual(operations({ validate: pattern }), ["CREATE", "UPDATE"]);
    assert.deepEqual(operations({ match: matching({ kinds: ["Pod/exec"] }) }), [
      "CREATE",
      "UPDATE",
      "DELETE",
      "CONNECT",
    ]);
    const preconditions = {
      all: [{ key: "{{ request.operation || 'BACKGROUND' }}", operator: "NotEquals", value: "DELETE" }],
    };
    assert.deepEqual(operations({ preconditions }), ["CREATE", "UPDATE"]);
    assert.match(
      reasonsOf(
        convertPolicy(
          policyOf({ validate: pattern, match: matching({ kinds: ["ConfigMap"], operations: ["DELETE"] }) }),
        ),
      )[0] ?? "",
      /never judge a deletion/,
    );
  });

  test("of deletions judge the old object", async () => {
    const match = matching({ kinds: ["ConfigMap"], selector: { matchLabels: { app: "web" } } });
    const objects = [labelled("a", { app: "web" }), labelled("b", {})];
    assert.deepEqual(await judgedNames({ match }, objects, { operation: "DELETE" }), ["a"]);
    assert.deepEqual(await judgedNames({ match }, objects), ["a"]);
  });
});

describe("users", () => {
  const objects = [object("ConfigMap", "a")];
  const matches = async (
    filter: Json,
    user?: Json,
    exclude = false,
    bindings = bindingsOf({}).bindings,
  ): Promise<boolean> => {
    const block = { any: [{ resources: { kinds: ["ConfigMap"] }, ...(exclude ? {} : filter) }] };
    const rule = { match: block, ...(exclude && { exclude: { any: [filter] } }) };
    return (await judgedNames(rule, objects, { ...(user && { user }), objects: bindings })).length > 0;
  };
  const subject = (kind: string, name: string, namespace?: string) => ({
    subjects: [{ kind, name, ...(namespace && { namespace }) }],
  });
  const ann = { username: "ann", groups: ["devs"] };

  test("are named with wildcards", async () => {
    assert.equal(await matches(subject("User", "a*"), ann), true);
    assert.equal(await matches(subject("User", "bob"), ann), false);
    assert.equal(await matches(subject("Group", "dev?"), ann), true);
    assert.equal(await matches(subject("ServiceAccount", "*", "ci"), { username: "system:serviceaccount:ci:b" }), true);
    assert.equal(await matches(subject("ServiceAccount", "*", "ci"), ann), false);
    assert.equal(await matches(subject("User", "ann"), ann, true), false);
  });

  test("match where a request has none, and are not excluded then", async () => {
    assert.equal(await matches(subject("User", "bob")), true);
    assert.equal(await matches(subject("User", "bob"), undefined, true), true);
    assert.equal(await matches({ clusterRoles: ["admin"] }, undefined, true), true);
  });

  test("have the roles that bindings give", async () => {
    const { userInfo, bindings } = bindingsOf({ userInfo: ann, clusterRoles: ["admin"], roles: ["shop:editor"] });
    assert.equal(await matches({ clusterRoles: ["admin"] }, userInfo, false, bindings), true);
    assert.equal(await matches({ clusterRoles: ["adm*"] }, userInfo, false, bindings), false);
    assert.equal(await matches({ roles: ["shop:editor"] }, userInfo, false, bindings), true);
    assert.equal(await matches({ roles: ["bank:editor"] }, userInfo, false, bindings), false);
    assert.equal(await matches({ clusterRoles: ["admin"] }, userInfo, true, bindings), false);
    assert.equal(await matches({ clusterRoles: ["admin"] }, { username: "bob" }, false, bindings), false);
  });

  test("of a Policy have no roles that it could look up", () => {
    const match = { any: [{ resources: { kinds: ["ConfigMap"] }, clusterRoles: ["admin"] }] };
    assert.match(
      reasonsOf(convertPolicy(policyOf({ match }, {}, { kind: "Policy" })))[0] ?? "",
      /can't look up bindings/,
    );
  });
});

test("a Policy judges its namespace alone", async () => {
  const objects = [object("ConfigMap", "a", "shop"), object("ConfigMap", "b", "bank")];
  assert.deepEqual(await judgedNames({}, objects, {}, { kind: "Policy", metadata: { name: "p", namespace: "shop" } }), [
    "a",
  ]);
});
