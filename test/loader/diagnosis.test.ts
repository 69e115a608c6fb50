import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../src/config/load-config.js";
import type { ModuleFiles } from "../../src/kinds/kind.js";
import { diagnose } from "../../src/loader/diagnosis.js";
import { createLoader } from "../../src/loader/index.js";

test("a module is fetched for an entry with mistakes, and asked about its settings only where none of them concerns it", async () => {
  const asked: string[] = [];
  const fetched: string[] = [];
  const kinds = {
    documents: [],
    inline: { prepare: () => assert.fail() },
    modules: [{ needs: () => assert.fail(), policy: ({ id }: { id: string }) => void asked.push(id) }],
    group: { policy: () => undefined as never, mistakes: () => [] },
  };
  const fetchModule = async ({ id }: { id: string }): Promise<ModuleFiles> => {
    fetched.push(id);
    return { read: async () => ({ bytes: new Uint8Array() }) };
  };
  const config = parseConfig(
    `mode: { module: ./a.wasm, polcyMode: monitor }
grants: { module: ./a.wasm, hostCapabilites: [] }
good: { module: ./a.wasm }
group: { mesage: m, expression: "a() && b()", policies: { a: { module: ./a.wasm }, b: { module: ./a.wasm, sha: x } } }
`,
    "p.yaml",
  );
  assert.ok(config.ok);
  assert.deepEqual(await diagnose(config.config, { kinds, fetchModule }), []);
  assert.deepEqual(fetched, ["mode", "grants", "group/a", "group/b"]);
  assert.deepEqual(asked, ["mode", "group/a"]);
});

test("who does not ask for it loads nothing of an entry with mistakes; who does serves it as little", async (context) => {
  const text =
    "p: { module: ./no-such.wasm, polcyMode: monitor }\ng: { expression: a(), message: m, policies: { a: { policy: p } } }\n";
  const config = parseConfig(text, "p.yaml");
  assert.ok(config.ok);
  const load = async (diagnosing: boolean) => {
    const loader = createLoader({ downloadDirectory: "/nonexistent" }, { diagnose: diagnosing });
    context.after(() => loader.close());
    return loader.load(config.config);
  };
  const [serving, checking] = [await load(false), await load(true)];
  const states = ({ policies }: typeof serving) =>
    [...policies.entries.values()].map(({ id, unavailable }) => [id, unavailable]);
  assert.deepEqual(states(checking), states(serving));
  assert.match(serving.policies.entries.get("p")?.unavailable ?? "", /^the policy's configuration is invalid/);
  assert.deepEqual(
    [serving, checking].map(({ problems }) => problems.map(({ code }) => code)),
    [[], ["MODULE_FETCH"]],
  );
});
