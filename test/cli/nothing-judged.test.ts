/** Inputs of which nothing, or not all, is judged: each class of them has its exit code, and none is green. Kyverno's codes print the same. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";

const folder = mkdtempSync(join(tmpdir(), "nothing-judged-"));
after(() => rmSync(folder, { recursive: true }));

const policy = (kind = "ValidatingPolicy", apiVersion = "policies.kyverno.io/v1", name = "few") =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: ${name} }\nspec:\n  matchConstraints: { resourceRules: [{ apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments] }] }\n  validations: [{ expression: object.spec.replicas < 5 }]\n`;
const deployment = (replicas: number, kind = "Deployment", apiVersion = "apps/v1") =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: web }\nspec: { replicas: ${replicas} }\n`;
const binding = (name: string) =>
  `apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: { name: b }\nspec: { policyName: ${name}, validationActions: [Deny] }\n`;
const vap = (apiVersion = "admissionregistration.k8s.io/v1") => policy("ValidatingAdmissionPolicy", apiVersion);
const rows = (resources: string, result = "pass") =>
  `apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: { name: t }\npolicies: [few.yaml]\nresources: [web.yaml]\nresults: [{ policy: few, resources: [${resources}], kind: Deployment, result: ${result} }]\n`;

const FILES: Readonly<Record<string, string>> = {
  "few.yaml": policy(),
  "few.json": JSON.stringify({
    apiVersion: "policies.kyverno.io/v1",
    kind: "ValidatingPolicy",
    metadata: { name: "json" },
    spec: { validations: [{ expression: "true" }] },
  }),
  "vap.yaml": `${vap()}---\n${binding("few")}`,
  "web.yaml": deployment(1),
  "service.yaml": "apiVersion: v1\nkind: Service\nmetadata: { name: s }\n",
  "empty.yaml": "",
  "comment.yaml": "# nothing\n---\n",
  "values.yaml": "replicas: 3\n",
  "list.yaml": "apiVersion: v1\nkind: List\nitems: []\n",
  "policies/none/notes.txt": "nothing",
  "kind.yaml": policy("ValidatngPolicy"),
  "group.yaml": policy("ValidatingPolicy", "policies.kyverno.oi/v1"),
  "version.yaml": policy("ValidatingPolicy", "policies.kyverno.io/v7"),
  "core.yaml": policy("ValidatingPolicy", "v1"),
  "no-kind.yaml": policy().replace("kind:", "knd:"),
  "vap-kind.yaml": vap().replace("kind: Validating", "kind: Validatng"),
  "vap-group.yaml": vap("admissionregistration.k8s/v1"),
  "vap-version.yaml": vap("admissionregistration.k8s.io/v3"),
  "binding.yaml": `${vap()}---\n${binding("fw")}`,
  "field.yaml": policy().replace("validations", "validation"),
  "type.yaml": policy().replace("[{ expression: object.spec.replicas < 5 }]", "nothing"),
  "without.yaml": policy().replace(/ {2}validations: .*/, "  validations:"),
  "halves/pod.yaml": "apiVersion: 1\nkind: Pod\nmetadata: { name: a }\n",
  "compile.yaml": policy().replace("< 5", "<"),
  "rules.yaml": policy().replace("deployments", "deployment"),
  "cluster-policy.yaml":
    "apiVersion: kyverno.io/v2\nkind: CleanupPolicy\nmetadata: { name: old }\nspec: { rules: [] }\n",
  "generating.yaml": policy("GeneratingPolicy"),
  "constraint.yaml": "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: K8sRequiredLabels\nmetadata: { name: x }\n",
  "kubewarden.yaml": "apiVersion: policies.kubewarden.io/v1\nkind: ClusterAdmissionPolicy\nmetadata: { name: x }\n",
  "broken.yaml": "a: [\n",
  "web-kind.yaml": deployment(1, "Deploymnt"),
  "web-group.yaml": deployment(1, "Deployment", "app/v1"),
  "web-version.yaml": deployment(1, "Deployment", "apps/v11"),
  "web-extensions.yaml": deployment(9, "Deployment", "extensions/v1beta1"),
  "web-beta.yaml": deployment(9, "Deployment", "apps/v1beta2"),
  "cron-beta.yaml": deployment(9, "CronJob", "batch/v1beta1"),
  "ingress-beta.yaml": deployment(9, "Ingress", "extensions/v1beta1"),
  "web-helm.yaml": deployment(1).replace("name: web", 'name: "{{ .Release.Name }}"'),
  "image-helm.yaml": deployment(1).replace(
    "replicas: 1",
    'template: { spec: { containers: [{ image: "{{ .Values.image }}" }] } }',
  ),
  "web-list.yaml": `apiVersion: v1\nkind: List\nitems:\n- ${deployment(1, "Deploymnt").replaceAll("\n", "\n  ")}\n`,
  "other.yaml": deployment(2),
  "same.yaml": `# the same\n${deployment(1)}`,
  "deep/a/b/web.yaml": deployment(9),
  "json/web.json":
    '{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "j"}, "spec": {"replicas": 9}}',
  "gitops/apps/web.yaml": deployment(1),
  "gitops/policies/few.yaml": policy(),
  "gitops/chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
  "gitops/chart/values.yaml": "replicas: 3\n",
  "gitops/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [apps]\n",
  "gitops/.gitlab-ci.yml": "stages: [test]\n",
  "spoilt/web.yaml": deployment(1),
  "spoilt/broken.yaml": "a: [\n",
  "half/web.yaml": deployment(1),
  "half/lost.yaml": deployment(1).replace("kind:", "knd:"),
  "values-file.yaml": "",
  "none.yaml": "{}\n",
  "audit.yaml": `${policy()}  validationActions: [Audit]\n`,
  "warn.yaml": `${policy()}  validationActions: [Warn, Audit]\n`,
  "param.yaml":
    `${vap().replace("object.spec.replicas < 5", "object.spec.replicas < int(params.data.most)")}  paramKind: { apiVersion: v1, kind: ConfigMap }\n---\n${binding("few")}`.replace(
      "policyName: few,",
      "policyName: few, paramRef: { name: most, namespace: default, parameterNotFoundAction: Deny },",
    ),
  "action.yaml": `{{- if .Values.web }}\n${deployment(1)}{{- end }}\n`,
  "many.yaml": deployment(9),
  "ids.yaml":
    'audit: { resource: audit.yaml }\nwarn: { resource: warn.yaml }\nmember: { expression: "a()", message: member, policies: { a: { policy: audit } } }\n',
  "fails.yaml": policy().replace("object.spec.replicas < 5", "object.spec.missing < 5"),
  "policies.yaml":
    'few: { resource: few.yaml }\nboth: { expression: "a() && b()", message: both, policies: { a: { policy: few }, b: { policy: few } } }\n',
  "condition.yaml": `${vap()}  matchConditions: [{ name: never, expression: "false" }]\n---\n${binding("few")}`,
  "tests/kyverno-test.yaml": rows("web"),
  "tests/few.yaml": policy(),
  "tests/web.yaml": deployment(1),
  "tests/typo.yaml": rows("wbe"),
  "tests/some.yaml": rows("web, wbe"),
  "tests/kind.yaml": rows("web").replace("kind: Deployment", "kind: Deploymnt"),
  "tests/specs.yaml": rows("web").replace(", kind:", ", resourceSpecs: [{ version: v1, name: wbe }], kind:"),
  "tests/none.yaml": rows("web").replace(/results: .*/, "results: []"),
  "tests/no-policy.yaml": rows("web").replace("policy: few", "policy: fw"),
  "tests/no-file.yaml": rows("web").replace("[few.yaml]", "[fw.yaml]"),
  "tests/bad-policy.yaml": rows("web").replace("[few.yaml]", "[few.yaml, ../no-kind.yaml]"),
  "own/no-rows.test.yaml": "policy: few\ncases: []\n",
};
const most = (value: number) =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: most, namespace: default }\ndata: { most: "${value}" }\n`;
const PARAMETERS: Readonly<Record<string, string>> = {
  "with-param.yaml": `${FILES["param.yaml"]}${most(5)}`,
  "gitops-param/policy.yaml": FILES["param.yaml"] ?? "",
  "gitops-param/config.yaml": most(5),
  "most.yaml": most(50),
};
for (const [name, content] of Object.entries({ ...FILES, ...PARAMETERS })) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}

async function run(args: readonly string[], stdin = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  // The value of test's -f is a name.
  const isName = (index: number): boolean => args[0] === "test" && args[index - 1] === "-f";
  const paths = args.map((arg, index) =>
    !isName(index) && /^[a-z/.-]*(?:\.yaml|\.json|\/)$/.test(arg) ? join(folder, arg) : arg,
  );
  const code = await runCommandLine(paths, { env: {}, stdin: Readable.from([stdin]), stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: (await out).replaceAll(folder, ""), err: (await err).replaceAll(folder, "") };
}

const WEB = ["-r", "web.yaml"];
const FEW = ["apply", "few.yaml", "-r"];

/** Command lines with the exit code, and a part of what is said on standard error. */
const CASES: readonly (readonly [code: number, args: readonly string[], says: RegExp])[] = [
  // Paths.
  [2, ["apply", "nope.yaml", ...WEB], /nope\.yaml: no such file/],
  [2, ["apply", "few.yaml", "nope.yaml", ...WEB], /nope\.yaml: no such file/],
  [2, [...FEW, "nope.yaml"], /nope\.yaml/],
  [2, [...FEW, "*.yaml"], /no such file/],
  // Reports that can't be written.
  [2, [...FEW, "web.yaml", "--sarif", "nope/r.sarif"], /cannot write nope\/r\.sarif: ENOENT/],
  [2, [...FEW, "web.yaml", "--junit", "."], /cannot write \.: EISDIR/],
  [2, [...FEW, "web.yaml", "--junit", "-", "--sarif", "-"], /--junit and --sarif need two places/],
  [2, ["apply", "few.yaml"], /resource file\(s\) or cluster required/],
  [3, ["apply", "policies/", ...WEB], /there is no policy in \/policies/],
  [3, [...FEW, "policies/"], /there is no resource in \/policies/],
  // Empty inputs, alone and beside others.
  [3, ["apply", "empty.yaml", ...WEB], /there is no policy in \/empty\.yaml/],
  [3, ["apply", "-", ...WEB], /there is no policy in standard input/],
  [3, [...FEW, "-"], /there is no resource in standard input/],
  [3, [...FEW, "empty.yaml"], /there is no resource in/],
  [3, [...FEW, "list.yaml"], /there is no resource in/],
  [3, [...FEW, "web.yaml", "-r", "comment.yaml"], /\/comment\.yaml holds nothing to judge/],
  [3, ["apply", "few.yaml", "empty.yaml", ...WEB], /\/empty\.yaml holds nothing to judge/],
  [3, ["apply", "few.yaml", "policies/", ...WEB], /\/policies\/ holds nothing to judge/],
  [3, [...FEW, "service.yaml"], /no policy matched a resource/],
  [3, ["apply", "rules.yaml", ...WEB], /no policy matched a resource/],
  // What is named, and holds something else.
  [2, ["apply", "service.yaml", ...WEB], /service\.yaml holds no policy/],
  [2, ["apply", "values.yaml", ...WEB], /values\.yaml holds no policy/],
  [2, ["apply", "policies.yaml", ...WEB], /holds no policy; entries .* by their ids, with --policies \/policies\.yaml/],
  [2, ["apply", "", ...WEB], /^Error: "": no such file or directory\n/],
  [2, [...FEW, ""], /stat "": no such file/],
  [2, [...FEW, "action.yaml"], /action\.yaml:1: this is a Helm template: render it with `helm template` first/],
  [2, [...FEW, "values.yaml"], /Object 'Kind' is missing/],
  [2, [...FEW, "broken.yaml"], /broken\.yaml/],
  [2, [...FEW, "web.yaml", "--crd-paths", "web.yaml"], /holds no CustomResourceDefinition/],
  [2, [...FEW, "web.yaml", "-f", "values-file.yaml"], /deprecated schema/],
  [2, ["apply", "vap.yaml", ...WEB, "--parameter-resource", "empty.yaml"], /holds no object/],
  // Policies that are broken or misspelt, beside one that is not.
  ...(
    [
      ["kind.yaml", /did you mean "ValidatingPolicy"/],
      ["group.yaml", /the kind is one of policies\.kyverno\.io/],
      ["core.yaml", /the kind is one of policies\.kyverno\.io/],
      ["version.yaml", /policies\.kyverno\.io\/v7/],
      ["no-kind.yaml", /kind is missing/],
      ["vap-kind.yaml", /did you mean "ValidatingAdmissionPolicy"/],
      ["vap-group.yaml", /the kind is one of admissionregistration\.k8s\.io/],
      ["vap-version.yaml", /Kubernetes has no admissionregistration\.k8s\.io\/v3/],
      ["binding.yaml", /the policy fw, which is not among the policies/],
      ["field.yaml", /did you mean "validations"/],
      ["type.yaml", /type\.yaml/],
      ["without.yaml", /ValidatingPolicy few has no validations: it judges nothing/],
      ["compile.yaml", /failed to compile policy few/],
      ["broken.yaml", /broken\.yaml:1/],
      ["cluster-policy.yaml", /of a kind that is not served/],
      ["generating.yaml", /of a kind that is not served/],
      ["constraint.yaml", /of a kind that is not served/],
      ["kubewarden.yaml", /of a kind that is not served/],
    ] as const
  ).flatMap(([file, says]) => [
    [2, ["apply", file, ...WEB], says] as const,
    [2, ["apply", "vap.yaml", file, ...WEB], says] as const,
  ]),
  // Resources that no cluster takes, and two for one.
  [2, [...FEW, "web-kind.yaml"], /apps\/v1 has no kind Deploymnt \(did you mean "Deployment"\?\)/],
  [2, [...FEW, "web-list.yaml"], /apps\/v1 has no kind Deploymnt/],
  [2, [...FEW, "web-group.yaml"], /Kubernetes has no Deployment in app\/v1 \(did you mean "apps\/v1"\?\)/],
  [2, [...FEW, "web-version.yaml"], /Kubernetes has no apps\/v11/],
  [
    2,
    [...FEW, "web-extensions.yaml"],
    /Kubernetes has no Deployment in extensions\/v1beta1 \(did you mean "apps\/v1"\?\)/,
  ],
  [2, [...FEW, "web-beta.yaml"], /Kubernetes has no Deployment in apps\/v1beta2 \(did you mean "apps\/v1"\?\)/],
  [2, [...FEW, "cron-beta.yaml"], /Kubernetes has no CronJob in batch\/v1beta1 \(did you mean "batch\/v1"\?\)/],
  [2, [...FEW, "ingress-beta.yaml"], /did you mean "networking\.k8s\.io\/v1"/],
  [
    2,
    [...FEW, "web-helm.yaml"],
    /metadata\.name has braces: this is a Helm template: render it with `helm template` first/,
  ],
  [2, [...FEW, "web.yaml", "-r", "image-helm.yaml"], /image has braces: this is a Helm template/],
  [2, [...FEW, "web.yaml", "-r", "web-kind.yaml"], /has no kind Deploymnt/],
  [2, [...FEW, "web.yaml", "-r", "other.yaml"], /stands twice with other contents in \/web\.yaml and \/other\.yaml/],
  [0, [...FEW, "web.yaml", "-r", "same.yaml"], /^warning: found duplicated resource Deployment web default\n$/],
  // What Audit and Warn find, whatever names the policy, and errors of policies.
  ...["audit.yaml", "warn.yaml"].map((file) => [1, ["apply", file, "-r", "many.yaml"], /^$/] as const),
  ...["audit", "warn"].flatMap((id) => [
    [1, ["apply", id, "--policies", "ids.yaml", "-r", "many.yaml"], /^$/] as const,
    [0, ["apply", id, "--policies", "ids.yaml", ...WEB], /^$/] as const,
  ]),
  [
    0,
    ["apply", "member", "--policies", "ids.yaml", "-r", "many.yaml"],
    /^warning: policy member -> resource default\/Deployment\/web: a: \S.*\n$/,
  ],
  [
    1,
    ["apply", "fails.yaml", ...WEB],
    /^Error: policy few -> resource default\/Deployment\/web could not be judged: .*no such key: missing.*\n$/,
  ],
  // Parameters beside their policy; those that are named come first.
  ...["with-param.yaml", "gitops-param/"].flatMap((path) => [
    [1, ["apply", path, "-r", "many.yaml"], /^$/] as const,
    [0, ["apply", path, ...WEB], /^$/] as const,
    [0, ["apply", path, "-r", "many.yaml", "--parameter-resource", "most.yaml"], /^$/] as const,
  ]),
  [0, ["apply", "with-param.yaml", ...WEB, "--parameter-resource", "with-param.yaml"], /^$/],
  // Folders.
  [1, [...FEW, "deep/"], /^$/],
  [1, [...FEW, "json/"], /^$/],
  [
    0,
    ["apply", "gitops/", "-r", "gitops/"],
    /^warning: 4 files in folders hold no Kubernetes object, and are left out\n$/,
  ],
  [0, [...FEW, "gitops/"], /^warning: 4 files/],
  [2, [...FEW, "spoilt/"], /spoilt\/broken\.yaml/],
  [2, ["apply", "few.yaml", "spoilt/", ...WEB], /spoilt\/broken\.yaml/],
  [2, [...FEW, "half/"], /half\/lost\.yaml: Object 'Kind' is missing/],
  // Tests.
  [0, ["test", "tests/kyverno-test.yaml"], /^$/],
  [2, ["test", "-f", "typo.yaml", "tests/"], /there is no resource wbe/],
  [2, ["test", "-f", "some.yaml", "tests/"], /there is no resource wbe/],
  [2, ["test", "-f", "specs.yaml", "tests/"], /there is no resource v1 wbe/],
  [2, ["test", "-f", "kind.yaml", "tests/"], /no resource is of the kind Deploymnt \(did you mean "Deployment"\?\)/],
  [3, ["test", "-f", "none.yaml", "tests/none.yaml"], /no case and no row in \/tests\/none\.yaml/],
  [3, ["test", "-f", "no.yaml", "policies/"], /no case and no row in \/policies/],
  [3, ["test", "tests/kyverno-test.yaml", "policies/"], /no case and no row in \/policies/],
  [3, ["test", "own/no-rows.test.yaml"], /no case and no row in/],
  [3, ["test", "tests/kyverno-test.yaml", "-t", "policy=fw"], /no case and no row in/],
  [2, ["test", "tests/kyverno-test.yaml", "-t", "polcy=few"], /^$/],
  [1, ["test", "-f", "no-policy.yaml", "tests/no-policy.yaml"], /1 tests failed/],
  [2, ["test", "-f", "no-file.yaml", "tests/no-file.yaml"], /no such file/],
  [2, ["test", "-f", "bad-policy.yaml", "tests/bad-policy.yaml"], /^$/],
  [2, ["test", "nope/"], /cannot read/],
];

/** The same of other commands, which Kyverno has not. */
const OTHERS: readonly (readonly [code: number, args: readonly string[], says: RegExp])[] = [
  [0, ["eval", "few.yaml", "--object", "web.yaml"], /^$/],
  [2, ["eval", "few.yaml", "--object", "web-helm.yaml"], /this is a Helm template/],
  [2, ["eval", "few.yaml", "--object", "image-helm.yaml"], /this is a Helm template/],
  [2, ["eval", "few.yaml", "--object", "web-extensions.yaml"], /Kubernetes has no Deployment in extensions/],
  [2, ["eval", "few.yaml", "--object", "web-version.yaml"], /Kubernetes has no apps\/v11/],
  [3, ["eval", "few.yaml", "--object", "service.yaml"], /no policy applies/],
  [3, ["eval", "vap.yaml", "--object", "service.yaml"], /no policy applies/],
  [3, ["eval", "both", "--policies", "policies.yaml", "--object", "service.yaml"], /no policy applies/],
  [0, ["eval", "condition.yaml", "--object", "web.yaml"], /^$/],
  [3, ["eval", "without.yaml", "--object", "web.yaml"], /judges nothing/],
  [2, ["eval", "few.yaml", "--object", "halves/"], /apiVersion is 1, not a text/],
  [3, ["bench", "vap.yaml", "--object", "service.yaml", "--seconds", "0.01"], /the policy applies to no object/],
  [3, ["check", "none.yaml"], /there is no policy in \/none\.yaml/],
  [3, ["check", "policies.yaml", "none.yaml"], /there is no policy in \/none\.yaml/],
  [3, ["webhooks", "none.yaml"], /there is no policy/],
  [2, ["webhooks", "nope.yaml"], /does not exist/],
  [2, ["replay", "service.yaml", "--policies", "policies.yaml"], /no request that a policy/],
  [3, ["replay", "empty.yaml", "--policies", "policies.yaml"], /no request that a policy could be asked about/],
  [3, ["eval", "--batch"], /standard input has no line/],
  [3, ["check", "--batch"], /standard input has no line/],
  [3, ["cel", "--batch"], /standard input has no line/],
  [1, ["inspect", "field.yaml"], /^$/],
  [2, ["read", "nope.yaml"], /no such file/],
];

describe("what was not judged is never green", () => {
  for (const [code, args, says] of OTHERS) {
    test(`${args.join(" ")}: ${code}`, async () => {
      const { code: found, out, err } = await run(args);
      assert.equal(found, code, out + err);
      assert.match(err, says);
      if (code === 3) assert.equal((await run([...args, "--allow-empty"])).code, 0);
    });
  }

  for (const [code, args, says] of CASES) {
    test(`${args.join(" ")}: ${code}`, async () => {
      const own = await run(args);
      assert.equal(own.code, code, own.out + own.err);
      assert.match(own.err, says);
      const theirs = await run([...args, "--compat", "kyverno"]);
      assert.ok(theirs.code <= 1 || args.includes("nope/"), "Kyverno's command knows 0 and 1");
      if (!says.test("--compat")) assert.deepEqual([theirs.out, theirs.err], [own.out, own.err]);
      const meant = await run([...args, "--allow-empty"]);
      assert.equal(meant.code, code === 3 ? 0 : code);
    });
  }
});
