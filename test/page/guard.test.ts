import assert from "node:assert/strict";
import { test } from "node:test";
import { hostProblem, isLoopback, originProblem } from "../../src/page/guard.js";

test("a server is called by a name of its own machine, or by the address that it listens on", () => {
  for (const host of ["localhost", "LOCALHOST:3000", "127.0.0.1:3000", "127.1.2.3", "[::1]:3000", "page.localhost:1"])
    assert.equal(hostProblem(host, "127.0.0.1"), undefined, host);
  assert.equal(hostProblem("10.0.0.7:3000", "10.0.0.7"), undefined);
  const others = [
    "example.com:3000",
    "localhost.example.com",
    "127.0.0.1.example.com",
    "10.0.0.7",
    "",
    "[::2]",
    "[::1",
  ];
  for (const host of [...others, undefined]) assert.ok(hostProblem(host, "127.0.0.1"), host);
});

test("a question comes from the page itself, or from no browser", () => {
  const host = "localhost:3000";
  for (const headers of [
    { host },
    { host, origin: "http://localhost:3000" },
    { host, origin: "http://localhost:3000", "sec-fetch-site": "same-origin" },
  ])
    assert.equal(originProblem(headers, false), undefined, JSON.stringify(headers));
  for (const headers of [
    { host, origin: "http://localhost:3001" },
    { host, origin: "https://localhost:3000" },
    { host, origin: "null" },
    { host, "sec-fetch-site": "same-site" },
    { host, "sec-fetch-site": "cross-site" },
    { origin: "http://localhost:3000" },
  ])
    assert.ok(originProblem(headers, false), JSON.stringify(headers));
  assert.equal(originProblem({ host, origin: "https://localhost:3000" }, true), undefined);
});

test("addresses that only this machine reaches", () => {
  for (const address of ["127.0.0.1", "127.9.9.9", "::1"]) assert.equal(isLoopback(address), true, address);
  for (const address of ["0.0.0.0", "::", "10.0.0.1", "localhost", "127.0.0.1.example.com"])
    assert.equal(isLoopback(address), false, address);
});
