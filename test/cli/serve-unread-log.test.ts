import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { admissionReview, post } from "../server/fake-policy.js";
import { freePort } from "../support/example-server.js";
import { until } from "../support/until.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(path.join(os.tmpdir(), "unread-log-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, "policies.yaml");
writeFileSync(
  file,
  `p:\n  cel:\n    validations:\n      - expression: "false"\n        message: ${"x".repeat(1500)}\n`,
);
/** Their log lines are several times what a socket keeps for its reader. */
const REQUESTS = 600;

for (const workers of ["1", "2"]) {
  test(`a server whose log nobody reads ends on SIGTERM all the same (${workers} process(es))`, async () => {
    const [port, readiness] = [await freePort(), await freePort()];
    const flags = ["--port", `${port}`, "--readiness-probe-port", `${readiness}`, "--workers", workers];
    const child = spawn(
      process.execPath,
      ["dist/server/main.js", "--addr", "127.0.0.1", "--policies", file, "--drain-grace", "1", ...flags],
      { cwd: root, stdio: ["ignore", "pipe", "pipe"] },
    );
    // Its log is on the other stream.
    let said = "";
    child.stderr.on("data", (chunk) => (said += String(chunk)));
    try {
      const exited = once(child, "exit");
      const ready = (): Promise<boolean> =>
        fetch(`http://127.0.0.1:${readiness}/readiness`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until("readiness", async () => {
        assert.equal(child.exitCode, null, said);
        return ready();
      });
      const review = JSON.stringify(admissionReview());
      for (let i = 0; i < REQUESTS; i++) {
        const response = await post(`http://127.0.0.1:${port}/validate/p`, review);
        assert.equal(response.status, 200);
        await response.text();
      }
      child.kill("SIGTERM");
      await until("the end", () => child.exitCode !== null || child.signalCode !== null);
      assert.deepEqual(await exited, [0, null], said);
    } finally {
      child.kill("SIGKILL");
    }
  });
}
