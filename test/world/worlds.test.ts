import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NO_CLIENT } from "../../src/kubernetes/reader.js";
import type { AdmissionQuestion } from "../../src/policy/review.js";
import { type AuthorizerAttributes, NO_OPINION } from "../../src/world/authorizer/authorizer.js";
import { outerWorldFor, warmUp } from "../../src/world/cluster.js";
import { NO_NEEDS } from "../../src/world/needs.js";
import { FileResources } from "../../src/world/resources/file-resources.js";
import { LookupFailure, type ResourceSource } from "../../src/world/resources/resource-source.js";
import { worldOf } from "../../src/world/world.js";
import { inline } from "../kinds/validating-admission-policy/prepared.js";
import { deployment, validations } from "../kinds/validating-admission-policy/tricky.js";

const now = () => 0;
const KIND = { group: "", version: "v1", kind: "ConfigMap" };
const namespace = (name: string, labels: object) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});
const labelsOf = (found: unknown) => (found as { metadata: { labels: unknown } }).metadata.labels;
const REQUIRING = { ...NO_NEEDS, asks: true, requires: [{ what: "something" }] };
const QUESTION = {} as AuthorizerAttributes;

describe("the world of documents", () => {
  const objects = [namespace("a", { from: "document" })];

  test("makes up what it does not bring when there is nobody to ask", () => {
    const { resources, authorizer } = worldOf(objects, { authorizer: NO_OPINION, now });
    assert.deepEqual(labelsOf(resources.namespace("a")), { from: "document" });
    assert.deepEqual(labelsOf(resources.namespace("b")), { "kubernetes.io/metadata.name": "b" });
    assert.deepEqual(authorizer.authorize(QUESTION), { decision: "noOpinion", reason: "" });
  });

  test("asks who stands behind it, and makes up nothing", () => {
    const behind = {
      resources: new FileResources([namespace("a", { from: "behind" }), namespace("b", { from: "behind" })]),
      authorizer: { authorize: () => ({ decision: "allow", reason: "" }) as const },
      now,
    };
    const { resources, authorizer } = worldOf(objects, behind);
    assert.deepEqual(labelsOf(resources.namespace("a")), { from: "document" });
    assert.deepEqual(labelsOf(resources.namespace("b")), { from: "behind" });
    assert.equal(resources.namespace("c"), undefined);
    assert.equal(authorizer, behind.authorizer);
  });

  test("a cluster that is wanted and not there fails every question", async () => {
    const world = outerWorldFor(REQUIRING, undefined, true, now);
    assert.ok((await world.resources?.namespace("a")) instanceof LookupFailure);
    assert.ok((await world.authorizer.authorize(QUESTION)) instanceof LookupFailure);
  });

  test("a policy that asks its authorizer fails, whatever it makes of a no, and one that need not ask does not", async () => {
    const { authorizer } = outerWorldFor(REQUIRING, undefined, true, now);
    const check = "authorizer.group('').resource('secrets').check('get')";
    const question = {
      kind: "admission",
      request: deployment(),
      requestBytes: () => new Uint8Array(),
    } as unknown as AdmissionQuestion;
    const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
    const failurePolicy = "Ignore";
    for (const spec of [
      validations(`!${check}.allowed()`),
      validations(`${check}.errored()`),
      { ...validations(`${check}.allowed()`), failurePolicy },
      { ...validations("false"), matchConditions: [{ name: "asks", expression: `${check}.allowed()` }] },
    ]) {
      const outcome = await inline(spec, { authorizer }).evaluate(question, context);
      assert.deepEqual(outcome, { verdict: "error", message: NO_CLIENT, cause: "unavailable" });
    }
    const allowed = await inline(validations(`true || ${check}.allowed()`), { authorizer }).evaluate(question, context);
    assert.equal(allowed.verdict, "allow");
  });

  test("a cluster that is not there is none of those who can do without one", () => {
    const nobody = outerWorldFor({ ...REQUIRING, requires: [] }, undefined, true, now);
    assert.deepEqual([nobody.resources, nobody.authorizer], [undefined, NO_OPINION]);
    assert.equal(outerWorldFor(REQUIRING, undefined, false, now).resources, undefined, "none was wanted");
  });

  test("a cluster that is there is asked by those who ask one, and by all for the versions of resources", () => {
    const authorizer = { authorize: () => ({ decision: "allow", reason: "" }) as const };
    const cluster = { resources: new FileResources([]), authorizer, now };
    const asking = outerWorldFor({ ...NO_NEEDS, asks: true }, cluster, false, now);
    assert.deepEqual([asking.resources, asking.authorizer], [cluster.resources, authorizer]);
    const other = outerWorldFor(NO_NEEDS, cluster, false, now);
    assert.deepEqual([other.resources, other.versions, other.authorizer], [undefined, cluster.resources, NO_OPINION]);
  });
});

describe("warming up", () => {
  test("asks for a Namespace and the parameters, and ends when they are there", async (t) => {
    // No time passes.
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const asked: string[] = [];
    const resources = {
      namespace: (name: string) => {
        asked.push(name);
        return Promise.resolve(undefined);
      },
      list: ({ kind }: typeof KIND) => {
        asked.push(kind);
        return Promise.resolve([]);
      },
    } as unknown as ResourceSource;
    await warmUp({ resources }, { parameters: [KIND] });
    assert.deepEqual(asked, ["default", "ConfigMap"]);
  });

  test("does not wait for a cluster that does not answer", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const resources = { namespace: () => new Promise(() => {}) } as unknown as ResourceSource;
    let isOver = false;
    const warm = warmUp({ resources }, { parameters: [] }).then(() => {
      isOver = true;
    });
    t.mock.timers.tick(1_999);
    await new Promise(setImmediate);
    assert.equal(isOver, false);
    t.mock.timers.tick(1);
    await warm;
  });
});
