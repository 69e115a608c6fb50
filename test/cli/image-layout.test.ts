import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { PULLED } from "../../src/cli/modules/pull-image.js";
import { MAX_LAYOUT_INDEX_BYTES } from "../../src/fetch/image-layout.js";
import { newKeys } from "../fetch/certificates.js";
import { folder } from "../fetch/helpers.js";
import { TestSigstore } from "../fetch/signatures/test-sigstore.js";
import { type RegistryOptions, sha256, TestRegistry } from "../fetch/test-registry.js";
import { written } from "../support/written.js";

const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const NAME = "org.opencontainers.image.ref.name";
const sigstore = new TestSigstore();
const keys = newKeys();
const pem = keys.publicKey.export({ type: "spki", format: "pem" }).toString();

const constraints = '{resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}';
const signedPolicy = `apiVersion: policies.kyverno.io/v1
kind: ImageValidatingPolicy
metadata: {name: signed}
spec:
  matchConstraints: ${constraints}
  validationConfigurations: {mutateDigest: false, verifyDigest: false}
  matchImageReferences: [{glob: "*"}]
  attestors:
  - name: ours
    cosign:
      key: {data: ${JSON.stringify(pem)}}
      ctlog: {insecureIgnoreTlog: true, insecureIgnoreSCT: true}
  validations:
  - expression: images.containers.map(image, verifyImageSignatures(image, [attestors.ours])).all(count, count > 0)
    message: not signed
`;
const metadataPolicy = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: user}
spec:
  matchConstraints: ${constraints}
  validations:
  - expression: object.spec.containers.all(c, image.GetMetadata(c.image).config.config.User != "0")
    message: root
`;

/** A registry and a command line that knows it, or only a layout. */
async function start(context: TestContext, options: RegistryOptions = {}) {
  const registry = await TestRegistry.start(context, options);
  const root = folder(context, {
    "sources.yml": `insecure_sources: ["${registry.host}"]\n`,
    "no-sources.yml": "{}",
    "signed.yaml": signedPolicy,
    "user.yaml": metadataPolicy,
  });
  const run = async (...args: string[]) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const env = { HOME: root, KUBEWARDEN_SOURCES_PATH: join(root, "sources.yml") };
    const exitCode = await runCommandLine(args, { env, stdin: new PassThrough(), stdout, stderr });
    return { exitCode, stdout: written(stdout), stderr: written(stderr) };
  };
  const layout = join(root, "layout");
  const pull = (tag: string, ...more: string[]) =>
    run("pull", "--with-signatures", `${registry.host}/team/app:${tag}`, "-d", layout, ...more);
  const pod = (tag: string): string => {
    const file = join(root, `${tag}.yaml`);
    const spec = { containers: [{ name: "a", image: `${registry.host}/team/app:${tag}` }] };
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: tag, namespace: "x" }, spec }),
    );
    return file;
  };
  return { registry, root, run, layout, pull, pod };
}

/** Pushes an image; its layer can't be fetched. */
function push(registry: TestRegistry, tag: string, user = "1000"): string {
  const config = Buffer.from(
    JSON.stringify({ architecture: "amd64", os: "linux", config: { User: user, Labels: { tag } } }),
  );
  registry.blobs.set(sha256(config), config);
  return registry.push("team/app", tag, [], {
    config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: sha256(config), size: config.length },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", digest: sha256("no layer"), size: 9 }],
  });
}

/** Pushes an index of images. */
function pushIndex(registry: TestRegistry, tag: string, digests: readonly string[]): string {
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifests = digests.map((digest) => ({
    mediaType,
    digest,
    size: 1,
    platform: { os: "linux", architecture: "amd64" },
  }));
  const bytes = Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests }),
  );
  registry.manifests.set(`team/app:${tag}`, bytes);
  registry.manifests.set(`team/app@${sha256(bytes)}`, bytes);
  return sha256(bytes);
}

interface Listed {
  readonly digest: string;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}
const listedIn = (layout: string): readonly Listed[] =>
  (JSON.parse(readFileSync(join(layout, "index.json"), "utf8")) as { manifests: Listed[] }).manifests;

describe("pull --with-signatures", () => {
  for (const withoutReferrers of [false, true]) {
    const how = withoutReferrers ? "by the fallback tag" : "by the API for referrers";
    test(`takes an index, its images, what refers to them, and to that, without layers, ${how}`, async (context) => {
      const { registry, layout, pull } = await start(context, { withoutReferrers });
      const child = push(registry, "child");
      const index = pushIndex(registry, "v1", [child]);
      const bundle = registry.refer("team/app", index, BUNDLE, sigstore.bundle(index, { keys }));
      const list = registry.refer("team/app", child, "application/spdx+json", Buffer.from("{}"));
      const about = registry.refer("team/app", list, "application/vnd.cncf.notary.signature", Buffer.from("signature"));
      sigstore.sign(registry, "team/app", child, [{ keys }]);
      const { exitCode, stdout, stderr } = await pull("v1");
      assert.equal(exitCode, 0, stderr);
      assert.equal(stdout, `${layout}\n`);
      assert.equal(
        stderr,
        `pulled ${registry.host}/team/app:v1: ${index}, 2 manifests, 4 artifacts about it, no layers\n`,
      );
      const listed = listedIn(layout);
      const name = `${registry.host}/team/app:`;
      assert.deepEqual(
        listed.map(({ digest, annotations }) => annotations?.[NAME] ?? digest).sort(),
        [`${name}v1`, `${name}${child.replace(":", "-")}.sig`, bundle, list, about].sort(),
      );
      assert.equal(listed.find(({ digest }) => digest === bundle)?.artifactType, BUNDLE);
      assert.ok(!registry.requests.some((request) => request.includes(sha256("no layer"))));
      assert.deepEqual(readdirSync(layout).sort(), ["blobs", "index.json", "oci-layout"]);
    });
  }

  test("adds to a layout, where a name leads to the newest image, and what others wrote stays", async (context) => {
    const { registry, layout, pull } = await start(context);
    const first = push(registry, "v1");
    await pull("v1");
    const index = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")) as object;
    writeFileSync(join(layout, "index.json"), JSON.stringify({ ...index, annotations: { by: "others" } }));
    const second = push(registry, "v1", "2000");
    push(registry, "v2");
    await pull("v2");
    const { stderr } = await pull("v1");
    assert.match(stderr, /^warning: nothing refers to \S+\/team\/app:v1: its registry has no signatures of it/);
    const named = listedIn(layout).map(({ digest, annotations }) => [digest, annotations?.[NAME]]);
    assert.ok(named.some(([digest, name]) => digest === second && name === `${registry.host}/team/app:v1`));
    assert.ok(!named.some(([digest]) => digest === first));
    assert.equal(named.length, 2);
    assert.match(readFileSync(join(layout, "index.json"), "utf8"), /"annotations":\{"by":"others"\}/);
  });

  test("is an error where a layout would have more artifacts than can be read", async (context) => {
    const { registry, layout, pull } = await start(context);
    push(registry, "v1");
    await pull("v1");
    const index = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")) as object;
    const before = JSON.stringify({ ...index, text: "" });
    const text = "x".repeat(MAX_LAYOUT_INDEX_BYTES - before.length);
    writeFileSync(join(layout, "index.json"), JSON.stringify({ ...index, text }));
    push(registry, "v2", "2");
    assert.match((await pull("v2")).stderr, /has too many artifacts: pull into another layout, and name both/);
    assert.equal(readFileSync(join(layout, "index.json")).length, MAX_LAYOUT_INDEX_BYTES);
  });

  test("leaves out artifacts that are too large, and says so", async (context) => {
    const { registry, layout, pull } = await start(context);
    const digest = push(registry, "v1");
    const list = registry.refer("team/app", digest, "sbom", Buffer.from("x".repeat(PULLED.partBytes + 1)));
    const { exitCode, stderr } = await pull("v1");
    assert.equal(exitCode, 0);
    assert.match(stderr, new RegExp(`^warning: left out: ${list} has a part of 32.0 MiB`));
    assert.ok(!listedIn(layout).some((each) => each.digest === list));
  });

  test("ends with an error for endless lists of what refers to it, and for many of them", async (context) => {
    const { registry, pull } = await start(context);
    const digest = push(registry, "v1");
    const path = `/v2/team/app/referrers/${digest}`;
    registry.special.set(path, (_, response) =>
      response
        .writeHead(200, { "content-type": "application/vnd.oci.image.index.v1+json", link: `<${path}>; rel="next"` })
        .end('{"schemaVersion": 2, "manifests": []}'),
    );
    const { exitCode, stderr } = await pull("v1");
    assert.equal(exitCode, 1);
    assert.match(stderr, /team\/app:v1: the registry's list of what refers to it is too long, or does not end/);
    registry.special.clear();
    const listed = { mediaType: "x", digest, size: 1 };
    registry.referrers.set(
      `team/app@${digest}`,
      Array.from({ length: PULLED.manifests + 1 }, () => listed),
    );
    assert.match((await pull("v1")).stderr, /is too long, or does not end/);
  });

  test("a registry that refuses is an error: the layout would have images without signatures", async (context) => {
    const { registry, root, pull } = await start(context);
    const digest = push(registry, "v1");
    for (const path of [`referrers/${digest}`, `manifests/${digest.replace(":", "-")}.sig`])
      for (const status of [401, 403, 429, 503]) {
        registry.special.set(`/v2/team/app/${path}`, (_, response) => response.writeHead(status).end());
        assert.equal((await pull("v1")).exitCode, 1, `${path} ${status}`);
        registry.special.clear();
      }
    assert.ok(!readdirSync(join(root, "layout")).includes("index.json"));
  });

  test("says what to do about wrong arguments", async (context) => {
    const { registry, root, run, pull } = await start(context);
    push(registry, "v1");
    mkdirSync(join(root, "broken"));
    writeFileSync(join(root, "broken", "index.json"), "[]");
    const image = `${registry.host}/team/app:v1`;
    const failure = async (...args: string[]) => (await run("pull", "--with-signatures", ...args)).stderr;
    assert.match(await failure(image), /name its folder with -d, as in -d layout/);
    assert.match(await failure("./x", "-d", root), /name an image, such as ghcr.io\/acme\/app:v1/);
    assert.match(
      await failure(image, "-d", root),
      /it has other files: name a new folder, or an image layout to add to/,
    );
    assert.match(await failure(image, "-d", join(root, "broken")), /its index.json is not a JSON object: name a new/);
    assert.match(await failure(image, "-d", join(root, "signed.yaml")), /name a new folder/);
    assert.match(await failure(image, "-d", join(root, "no", "layout")), /no such file or folder: name a new folder/);
    assert.match((await pull("v9")).stderr, /answers 404[\s\S]*is the name right, and the tag\?/);
    assert.match(
      await failure(image, "-d", join(root, "layout"), "--github-owner", "acme"),
      /verifies none: leave out/,
    );
  });
});

describe("--image-layout", () => {
  /** A layout with a signed image in each form and an unsigned one, without its registry. */
  async function pulled(context: TestContext) {
    const started = await start(context);
    const { registry, pull } = started;
    const bundled = push(registry, "bundled");
    registry.refer("team/app", bundled, BUNDLE, sigstore.bundle(bundled, { keys }));
    sigstore.sign(registry, "team/app", push(registry, "layered"), [{ keys }]);
    push(registry, "unsigned", "0");
    for (const tag of ["bundled", "layered", "unsigned"]) assert.equal((await pull(tag)).exitCode, 0);
    registry.requests.length = 0;
    return started;
  }

  test("lets apply judge signatures without a network", async (context) => {
    const { registry, root, run, layout, pod } = await pulled(context);
    const apply = (tag: string, ...more: string[]) =>
      run("apply", join(root, "signed.yaml"), "--resource", pod(tag), "--image-layout", layout, ...more);
    for (const tag of ["bundled", "layered"]) {
      const { exitCode, stdout, stderr } = await apply(tag);
      assert.equal(exitCode, 0, stdout + stderr);
      assert.match(stdout, /pass: 1, fail: 0/);
    }
    const many = Array.from({ length: 20 }, () => readFileSync(pod("bundled"), "utf8"));
    const names = many.map((text, index) => text.replace('"name":"bundled"', `"name":"${index}"`));
    writeFileSync(join(root, "many.yaml"), names.join("\n---\n"));
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    const all = await run(
      "apply",
      join(root, "signed.yaml"),
      "--resource",
      join(root, "many.yaml"),
      "--image-layout",
      layout,
    );
    process.off("warning", warned);
    assert.match(all.stdout, /pass: 20, fail: 0/);
    assert.deepEqual(warnings, []);
    assert.match((await apply("unsigned")).stdout, /signed not signed[\s\S]*pass: 0, fail: 1/);
    const absent = await apply("absent");
    assert.equal(absent.exitCode, 1);
    assert.match(absent.stderr, /team\/app:absent is not in the image layout \S+layout$/m);
    writeFileSync(join(layout, "index.json"), "{");
    assert.match((await apply("bundled")).stderr, /index.json in \S+layout is not a JSON object$/m);
    assert.deepEqual(registry.requests, []);
  });

  test("lets eval and test judge them, and gives what image.GetMetadata says", async (context) => {
    const { registry, root, run, layout, pod } = await pulled(context);
    const at = (name: string) => join(root, name);
    const evaluate = (policy: string, tag: string) =>
      run("eval", at(policy), "--object", pod(tag), "--image-layout", layout, "-o", "text");
    assert.equal((await evaluate("signed.yaml", "bundled")).exitCode, 0);
    assert.match((await evaluate("signed.yaml", "unsigned")).stdout, /^DENIED[\s\S]*not signed/);
    assert.match((await evaluate("signed.yaml", "absent")).stdout, /^ERROR[\s\S]*is not in the image layout/);
    assert.equal((await evaluate("user.yaml", "bundled")).exitCode, 0);
    assert.match((await evaluate("user.yaml", "unsigned")).stdout, /^DENIED[\s\S]*root/);
    for (const [policy, bad] of [
      ["signed", "not signed"],
      ["user", "root"],
    ] as const) {
      const results = ["bundled", "unsigned"].map((tag, index) => ({
        policy,
        kind: "Pod",
        resources: [tag],
        result: index === 0 ? "pass" : "fail",
      }));
      const resources = [pod("bundled"), pod("unsigned")];
      const content = { metadata: { name: policy }, policies: [at(`${policy}.yaml`)], resources, results };
      writeFileSync(
        at("kyverno-test.yaml"),
        JSON.stringify({ apiVersion: "cli.kyverno.io/v1alpha1", kind: "Test", ...content }),
      );
      const { exitCode, stdout } = await run("test", at("kyverno-test.yaml"), "--image-layout", layout);
      assert.match(stdout, /2 tests passed and 0 tests failed/, bad);
      assert.equal(exitCode, 0);
    }
    writeFileSync(
      at("own.test.yaml"),
      `resource: signed.yaml\ncases:\n- {name: good, object: bundled.yaml, expect: allow}\n- {name: bad, object: unsigned.yaml, expect: deny}\n`,
    );
    const own = await run("test", at("own.test.yaml"), "--image-layout", layout);
    assert.equal(own.exitCode, 0, own.stdout + own.stderr);
    assert.deepEqual(registry.requests, []);
  });

  test("without it registries are asked, and errors say what can be done without a network", async (context) => {
    const { registry, root, run, pod } = await pulled(context);
    const apply = (tag: string, ...more: string[]) =>
      run("apply", join(root, "signed.yaml"), "--resource", pod(tag), ...more);
    assert.match((await apply("bundled")).stdout, /pass: 1, fail: 0/);
    assert.notDeepEqual(registry.requests, []);
    registry.requests.length = 0;
    const blocked = await apply("bundled", "--sources-path", join(root, "no-sources.yml"));
    assert.match(
      blocked.stderr,
      /cannot reach localhost:\d+: resolved IP \S+ falls in blocked range 127.0.0.0\/8 \(without a network: --image-layout FOLDER, which pull --with-signatures makes\)/,
    );
    assert.match(blocked.stdout, /pass: 0, fail: 0, warn: 0, error: 1/);
    assert.deepEqual(registry.requests, []);
    const metadata = await run("apply", join(root, "user.yaml"), "--resource", pod("bundled"));
    assert.match(metadata.stdout + metadata.stderr, /image data for \S+ not found in the context/);
  });

  test("that is not a layout is refused by each command, whatever the policies ask", async (context) => {
    const { root, run, pod } = await start(context);
    const policy = join(root, "user.yaml");
    const wrong = ["--image-layout", join(root, "none")];
    for (const args of [
      ["apply", policy, "--resource", pod("v1"), ...wrong],
      ["eval", policy, "--object", pod("v1"), ...wrong],
      ["test", root, ...wrong],
    ]) {
      const { exitCode, stderr } = await run(...args);
      assert.equal(exitCode, 2, args[0]);
      assert.match(stderr, /--image-layout \S+none: it is not a folder with an image layout/);
    }
  });
});
