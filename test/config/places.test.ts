import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Places } from "../../src/config/places.js";

/** A place, with addresses below it and others. */
interface Case {
  readonly place: string;
  readonly below: readonly string[];
  readonly others: readonly string[];
}

const MODULES: readonly Case[] = [
  {
    place: "reg.example/acme",
    below: [
      "registry://reg.example/acme:v1",
      "registry://reg.example/acme/x/y@sha256:1",
      "registry://REG.example:443/acme/x",
    ],
    others: [
      "registry://reg.example:8443/acme/x",
      "registry://reg.example:44/acme/x",
      "registry://reg.example:4430/acme/x",
      "registry://reg.example/acme-too/x",
      "registry://evil.reg.example/acme/x",
      "registry://reg.example.evil/acme/x",
      "https://reg.example/acme/x",
    ],
  },
  {
    place: "reg.example",
    below: ["registry://reg.example/x", "registry://reg.example:443/y/z:v1"],
    others: ["registry://reg.example:5000/x", "registry://reg.example:80/x", "registry://reg.exampl/x"],
  },
  {
    place: "registry://reg.example:5000/",
    below: ["registry://reg.example:5000/x"],
    others: ["registry://reg.example/x", "registry://reg.example:50001/x", "registry://reg.example:500/x"],
  },
  {
    place: "[fd00::1]:5000",
    below: ["registry://[fd00::1]:5000/x"],
    others: ["registry://[fd00::1]/x", "registry://[fd00::1]:5001/x", "registry://[fd00::12]:5000/x"],
  },
  {
    place: "docker.io/acme",
    below: ["registry://acme/x:v1", "registry://index.docker.io/acme/x", "registry://registry-1.docker.io/acme/x"],
    others: ["registry://acme-too/x", "registry://library/y", "registry://ghcr.io/acme/x"],
  },
  {
    place: "busybox",
    below: ["registry://busybox:1", "registry://docker.io/library/busybox"],
    others: ["registry://box"],
  },
  { place: "docker.io", below: ["registry://busybox", "registry://a/b"], others: ["registry://docker.io.evil/a/b"] },
  {
    place: "https://modules.example/acme",
    below: [
      "https://modules.example/acme",
      "https://modules.example:443/acme/x.wasm?v=2",
      "https://MODULES.example/acme/./x.wasm",
    ],
    others: [
      "https://modules.example:8443/acme/x.wasm",
      "http://modules.example/acme/x.wasm",
      "https://modules.example/acme-too/x.wasm",
      "https://modules.example/acme/../x.wasm",
      "https://modules.example/acme/%2e%2e/x.wasm",
      "https://modules.example/acme/..%5cx.wasm",
      "https://ann:s3cret@modules.example/acme/x.wasm",
      "registry://modules.example/acme/x",
    ],
  },
  {
    place: "http://modules.example",
    below: ["http://modules.example/x.wasm", "http://modules.example:80/"],
    others: [
      "http://modules.example:8080/x.wasm",
      "http://modules.example:443/x.wasm",
      "https://modules.example/x.wasm",
    ],
  },
  { place: "https://", below: [], others: ["https://modules.example/x"] },
  { place: "registry://", below: [], others: ["registry://x", "registry://reg.example/x"] },
  { place: "", below: [], others: ["registry://reg.example/x", "https://modules.example/x", "registry://x"] },
];

describe("places of modules", () => {
  for (const { place, below, others } of MODULES) {
    test(`${JSON.stringify(place)} is above addresses at its host and port, segment by segment`, () => {
      const places = new Places([place]);
      for (const location of below) assert.equal(places.has(location), true, location);
      for (const location of others) assert.equal(places.has(location), false, location);
    });
  }

  test("no places are above nothing, and several are each above their own", () => {
    assert.equal(new Places([]).has("registry://reg.example/x"), false);
    const two = new Places(["a.example/x", "https://b.example"]);
    assert.deepEqual(
      ["registry://a.example/x/y", "https://b.example/z", "https://a.example/x"].map((each) => two.has(each)),
      [true, true, false],
    );
  });

  test("redirects lead below a place by the paths of a registry's API", () => {
    const places = new Places(["reg.example/acme", "https://modules.example/acme"]);
    const leads = (url: string): boolean => places.leadsTo(new URL(url));
    for (const url of [
      "https://reg.example/v2/acme/x/manifests/v1",
      "https://reg.example:443/v2/acme/blobs/sha256:1",
      "https://modules.example/acme/y.wasm",
    ])
      assert.equal(leads(url), true, url);
    for (const url of [
      "https://reg.example/v2/other/x/manifests/v1",
      "https://reg.example/v2/acme-too/x/manifests/v1",
      "https://reg.example/acme/x",
      "https://reg.example/v2/acme/%2e%2e/other",
      "https://reg.example:8443/v2/acme/x/manifests/v1",
      "https://modules.example:8443/acme/y.wasm",
      "https://elsewhere.example/v2/acme/x",
    ])
      assert.equal(leads(url), false, url);
    assert.equal(new Places(["docker.io/acme"]).leadsTo(new URL("https://registry-1.docker.io/v2/acme/x/tags")), true);
    assert.equal(new Places(["reg.example"]).leadsTo(new URL("https://reg.example/anything")), true);
  });

  test("tokens come from the registry itself, from Docker Hub's service for that, or from a place", () => {
    const has = (places: readonly string[], registry: string, url: string): boolean =>
      new Places(places).hasTokens(registry, new URL(url));
    assert.equal(has(["reg.example/acme"], "reg.example", "https://reg.example/token"), true);
    assert.equal(has(["reg.example/acme"], "reg.example:443", "https://REG.example/token"), true);
    assert.equal(has(["reg.example/acme"], "reg.example", "https://reg.example:8443/token"), false);
    assert.equal(has(["reg.example/acme"], "reg.example", "https://auth.docker.io/token"), false);
    assert.equal(has(["reg.example/acme"], "reg.example", "https://auth.example/token"), false);
    assert.equal(
      has(["reg.example/acme", "https://auth.example/token"], "reg.example", "https://auth.example/token"),
      true,
    );
    assert.equal(has(["docker.io/acme"], "docker.io", "https://auth.docker.io/token"), true);
  });
});
