import assert from "node:assert/strict";
import { test } from "node:test";
import { servingLine, urlOf } from "../../src/serving/url.js";

const tls = { certFile: "tls.crt", keyFile: "tls.key", clientCaFiles: [], minVersion: "TLSv1.2" } as const;

test("the address is one that can be typed", () => {
  assert.equal(urlOf({ address: "0.0.0.0" }, 3000), "http://localhost:3000");
  assert.equal(urlOf({ address: "::" }, 3000), "http://localhost:3000");
  assert.equal(urlOf({ address: "127.0.0.1" }, 8080), "http://127.0.0.1:8080");
  assert.equal(urlOf({ address: "::1" }, 8080), "http://[::1]:8080");
  assert.equal(urlOf({ address: "10.1.2.3", tls }, 443), "https://10.1.2.3:443");
});

test("people are told whether it is this machine's alone, and whether there is a page", () => {
  assert.equal(
    servingLine({ address: "0.0.0.0", page: "read" }, 3000),
    "Serving on http://localhost:3000 (in a browser: the page), and on all addresses of this machine. Ctrl+C stops it.",
  );
  assert.equal(
    servingLine({ address: "127.0.0.1", page: "off", tls }, 3000),
    "Serving on https://127.0.0.1:3000. Ctrl+C stops it.",
  );
});
