import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AuditedFile } from "../../../src/cluster/audit/audited-file.js";

describe("a policies file of the audit", () => {
  test("is read again when it has changed, and stays as it was when it can't be", (context) => {
    const folder = mkdtempSync(join(tmpdir(), "audited-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "policies.yaml");
    const policy = (name: string) => `${name}: { cel: { validations: [{ expression: "true" }] } }\n`;
    writeFileSync(path, policy("one"));
    const file = new AuditedFile(() => path);
    assert.equal(file.hasChanged(), true);
    const { config } = file.read();
    assert.equal(file.hasChanged(), false);
    assert.equal(file.read().config, config);
    writeFileSync(path, policy("another"));
    assert.equal(file.hasChanged(), true);
    assert.equal(file.read().config?.entries[0]?.id, "another");
    writeFileSync(path, "- no map at all\n");
    const broken = file.read();
    assert.equal(broken.config?.entries[0]?.id, "another");
    assert.ok(broken.problem);
    assert.equal(file.hasChanged(), false, "a mistake is told once");
  });

  test("may be absent", () => {
    const file = new AuditedFile(() => undefined);
    assert.equal(file.hasChanged(), false);
    assert.deepEqual(file.read(), { config: undefined });
  });
});
