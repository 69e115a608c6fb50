/** `apply` with CertificateRequestPolicies: they decide together, one row for each CertificateRequest. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { CERTIFICATES_EXAMPLE, exampleCsr, exampleCsrFile } from "../support/example-csrs.js";

const folder = mkdtempSync(join(tmpdir(), "apply-certificate-requests-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string | Buffer): string => {
  const file = join(folder, name);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  return file;
};

const policy = (name: string, spec: string, more = ""): string =>
  `apiVersion: policy.cert-manager.io/v1alpha1\nkind: CertificateRequestPolicy\nmetadata: { name: ${name}${more} }\nspec: ${spec}\n---\n`;
const ANY = "{ selector: { issuerRef: {} }, allowed: { dnsNames: { values: ['*'] } } }";
const NONE = "{ selector: { issuerRef: {} } }";
const RBAC = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: use }
rules: [{ apiGroups: [policy.cert-manager.io], resources: [certificaterequestpolicies], verbs: [use] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: use }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: use }
subjects: [{ kind: User, name: alice, apiGroup: rbac.authorization.k8s.io }]
`;
const request = (name: string, spec: object = {}) => ({
  apiVersion: "cert-manager.io/v1",
  kind: "CertificateRequest",
  metadata: { name, namespace: "shop" },
  spec: { request: exampleCsr("web").toString("base64"), issuerRef: { name: "ca" }, username: "alice", ...spec },
});

async function apply(args: readonly string[], stdin: string | Buffer = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const io = { env: { HOME: "/nowhere" }, stdin: Readable.from([stdin]), stdout, stderr };
  const code = await runCommandLine(["apply", ...args], io);
  stdout.end();
  stderr.end();
  return { code, out: (await out).replaceAll(`${folder}/`, ""), err: (await err).replaceAll(`${folder}/`, "") };
}

/** The counts of the last line. */
const counts = (out: string): string => /pass: .*/.exec(out)?.[0].trim() ?? out;
const ONE_PASSES = "pass: 1, fail: 0, warn: 0, error: 0, skip: 0";

const any = write("any.yaml", policy("any", ANY));
const bound = write("bound.yaml", policy("any", ANY) + RBAC);
const pair = write("pair.yaml", policy("any", ANY) + policy("none", NONE) + RBAC);
const rbac = write("rbac.yaml", RBAC);
const requests = write(
  "requests.jsonl",
  [
    request("good"),
    request("bad", { usages: ["any"] }),
    request("stranger", { username: "bob" }),
    request("broken", { request: "eA==" }),
    { apiVersion: "v1", kind: "Pod", metadata: { name: "pod" } },
    { apiVersion: "acme.example/v1", kind: "CertificateRequest", metadata: { name: "other", namespace: "shop" } },
  ]
    .map((each) => JSON.stringify(each))
    .join("\n"),
);

describe("apply with CertificateRequestPolicies", () => {
  test("each request is asked about as made by whoever its spec says; other objects have no row", async () => {
    assert.deepEqual(await apply([bound, "-r", requests]), {
      code: 1,
      out: `
Applying 1 policy rule(s) to 6 resource(s)...
policy any -> resource shop/CertificateRequest/bad failed:
1 -  No policy approved this request: [any: spec.allowed.usages: Invalid value: ["any"]: nil]
policy any -> resource shop/CertificateRequest/stranger was not decided:
1 -  No CertificateRequestPolicies bound or applicable
policy any -> resource shop/CertificateRequest/broken could not be judged:
1 -  error decoding certificate request PEM block: no PEM data was found in given input

pass: 1, fail: 1, warn: 0, error: 1, skip: 1 
`,
      err: "",
    });
  });

  test("several decide together, under a name for all", async () => {
    const { code, out } = await apply([pair, "-r", requests, "-t", "--detailed-results", "--remove-color"]);
    assert.equal(code, 1);
    const rows = out
      .split("\n")
      .flatMap((line) => (line.includes("shop/") ? [line.split("│").map((cell) => cell.trim())] : []));
    assert.deepEqual(
      rows.map(([, , name, , resource, result, , message]) => [name, resource?.replace(/.*\//, ""), result, message]),
      [
        ["CertificateRequestPolicies", "good", "Pass", 'Approved by CertificateRequestPolicy: "any"'],
        [
          "CertificateRequestPolicies",
          "bad",
          "Fail",
          'No policy approved this request: [any: spec.allowed.usages: Invalid value: ["any"]: nil] [none: spec.allowed.dnsNames: Invalid value: ["web.shop.svc","web.shop.svc.cluster.local"]: no allowed values, spec.allowed.usages: Invalid value: ["any"]: nil]'.replace(
            /\[none: (.*)\]$/,
            "[none: [$1]]",
          ),
        ],
        ["CertificateRequestPolicies", "stranger", "Skip", "No CertificateRequestPolicies bound or applicable"],
        [
          "CertificateRequestPolicies",
          "broken",
          "Error",
          "error decoding certificate request PEM block: no PEM data was found in given input",
        ],
      ],
    );
  });

  test("reports say what decided, with the policy's annotations", async () => {
    const annotated = write(
      "annotated.yaml",
      policy("any", NONE, ", annotations: { policies.kyverno.io/severity: high }") + RBAC,
    );
    const args = [annotated, "-r", exampleCsrFile("web"), "--username", "alice"];
    const report = (await apply([...args, "-p"])).out;
    assert.match(report, /result: fail\n/);
    assert.match(report, /severity: high\n/);
    assert.match(report, /source: CertificateRequestPolicy\n/);
    assert.match(
      (await apply([...args, "--junit", "-"])).out,
      /<testcase classname="any" name="cert-manager.io\/v1\/CertificateRequest\/default\/web">\n\s*<failure/,
    );
    const [result] = JSON.parse((await apply([...args, "--sarif", "-"])).out).runs[0].results;
    assert.equal(result.ruleId, "any");
  });

  test("the example", async () => {
    const args = ["--issuer", "internal-ca,ClusterIssuer", "-n", "shop", "--duration", "24h"];
    const asked = [...args, "--username", "system:serviceaccount:cert-manager:cert-manager"];
    const { code, out } = await apply([CERTIFICATES_EXAMPLE, "-r", CERTIFICATES_EXAMPLE.concat("/web.csr"), ...asked]);
    assert.deepEqual([code, counts(out)], [0, ONE_PASSES]);
  });
});

describe("who may use them", () => {
  const web = ["-r", exampleCsrFile("web"), "--username", "alice"];

  const given: Readonly<Record<string, readonly string[]>> = {
    "beside them": [bound],
    "in a file of its own": [any, rbac],
    "before them, with what else a cluster has": [
      write("a.yaml", `${RBAC}---\napiVersion: v1\nkind: ServiceAccount\nmetadata: { name: x, namespace: y }\n`),
      any,
    ],
    "in files with parameters": [any, "--parameter-resource", rbac],
  };
  for (const [name, policies] of Object.entries(given)) {
    test(`objects of RBAC ${name} say it`, async () => {
      assert.equal(counts((await apply([...policies, ...web])).out), ONE_PASSES);
      const stranger = await apply([...policies, "-r", exampleCsrFile("web"), "--username", "bob"]);
      assert.equal(counts(stranger.out), "pass: 0, fail: 0, warn: 0, error: 0, skip: 1");
    });
  }

  test("a CSR of nobody is decided by no policy: nothing is judged", async () =>
    assert.deepEqual(await apply([bound, "-r", exampleCsrFile("web")]), {
      code: 3,
      out: `
Applying 1 policy rule(s) to 1 resource(s)...
policy any -> resource default/CertificateRequest/web was not decided:
1 -  No CertificateRequestPolicies bound or applicable

pass: 0, fail: 0, warn: 0, error: 0, skip: 1 
`,
      err: "nothing was judged: no policy matched a resource (--allow-empty: exit 0 all the same)\n",
    }));

  test("--assume-bound: everybody, which is told", async () => {
    const { code, out, err } = await apply([bound, "-r", exampleCsrFile("web"), "--username", "bob", "--assume-bound"]);
    assert.deepEqual([code, counts(out)], [0, ONE_PASSES]);
    assert.match(err, /^warning: bound\.yaml:1:1: warning: every policy counts as bound/);
  });

  test("nobody says it: the three ways are named, nothing passes", async () =>
    assert.deepEqual(await apply([any, ...web]), {
      code: 2,
      out: "",
      err: "Error: who may use the CertificateRequestPolicies? Put their Roles and bindings beside them (or into --parameter-resource), ask the cluster (--cluster), or let every requester use all of them (--assume-bound)\n",
    }));

  test("a cluster is asked, and its CertificateRequests are judged", async (context) => {
    const server = await FakeApiServer.start(context);
    const answers = {
      "/apis": { groups: [{ preferredVersion: { groupVersion: "cert-manager.io/v1" }, versions: [] }] },
      "/apis/cert-manager.io/v1": {
        resources: [
          { name: "certificaterequests", kind: "CertificateRequest", namespaced: true, verbs: ["get", "list"] },
        ],
      },
      "/apis/cert-manager.io/v1/certificaterequests": {
        metadata: {},
        items: [request("good"), request("stranger", { username: "bob", groups: ["b", "a"] })],
      },
    };
    for (const [path, answer] of Object.entries(answers)) {
      server.special.set(path, (_, response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(answer));
      });
    }
    server.access.set("alice", { allowed: true });
    server.access.set("bob", { allowed: false });
    const { code, out, err } = await apply([any, "--cluster", "--kubeconfig", server.kubeconfig()]);
    assert.deepEqual([code, counts(out), err], [0, "pass: 1, fail: 0, warn: 0, error: 0, skip: 1", ""]);
    assert.deepEqual(server.reviews[1], {
      user: "bob",
      groups: ["a", "b"],
      resourceAttributes: {
        group: "policy.cert-manager.io",
        name: "any",
        namespace: "shop",
        resource: "certificaterequestpolicies",
        verb: "use",
      },
    });
  });
});

describe("policy files with CertificateRequestPolicies", () => {
  const web = ["-r", exampleCsrFile("web"), "--username", "alice"];

  test("Namespaces beside them have the labels that selectors ask for", async () => {
    const labelled = policy("any", ANY.replace("issuerRef: {}", "namespace: { matchLabels: { a: b } }"));
    const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: { name: default, labels: { a: b } }\n---\n";
    const whole = write("labelled.yaml", labelled + namespace + RBAC);
    assert.equal(counts((await apply([whole, ...web])).out), ONE_PASSES);
    const without = await apply([write("unlabelled.yaml", labelled + RBAC), ...web]);
    assert.equal(without.code, 1);
    assert.match(without.out, /could not be judged:\n1 - {2}.*namespaces "default" not found/);
    const values = write(
      "values.yaml",
      "apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\nnamespaceSelector: [{ name: default, labels: { a: b } }]\n",
    );
    assert.equal(counts((await apply([join(folder, "unlabelled.yaml"), ...web, "-f", values])).out), ONE_PASSES);
  });

  test("without any of them, a file of built-in kinds holds no policy", async () => {
    const { code, err } = await apply([rbac, ...web]);
    assert.deepEqual([code, err], [2, "Error: rbac.yaml holds no policy\n"]);
  });

  test("a policy that is not in order is no pass", async () => {
    const broken = write(
      "broken.yaml",
      policy("broken", ANY.replace("values: ['*']", "validations: [{ rule: 'self >' }]")) + RBAC,
    );
    const { code, out, err } = await apply([broken, ...web]);
    assert.equal(code, 2);
    assert.equal(counts(out), "pass: 0, fail: 0, warn: 0, error: 1, skip: 0");
    assert.match(err, /^Error: broken\.yaml:4:\d+: spec\.allowed\.dnsNames\.validations\[0\]/);
  });

  test("neither is one whose API is misspelt, or one of two with a name", async () => {
    const slip = write("slip.yaml", policy("slip", ANY).replace("policy.cert", "policies.cert"));
    const { code, err } = await apply([slip, ...web]);
    assert.equal(code, 2);
    assert.match(err, /CertificateRequestPolicy of policies\.cert-manager\.io\/v1alpha1 is not a policy/);
    const twice = await apply([any, bound, ...web]);
    assert.equal(twice.code, 2);
    assert.match(twice.err, /duplicate name "any" of a CertificateRequestPolicy/);
  });
});

describe("CSRs among resources", () => {
  const said = ["--username", "alice", "-n", "shop"];

  test("files, standard input, and those in folders that end with .csr", async () => {
    const inside = write("inside/a.csr", exampleCsr("web"));
    write("inside/key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    for (const path of [inside, join(folder, "inside"), exampleCsrFile("web")])
      assert.equal(counts((await apply([bound, "-r", path, ...said])).out), ONE_PASSES, path);
    assert.equal(counts((await apply([bound, "-r", "-", ...said], exampleCsr("web"))).out), ONE_PASSES);
  });

  test("what is said of them is asked about", async () => {
    const { out } = await apply([bound, "-r", exampleCsrFile("web"), ...said, "--is-ca", "--request-name", "other"]);
    assert.match(out, /resource shop\/CertificateRequest\/other failed:\n.*spec\.allowed\.isCA/);
  });

  test("user information wins nothing over theirs: nobody makes a request in another's name", async () => {
    const user = write(
      "user.yaml",
      "apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nuserInfo: { username: bob, groups: [x] }\n",
    );
    const { out } = await apply([bound, "-r", exampleCsrFile("web"), ...said, "-u", user]);
    assert.match(out, /spec\.username: Forbidden: username identity must be that of the requester/);
    const own = await apply([bound, "-r", exampleCsrFile("web"), "-n", "shop", "-u", user]);
    assert.equal(counts(own.out), "pass: 0, fail: 0, warn: 0, error: 0, skip: 1", "bob asks");
  });

  const web = exampleCsrFile("web");
  const mistakes: Readonly<Record<string, readonly [args: readonly string[], code: number, line: RegExp]>> = {
    "a file that is called like one": [
      ["-r", write("x.csr", "a: b")],
      2,
      /x\.csr holds no CSR: it is neither PEM nor DER/,
    ],
    "a key": [
      ["-r", write("a.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")],
      2,
      /a\.pem holds no CSR: its first block of PEM is not a CERTIFICATE REQUEST, but PRIVATE KEY/,
    ],
    "groups of nobody": [["-r", web, "--groups", "dev"], 2, /whose groups are dev\?/],
    "two of one name": [
      ["-r", `${web},${exampleCsrFile("payments")}`, "--request-name", "x"],
      2,
      /would both be the CertificateRequest x/,
    ],
    "options without one": [
      ["-r", requests, "--issuer", "x"],
      2,
      /no CSR is among the resources, for which alone --issuer is/,
    ],
    "an unknown usage": [["-r", web, "--usages", "x"], 2, /there is no usage 'x'/],
    "no duration": [["-r", web, "--duration", "x"], 2, /time: invalid duration "x"/],
    "no issuer": [["-r", web, "--issuer", ""], 2, /'' is not name, name,kind/],
    "a file with parameters that is not there": [
      ["-r", web, "--parameter-resource", "/nowhere"],
      2,
      /cannot read \/nowhere/,
    ],
    "no resources": [[], 2, /resource file\(s\) or cluster required/],
    "a kubeconfig that is not there": [["-r", web, "-c", "--kubeconfig", "/nowhere"], 2, /cannot use \/nowhere/],
  };
  for (const [name, [args, expected, line]] of Object.entries(mistakes)) {
    test(`${name}: one line`, async () => {
      const { code, err } = await apply([bound, ...args]);
      assert.equal(code, expected);
      assert.match(err, line);
      assert.equal(err.trimEnd().split("\n").length, 1);
    });
  }
});
