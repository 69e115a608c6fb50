/** Questions about images to registries that lie, refuse, or never end: each is an error, and none of them "no signatures". */
import assert from "node:assert/strict";
import type { RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  MAX_ARTIFACT_BYTES,
  MAX_ARTIFACT_MEMBERS,
  MAX_ARTIFACT_VALUES,
  MAX_ARTIFACTS,
} from "../../src/fetch/artifacts.js";
import { FetchError } from "../../src/fetch/fetch-error.js";
import { IMAGE_QUESTIONS, ImageTrustReader } from "../../src/fetch/image-trust.js";
import type { Attestor, Sought } from "../../src/fetch/signatures/attestor.js";
import { VERIFIED_BYTES } from "../../src/fetch/signatures/attestor-verdict.js";
import { type AddressGuard, addressGuard } from "../../src/world/open-external.js";
import { newKeys } from "./certificates.js";
import { checksWith, fetcher, insecure } from "./helpers.js";
import { TestSigstore } from "./signatures/test-sigstore.js";
import { type RegistryOptions, sha256, TestRegistry } from "./test-registry.js";

const TYPE = "application/vnd.example.scan+json";
const INDEX = "application/vnd.oci.image.index.v1+json";
const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

/** A reader that has read nothing yet. */
function readerOf(context: TestContext, { host }: TestRegistry, guard?: AddressGuard): ImageTrustReader {
  const { registry } = fetcher(context, { sources: insecure(host), ...(guard && { guard }) });
  return new ImageTrustReader(
    registry,
    checksWith(() => Promise.reject(new Error("no trust root in this test"))),
  );
}

async function setUp(context: TestContext, options: RegistryOptions = {}) {
  const registry = await TestRegistry.start(context, options);
  const digest = registry.push("app", "v1", []);
  const reader = readerOf(context, registry);
  const signal = AbortSignal.timeout(60_000);
  const image = `${registry.host}/app:v1`;
  const artifact = (type = TYPE, by = signal) => reader.artifact(image, digest, type, by);
  return { registry, digest, image, reader, artifact, signal };
}

/** The words of a failure for answers, which name no address. */
async function shownOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof FetchError, String(error));
    assert.doesNotMatch(error.shown, /localhost|127\.0|:\d{4}/);
    return error.shown;
  }
  assert.fail("nothing failed");
}

describe("the digest of an image", () => {
  test("is that of its manifest, which must be there, by tag and by digest", async (context) => {
    const { registry, reader, digest, image, signal } = await setUp(context);
    assert.equal(await reader.digest(image, signal), digest);
    assert.equal(await reader.digest(`${registry.host}/app@${digest}`, signal), digest);
    assert.equal(await reader.digest(`${registry.host}/app:gone@${digest}`, signal), digest);
    const other = sha256("other");
    for (const absent of ["app:v2", "other:v1", `app@${other}`, "app"])
      assert.equal(await shownOf(reader.digest(`${registry.host}/${absent}`, signal)), "the registry answers 404");
  });

  test("is not what a registry says, but what its bytes have", async (context) => {
    const { registry, reader, digest, signal } = await setUp(context);
    registry.manifests.set(`app@${digest}`, json({ schemaVersion: 2, layers: [] }));
    const shown = await shownOf(reader.digest(`${registry.host}/app@${digest}`, signal));
    assert.equal(shown, "it has another digest than the one asked for");
  });

  for (const status of [401, 403, 429, 500, 503])
    test(`is an error where the registry answers ${status}`, async (context) => {
      const { registry, reader, image, signal } = await setUp(context);
      registry.special.set("/v2/app/manifests/v1", (_, response) => response.writeHead(status).end("{}"));
      assert.equal(await shownOf(reader.digest(image, signal)), `the registry answers ${status}`);
    });
});

describe("the content of an artifact that refers to an image", () => {
  test("is that of the first of its type, by both ways of finding it", async (context) => {
    for (const withoutReferrers of [false, true]) {
      const { registry, digest, artifact } = await setUp(context, { withoutReferrers });
      registry.refer("app", digest, "application/other", json({ other: true }));
      registry.refer("app", digest, TYPE, json({ high: 0 }));
      registry.refer("app", digest, TYPE, json({ high: 9 }));
      assert.deepEqual(await artifact(), { high: 0 });
    }
  });

  test("is an error where there is none, or it is not one JSON text of a bearable size", async (context) => {
    const { registry, digest, artifact } = await setUp(context);
    const wrong: Record<string, [Buffer, RegExp]> = {
      "a/text": [Buffer.from("<html>"), /content is not JSON/],
      "a/empty": [Buffer.alloc(0), /content is not JSON/],
      "a/large": [Buffer.alloc(MAX_ARTIFACT_BYTES + 1, "1"), /too large/],
      "a/wide": [
        json(Object.fromEntries(Array.from({ length: MAX_ARTIFACT_MEMBERS + 2 }, (_, i) => [`k${i}`, 0]))),
        new RegExp(`content has an object of more than ${MAX_ARTIFACT_MEMBERS} members`),
      ],
      "a/crowded": [
        json(new Array(MAX_ARTIFACT_VALUES + 1).fill(0)),
        new RegExp(`content has more than ${MAX_ARTIFACT_VALUES} values`),
      ],
    };
    for (const [type, [bytes]] of Object.entries(wrong)) registry.refer("app", digest, type, bytes);
    const list = registry.referrers.get(`app@${digest}`)!;
    const listed = (artifactType: string, layers: number, more: object) => {
      const layer = { mediaType: TYPE, bytes: json({}) };
      const found = registry.push("app", artifactType.replace("/", "-"), new Array(layers).fill(layer), more);
      list.push({ mediaType: INDEX, digest: found, size: 1, artifactType });
    };
    const subject = { digest };
    listed("b/none", 0, { artifactType: "b/none", subject });
    listed("b/two", 2, { artifactType: "b/two", subject });
    listed("c/other", 1, { artifactType: "c/other", subject: { digest: sha256("other") } });
    listed("c/alone", 1, { artifactType: "c/alone" });
    listed("d/type", 1, { artifactType: TYPE, subject });
    for (const type of ["b/none", "b/two"]) assert.match(await shownOf(artifact(type)), /must have one layer/);
    for (const type of ["c/other", "c/alone"])
      assert.match(await shownOf(artifact(type)), /refers to another manifest/);
    assert.match(await shownOf(artifact("d/type")), /another type than its list says/);
    assert.match(await shownOf(artifact("e")), /^artifact of type e not found$/);
    for (const [type, [, shown]] of Object.entries(wrong)) assert.match(await shownOf(artifact(type)), shown, type);
  });

  test("is not looked for among more artifacts than a limit", async (context) => {
    const { registry, digest, artifact } = await setUp(context);
    for (let count = 0; count <= MAX_ARTIFACTS; count++) registry.refer("app", digest, TYPE, json({ count }));
    assert.equal(await shownOf(artifact()), `more than ${MAX_ARTIFACTS} artifacts refer to it`);
  });

  test("has the digests that the registry's list and the manifest say", async (context) => {
    const { registry, digest, artifact } = await setUp(context);
    const forged = registry.refer("app", digest, "a/manifest", json({}));
    registry.manifests.set(`app@${forged}`, json({ layers: [] }));
    registry.refer("app", digest, "a/layer", json({ good: true }));
    registry.blobs.set(sha256(json({ good: true })), json({ good: null }));
    for (const type of ["a/manifest", "a/layer"])
      assert.equal(await shownOf(artifact(type)), "it has another digest than the one asked for");
  });
});

/** Ways in which a registry keeps its list of artifacts to itself; each with what is said of it. */
const lists: Record<string, [RequestListener, RegExp]> = {
  "401": [(_, response) => response.writeHead(401).end(), /answers 401/],
  "403": [(_, response) => response.writeHead(403).end(), /answers 403/],
  "429": [(_, response) => response.writeHead(429).end(), /answers 429/],
  "500": [(_, response) => response.writeHead(500).end(), /answers 500/],
  "another document": [(_, response) => response.end("{}"), /list of signatures can't be read/],
  "no JSON": [(_, response) => response.end("<html>"), /not a JSON object/],
  "a list that breaks off": [
    (_, response) => {
      response.writeHead(200, { "content-type": INDEX, "content-length": "1000" });
      response.write('{"schemaVersion":2,"manifests":[');
      setTimeout(() => response.destroy(), 50);
    },
    /cannot be reached/,
  ],
  "an endless list": [
    (request, response) => {
      const page = Number(new URL(request.url ?? "", "http://x").searchParams.get("page")) + 1;
      response.writeHead(200, {
        "content-type": INDEX,
        link: `<${request.url?.split("?")[0]}?page=${page}>; rel="next"`,
      });
      response.end(json({ schemaVersion: 2, manifests: [] }));
    },
    /more than 50 artifacts|does not end/,
  ],
  "a huge list": [
    (_, response) => {
      response.writeHead(200, { "content-type": INDEX });
      response.end(json({ schemaVersion: 2, manifests: [], x: "x".repeat(300_000) }));
    },
    /too large/,
  ],
  "a crowded list": [
    (_, response) => {
      response.writeHead(200, { "content-type": INDEX });
      response.end(json({ schemaVersion: 2, manifests: [], x: new Array(10_001).fill(0) }));
    },
    /too large/,
  ],
  "a list that goes on elsewhere": [
    (_, response) => {
      response.writeHead(200, { "content-type": INDEX, link: '<https://registry.example/v2/>; rel="next"' });
      response.end(json({ schemaVersion: 2, manifests: [] }));
    },
    /list of signatures is cut/,
  ],
  "redirects without end": [
    (request, response) => response.writeHead(302, { location: request.url }).end(),
    /cannot be fetched/,
  ],
};

describe("a registry that keeps its list of artifacts to itself", () => {
  for (const [name, [listener, shown]] of Object.entries(lists))
    test(`by ${name} gives an error`, async (context) => {
      const { registry, digest, artifact } = await setUp(context);
      registry.special.set(`/v2/app/referrers/${digest}`, listener);
      assert.match(await shownOf(artifact()), shown);
      // An older one, by the tag.
      registry.special.set(`/v2/app/referrers/${digest}`, (_, response) => response.writeHead(404).end());
      if (name.startsWith("an endless") || name.endsWith("elsewhere")) return;
      registry.special.set(`/v2/app/manifests/${digest.replace(":", "-")}`, listener);
      assert.match(await shownOf(artifact("other")), shown);
    });

  test("by silence gives an error in time", async (context) => {
    const { registry, digest, image, reader, artifact } = await setUp(context);
    for (const path of [`referrers/${digest}`, "manifests/v1"]) registry.special.set(`/v2/app/${path}`, () => {});
    const began = performance.now();
    const all = [artifact(TYPE, AbortSignal.timeout(200)), reader.digest(image, AbortSignal.timeout(200))];
    for (const one of all) assert.match(await shownOf(one), /cannot be reached/);
    assert.ok(performance.now() - began < 5_000);
  });
});

const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const keys = newKeys();
const sigstore = new TestSigstore();
const data = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
const attestor: Attestor = { name: "release", cosign: { key: { data }, ctlog: { insecureIgnoreTlog: true } } };
const sought = { kind: "signature" } as const;

/** An image that is signed in both forms, and the addresses of the parts of its signatures. */
async function signed(context: TestContext, options: RegistryOptions & { readonly only?: "layers" | "bundles" } = {}) {
  const made = await setUp(context, options);
  const { registry, digest, reader, image, signal } = made;
  const bundle = sigstore.bundle(digest, { keys });
  const referrer = options.only === "layers" ? "" : registry.refer("app", digest, BUNDLE, bundle);
  if (options.only !== "bundles") sigstore.sign(registry, "app", digest, [{ keys }]);
  const tag = `${digest.replace(":", "-")}.sig`;
  const layers = registry.manifests.get(`app:${tag}`);
  const payload = layers && (JSON.parse(layers.toString()).layers[0].digest as string);
  const parts = {
    layers: [`manifests/${tag}`, `blobs/${payload}`],
    bundles: [`referrers/${digest}`, `manifests/${referrer}`, `blobs/${sha256(bundle)}`],
  };
  const verdict = (by = signal) => reader.verdict(image, digest, attestor, sought, by);
  return { ...made, verdict, parts };
}

describe("the verdict of an attestor", () => {
  for (const only of ["layers", "bundles"] as const) {
    test(`counts signatures in ${only}`, async (context) => {
      const { verdict } = await signed(context, { only });
      assert.deepEqual(await verdict(), { verified: true, reasons: [] });
    });

    for (const status of [304, 401, 403, 408, 410, 429, 451, 500, 503])
      test(`is an error where a part of ${only} is answered with ${status}`, async (context) => {
        const { registry, verdict, parts } = await signed(context, { only });
        for (const path of parts[only]) {
          registry.special.set(`/v2/app/${path}`, (_, response) => response.writeHead(status).end());
          assert.equal(await shownOf(verdict()), `the registry answers ${status}`, path);
          registry.special.delete(`/v2/app/${path}`);
        }
        assert.equal((await verdict()).verified, true);
      });

    test(`is an error where a part of ${only} breaks off or never comes`, async (context) => {
      const { registry, verdict, parts } = await signed(context, { only });
      for (const path of parts[only])
        for (const listener of [
          ((_, response) => {
            response.writeHead(200, { "content-length": "10" }).write("{");
            setTimeout(() => response.destroy(), 20);
          }) as RequestListener,
          (() => {}) as RequestListener,
        ]) {
          registry.special.set(`/v2/app/${path}`, listener);
          assert.match(await shownOf(verdict(AbortSignal.timeout(300))), /cannot be reached|in time/, path);
          registry.special.delete(`/v2/app/${path}`);
        }
      assert.equal((await verdict()).verified, true);
    });
  }

  test("says that there are none only where the registry says so", async (context) => {
    for (const withoutReferrers of [false, true]) {
      const { reader, digest, image, signal } = await setUp(context, { withoutReferrers });
      const verdict = await reader.verdict(image, digest, attestor, sought, signal);
      assert.deepEqual(verdict, { verified: false, reasons: ["no signatures found"] });
    }
  });

  for (const [name, [listener, shown]] of Object.entries(lists))
    test(`is an error where the list of signatures is kept back by ${name}`, async (context) => {
      const { registry, digest, verdict } = await signed(context, { only: "bundles" });
      registry.special.set(`/v2/app/referrers/${digest}`, listener);
      assert.match(await shownOf(verdict()), shown);
    });

  test("is an error where a listed part is not there, or has other bytes, and no other signature suffers", async (context) => {
    for (const only of ["layers", "bundles"] as const) {
      const { registry, verdict, parts, digest } = await signed(context, { only });
      const path = parts[only].at(-1)!;
      for (const answer of [404, 200]) {
        registry.special.set(`/v2/app/${path}`, (_, response) => response.writeHead(answer).end("{}"));
        assert.match(await shownOf(verdict()), /^a listed signature can't be had: /);
      }
      registry.refer("app", digest, BUNDLE, sigstore.bundle(digest, { keys, log: true }));
      const fresh = readerOf(context, registry);
      const again = await fresh.verdict(
        `${registry.host}/app:v1`,
        digest,
        attestor,
        sought,
        AbortSignal.timeout(60_000),
      );
      assert.equal(again.verified, true);
    }
  });
});

test("no registry leads to a blocked address: not by redirects, token services, links or layers' addresses", async (context) => {
  let connections = 0;
  const silent = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  context.after(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const { registry, digest, image, artifact, signal, parts } = await signed(context);
  const manifest = registry.refer("app", digest, TYPE, json({ a: 1 }));
  const ofArtifact = [`referrers/${digest}`, `manifests/${manifest}`, `blobs/${sha256(json({ a: 1 }))}`];
  const questions = (reader: ImageTrustReader): readonly [readonly string[], () => Promise<unknown>][] => [
    [["manifests/v1"], () => reader.digest(image, signal)],
    [ofArtifact, () => reader.artifact(image, digest, TYPE, signal)],
    [parts.layers, () => reader.verdict(image, digest, attestor, sought, signal)],
  ];
  for (const path of ["manifests/v1", ...ofArtifact, ...parts.layers]) {
    for (const host of ["127.0.0.1", "169.254.169.254", "localhost"])
      for (const elsewhere of [`https://${host}:${port}/`, `http://${host}:${port}/`])
        for (const way of [
          { status: 307, headers: { location: elsewhere } },
          { status: 401, headers: { "www-authenticate": `Bearer realm="${elsewhere}",service="x"` } },
        ]) {
          registry.special.set(`/v2/app/${path}`, (_, response) => response.writeHead(way.status, way.headers).end());
          const reader = readerOf(context, registry, addressGuard());
          const [, ask] = questions(reader).find(([paths]) => paths.includes(path))!;
          assert.match(await shownOf(ask()), /blocked address|cannot be fetched|cannot be reached/);
        }
    registry.special.delete(`/v2/app/${path}`);
  }
  // Addresses that a descriptor brings are not looked at.
  const urls = [`http://127.0.0.1:${port}/layer`];
  const about = { schemaVersion: 2, artifactType: "foreign", subject: { digest } };
  const foreign = json({ ...about, layers: [{ mediaType: TYPE, digest: sha256("gone"), size: 4, urls }] });
  registry.manifests.set(`app@${sha256(foreign)}`, foreign);
  registry.referrers.set(`app@${digest}`, [
    { mediaType: INDEX, digest: sha256(foreign), size: foreign.length, artifactType: "foreign", urls },
  ]);
  assert.equal(await shownOf(artifact("foreign")), "the registry answers 404");
  assert.equal(connections, 0);
});

test("questions that come together read a registry once", async (context) => {
  const { registry, digest, artifact } = await setUp(context);
  registry.refer("app", digest, TYPE, json({ a: 1 }));
  registry.requests.length = 0;
  const all = await Promise.all([artifact(), artifact(), artifact()]);
  assert.deepEqual(all, [{ a: 1 }, { a: 1 }, { a: 1 }]);
  assert.equal(registry.requests.length, 3);
  await artifact();
  assert.equal(registry.requests.length, 3);
});

test("a registry that never answers holds a share of all questions, and each ends in time", async (context) => {
  const { registry, reader, image } = await setUp(context);
  const other = await setUp(context);
  let open = 0;
  let most = 0;
  for (let i = 0; i < 100; i++)
    registry.special.set(`/v2/app${i}/manifests/v1`, (_, response) => {
      most = Math.max(most, ++open);
      response.on("close", () => open--);
    });
  const late = Array.from({ length: 100 }, () => AbortSignal.timeout(500));
  const all = late.map((by, i) => shownOf(reader.digest(`${registry.host}/app${i}:v1`, by)));
  assert.equal(await other.reader.digest(other.image, other.signal), other.digest);
  assert.equal(late[0]!.aborted, false);
  const began = performance.now();
  for (const shown of await Promise.all(all)) assert.match(shown, /cannot be reached|no turn for the question in time/);
  assert.ok(performance.now() - began < 5_000);
  assert.equal(most, IMAGE_QUESTIONS.share);
  assert.equal(await reader.digest(image, other.signal), other.digest);
});

test("large attestations are read a few at a time, small ones of the same host beside them", async (context) => {
  const { registry, digest, reader } = await setUp(context);
  const statement: Sought = { kind: "intoto", predicateType: "t" };
  const large = Buffer.alloc(5 * 1024 * 1024, " ");
  const waiting = new Set<ServerResponse>();
  for (let i = 0; i < 12; i++) {
    registry.refer(`app${i}`, digest, BUNDLE, i === 0 ? Buffer.from("{}") : large);
    registry.special.set(`/v2/app${i}/blobs/${sha256(large)}`, (_, response) => {
      waiting.add(response);
    });
  }
  const verdicts = Array.from({ length: 12 }, (_, i) =>
    reader.verdict(`${registry.host}/app${i}:v1`, digest, attestor, statement, AbortSignal.timeout(60_000)),
  );
  assert.equal((await verdicts[0]!).verified, false);
  for (let answered = 0; answered < 11; await delay(5)) {
    assert.ok(waiting.size * large.length <= VERIFIED_BYTES.share, `${waiting.size} at a time`);
    for (const response of waiting) {
      waiting.delete(response);
      answered++;
      response.end(large);
      break;
    }
  }
  for (const { verified, reasons } of await Promise.all(verdicts)) assert.ok(!verified && reasons.length === 1);
});
