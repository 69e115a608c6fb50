import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startExecutable } from "../support/example-server.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const hooks = new URL("../support/loaded-modules-hooks.js", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "loaded-modules-"));
after(() => rmSync(folder, { recursive: true }));

const CEL = "plain: { cel: { validations: [{ expression: \"object.metadata.name != 'no'\" }] } }\n";
const WASM = `plain: { module: ${join(root, "test/fixtures/trivial/wapc.wasm")}, executionMode: kubewarden-wapc }\n`;
const KYVERNO = `kyverno: { resource: ${join(root, "policies/kyverno/memory-limits/policy.yaml")} }\n`;

/** What a plain server has no use for: packages, and folders of `src`. */
const UNUSED = [
  "node_modules/express/",
  "node_modules/yaml/",
  "node_modules/undici/",
  "node_modules/re2js/",
  "node_modules/@sigstore/",
  "node_modules/@grpc/",
  "node_modules/@opentelemetry/sdk-",
  "node_modules/@opentelemetry/exporter-",
  "node_modules/@jmespath-community/",
  ...[
    "agent",
    "approver/",
    "audit/audit",
    "certificates/",
    "leader/",
    "replicas/",
    "shadow/",
    "sources/",
    "status/",
    "webhooks/",
  ].map((part) => `dist/src/cluster/${part}`),
  "dist/src/offline/scan/scanner",
  "dist/src/offline/reports/",
  "dist/src/offline/cases/",
  "dist/src/offline/kyverno-test/",
  "dist/src/kinds/kyverno/engine/",
  "dist/src/kinds/mutating-admission-policy/kind",
  "dist/src/kinds/certificate-request-policy/kind",
  "dist/src/kinds/shared/type-check/bundled-schemas",
  "dist/src/telemetry/otlp/tracing",
  "dist/src/server/app.js",
  "dist/src/server/openapi.js",
  "dist/src/page/handler.js",
  "dist/src/page/play/",
];

/** Addresses of all modules that one process has loaded when it is ready: the executable as compiled, for its files have names. */
async function loadedBy(policies: string, ...args: string[]): Promise<readonly string[]> {
  const [file, list] = [join(folder, "policies.yaml"), join(folder, "loaded")];
  writeFileSync(file, policies);
  writeFileSync(list, "");
  const executable = {
    node: ["--import", hooks.href, "dist/src/main.js"],
    env: { LOADED_MODULES: list, KUBECONFIG: "/nowhere" },
  };
  const server = await startExecutable(executable, "--workers", "1", "--policies", file, ...args);
  try {
    return readFileSync(list, "utf8").trim().split("\n");
  } finally {
    process.kill(server.pid, "SIGKILL");
  }
}

const among = (loaded: readonly string[], wanted: readonly string[]): readonly string[] =>
  wanted.filter((part) => loaded.some((address) => address.includes(part)));

describe("a server loads what its configuration needs", () => {
  test("with an inline CEL policy", async () => {
    const loaded = await loadedBy(CEL);
    assert.deepEqual(among(loaded, UNUSED), []);
    const needed = ["dist/src/kinds/validating-admission-policy/kind", "dist/src/cel/"];
    assert.deepEqual(among(loaded, needed), needed);
  });

  test("with a WASM module", async () => {
    const loaded = await loadedBy(WASM);
    const more = [
      "dist/src/cel/",
      "dist/src/kinds/validating-admission-policy/kind",
      "dist/src/kinds/group/",
      "dist/src/kinds/admission-policy/params",
    ];
    assert.deepEqual(among(loaded, [...UNUSED, ...more]), []);
  });

  test("what is not needed in general is seen where it is", async () => {
    const loaded = await loadedBy(`${CEL}${KYVERNO}`, "--log-fmt", "otlp");
    const needed = [
      "dist/src/kinds/kyverno/engine/",
      "dist/src/telemetry/otlp/tracing",
      "node_modules/@opentelemetry/otlp-grpc-exporter-base/",
    ];
    assert.deepEqual(among(loaded, needed), needed);
  });
});
