/** `apply` with requests to be authorized (spec kyverno.md 6.3 and 8.9). */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { after, describe, test } from "node:test";
import { applyCommand } from "../../../src/cli/apply/index.js";
import type { ApplyValues } from "../../../src/cli/apply/options.js";

const folder = mkdtempSync(join(tmpdir(), "apply-"));
after(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const policyOf = (name: string, mode: string, expression: string): string =>
  fileOf(`${name}.yaml`, {
    apiVersion: "policies.kyverno.io/v1",
    kind: "ValidatingPolicy",
    metadata: { name },
    spec: { evaluation: { mode }, validations: [{ expression }] },
  });

async function apply(paths: readonly string[], values: Partial<ApplyValues>) {
  const texts = { out: "", err: "" };
  const into = (key: "out" | "err") =>
    new Writable({
      write(chunk, _, done) {
        texts[key] += String(chunk);
        done();
      },
    });
  const io = { stdin: Readable.from([]), stdout: into("out"), stderr: into("err"), env: {} };
  const options = { reportApi: "openreports.io", outputFormat: "yaml", ...values } as const;
  const code = await applyCommand(paths, options, {}, io as unknown as Parameters<typeof applyCommand>[3]);
  return { code, ...texts };
}

const denying = policyOf("get-only", "HTTP", 'object.attributes.method == "GET" ? null : http.Denied("no").Response()');
const allowing = policyOf("mesh", "Envoy", "envoy.Allowed().Response()");
const get = fileOf("get.json", { attributes: { method: "GET" } });
const post = fileOf("post.json", { attributes: { method: "POST" } });
const asked = fileOf("asked.json", { attributes: { request: {} } });

describe("apply to requests", () => {
  test("asks each policy about the requests of its mode", async () => {
    const { code, out, err } = await apply([denying, allowing], { httpPayload: [get, post], envoyPayload: [asked] });
    assert.equal(code, 1);
    assert.equal(err, "");
    assert.equal(
      out,
      `\nApplying 2 policy rule(s) to 0 resource(s)...
policy get-only -> resource JSON payload failed:
1 - get-only request denied, reason: no

pass: 1, fail: 1, warn: 0, error: 0, skip: 1 \n`,
    );
  });

  test("says which policies nobody was asked about", async () => {
    const { code, err } = await apply([denying, allowing], { envoyPayload: [asked] });
    assert.equal(code, 0);
    assert.match(err, /^warning: nothing is checked with ValidatingPolicy get-only, .*--http-payload\n$/);
  });

  test("a policy that does not compile is an error although nothing is given for it", async () => {
    const validations = [{ expression: "object.(" }];
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
    const ofKubernetes = fileOf("pods.yaml", {
      apiVersion: "policies.kyverno.io/v1",
      kind: "ValidatingPolicy",
      metadata: { name: "pods" },
      spec: { matchConstraints: { resourceRules: [rule] }, validations },
    });
    const payload = fileOf("payload.json", { a: 1 });
    const ofPayloads = policyOf("payloads", "JSON", "object.a == 1");
    for (const [paths, values, name] of [
      [[ofKubernetes, ofPayloads], { json: [payload] }, "pods"],
      [[ofKubernetes, allowing], { envoyPayload: [asked] }, "pods"],
      [[policyOf("json", "JSON", "object.("), allowing], { envoyPayload: [asked] }, "json"],
      [[policyOf("http", "HTTP", "http.Allowed("), ofPayloads], { json: [payload] }, "http"],
    ] as const) {
      const { code, out, err } = await apply(paths, values);
      assert.equal(code, 2);
      assert.match(out, /pass: 1, fail: 0/);
      assert.match(err, new RegExp(`^Error: failed to compile (?:HTTP )?policy ${name}\\b`, "m"));
      assert.equal((await apply(paths, { ...values, compat: "kyverno" })).code, 0);
    }
  });

  test("ends with a policy that does not compile, if it would be asked", async () => {
    const broken = policyOf("broken", "HTTP", "true");
    const { code, err } = await apply([broken], { httpPayload: [get] });
    assert.equal(code, 2);
    assert.match(err, /^Error: failed to compile HTTP policy broken: spec\.validations\[0\]\.expression/);
    const going = await apply([broken, allowing], { httpPayload: [get], envoyPayload: [asked], continueOnFail: true });
    assert.equal(going.code, 2);
    assert.match(going.out, /pass: 1, fail: 0/);
  });

  test("ends with a file that is no request", async () => {
    const { code, err } = await apply([allowing], { envoyPayload: [fileOf("wrong.json", { nope: 1 })] });
    assert.equal(code, 2);
    assert.match(err, /^Error: failed to parse envoy payload from .*wrong\.json: proto: unknown field "nope"\n$/);
  });
});
