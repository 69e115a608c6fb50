import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../../../src/config/documents/problem.js";
import { parseResources } from "../../../../src/config/documents/source-document.js";
import { createEvaluator, createReview, loadPolicies } from "../../../../src/index.js";
import { member } from "../../../../src/kubernetes/object.js";
import { convert, filesOf, printed, type Target } from "../../../../src/offline/convert/index.js";

const policy = (rules: string, more = "") => `# Ours.
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: images
spec:
  validationFailureAction: Enforce
  background: false${more}
  rules:
${rules}`;
const CEL = `    - name: registry
      match: {any: [{resources: {kinds: [Pod], operations: [CREATE, UPDATE]}}]}
      validate:
        cel:
          expressions:
            - expression: object.spec.containers.all(c, c.image.startsWith("registry.example.com/"))
              message: our registry
`;
const made = (text: string, target?: Target) => convert(parseResources(text, "in.yaml").documents, true, target);
const errorsOf = ({ problems }: ReturnType<typeof made>) =>
  problems.filter(({ severity }) => severity === "error").map(formatProblem);

describe("Kyverno's old policies", () => {
  test("are written as its policies in CEL, a file a policy, with the comments above", () => {
    const found = made(policy(CEL));
    assert.deepEqual(errorsOf(found), []);
    const files = filesOf(found.policies);
    assert.deepEqual([...files.keys()], ["images.yaml"]);
    assert.match(
      files.get("images.yaml") ?? "",
      /^# Ours\.\napiVersion: policies\.kyverno\.io\/v1\nkind: ValidatingPolicy\n/,
    );
    assert.equal(printed(found.policies), files.get("images.yaml"));
  });

  test("of which a rule is not converted keep the others", () => {
    const found = made(
      policy(`${CEL}    - name: sign
      match: {any: [{resources: {kinds: [Pod]}}]}
      verifyImages: [{imageReferences: ["*"]}]
`),
    );
    assert.deepEqual(
      found.policies.map(({ name }) => name),
      ["images"],
    );
    assert.match(errorsOf(found).join("\n"), /^in\.yaml:19:21: spec\.rules\[1\]\.verifyImages: signatures of images/);
  });

  test("that Kyverno refuses are told at their place", () => {
    assert.match(
      errorsOf(made(policy(CEL.replace("expressions:", "expresions:")))).join("\n"),
      /^in\.yaml:15:13: spec\.rules\[0\]\.validate\.cel\.expresions: unknown member \(did you mean "expressions"\?\)/,
    );
    assert.match(
      errorsOf(made(policy(CEL.replace("c.image.", "d.image.")))).join("\n"),
      /^in\.yaml:15:15: .*undeclared reference to 'd'/,
    );
  });

  test("become ValidatingAdmissionPolicies with bindings, autogen unfolded, as far as Kubernetes knows all", async () => {
    const found = made(policy(CEL), "vap");
    assert.deepEqual(errorsOf(found), []);
    const names = found.policies[0]?.documents.map(
      (each) => `${String(each.kind).replace("ValidatingAdmission", "")} ${(each.metadata as { name: string }).name}`,
    );
    const policies = ["images", "images-cronjobs", "images-defaults", "images-beside-autogen"];
    assert.deepEqual(
      names,
      policies.flatMap((name) => [`Policy ${name}`, `PolicyBinding ${name}`]),
    );
    const roles = CEL.replace("match:", "exclude: {any: [{clusterRoles: [admin]}]}\n      match:");
    assert.match(
      errorsOf(made(policy(roles), "vap")).join("\n"),
      /^in\.yaml:11:23: .*it can't be a ValidatingAdmissionPolicy: it uses resource, which only Kyverno's policies have/,
    );
  });

  test("keep parameters as a ValidatingAdmissionPolicy", () => {
    const params = CEL.replace(
      "cel:\n",
      "cel:\n          paramKind: {apiVersion: v1, kind: ConfigMap}\n          paramRef: {name: a, namespace: b, parameterNotFoundAction: Deny}\n",
    ).replace('"registry.example.com/"', "params.data.registry");
    const [first, binding] = made(policy(params), "vap").policies[0]?.documents ?? [];
    assert.deepEqual(member(first?.spec, "paramKind"), { apiVersion: "v1", kind: "ConfigMap" });
    assert.deepEqual(member(binding?.spec, "paramRef"), {
      name: "a",
      namespace: "b",
      parameterNotFoundAction: "Deny",
    });
  });

  test("judge as entries of policies.yaml, too", async () => {
    const found = made(policy(CEL), "cel");
    const loaded = await loadPolicies({ text: printed(found.policies, "cel") });
    assert.equal(loaded.errors, 0, JSON.stringify(loaded.problems));
    const evaluator = createEvaluator(loaded);
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: "shop" },
      spec: { containers: [{ name: "a", image: "nginx" }] },
    };
    const answer = await evaluator.evaluate("images", createReview({ object: pod }));
    assert.equal(answer.response.status?.message?.includes("our registry"), true);
    evaluator.close();
    await loaded.close();
  });

  test("with exceptions and the definitions of kinds belong together", () => {
    const widget = policy(`    - name: size
      match: {any: [{resources: {kinds: [Widget]}}]}
      validate: {message: size, pattern: {spec: {size: ">3"}}}
`);
    const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgetry.demo.example.com}
spec: {group: demo.example.com, names: {kind: Widget, plural: widgetry}, scope: Namespaced}
`;
    const exception = `apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: old, namespace: ops}
spec: {exceptions: [{policyName: images, ruleNames: [size]}], match: {any: [{resources: {kinds: [Widget], names: ["old-*"]}}]}}
`;
    const found = made([exception, definition, widget].join("---\n"));
    assert.deepEqual(errorsOf(found), []);
    const [first, second] = found.policies;
    assert.match(JSON.stringify(first?.documents), /"resources":\["widgetry"\]/);
    assert.match(JSON.stringify(second?.documents), /"policyRefs":\[\{"name":"images","kind":"ValidatingPolicy"\}\]/);
    assert.match(errorsOf(made(exception)).join("\n"), /^in\.yaml:4:34: .*no policy of this name is there/);
    assert.match(errorsOf(made(exception, "vap")).join("\n"), /has no exceptions/);
  });

  test("of which two become one name are refused", () => {
    const found = made(`${policy(CEL)}---\n${policy(CEL.replace("our registry", "x"))}`);
    assert.deepEqual(found.policies.length, 1);
    assert.match(errorsOf(found).join("\n"), /another policy becomes ValidatingPolicy\/images: rename one/);
  });

  test("that clean up are another kind's business", () => {
    assert.match(
      errorsOf(made("apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec: {}\n")).join(
        "\n",
      ),
      /^in\.yaml:2:7: kind: ClusterCleanupPolicy: write a DeletingPolicy/,
    );
  });
});
