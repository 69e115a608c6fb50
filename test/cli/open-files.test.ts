import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openFilesProblem, roomForConnections } from "../../src/serving/open-files.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const limits = (soft: string) => () =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft.padEnd(20)} 1048576              files\n`;

test("a limit of open files that is too low to start is fatal, one that is low is told, with the number that is enough", () => {
  assert.deepEqual(openFilesProblem(limits("64")), {
    fatal: true,
    message:
      "too few files may be open: the limit is 64 (ulimit -n); the server needs 128 to start, and 1024 to serve a cluster",
  });
  assert.match(openFilesProblem(limits("256"))?.message ?? "", /connections beyond it have to wait; 1024 are enough/);
  assert.equal(openFilesProblem(limits("256"))?.fatal, false);
  assert.equal(openFilesProblem(limits("1024")), undefined);
});

test("a limit that the system does not tell, or none, is no problem", () => {
  assert.equal(openFilesProblem(limits("unlimited")), undefined);
  assert.equal(
    openFilesProblem(() => {
      throw new Error("ENOENT");
    }),
    undefined,
  );
});

test("connections get what the limit leaves beside other files", () => {
  assert.equal(roomForConnections(limits("1024")), 960);
  assert.equal(roomForConnections(limits("40")), 1);
  assert.equal(roomForConnections(limits("unlimited")), undefined);
});

test("serve says so instead of failing in the middle", { skip: process.platform !== "linux" }, () => {
  const { status, stderr } = spawnSync("sh", ["-c", 'ulimit -n 64; exec "$0" dist/server/main.js', process.execPath], {
    cwd: root,
    encoding: "utf8",
  });
  assert.match(stderr, /^Error: too few files may be open: the limit is 64 \(ulimit -n\)/);
  assert.equal(status, 1);
});
