/** Images within one request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Waiting } from "../../../src/cel/index.js";
import { NO_TRUST } from "../../../src/world/external.js";
import type { Attestor, AttestorVerdict, DigestQuestion, ImageTrust } from "../../../src/world/images/image-trust.js";
import { MAX_ANSWERS_BYTES } from "../../../src/world/request-external.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { requestWorld } from "../../kinds/kyverno/external/support.js";

const attestor: Attestor = { name: "release", cosign: { key: { data: "k" } } };
const sought = { kind: "signature" } as const;
const access = {};
const question = { image: "app:v1", attestor, sought, access };

/** A registry whose tag moves with every look at it. */
function moving(verdict: AttestorVerdict = { verified: true, reasons: [] }) {
  const asked: string[] = [];
  let digests = 0;
  const trust: ImageTrust = {
    digest: (image) => {
      asked.push(`digest ${image}`);
      return Promise.resolve(`sha256:${++digests}`);
    },
    verdict: ({ digest }: DigestQuestion) => {
      asked.push(`verdict ${digest}`);
      return Promise.resolve(verdict);
    },
    artifact: (_, digest) => {
      asked.push(`artifact ${digest}`);
      return {};
    },
  };
  return { trust, asked, world: requestWorld({ trust }) };
}

test("all questions of a request are about the digest that its first one has seen", async () => {
  const { world, asked } = moving();
  const settle = <T>(ask: () => T) => world.questions.settle(ask, { signal: new AbortController().signal }, ask);
  const verdict = () => world.external.imageVerdict(question);
  assert.equal(verdict(), Waiting.INSTANCE);
  await settle(verdict);
  await settle(() => world.external.imageVerdict({ ...question, attestor: { name: "other" } }));
  assert.equal(world.external.imageDigest("app:v1", {}), "sha256:1");
  world.external.artifact("app:v1", "type", {});
  assert.deepEqual(asked, ["digest app:v1", "verdict sha256:1", "verdict sha256:1", "artifact sha256:1"]);
});

test("so are those whose answers are known at once", () => {
  let digests = 0;
  const verdict = ({ digest }: DigestQuestion) => ({ verified: true, reasons: [digest] });
  const world = requestWorld({ trust: { ...NO_TRUST, digest: () => `sha256:${++digests}`, verdict } });
  for (const name of ["a", "b"])
    assert.deepEqual(world.external.imageVerdict({ ...question, attestor: { name } }), {
      verified: true,
      reasons: ["sha256:1"],
    });
  assert.equal(world.external.imageDigest("app:v1", {}), "sha256:1");
  assert.ok(world.external.imageDigest("app:v1", { insecure: true }) instanceof LookupFailure);
});

test("a tag that moves between two policies with different access is a failure", async () => {
  const { world } = moving();
  const both = () => [
    world.external.imageDigest("app:v1", {}),
    world.external.imageDigest("app:v1", { insecure: true }),
  ];
  const [first, second] = await world.questions.settle(both, { signal: new AbortController().signal }, both);
  assert.equal(first, "sha256:1");
  assert.deepEqual(second, new LookupFailure("the tag of the image has moved to another digest meanwhile"));
});

test("the content of another digest is a failure where a policy asks, and not where no signatures are looked for", () => {
  const verdict = ({ digest }: DigestQuestion) => ({ verified: true, reasons: [digest] });
  const metadata = () => ({ digest: "sha256:2", config: {} });
  const sources = { images: { metadata }, trust: { ...NO_TRUST, digest: () => "sha256:1", verdict } };
  const moved = new LookupFailure("the tag of the image has moved to another digest meanwhile");
  const { external } = requestWorld(sources);
  assert.deepEqual(external.imageVerdict(question), { verified: true, reasons: ["sha256:1"] });
  assert.deepEqual(external.image("app:v1"), metadata());
  assert.deepEqual(external.image("app:v1", access), moved);
  const other = requestWorld(sources).external;
  assert.deepEqual(other.image("app:v1", access), metadata());
  assert.deepEqual(other.imageVerdict(question), { verified: true, reasons: ["sha256:2"] });
});

test("the log has the reasons of a verdict that is not verified, once", async () => {
  const { world } = moving({ verified: false, reasons: ["a signature by another key", "an expired certificate"] });
  const ask = () => world.external.imageVerdict(question);
  await world.questions.settle(ask, { signal: new AbortController().signal }, ask);
  ask();
  const reasons = "a signature by another key, an expired certificate";
  assert.equal(world.detail, `app:v1 is not verified by release: ${reasons}`);
  const { world: other } = moving();
  const askOther = () => other.external.imageVerdict(question);
  await other.questions.settle(askOther, { signal: new AbortController().signal }, askOther);
  assert.equal(other.detail, undefined);
});

test("without a digest there is no verdict", () => {
  const world = requestWorld({ trust: { ...NO_TRUST, verdict: () => assert.fail(), artifact: () => assert.fail() } });
  assert.ok(world.external.imageVerdict(question) instanceof LookupFailure);
  assert.ok(world.external.artifact("app:v1", "type", access) instanceof LookupFailure);
});

test("what is known is no question, and counts for no request, until one had to be put", () => {
  const large = { verified: true, reasons: [], payload: "x".repeat(MAX_ANSWERS_BYTES / 2) };
  const trust: ImageTrust = { digest: () => "sha256:1", verdict: () => large, artifact: () => ({}) };
  const world = requestWorld({ trust });
  const ask = (name: string) =>
    world.external.imageVerdict({ ...question, attestor: { name, cosign: { key: { data: name } } } });
  for (const name of ["a", "b", "c"]) assert.equal(ask(name), large);
  assert.ok(world.questions.empty);
  world.external.artifact("app:v1", "type", access);
  for (const name of ["a", "a", "a"]) assert.equal(ask(name), large);
  assert.ok(ask("b") instanceof LookupFailure);
  assert.match(world.failure ?? "", /all answers take more than/);
});
