import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addressPath, parseModuleAddress } from "../../src/config/module-address.js";

describe("module addresses", () => {
  const registry = [
    "ghcr.io/a/b:v1",
    "localhost:5000/x",
    "localhost/x.wasm",
    "r.example/x.wasm",
    "team/policy",
    "busybox",
  ];
  for (const text of registry) {
    test(`${text} is in a registry`, () => {
      const address = parseModuleAddress(text, "/etc/p/policies.yaml");
      assert.deepEqual(address, { kind: "registry", text, location: `registry://${text}` });
    });
  }

  const files: Record<string, string> = {
    "x.wasm": "/etc/p/x.wasm",
    "policies/x.wasm": "/etc/p/policies/x.wasm",
    "./r.example/x": "/etc/p/r.example/x",
    "../x.wasm": "/etc/x.wasm",
    "/abs/x y%20z.wasm": "/abs/x y%20z.wasm",
    "file:///abs/x%20y.wasm": "/abs/x y.wasm",
    "file://rel/x.wasm": "/etc/p/rel/x.wasm",
    "file://100%/x.wasm": "/etc/p/100%/x.wasm",
  };
  for (const [text, path] of Object.entries(files)) {
    test(`${text} is the file ${path}`, () => {
      const address = parseModuleAddress(text, "/etc/p/policies.yaml");
      assert.ok(!("mistake" in address) && address.kind === "file");
      assert.equal(addressPath(address), path);
    });
  }

  const mistakes: Record<string, RegExp> = {
    "ftp://x/y": /^unknown scheme: ftp/,
    "HTTP://x/y": /^unknown scheme: HTTP/,
    "registry://": /^nothing follows registry:\/\//,
    "https://[x": /^not a URL/,
  };
  for (const [text, expected] of Object.entries(mistakes)) {
    test(`${text} is none`, () => {
      const address = parseModuleAddress(text, "/etc/p/policies.yaml");
      assert.ok("mistake" in address);
      assert.match(address.mistake, expected);
    });
  }
});
