import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { ImageMetadata } from "../../src/fetch/image-metadata.js";
import { MAX_ANSWER_BYTES } from "../../src/fetch/limits.js";
import { RegistryImages } from "../../src/world/images/registry-images.js";
import { LookupFailure } from "../../src/world/resources/resource-source.js";
import { evaluated } from "../kinds/kyverno/external/support.js";
import { fetcher, insecure } from "./helpers.js";
import { type RegistryOptions, sha256, TestRegistry } from "./test-registry.js";

const CONFIG = {
  architecture: "amd64",
  os: "linux",
  created: "2024-01-02T03:04:05Z",
  config: { Env: ["A=b"], Labels: { team: "x" }, User: "", Unknown: 1 },
  rootfs: { type: "layers", diff_ids: [] },
  history: [{ created: "2024-01-02T03:04:05Z", empty_layer: false }],
  unknown: true,
};

async function setUp(context: TestContext, options: RegistryOptions = {}) {
  const registry = await TestRegistry.start(context, options);
  const client = fetcher(context, { sources: insecure(registry.host) }).registry;
  const metadata = new ImageMetadata(client);
  let clock = 1_000;
  const read = (reference: string, signal: AbortSignal) => metadata.read(reference, signal);
  const images = new RegistryImages(read, () => clock, new AbortController().signal);
  return {
    registry,
    images,
    skip: (milliseconds: number) => {
      clock += milliseconds;
    },
  };
}

/** An image with a configuration; the digest of its manifest. */
function push(registry: TestRegistry, repository: string, tag: string, config: object = CONFIG): string {
  const bytes = Buffer.from(JSON.stringify(config));
  registry.blobs.set(sha256(bytes), bytes);
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: sha256(bytes), size: bytes.length },
      layers: [{ mediaType: "x", digest: sha256("layer"), size: 5, unknown: 1 }],
    }),
  );
  registry.manifests.set(`${repository}:${tag}`, manifest);
  registry.manifests.set(`${repository}@${sha256(manifest)}`, manifest);
  return sha256(manifest);
}

describe("what is said of an image", () => {
  test("names, manifest and configuration, with the members that are known", async (context) => {
    const { registry, images } = await setUp(context);
    const digest = push(registry, "team/app", "v1");
    const image = `${registry.host}/team/app:v1`;
    const found = JSON.parse(JSON.stringify(await images.metadata(image)));
    assert.deepEqual(found, {
      image,
      resolvedImage: `${image}@${digest}`,
      registry: registry.host,
      repository: "team/app",
      identifier: "v1",
      tag: "v1",
      digest,
      manifest: {
        schemaVersion: 2,
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        config: found.manifest.config,
        layers: [{ mediaType: "x", digest: sha256("layer"), size: 5 }],
      },
      config: {
        architecture: "amd64",
        os: "linux",
        created: "2024-01-02T03:04:05Z",
        config: { Env: ["A=b"], Labels: { team: "x" } },
        rootfs: { type: "layers", diff_ids: [] },
        history: [{ created: "2024-01-02T03:04:05Z" }],
      },
    });
  });

  test("expressions read it, and its numbers are doubles", async (context) => {
    const { registry, images } = await setUp(context);
    push(registry, "app", "v1");
    const get = `image.GetMetadata("${registry.host}/app:v1")`;
    const external = { images };
    assert.equal(await evaluated(`${get}.config.config.Labels.team == "x"`, { external }), true);
    assert.equal(await evaluated(`${get}.manifest.schemaVersion + 1.0 == 3.0`, { external }), true);
    assert.equal(await evaluated(`has(${get}.imageIndex)`, { external }), false);
  });

  test("of an index it is that of linux/amd64, with the digest of the index", async (context) => {
    const { registry, images } = await setUp(context);
    const [own, other] = [
      push(registry, "app", "own"),
      push(registry, "app", "other", { ...CONFIG, architecture: "arm64" }),
    ];
    const manifests = [
      { digest: other, platform: { os: "linux", architecture: "arm64" } },
      { digest: own, platform: { os: "linux", architecture: "amd64" } },
    ];
    const index = { schemaVersion: 2, manifests };
    registry.manifests.set("app:v1", Buffer.from(JSON.stringify(index)));
    const found = JSON.parse(JSON.stringify(await images.metadata(`${registry.host}/app:v1`)));
    assert.equal(found.digest, sha256(JSON.stringify(index)));
    assert.equal(found.config.architecture, "amd64");
    assert.deepEqual(found.imageIndex, index);
    registry.manifests.set("app:v2", Buffer.from(JSON.stringify({ manifests: [manifests[0]] })));
    const none = await images.metadata(`${registry.host}/app:v2`);
    assert.deepEqual(none, new LookupFailure(`no child with platform linux/amd64 in index ${registry.host}/app:v2`));
  });

  test("with a digest the tag is not looked at", async (context) => {
    const { registry, images } = await setUp(context);
    const digest = push(registry, "app", "v1");
    const found = JSON.parse(JSON.stringify(await images.metadata(`${registry.host}/app:other@${digest}`)));
    assert.equal(found.identifier, digest);
    assert.equal(found.tag, undefined);
    assert.equal(found.resolvedImage, `${registry.host}/app@${digest}`);
  });

  test("is asked for again after a moment", async (context) => {
    const { registry, images, skip } = await setUp(context);
    push(registry, "app", "v1");
    const image = `${registry.host}/app:v1`;
    await images.metadata(image);
    await images.metadata(image);
    assert.equal(registry.requests.length, 2);
    skip(6_000);
    await images.metadata(image);
    assert.equal(registry.requests.length, 4);
  });
});

describe("an image that cannot be had", () => {
  test("is one with more to say than images have", async (context) => {
    const { registry, images } = await setUp(context);
    const tooLarge = async (name: string) => {
      const answer = await images.metadata(`${registry.host}/app:${name}`);
      assert.ok(answer instanceof LookupFailure, name);
      assert.match(answer.message, /too large/, name);
    };
    push(registry, "app", "ok", { ...CONFIG, author: "x".repeat(MAX_ANSWER_BYTES / 2) });
    assert.ok(!((await images.metadata(`${registry.host}/app:ok`)) instanceof LookupFailure));
    push(registry, "app", "config", { ...CONFIG, author: "x".repeat(MAX_ANSWER_BYTES) });
    await tooLarge("config");
    push(registry, "app", "values", { ...CONFIG, history: new Array(20_000).fill({}) });
    await tooLarge("values");
    registry.manifests.set(
      "app:manifest",
      Buffer.from(JSON.stringify({ annotations: { a: "x".repeat(MAX_ANSWER_BYTES) } })),
    );
    await tooLarge("manifest");
    registry.manifests.set("app:layers", Buffer.from(JSON.stringify({ layers: new Array(20_000).fill({}) })));
    await tooLarge("layers");
  });

  test("is an error, without the registry's address", async (context) => {
    const { registry, images } = await setUp(context, { login: "basic", user: "a:b" });
    const external = { images };
    assert.equal(
      await evaluated('image.GetMetadata("Not OK") == null', { external }),
      "error: failed to get image data: could not parse reference: Not OK",
    );
    const refused = await images.metadata(`${registry.host}/app:v1`);
    assert.ok(refused instanceof LookupFailure);
    assert.equal(refused.message, "the registry answers 401");
    assert.match(refused.detail ?? "", /localhost/);
  });
});
