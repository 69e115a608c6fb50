import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";
import { newKeys } from "../fetch/certificates.js";
import { folder } from "../fetch/helpers.js";
import { TestSigstore } from "../fetch/signatures/test-sigstore.js";
import { type RegistryOptions, sha256, TestRegistry } from "../fetch/test-registry.js";
import { written } from "../support/written.js";

const MODULE = fileURLToPath(new URL("../../../policies/privileged-pods/policy.wasm", import.meta.url));
const WASM_LAYER = "application/vnd.wasm.content.layer.v1+wasm";
const bytes = readFileSync(MODULE);

interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A registry, and a command line in a folder that knows it as one without TLS. */
async function start(context: TestContext, options: RegistryOptions = {}, files: Record<string, string> = {}) {
  const registry = await TestRegistry.start(context, options);
  const root = folder(context, { "sources.yml": `insecure_sources: ["${registry.host}"]\n`, ...files });
  const env = {
    HOME: root,
    KUBEWARDEN_SOURCES_PATH: join(root, "sources.yml"),
    KUBEWARDEN_POLICIES_DOWNLOAD_DIR: join(root, "downloads"),
    KUBEWARDEN_SIGSTORE_TRUST_CONFIG_PATH: files["trust.json"] && join(root, "trust.json"),
  };
  const run = async (...args: string[]): Promise<Ran> => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const exitCode = await runCommandLine(args, { env, stdin: new PassThrough(), stdout, stderr });
    return { exitCode, stdout: written(stdout), stderr: written(stderr) };
  };
  return { registry, root, run, address: `registry://${registry.host}/team/policy:v1` };
}

describe("push", () => {
  for (const login of ["none", "basic", "bearer"] as const) {
    test(`what is pushed is pulled as it was, log-in ${login}`, async (context) => {
      const auths = (host: string) => JSON.stringify({ auths: { [host]: { auth: btoa("me:secret") } } });
      const { registry, root, run, address } = await start(
        context,
        login === "none" ? {} : { login, user: "me:secret" },
      );
      const { mkdirSync, writeFileSync } = await import("node:fs");
      mkdirSync(join(root, ".docker"));
      writeFileSync(join(root, ".docker/config.json"), auths(registry.host));
      const pushed = await run("push", MODULE, address);
      assert.equal(pushed.exitCode, 0, pushed.stderr);
      const manifest = registry.manifests.get("team/policy:v1") ?? Buffer.from("");
      assert.equal(pushed.stdout, `${registry.host}/team/policy@${sha256(manifest)}\n`);
      const { config, layers, mediaType } = JSON.parse(manifest.toString()) as Record<string, unknown>;
      assert.deepEqual(
        { config, layers, mediaType },
        {
          config: { mediaType: "application/vnd.wasm.config.v1+json", digest: sha256("{}"), size: 2 },
          layers: [{ mediaType: WASM_LAYER, digest: sha256(bytes), size: bytes.length }],
          mediaType: "application/vnd.oci.image.manifest.v1+json",
        },
      );
      const digest = await run("digest", address);
      assert.equal(digest.stdout, pushed.stdout);
      const pulled = await run("pull", pushed.stdout.trim(), "-o", join(root, "pulled.wasm"));
      assert.deepEqual(pulled.stdout, `${join(root, "pulled.wasm")}\n`, pulled.stderr);
      assert.deepEqual(readFileSync(join(root, "pulled.wasm")), bytes);
    });
  }

  test("what is there already is not sent again, and has the same digest", async (context) => {
    const { registry, run, address } = await start(context);
    const first = await run("push", MODULE, address);
    registry.requests.length = 0;
    const { stdout } = await run("push", MODULE, `${address}-again`, "-o", "json");
    assert.deepEqual(JSON.parse(stdout), { immutable_ref: first.stdout.trim() });
    assert.deepEqual(
      registry.requests.map((request) => request.replace(/sha256:\w+/, "…")),
      ["HEAD /v2/team/policy/blobs/…", "HEAD /v2/team/policy/blobs/…", "PUT /v2/team/policy/manifests/v1-again"],
    );
  });

  const mistakes: Readonly<Record<string, readonly [file: string, address: string, says: RegExp]>> = {
    "what is no module": [
      "policies.yaml",
      "HOST/p:v1",
      /policies\.yaml is not a WebAssembly module: it does not begin as/,
    ],
    "a file that is not there": ["nothing.wasm", "HOST/p:v1", /nothing\.wasm: no such file/],
    "a folder": ["policies", "HOST/p:v1", /policies is a folder/],
    "an address that is a file": [MODULE, "./p.wasm", /not an address in a registry/],
    "an address with a digest": [MODULE, `HOST/p@${sha256("")}`, /makes its own digest/],
    "a name that registries have not": [MODULE, "HOST/P:v1", /invalid image reference/],
  };
  for (const [what, [file, address, says]] of Object.entries(mistakes)) {
    test(`${what} is refused before anything is sent`, async (context) => {
      const { registry, run } = await start(context);
      const { exitCode, stderr } = await run("push", file, address.replace("HOST", registry.host));
      assert.equal(exitCode, 2);
      assert.match(stderr, says);
      assert.deepEqual(registry.requests, []);
    });
  }

  test("a registry that wants a log-in says how to", async (context) => {
    const { run, address } = await start(context, { login: "basic", user: "me:secret" });
    const { exitCode, stderr } = await run("push", MODULE, address);
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /answers 401 to HEAD .*asked anonymously: there is no config\.json\n {2}log in \(docker login/,
    );
  });
});

describe("the download folder", () => {
  test("has what is pulled where the server looks for it; policies lists it, rm removes it", async (context) => {
    const { registry, root, run, address } = await start(context);
    registry.pushModule("team/policy", "v1", bytes);
    const path = join(root, "downloads/registry", registry.host, "team/policy:v1");
    assert.equal((await run("pull", address)).stdout, `${path}\n`);
    assert.deepEqual(readFileSync(path), bytes);
    const [kept] = JSON.parse((await run("policies", "-o", "json")).stdout) as unknown[];
    assert.deepEqual(kept, { address, path, bytes: bytes.length, digest: sha256(bytes), damaged: false });
    assert.match(
      (await run("policies")).stdout,
      new RegExp(`^${address}  [\\d.]+ KiB  ${sha256(bytes).slice(7, 19)}\n$`),
    );
    assert.equal((await run("rm", address)).exitCode, 0);
    assert.equal(existsSync(path), false);
    assert.equal((await run("policies", "-o", "json")).stdout, "[]\n");
    assert.equal((await run("rm", address)).exitCode, 1);
  });

  test("a tag that has moved is pulled anew, and what can't be had is not what was kept", async (context) => {
    const { registry, run, root, address } = await start(context);
    registry.pushModule("team/policy", "v1", bytes);
    await run("pull", address);
    const other = Buffer.concat([bytes, Buffer.from([0, 2, 1, 120])]);
    registry.pushModule("team/policy", "v1", other);
    await run("pull", address);
    assert.deepEqual(readFileSync(join(root, "downloads/registry", registry.host, "team/policy:v1")), other);
    registry.manifests.clear();
    const { exitCode, stderr, stdout } = await run("pull", address);
    assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: "" });
    assert.match(stderr, /answers 404 .*\n {2}is the name right/);
  });
});

describe("verify", () => {
  const sigstore = new TestSigstore();
  const keys = newKeys();
  const pem = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
  const identity = { issuer: "https://issuer.example", email: "ci@example.org" };
  const files = {
    "trust.json": sigstore.trustConfig(),
    "cosign.pub": pem,
    "verification.yml": `anyOf:
  minimumMatches: 1
  signatures:
    - { kind: pubKey, owner: ops, key: ${JSON.stringify(newKeys().publicKey.export({ type: "spki", format: "pem" }))} }
    - { kind: genericIssuer, issuer: "https://issuer.example", subject: { equal: ci@example.org } }
`,
  };

  async function signed(context: TestContext) {
    const made = await start(context, {}, files);
    const digest = made.registry.pushModule("team/policy", "v1", bytes);
    sigstore.sign(made.registry, "team/policy", digest, [{ keys, annotations: { env: "prod" } }, { identity }]);
    const file = (name: string) => join(made.root, name);
    return { ...made, digest, file };
  }

  test("says which requirement is met, by whom, and which is missing", async (context) => {
    const { run, address, file, registry, digest } = await signed(context);
    const byKey = await run("verify", address, "-k", file("cosign.pub"), "-a", "env=prod");
    const name = `${registry.host}/team/policy:v1`;
    assert.deepEqual(byKey, {
      exitCode: 0,
      stdout: `verified ${name}\n  ${digest}\n  ok with the key of ${file("cosign.pub")}, with env=prod\n`,
      stderr: "",
    });
    const either = await run("verify", address, "--verification-config-path", file("verification.yml"));
    assert.equal(either.exitCode, 0);
    assert.match(
      either.stdout,
      /1 of these:\n {4}missing with the key of ops\n {4}ok by ci@example\.org .*: signed by ci@example\.org\n/,
    );
    const other = await run("verify", address, "--github-owner", "acme");
    assert.equal(other.exitCode, 1);
    assert.match(
      other.stdout,
      /^not verified .*\n.*\n {2}missing by a GitHub workflow of acme\n {2}signatures that it has:\n {4}with some key, env=prod\n {4}by ci@example\.org/,
    );
    const json = JSON.parse((await run("verify", address, "--github-owner", "acme", "-o", "json")).stdout) as {
      verified: boolean;
    }[];
    assert.deepEqual(
      json.map(({ verified }) => verified),
      [false],
    );
  });

  test("verifies all that a policies file takes from registries, and says of each", async (context) => {
    const { run, file, registry, root, address } = await signed(context);
    registry.pushModule("team/unsigned", "v1", bytes);
    const { writeFileSync } = await import("node:fs");
    writeFileSync(
      join(root, "policies.yaml"),
      `one: { module: "${address}" }\ntwo: { module: "registry://${registry.host}/team/unsigned:v1" }\nthree: { module: "registry://${registry.host}/team/gone:v1" }\n`,
    );
    const { exitCode, stdout } = await run("verify", file("policies.yaml"), "-k", file("cosign.pub"));
    assert.equal(exitCode, 2);
    assert.match(
      stdout,
      /^verified .*\/policy:v1\n[\s\S]*^not verified .*\/unsigned:v1\n[\s\S]*it has no signatures\nnot verified .*\/gone:v1\n.*404/m,
    );
  });

  test("pull takes only what is signed as the flags say", async (context) => {
    const { run, address, file, root } = await signed(context);
    const good = await run("pull", address, "-k", file("cosign.pub"));
    assert.match(good.stderr, /signatures verified\n$/);
    const bad = await run("pull", address, "--github-owner", "acme", "-o", join(root, "bad.wasm"));
    assert.equal(bad.exitCode, 1);
    assert.match(bad.stderr, /missing signatures/);
    assert.equal(existsSync(join(root, "bad.wasm")), false);
  });

  const mistakes: Readonly<Record<string, readonly [args: readonly string[], says: RegExp]>> = {
    "whose signature is not said": [[], /whose signature is wanted/],
    "a mail address without its issuer": [["--cert-email", "a@b"], /go together/],
    "a repository without its owner": [["--github-repo", "p"], /needs --github-owner/],
    "an annotation without a value": [["-a", "env", "--github-owner", "x"], /expected key=value/],
    "annotations alone": [["-a", "env=prod"], /and not whose/],
    "a key that is not there": [["-k", "nothing.pub"], /no such file/],
    "a key that is none": [["-k", MODULE], /expected a public key in PEM/],
  };
  for (const [what, [args, says]] of Object.entries(mistakes)) {
    test(`${what} is a mistake`, async (context) => {
      const { run, address } = await start(context);
      const { exitCode, stderr } = await run("verify", address, ...args);
      assert.equal(exitCode, 2);
      assert.match(stderr, says);
    });
  }
});
