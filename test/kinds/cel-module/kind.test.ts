import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModuleEntry } from "../../../src/config/entry.js";
import { celModuleKind } from "../../../src/kinds/cel-module/kind.js";
import { emptyModule } from "../../support/empty-module.js";

const entry = (id: string, expression = "true") =>
  ({ id, native: true, settings: { validations: [{ expression, message: "no" }] } }) as unknown as ModuleEntry;

test("a module of a known digest is read once, and another one is not taken for it", async () => {
  const kind = celModuleKind(Number.POSITIVE_INFINITY, () => performance.now());
  const read: string[] = [];
  const files = (title: string, digest?: string) => ({
    ...(digest !== undefined && { digest }),
    read: async () => {
      read.push(title);
      return { bytes: emptyModule(title) };
    },
  });
  const cel = files("cel-policy", "sha256:1");
  assert.equal((await kind.policy(entry("a"), cel))?.id, "a");
  assert.equal((await kind.policy(entry("b", "object.x == 1"), cel))?.id, "b");
  assert.deepEqual(read, ["cel-policy"]);
  assert.equal(await kind.policy(entry("c", "no CEL"), cel), undefined);
  const other = files("other", "sha256:2");
  assert.equal(await kind.policy(entry("d"), other), undefined);
  assert.equal(await kind.policy(entry("e"), other), undefined);
  const unnamed = files("cel-policy");
  assert.equal((await kind.policy(entry("f"), unnamed))?.id, "f");
  assert.equal((await kind.policy(entry("g"), unnamed))?.id, "g");
  assert.deepEqual(read, ["cel-policy", "other", "other", "cel-policy", "cel-policy"]);
});
