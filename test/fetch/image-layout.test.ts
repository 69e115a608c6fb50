import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { FetchError } from "../../src/fetch/fetch-error.js";
import { MAX_LAYOUT_INDEX_BYTES, MAX_LAYOUT_INDEX_VALUES, openImageLayouts } from "../../src/fetch/image-layout.js";
import { parseImageReference } from "../../src/fetch/image-reference.js";
import { MAX_ANSWER_BYTES } from "../../src/fetch/limits.js";
import type { Descriptor } from "../../src/fetch/registry.js";
import { folder } from "./helpers.js";
import { sha256 } from "./test-registry.js";

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";
const NAME = "org.opencontainers.image.ref.name";
const signal = new AbortController().signal;

/** A layout that is being written. */
class Made {
  readonly path: string;
  readonly listed: Descriptor[] = [];

  constructor(context: TestContext) {
    this.path = folder(context);
    mkdirSync(join(this.path, "blobs", "sha256"), { recursive: true });
    writeFileSync(join(this.path, "oci-layout"), '{"imageLayoutVersion": "1.0.0"}');
  }

  fileOf = (digest: string): string => join(this.path, "blobs", "sha256", digest.slice("sha256:".length));

  blob(bytes: string): Pick<Descriptor, "digest" | "size"> {
    const digest = sha256(Buffer.from(bytes));
    writeFileSync(this.fileOf(digest), bytes);
    return { digest, size: bytes.length };
  }

  /** Adds a manifest or index. */
  add(content: object, annotations?: Record<string, string>, isListed = true): string {
    const mediaType = "manifests" in content ? INDEX : MANIFEST;
    const { digest, size } = this.blob(JSON.stringify({ schemaVersion: 2, mediaType, ...content }));
    // As crane and cosign write it for images.
    const artifactType = "artifactType" in content ? { artifactType: String(content.artifactType) } : {};
    if (isListed) this.listed.push({ mediaType, digest, size, ...artifactType, ...(annotations && { annotations }) });
    return digest;
  }

  /** Adds an image whose configuration has a text. */
  image(text: string, annotations?: Record<string, string>): string {
    const artifactType = "application/vnd.oci.image.config.v1+json";
    const config = { mediaType: artifactType, ...this.blob(`{"text":"${text}"}`) };
    return this.add({ config, artifactType, layers: [] }, annotations);
  }

  open(name = ""): ReturnType<typeof openImageLayouts> {
    this.write();
    return openImageLayouts([name === "" ? this.path : `${name}=${this.path}`]);
  }

  write(index: object = { schemaVersion: 2, manifests: this.listed }): void {
    writeFileSync(join(this.path, "index.json"), JSON.stringify(index));
  }
}

type Layout = ReturnType<typeof openImageLayouts>;
const digestOf = async (layout: Layout, image: string) =>
  (await layout.manifest(parseImageReference(image), signal)).digest;
const failureOf = async (work: Promise<unknown>): Promise<FetchError> => {
  const error = await work.then(
    () => assert.fail("it did not fail"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FetchError, String(error));
  return error;
};
async function referrersOf(layout: Layout, digest: string, image = "ghcr.io/org/app"): Promise<readonly Descriptor[]> {
  const all: Descriptor[] = [];
  for await (const list of layout.referrers(parseImageReference(image), digest, signal)) all.push(...list);
  return all;
}

describe("images of a layout", () => {
  test("have the full names that crane, skopeo, BuildKit and Docker write, compared as Docker reads them", async (context) => {
    const made = new Made(context);
    const named: readonly (readonly [string, Record<string, string>, readonly string[]])[] = [
      ["a", { [NAME]: "ghcr.io/org/app:v1" }, ["ghcr.io/org/app:v1", "GHCR.IO/org/app:v1"]],
      ["b", { [NAME]: "index.docker.io/library/busybox:latest" }, ["busybox", "docker.io/library/busybox:latest"]],
      ["c", { [NAME]: "1.36", "io.containerd.image.name": "docker.io/library/busybox:1.36" }, ["busybox:1.36"]],
      ["d", { [NAME]: "localhost:5055/team/app" }, ["localhost:5055/team/app", "localhost:5055/team/app:latest"]],
      ["f", { [NAME]: `ghcr.io/org/app:v2@${sha256("another")}` }, []],
      ["e", { [NAME]: "acme/tool:2" }, ["docker.io/acme/tool:2", "registry-1.docker.io/acme/tool:2"]],
    ];
    const digests = named.map(([text, annotations]) => made.image(text, annotations));
    const layout = made.open();
    for (const [index, [, , images]] of named.entries())
      for (const image of images) assert.equal(await digestOf(layout, image), digests[index], image);
    assert.equal((await failureOf(digestOf(layout, "ghcr.io/org/app:v2"))).status, 404);
    // A digest wins over a tag, and belongs to any repository.
    assert.equal(await digestOf(layout, `other.example/x:v9@${digests[0]}`), digests[0]);
  });

  test("that have a tag alone are those of the repository that is named with the folder", async (context) => {
    const made = new Made(context);
    const digest = made.image("a", { [NAME]: "v1" });
    assert.equal(await digestOf(made.open("ghcr.io/org/app"), "ghcr.io/org/app:v1"), digest);
    const other = await failureOf(digestOf(made.open("ghcr.io/org/app"), "ghcr.io/other/app:v1"));
    assert.equal(other.status, 404);
    const { message, shown } = await failureOf(digestOf(made.open(), "ghcr.io/org/app:v1"));
    assert.equal(
      message,
      `ghcr.io/org/app:v1 is not in the image layout ${made.path}; it has the tag v1 without a repository: write --image-layout ghcr.io/org/app=${made.path} if it is that`,
    );
    assert.equal(shown, message);
  });

  test("that have no name get the one that is given with the folder, where there is one such image", async (context) => {
    const made = new Made(context);
    const digest = made.image("a");
    assert.equal(await digestOf(made.open("localhost:5055/app:v1"), "localhost:5055/app:v1"), digest);
    assert.equal((await failureOf(digestOf(made.open("localhost:5055/app"), "localhost:5055/app:v1"))).status, 404);
    const { message } = await failureOf(digestOf(made.open(), "localhost:5055/app:v1"));
    assert.match(
      message,
      /; it has an image without a name: write --image-layout localhost:5055\/app:v1=\S+ if it is that$/,
    );
    made.image("b");
    assert.equal((await failureOf(digestOf(made.open("localhost:5055/app:v1"), "localhost:5055/app:v1"))).status, 404);
  });

  test("with the same name twice are an error, unless they are the same", async (context) => {
    const made = new Made(context);
    const digest = made.image("a", { [NAME]: "ghcr.io/org/app:v1" });
    made.image("a", { [NAME]: "ghcr.io/org/app:v1" });
    assert.equal(await digestOf(made.open(), "ghcr.io/org/app:v1"), digest);
    made.image("b", { [NAME]: "ghcr.io/org/app:v1" });
    const { message, status } = await failureOf(digestOf(made.open(), "ghcr.io/org/app:v1"));
    assert.match(message, /is unusable: index.json has several images with the name ghcr.io\/org\/app:v1$/);
    assert.equal(status, undefined);
  });

  test("may be children of an index, and have blobs", async (context) => {
    const made = new Made(context);
    const config = made.blob('{"os":"linux"}');
    const child = made.add({ config: { mediaType: "c", ...config }, layers: [] }, undefined, false);
    made.add({ manifests: [{ mediaType: MANIFEST, digest: child, size: 1 }] }, { [NAME]: "ghcr.io/org/app:v1" });
    const layout = made.open();
    assert.equal(await digestOf(layout, `ghcr.io/org/app@${child}`), child);
    const image = parseImageReference("ghcr.io/org/app:v1");
    assert.equal((await layout.blob(image, { mediaType: "", ...config }, 100, signal)).toString(), '{"os":"linux"}');
    const pieces: Uint8Array[] = [];
    const empty = await layout.blob(image, { mediaType: "", ...config }, 100, signal, (one) => void pieces.push(one));
    assert.equal(Buffer.concat(pieces).toString(), '{"os":"linux"}');
    assert.equal(empty.length, 0);
  });

  test("are taken from the first layout that has them; what is in none is said to be so", async (context) => {
    const [one, two] = [new Made(context), new Made(context)];
    const first = one.image("a", { [NAME]: "ghcr.io/org/app:v1" });
    two.image("b", { [NAME]: "ghcr.io/org/app:v1" });
    const second = two.image("c", { [NAME]: "ghcr.io/org/app:v2" });
    one.write();
    two.write();
    const layouts = openImageLayouts([one.path, two.path]);
    assert.equal(await digestOf(layouts, "ghcr.io/org/app:v1"), first);
    assert.equal(await digestOf(layouts, "ghcr.io/org/app:v2"), second);
    for (const image of ["ghcr.io/org/app:v3", `ghcr.io/org/app@${sha256("x")}`]) {
      const { message, status } = await failureOf(digestOf(layouts, image));
      assert.equal(message, `${image} is not in the image layouts ${one.path}, ${two.path}`);
      assert.equal(status, 404);
    }
    const blob = { mediaType: "", digest: sha256("x"), size: 1 };
    const { message, status } = await failureOf(layouts.blob(parseImageReference("a/b"), blob, 1, signal));
    assert.match(message, /^sha256:\w+ of docker.io\/a\/b:latest is not in the image layouts /);
    assert.equal(status, 404);
  });
});

describe("what refers to an image of a layout", () => {
  test("is found by its subject, by the fallback tag, and once in all layouts", async (context) => {
    const [one, two] = [new Made(context), new Made(context)];
    const digest = one.image("a", { [NAME]: "ghcr.io/org/app:v1" });
    const bundle = { subject: { digest }, artifactType: "bundle", config: {}, annotations: { a: "b" } };
    const [first] = [one.add(bundle), two.add(bundle)];
    const second = two.add({ subject: { digest }, config: { mediaType: "signature" } });
    const listed = { mediaType: MANIFEST, digest: sha256("listed"), size: 6, artifactType: "sbom" };
    two.add({ manifests: [listed] }, { [NAME]: digest.replace(":", "-") });
    two.add({ subject: { digest: sha256("another") }, config: {} });
    one.write();
    two.write();
    const found = await referrersOf(openImageLayouts([one.path, two.path]), digest);
    assert.deepEqual(
      found.map((each) => [each.digest, each.artifactType, each.annotations]),
      [
        [first, "bundle", { a: "b" }],
        [second, "signature", undefined],
        [listed.digest, "sbom", undefined],
      ],
    );
    assert.deepEqual(await referrersOf(one.open(), sha256("nothing")), []);
  });

  test("may refer to each other in a circle", async (context) => {
    const made = new Made(context);
    const digest = made.image("a");
    const one = made.add({ subject: { digest }, config: {} });
    const two = made.add({ subject: { digest: one }, config: {} });
    made.add({ subject: { digest: two }, manifests: [made.listed[0]] });
    const layout = made.open();
    assert.deepEqual(
      (await referrersOf(layout, digest)).map((each) => each.digest),
      [one],
    );
    assert.deepEqual(
      (await referrersOf(layout, one)).map((each) => each.digest),
      [two],
    );
  });

  test("has cosign's tags, with a repository or alone", async (context) => {
    const made = new Made(context);
    const tag = sha256("image").replace(":", "-");
    const signatures = made.image("sig", { [NAME]: `ghcr.io/org/app:${tag}.sig` });
    const attestations = made.image("att", { [NAME]: `${tag}.att` });
    const layout = made.open();
    assert.equal(await digestOf(layout, `ghcr.io/org/app:${tag}.sig`), signatures);
    assert.equal(await digestOf(layout, `ghcr.io/org/app:${tag}.att`), attestations);
    assert.equal((await failureOf(digestOf(layout, `ghcr.io/other/app:${tag}.sig`))).status, 404);
  });

  test("is what cosign save marks by a kind, and its bundles, which it does not list", async (context) => {
    const made = new Made(context);
    const kind = (name: string) => ({ kind: `dev.cosignproject.cosign/${name}` });
    const image = made.image("a", kind("image"));
    const tag = image.replace(":", "-");
    const signatures = made.image("sig", kind("sigs"));
    const attestations = made.image("att", kind("atts"));
    const bundle = made.add({ subject: { digest: image }, artifactType: "bundle", config: {} }, undefined, false);
    made.blob("a layer");
    made.blob(`{"subject": {"digest": "${image}"}, "annotations": 1}`);
    made.blob(`{"subject": {"digest": "${image}"}, "large": [${"1,".repeat(20_000)}1]}`);
    made.blob(`{"subject": "${"x".repeat(MAX_ANSWER_BYTES)}"}`);
    const layout = made.open("ghcr.io/org/app:v1");
    assert.equal(await digestOf(layout, "ghcr.io/org/app:v1"), image);
    assert.equal(await digestOf(layout, `ghcr.io/org/app:${tag}.sig`), signatures);
    assert.equal(await digestOf(layout, `ghcr.io/org/app:${tag}.att`), attestations);
    assert.deepEqual(
      (await referrersOf(layout, image)).map((each) => each.digest),
      [bundle],
    );
  });
});

describe("a layout that can't be trusted", () => {
  /** The failure of an image of a layout that was changed. */
  async function failure(context: TestContext, change: (made: Made, digest: string) => void): Promise<FetchError> {
    const made = new Made(context);
    const digest = made.image("a", { [NAME]: "ghcr.io/org/app:v1" });
    made.write();
    change(made, digest);
    const layout = openImageLayouts([made.path]);
    const error = await failureOf(digestOf(layout, "ghcr.io/org/app:v1"));
    assert.notEqual(error.status, 404, "it would count as absent");
    assert.equal((await failureOf(referrersOf(layout, digest))).status, undefined, "it would count as unsigned");
    return error;
  }

  test("by its files: other bytes, another size, none, a pipe, a folder, links out of it and in a circle", async (context) => {
    const replaced = (by: (file: string) => void) =>
      failure(context, (made, digest) => {
        rmSync(made.fileOf(digest));
        by(made.fileOf(digest));
      });
    const other = await failure(context, (made, digest) =>
      writeFileSync(made.fileOf(digest), "x".repeat(statSync(made.fileOf(digest)).size)),
    );
    assert.match(
      other.message,
      /^the manifest of ghcr.io\/org\/app:v1 in \S+ has the digest sha256:\w+ instead of sha256:\w+$/,
    );
    const cut = await failure(context, (made, digest) => truncateSync(made.fileOf(digest), 3));
    assert.match(cut.message, /has 3 bytes instead of \d+$/);
    assert.match((await replaced(() => {})).message, /index.json lists sha256:\w+, and blobs\/sha256\/\w+ is missing$/);
    const pipe = await replaced((file) => execFileSync("mkfifo", [file]));
    assert.match(pipe.message, /blobs\/sha256\/\w+ is not a file$/);
    assert.match((await replaced((file) => mkdirSync(file))).message, /is not a file$/);
    assert.match((await replaced((file) => symlinkSync("/etc/passwd", file))).message, /leads out of the folder$/);
    assert.match((await replaced((file) => symlinkSync(file, file))).message, /can't be read: /);
    const moved = await failure(context, (made) => {
      const outside = join(folder(context), "blobs");
      renameSync(join(made.path, "blobs"), outside);
      symlinkSync(outside, join(made.path, "blobs"));
    });
    assert.match(moved.message, /leads out of the folder$/);
  });

  test("by a folder of blobs that can't be listed: what refers to an image may stand there", async (context) => {
    const made = new Made(context);
    made.write();
    rmSync(join(made.path, "blobs", "sha256"), { recursive: true, force: true });
    const digest = `sha256:${"0".repeat(64)}`;
    assert.deepEqual(await referrersOf(openImageLayouts([made.path]), digest), []);
    writeFileSync(join(made.path, "blobs", "sha256"), "");
    assert.match((await failureOf(referrersOf(openImageLayouts([made.path]), digest))).message, /can't be read: /);
  });

  test("by its index: too large, with too many values, not one, with wrong entries", async (context) => {
    const index = (content: object) => failure(context, (made) => made.write(content));
    const manifests: unknown[] = [];
    assert.match(
      (await index({ schemaVersion: 2, manifests, text: "x".repeat(MAX_LAYOUT_INDEX_BYTES) })).message,
      /^index.json in \S+ has \d+ bytes, more than 1048576$/,
    );
    const values = Array.from({ length: MAX_LAYOUT_INDEX_VALUES }, () => 1);
    assert.match((await index({ schemaVersion: 2, manifests: values })).message, /has more than 30000 values$/);
    const wrong = [
      { manifests: "x" },
      { schemaVersion: 1, manifests },
      { schemaVersion: 2, manifests: [{ digest: "../../etc" }] },
    ];
    for (const each of wrong) assert.match((await index(each)).message, /is not an image index$/);
    assert.match((await index([])).message, /is not a JSON object$/);
  });

  test("by a manifest that refers to an image and can't be read", async (context) => {
    const made = new Made(context);
    const digest = made.image("a");
    made.add({ subject: { digest }, annotations: { a: 1 } });
    assert.match((await failureOf(referrersOf(made.open(), digest))).message, /has unusable annotations, or types$/);
  });

  test("by a size: it is not read further than asked for", async (context) => {
    const made = new Made(context);
    const digest = made.image("a".repeat(1000), { [NAME]: "ghcr.io/org/app:v1" });
    const layout = made.open();
    const image = parseImageReference("ghcr.io/org/app:v1");
    const { message, shown } = await failureOf(layout.manifest(image, signal, 20));
    assert.match(message, /has \d+ bytes, more than 20$/);
    assert.equal(shown, "it is too large");
    const unusable = { mediaType: "", digest: "sha256:../../index.json", size: 5 };
    assert.match((await failureOf(layout.blob(image, unusable, 100, signal))).message, /unusable digest/);
    const wrong = { mediaType: "", digest, size: 5 };
    assert.match((await failureOf(layout.blob(image, wrong, 10_000, signal))).message, /bytes instead of 5$/);
  });
});

test("a folder that is not a layout is refused at once, with what to do", (context) => {
  const root = folder(context, {
    "image.tar": "",
    "empty/x": "",
    "layout/oci-layout": "{}",
    "layout/index.json": "",
    "layout/blobs/x": "",
  });
  const refusal = (text: string): string => {
    try {
      openImageLayouts([text]);
      return "";
    } catch (error) {
      return String(error).replaceAll(root, "");
    }
  };
  assert.match(refusal(`${root}/none`), /--image-layout \/none: it is not a folder with an image layout/);
  assert.match(refusal(`${root}/image.tar`), /where oci-layout would be: unpack a tar file/);
  assert.match(refusal(`${root}/empty`), /make one by policy-server pull --with-signatures/);
  assert.match(refusal(`UPPER/x y=${root}/layout`), /expected FOLDER, or NAME=FOLDER with the name of an image: /);
});
