import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startProblem } from "../../src/serving/start-problem.js";

const SETTINGS = { address: "127.0.0.1", port: 3000, readinessPort: 8081 };
const refused = (code: string, port: number, syscall = "listen") =>
  Object.assign(new Error(`${syscall} ${code} 127.0.0.1:${port}`), { code, port, syscall });

describe("a port that can't be had", () => {
  test("in use: which, and the option that gives another", () => {
    assert.equal(
      startProblem(refused("EADDRINUSE", 3000), SETTINGS),
      "port 3000 of 127.0.0.1 is in use by another process: stop that, or give another one with --port",
    );
    assert.match(startProblem(refused("EADDRINUSE", 8081, "bind"), SETTINGS), /8081.*--readiness-probe-port$/);
  });

  test("given twice", () => {
    const same = { ...SETTINGS, readinessPort: 3000 };
    assert.match(startProblem(refused("EADDRINUSE", 3000), same), /^--port and --readiness-probe-port are both 3000/);
  });

  test("not for this account, or at an address of another machine", () => {
    assert.match(startProblem(refused("EACCES", 443), SETTINGS), /^port 443 is not for this account/);
    assert.match(
      startProblem(refused("EADDRNOTAVAIL", 3000), SETTINGS),
      /^127\.0\.0\.1 is not an address of this machine/,
    );
  });

  test("another error says what it says", () => {
    assert.equal(startProblem(new Error("no"), SETTINGS), "no");
    assert.equal(startProblem(refused("ENOENT", 1, "open"), SETTINGS), "open ENOENT 127.0.0.1:1");
  });
});
