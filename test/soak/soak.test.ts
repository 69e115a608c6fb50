import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { soak } from "../../bench/support/soak.js";
import { EXCHANGES, LOOPING, soakPolicies } from "../../bench/support/soak-exchanges.js";
import { startExample } from "../support/example-server.js";

/** `npm run bench soak` does the same for a minute and watches memory. */
test("16 clients with valid, broken, huge and unknown requests get the specified answers while a guest loops", async () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
  const folder = mkdtempSync(join(tmpdir(), "soak-"));
  const file = join(folder, "policies.yaml");
  writeFileSync(file, soakPolicies(root));
  const server = await startExample("--policies", file, "--log-level", "error");
  try {
    const [report, loops] = await Promise.all([
      soak(server.url, EXCHANGES, { clients: 16, seconds: 4 }),
      soak(server.url, [LOOPING], { clients: 1, seconds: 4 }),
    ]);
    assert.deepEqual([...report.wrong, ...loops.wrong], []);
    for (const [name, latencies] of report.latencies) assert.ok(latencies.length > 0, `${name} was never answered`);
    assert.ok(loops.requests >= 2);
  } finally {
    assert.equal(await server.stop(), 0);
    rmSync(folder, { recursive: true, force: true });
  }
});
