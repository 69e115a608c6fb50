import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FetchError } from "../../../src/fetch/fetch-error.js";
import type { Attestor, AttestorVerdict, DigestQuestion, ImageAccess } from "../../../src/world/images/image-trust.js";
import { IMAGE_MS } from "../../../src/world/images/registry-images.js";
import {
  type AskRegistries,
  MAX_KEPT_VERDICT_BYTES,
  MAX_VERDICTS,
  RegistryTrust,
  UNVERIFIED_KEPT_MS,
  VERIFIED_KEPT_MS,
} from "../../../src/world/images/registry-trust.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";

const DIGEST = `sha256:${"a".repeat(64)}`;
const GOOD: AttestorVerdict = { verified: true, reasons: [] };
const BAD: AttestorVerdict = { verified: false, reasons: ["another key"] };
const attestor: Attestor = { name: "a", cosign: { key: { data: "-----BEGIN PUBLIC KEY-----" } } };
const access: ImageAccess = {};
const question: DigestQuestion = {
  image: "registry.example/app:v1",
  digest: DIGEST,
  attestor,
  sought: { kind: "signature" },
  access,
};

function setUp(answers: Partial<AskRegistries> = {}) {
  const asked: string[] = [];
  let clock = 1_000;
  const answering: AskRegistries = {
    digest: async () => DIGEST,
    verdict: async () => GOOD,
    artifact: async () => ({ count: 1 }),
    ...answers,
  };
  const accesses: ImageAccess[] = [];
  const ask = (by: ImageAccess): AskRegistries => {
    accesses.push(by);
    return {
      digest: (image, signal) => {
        asked.push(`digest ${image}`);
        return answering.digest(image, signal);
      },
      verdict: (image, ...rest) => {
        asked.push(`verdict ${image}`);
        return answering.verdict(image, ...rest);
      },
      artifact: (image, ...rest) => {
        asked.push(`artifact ${image}`);
        return answering.artifact(image, ...rest);
      },
    };
  };
  const ended = new AbortController();
  const trust = new RegistryTrust(ask, () => clock, ended.signal);
  return { trust, asked, accesses, ended, skip: (ms: number) => (clock += ms) };
}

describe("the digest of an image", () => {
  test("is known at once while it is kept: of a tag for seconds, of a digest as long as its verdicts", async () => {
    const { trust, asked, skip } = setUp();
    for (const image of ["app:v1", `app@${DIGEST}`]) assert.equal(await trust.digest(image, access), DIGEST);
    skip(4_900);
    assert.equal(trust.digest("app:v1", access), DIGEST);
    assert.equal(trust.digest(`app@${DIGEST}`, access), DIGEST);
    skip(200);
    assert.ok(trust.digest("app:v1", access) instanceof Promise);
    assert.equal(trust.digest(`app@${DIGEST}`, access), DIGEST);
    skip(VERIFIED_KEPT_MS);
    assert.ok(trust.digest(`app@${DIGEST}`, access) instanceof Promise);
    assert.equal(asked.length, 4);
  });

  test("is each access' own", async () => {
    const { trust, asked, accesses } = setUp();
    await trust.digest("app:v1", {});
    await trust.digest("app:v1", { insecure: true });
    await trust.digest("app:v1", { secrets: ["a"] });
    await trust.digest("app:v1", { secrets: ["b"] });
    // Equal ones are one, whoever made them.
    await trust.digest("app:v1", { secrets: ["b"] });
    await trust.digest("app:v2", { secrets: ["b"] });
    assert.equal(asked.length, 5);
    assert.equal(accesses.length, 4);
  });
});

describe("a verdict", () => {
  test("is known at once while it is kept, a positive one for minutes, another for seconds", async () => {
    for (const [verdict, kept] of [
      [GOOD, VERIFIED_KEPT_MS],
      [BAD, UNVERIFIED_KEPT_MS],
    ] as const) {
      const { trust, asked, skip } = setUp({ verdict: async () => verdict });
      assert.equal(await trust.verdict(question), verdict);
      skip(kept - 10);
      assert.equal(trust.verdict(question), verdict);
      skip(20);
      assert.ok(trust.verdict(question) instanceof Promise);
      assert.equal(asked.length, 2);
    }
  });

  test("is one for equal questions at the same time, whatever the attestor's name and the image's tag", async () => {
    const { trust, asked } = setUp();
    const renamed = { ...attestor, name: "b" };
    const all = await Promise.all([
      trust.verdict(question),
      trust.verdict({ ...question, attestor: structuredClone(attestor) }),
      trust.verdict({ ...question, attestor: renamed }),
      trust.verdict({ ...question, image: "registry.example/app:v2" }),
      trust.verdict({ ...question, image: `registry.example/app@${DIGEST}` }),
      trust.verdict({ ...question, image: `registry.example/app:v1@${DIGEST}` }),
      trust.verdict({ ...question, image: "registry.example/app" }),
    ]);
    assert.deepEqual(new Set(all), new Set([GOOD]));
    assert.equal(asked.length, 1);
  });

  test("is another one for any other part of the question", async () => {
    const { trust, asked } = setUp();
    const key = { data: "-----BEGIN PUBLIC KEY-----" };
    const others: Partial<DigestQuestion>[] = [
      {},
      { image: "registry.example/other:v1" },
      { image: "registry.example:5000/app:v1" },
      { digest: `sha256:${"b".repeat(64)}` },
      { access: { insecure: true } },
      { access: { secrets: ["a"] } },
      { sought: { kind: "intoto", predicateType: "x" } },
      { sought: { kind: "intoto", predicateType: "y" } },
      { sought: { kind: "referrer", artifactType: "x" } },
      { attestor: { name: "a", cosign: { key: { data: "other" } } } },
      { attestor: { name: "a", cosign: { key, annotations: { a: "1" } } } },
      { attestor: { name: "a", cosign: { key, source: { repository: "registry.example/signatures" } } } },
      { attestor: { name: "a", cosign: { key, ctlog: { insecureIgnoreTlog: true } } } },
      { attestor: { name: "a", notary: { certs: "x" } } },
    ];
    for (const other of others) await trust.verdict({ ...question, ...other });
    assert.equal(asked.length, others.length);
    for (const other of others) assert.equal(trust.verdict({ ...question, ...other }), GOOD);
    assert.equal(asked.length, others.length);
  });

  test("is a failure while a registry cannot be asked, and soon asked again", async () => {
    let isAway = true;
    const verdict = async () => {
      if (isAway) throw new FetchError("registry.example answers 503", { status: 503 });
      return GOOD;
    };
    const { trust, skip } = setUp({ verdict });
    const failure = new LookupFailure("the registry answers 503", "registry.example answers 503");
    assert.deepEqual(await trust.verdict(question), failure);
    isAway = false;
    skip(900);
    assert.deepEqual(trust.verdict(question), failure);
    skip(200);
    assert.equal(await trust.verdict(question), GOOD);
  });

  test("has doubles for the numbers of its statement, as a policy reads them", async () => {
    const { trust } = setUp({ verdict: async () => ({ ...GOOD, payload: { count: 1, ratio: 0.5 } }) });
    const { payload } = (await trust.verdict(question)) as AttestorVerdict;
    assert.deepEqual(payload, { count: Object(1), ratio: 0.5 });
    const artifact = await trust.artifact("app:v1", DIGEST, "t", access);
    assert.deepEqual(artifact, { count: Object(1) });
    assert.equal(trust.artifact("app:v1", DIGEST, "t", access), artifact);
  });

  test("is not kept when its statement is large, nor are more than a limit", async () => {
    const large = { ...GOOD, payload: "x".repeat(MAX_KEPT_VERDICT_BYTES) };
    const { trust, asked } = setUp({ verdict: async (image) => (image === "large" ? large : GOOD) });
    await trust.verdict({ ...question, image: "large" });
    assert.ok(trust.verdict({ ...question, image: "large" }) instanceof Promise);
    assert.equal(asked.length, 2);
    for (let index = 0; index <= MAX_VERDICTS; index++) await trust.verdict({ ...question, image: `app${index}` });
    assert.ok(trust.verdict({ ...question, image: "app0" }) instanceof Promise);
    assert.equal(trust.verdict({ ...question, image: `app${MAX_VERDICTS}` }), GOOD);
  });
});

test("a question ends in time, and with the process", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const never = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(new FetchError("no answer in time", { unanswered: true })));
    });
  const { trust, ended } = setUp({ digest: (_, signal) => never(signal), artifact: (...all) => never(all[3]) });
  const digest = trust.digest("app:v1", access);
  context.mock.timers.tick(IMAGE_MS);
  assert.ok((await digest) instanceof LookupFailure);
  const artifact = trust.artifact("app:v1", DIGEST, "t", access);
  ended.abort();
  assert.ok((await artifact) instanceof LookupFailure);
});
