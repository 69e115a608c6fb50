import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";
import { METADATA_SECTION } from "../../src/wasm/module/metadata.js";
import { newKeys } from "../fetch/certificates.js";
import { folder } from "../fetch/helpers.js";
import { TestSigstore } from "../fetch/signatures/test-sigstore.js";
import { sha256, TestRegistry } from "../fetch/test-registry.js";
import { written } from "../support/written.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const MODULE = join(root, "policies/privileged-pods/policy.wasm");
const POLICIES = join(root, "policies.yaml");
const wasm = readFileSync(MODULE);

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const exitCode = await runCommandLine(args, { env, stdin: new PassThrough(), stdout, stderr });
  return { exitCode, stdout: written(stdout), stderr: written(stderr) };
}

const inspect = (...args: string[]) => run(["inspect", ...args]);
const json = async (...args: string[]) => {
  const { stdout, stderr } = await inspect(...args, "-o", "json");
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
};

/** A module with metadata behind it. */
function withMetadata(bytes: Buffer, metadata: object): Buffer {
  const content = Buffer.concat([
    Buffer.from([METADATA_SECTION.length]),
    Buffer.from(METADATA_SECTION),
    Buffer.from(JSON.stringify(metadata)),
  ]);
  const size = [(content.length & 0x7f) | 0x80, (content.length >> 7) & 0x7f];
  return Buffer.concat([bytes, Buffer.from([0, ...size]), content]);
}

const METADATA = {
  rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE", "UPDATE"] }],
  mutating: false,
  protocolVersion: "v1",
  executionMode: "extism",
  contextAwareResources: [{ apiVersion: "v1", kind: "Namespace" }],
  hostCapabilities: ["oci/v1/verify"],
  minimumKubewardenVersion: "1.20.0",
  annotations: {
    "io.kubewarden.policy.title": "privileged-pods",
    "io.kubewarden.policy.author": "evil\u001b[2Jname",
    "io.kubewarden.policy.usage": "Deny them.\nAll of them.",
  },
};

describe("inspect of a module", () => {
  test("says what it is, how it begins, and what it imports and exports", async () => {
    const { module, problems } = (await json(MODULE)) as { module: Record<string, unknown>; problems: unknown };
    assert.deepEqual(problems, []);
    const { protocol, size, digest, warmStart, asksHost, exports, memory } = module;
    assert.deepEqual(
      { protocol, size, digest, warmStart, asksHost, exports, memory },
      {
        protocol: "extism",
        size: wasm.length,
        digest: sha256(wasm),
        warmStart: { possible: true },
        asksHost: false,
        exports: { validate: "() -> i32", validate_settings: "() -> i32" },
        memory: { initial: 65_536, maximum: 268_435_456 },
      },
    );
  });

  test("prints its metadata, without what a terminal would obey", async (context) => {
    const file = join(folder(context, { "policy.wasm": withMetadata(wasm, METADATA) }), "policy.wasm");
    const { exitCode, stdout } = await inspect(file);
    assert.equal(exitCode, 0, stdout);
    for (const line of [
      "  title         privileged-pods",
      "  author        evil\\u001b[2Jname",
      "  needs version 1.20.0",
      "  rules         CREATE, UPDATE of pods (core/v1)",
      "  reads         Namespace of v1",
      "  capabilities  oci/v1/verify",
      "usage\n  Deny them.\n  All of them.\n",
    ])
      assert.ok(stdout.includes(line), `${line}\n${stdout}`);
    assert.deepEqual(JSON.parse((await inspect(file, "--metadata")).stdout), METADATA);
    assert.match((await inspect(file, "--metadata", "-o", "yaml")).stdout, /^rules:\n {2}- apiGroups:\n/);
  });

  test("that the server would refuse says why, and exits with 1", async (context) => {
    const broken = withMetadata(wasm, { ...METADATA, minimumKubewardenVersion: "99.0.0" });
    const files = folder(context, { "new.wasm": broken, "text.wasm": "(module)" });
    const newer = await inspect(join(files, "new.wasm"));
    assert.equal(newer.exitCode, 1);
    assert.match(newer.stdout, /refused +Policy required Kubewarden version 99\.0\.0/);
    const text = await inspect(join(files, "text.wasm"));
    assert.equal(text.exitCode, 1);
    assert.match(text.stdout, /WebAssembly's text format/);
  });

  test("of Rego says that its entry must say which", async () => {
    const { exitCode, stdout } = await inspect(join(root, "test/vectors/rego/gatekeeper.wasm"));
    assert.equal(exitCode, 0);
    assert.match(stdout, /protocol +opa or gatekeeper: its entry says which, by executionMode/);
  });

  test("in an Extism manifest says what it is made of, and no value of its config", async (context) => {
    const manifest = {
      wasm: [{ path: "p.wasm", hash: sha256(wasm).slice(7) }],
      config: { token: "secret" },
      allowed_hosts: ["a.example"],
    };
    const files = folder(context, { "p.json": JSON.stringify(manifest), "p.wasm": wasm, "bad.json": '{"wasm": 1}' });
    const { stdout } = await inspect(join(files, "p.json"));
    assert.match(stdout, /modules +main: \.\/p\.wasm \(sha256 \w+\)\n {2}config +token\n {2}allowed hosts +a\.example/);
    assert.ok(!stdout.includes("secret"));
    const bad = await inspect(join(files, "bad.json"));
    assert.equal(bad.exitCode, 1);
    assert.match(bad.stderr, /bad\.json:1:10: wasm: expected a list/);
  });

  test("in a registry shows the artifact and who has signed it", async (context) => {
    const registry = await TestRegistry.start(context);
    const sigstore = new TestSigstore();
    const digest = registry.pushModule("team/policy", "v1", wasm);
    sigstore.sign(registry, "team/policy", digest, [
      { keys: newKeys(), annotations: { env: "prod" } },
      { identity: { issuer: "https://issuer.example", email: "ci@example.org" } },
    ]);
    const files = folder(context, {
      "sources.yml": `insecure_sources: ["${registry.host}"]`,
      "trust.json": sigstore.trustConfig(),
    });
    const env = {
      HOME: files,
      KUBEWARDEN_SOURCES_PATH: join(files, "sources.yml"),
      KUBEWARDEN_SIGSTORE_TRUST_CONFIG_PATH: join(files, "trust.json"),
      KUBEWARDEN_POLICIES_DOWNLOAD_DIR: join(files, "downloads"),
    };
    const { exitCode, stdout } = await run(
      ["inspect", `registry://${registry.host}/team/policy:v1`, "--show-signatures"],
      env,
    );
    assert.equal(exitCode, 0);
    assert.ok(stdout.includes(`reference     ${registry.host}/team/policy@${digest}\n`), stdout);
    assert.match(stdout, /signatures +with some key, env=prod\n +by ci@example\.org \(https:\/\/issuer\.example\)\n/);
    const gone = await run(["inspect", `registry://${registry.host}/team/gone:v1`], env);
    assert.equal(gone.exitCode, 1);
    assert.match(gone.stderr, /team\/gone:v1: the registry answers 404 .*\n {2}is the name right/);
  });
});

describe("inspect of policies", () => {
  test("a file of documents: what each is, what they are asked about, what they need", async (context) => {
    const file = join(
      folder(context, {
        "p.yaml": `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: p }
spec:
  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConstraints:
    namespaceSelector: { matchLabels: { a: b } }
    resourceRules: [{ apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments] }]
  variables: [{ name: x, expression: "1" }]
  validations: [{ expression: "variables.x > 0" }, { expression: "params.data.size() > 0" }]
`,
      }),
      "p.yaml",
    );
    const { policies } = (await json(file)) as { policies: [Record<string, unknown>] };
    const [policy] = policies;
    assert.deepEqual(policy.rules, ["CREATE of deployments (apps/v1)"]);
    assert.deepEqual(policy.needs, ["the labels of Namespaces"]);
    assert.equal((policy.expressions as unknown[]).length, 3);
    const [document] = policy.documents as [Record<string, unknown>];
    assert.deepEqual(document.parts, { validations: 2, variables: 1 });
    assert.equal(document.params, "ConfigMap of v1");
  });

  test("an id: its place, its expression, its members", async () => {
    const { exitCode, stdout } = await inspect("workloads", "--policies", POLICIES);
    assert.equal(exitCode, 0);
    assert.match(
      stdout,
      /^workloads\n {2}place +\S*policies\.yaml:\d+\n {2}kind +group\n {2}expression +unprivileged\(\) && /,
    );
    assert.match(stdout, /unprivileged: privileged-pods\n/);
  });

  test("a file with mistakes: they are said at their places, and the exit code is 1", async (context) => {
    const files = folder(context, {
      "policies.yaml":
        'good: { cel: { validations: [{ expression: "true" }] } }\nbad: { cel: { validations: [{ expression: "1 +" }] } }\n',
      "nothing.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n",
    });
    const { exitCode, stdout } = await inspect(join(files, "policies.yaml"));
    assert.equal(exitCode, 1);
    assert.match(
      stdout,
      /good\n[\s\S]*kind +cel: ValidatingAdmissionPolicy\n[\s\S]*bad\n[\s\S]*kind +cel: unavailable\n[\s\S]*problems\n {2}\S*policies\.yaml:2:\d+: bad\.cel\.validations\[0\]\.expression: /,
    );
    const nothing = await inspect(join(files, "nothing.yaml"));
    assert.equal(nothing.exitCode, 1);
    assert.match(nothing.stdout, /problems\n {2}\S*nothing\.yaml: the files hold no policy: found ConfigMap of v1/);
  });

  const mistakes: Readonly<Record<string, readonly [args: readonly string[], says: RegExp]>> = {
    "an id that is misspelt": [
      ["workload", "--policies", POLICIES],
      /nor an id in \S*policies\.yaml \(did you mean "workloads"\?\)/,
    ],
    "a YAML file that is not there": [["nothing.yaml"], /nothing\.yaml: no such file/],
    "an unknown scheme": [["ftp://example.org/x"], /unknown scheme: ftp/],
    "an unknown format": [["x", "-o", "xml"], /Allowed choices are text, json, yaml/],
    "nothing at all": [[], /missing required argument 'what'[\s\S]*For example, to see what a module is/],
  };
  for (const [what, [args, says]] of Object.entries(mistakes)) {
    test(`${what} is a mistake`, async () => {
      const { exitCode, stderr } = await inspect(...args);
      assert.equal(exitCode, 2);
      assert.match(stderr, says);
    });
  }
});
