import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseConfig } from "../../src/config/load-config.js";
import { createLoader } from "../../src/loader/index.js";
import { folder } from "../fetch/helpers.js";
import { emptyModule } from "../support/empty-module.js";

async function implementations(context: TestContext, text: string): Promise<Record<string, string>> {
  const root = folder(context);
  writeFileSync(join(root, "cel.wasm"), emptyModule("cel-policy"));
  writeFileSync(join(root, "other.wasm"), emptyModule("other"));
  const result = parseConfig(text, join(root, "policies.yaml"));
  assert.ok(result.ok);
  const loader = createLoader({ downloadDirectory: root });
  context.after(() => loader.close());
  const { policies } = await loader.load(result.config);
  return Object.fromEntries([...policies.entries.values()].map(({ id, policy }) => [id, policy.implementation]));
}

test("rules for Kubewarden's CEL module run without it, unless that is refused or wouldn't be the same", async (context) => {
  const rules = `settings: {validations: [{expression: "object.metadata.name == 'p'"}]}`;
  const found = await implementations(
    context,
    `
native: {module: ./cel.wasm, ${rules}}
wasi: {module: ./cel.wasm, executionMode: wasi, ${rules}}
refused: {module: ./cel.wasm, native: false, ${rules}}
other-mode: {module: ./cel.wasm, executionMode: kubewarden-wapc, ${rules}}
other-module: {module: ./other.wasm, ${rules}}
host: {module: ./cel.wasm, settings: {validations: [{expression: "kw.net.lookupHost('x') == []"}]}}
`,
  );
  assert.deepEqual(found, {
    native: "cel-policy, native",
    wasi: "cel-policy, native",
    refused: "unavailable",
    "other-mode": "unavailable",
    "other-module": "unavailable",
    host: "unavailable",
  });
});
