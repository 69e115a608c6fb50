/** Lists for guests, printed once for each object (spec kubewarden.md 7.6). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseJson } from "../../src/data/json.js";
import { ListTexts } from "../../src/host-capabilities/kubernetes/list-texts.js";

const KIND = { apiVersion: "apps/v1", kind: "Deployment" };

/** An object that counts how often it is read. */
function counted(name: string): { item: object; reads: () => number } {
  let reads = 0;
  const item = {
    metadata: { name },
    get spec() {
      reads++;
      return { replicas: 9007199254740993n, template: { a: 1, b: 2 } };
    },
  };
  return { item, reads: () => reads };
}

describe("lists for guests", () => {
  test("have the form of a list, with numbers as they are", () => {
    const { item } = counted("a");
    assert.equal(
      new ListTexts().answer(KIND, [item]).text,
      '{"apiVersion":"apps/v1","kind":"DeploymentList","metadata":{},"items":[{"metadata":{"name":"a"},"spec":{"replicas":9007199254740993,"template":{"a":1,"b":2}}}]}',
    );
    assert.deepEqual(parseJson(new ListTexts().answer(KIND, []).text), {
      ...KIND,
      kind: "DeploymentList",
      metadata: {},
      items: [],
    });
  });

  test("print an object once for each set of masks, in whatever order they are named", () => {
    const lists = new ListTexts();
    const [a, b] = [counted("a"), counted("b")];
    const whole = lists.answer(KIND, [a.item, b.item]).text;
    const read = a.reads();
    assert.equal(lists.answer(KIND, [a.item, b.item]).text, whole);
    assert.equal(lists.answer(KIND, [b.item]).text.includes('"name":"a"'), false);
    assert.equal(a.reads(), read);
    const some = lists.answer(KIND, [a.item], ["spec.template.a", "status"]).text;
    assert.ok(some.endsWith('"items":[{"metadata":{"name":"a"},"spec":{"template":{"a":1}}}]}'), some);
    const masked = a.reads();
    assert.equal(lists.answer(KIND, [a.item], ["status", "spec.template.a", "status"]).text, some);
    assert.equal(a.reads(), masked);
    assert.ok(masked > read);
  });

  test("take an object that has changed, which is another one", () => {
    const lists = new ListTexts();
    const before = { metadata: { name: "a" }, spec: 1 };
    lists.answer(KIND, [before]);
    assert.match(lists.answer(KIND, [{ ...before, spec: 2 }]).text, /"spec":2/);
  });
});
