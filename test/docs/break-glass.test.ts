/** The recipe for break-glass in docs/groups.md, from the page's text. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { buildRequest } from "../../src/admission/build-request.js";
import { admissionQuestion } from "../../src/admission/decode.js";
import { parseConfig } from "../../src/config/load-config.js";
import { createLoader } from "../../src/loader/index.js";
import { createEvaluator } from "../../src/policy/served/evaluator.js";

const page = readFileSync(new URL("../../../docs/groups.md", import.meta.url), "utf8");
const [, recipe = ""] = /<!-- break-glass -->\n```yaml\n([\s\S]*?)```/.exec(page) ?? [];

const pod = (annotations?: object, hostNetwork = true): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "shop", ...(annotations && { annotations }) },
  spec: { hostNetwork, containers: [{ name: "c", image: "i" }] },
});

test("break-glass lets the group on call pass, refuses everyone else, and leaves a trace of each use", async () => {
  const read = parseConfig(recipe, "policies.yaml");
  assert.ok(read.ok);
  const loader = createLoader({ downloadDirectory: "/nonexistent" });
  try {
    const loaded = await loader.load(read.config);
    assert.deepEqual([...read.problems, ...loaded.problems, ...loaded.neverDenying], []);
    const evaluator = createEvaluator(loaded.policies, { policyTimeout: Number.POSITIVE_INFINITY });
    const entry = loaded.policies.entries.get("guarded");
    assert.ok(entry !== undefined);
    const ask = async (groups: readonly string[], object: object, oldObject?: object) => {
      const built = buildRequest({ object, ...(oldObject && { oldObject, operation: "UPDATE" }) });
      const review = admissionQuestion({ ...built, userInfo: { username: "ann", groups: [...groups] } });
      const { response } = await evaluator.evaluate(entry, { review, origin: "validate" });
      return [response.allowed, response.status?.message, response.auditAnnotations];
    };
    const claim = { "break-glass": "incident 42" };
    const trace = { "break-glass": "ann: incident 42" };
    const refused = "only the group sre may set the annotation break-glass";

    assert.deepEqual(await ask([], pod(undefined, false)), [true, undefined, undefined]);
    const deployment = { ...pod(), apiVersion: "apps/v1", kind: "Deployment", spec: { template: pod() } };
    assert.deepEqual(await ask([], deployment), [false, "the workload is not allowed", undefined]);
    assert.deepEqual(await ask(["sre"], pod()), [false, "the workload is not allowed", undefined]);
    assert.deepEqual(await ask(["sre"], pod(claim)), [true, undefined, trace]);
    assert.deepEqual(await ask(["sre"], pod(claim, false)), [true, undefined, undefined], "the glass is whole");
    assert.deepEqual(await ask(["dev"], pod(claim)), [false, refused, trace]);
    assert.deepEqual(await ask(["dev"], pod(claim, false)), [false, refused, undefined]);
    assert.deepEqual(await ask(["dev"], pod(claim), pod(claim)), [true, undefined, trace], "it was set before");
    assert.deepEqual(await ask(["dev"], pod({ "break-glass": "other" }), pod(claim)), [
      false,
      refused,
      { "break-glass": "ann: other" },
    ]);
    assert.deepEqual(await ask(["dev"], pod({}), pod(claim)), [false, refused, undefined]);
  } finally {
    loader.close();
  }
});
