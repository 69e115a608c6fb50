/** Lists for guests, printed once for each object (spec kubewarden.md 7.6). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { type ObjectTexts, textsOf } from "../../../src/kubernetes/reader.js";
import { JsonBytes, jsonOf } from "../../../src/wasm/host/host.js";
import { ListTexts } from "../../../src/wasm/host/kubernetes/list-texts.js";

const KIND = { apiVersion: "apps/v1", kind: "Deployment" };

/** Objects that count how often one of their texts is read. */
function counted(...objects: object[]): { texts: ObjectTexts; reads: () => number } {
  let reads = 0;
  const texts = textsOf(objects);
  const text = (index: number): Uint8Array => {
    reads++;
    return texts.text(index);
  };
  return { texts: { ...texts, text }, reads: () => reads };
}

const deployment = (name: string) => ({
  metadata: { name },
  spec: { replicas: 9007199254740993n, template: { a: 1, b: 2 } },
});
const ask = async (lists: ListTexts, texts: ObjectTexts, masks: string[] = [], room?: number) =>
  jsonOf(await lists.answer(KIND, texts, masks, room));

describe("lists for guests", () => {
  test("have the form of a list, with numbers as they are", async () => {
    assert.equal(
      await ask(new ListTexts(), textsOf([deployment("a")])),
      '{"apiVersion":"apps/v1","kind":"DeploymentList","metadata":{},"items":[{"metadata":{"name":"a"},"spec":{"replicas":9007199254740993,"template":{"a":1,"b":2}}}]}',
    );
    const none = parseJson(await ask(new ListTexts(), textsOf([])));
    assert.deepEqual(none, { ...KIND, kind: "DeploymentList", metadata: {}, items: [] });
    const two = parseJson(await ask(new ListTexts(), textsOf([{ name: "ü" }, { name: "b" }]))) as { items: unknown };
    assert.deepEqual(two.items, [{ name: "ü" }, { name: "b" }]);
  });

  test("read an object once for each set of masks, in whatever order they are named", async () => {
    const lists = new ListTexts();
    const a = deployment("a");
    const first = counted(a, deployment("b"));
    const some = await ask(lists, first.texts, ["spec.template.a", "status"]);
    assert.ok(some.endsWith(',{"metadata":{"name":"b"},"spec":{"template":{"a":1}}}]}'), some);
    assert.equal(first.reads(), 2);
    const second = counted(a, deployment("c"));
    const others = await ask(lists, second.texts, ["status", "spec.template.a", "status"]);
    assert.ok(others.includes('"name":"a"') && !others.includes('"name":"b"'), others);
    assert.equal(second.reads(), 1, "only what is new");
  });

  test("are made once for all who ask at the same time", async () => {
    const lists = new ListTexts();
    const { texts, reads } = counted(deployment("a"), deployment("b"));
    const answers = await Promise.all([1, 2, 3, 4].map(() => lists.answer(KIND, texts)));
    assert.equal(new Set(answers).size, 1);
    assert.equal(reads(), 2);
    const [answer] = answers;
    assert.ok(
      answer instanceof JsonBytes && answer.bytes.buffer instanceof SharedArrayBuffer,
      "no copy for each thread",
    );
  });

  test("that do not fit into the guest's memory are refused before they are made, with both sizes", async () => {
    const lists = new ListTexts();
    const { texts, reads } = counted(deployment("a"), deployment("b"));
    const { length } = await ask(lists, texts);
    const before = reads();
    assert.equal((await ask(lists, texts, [], length)).length, length);
    const message = `the list of apps/v1/Deployment has ${length} bytes or more, and the policy's memory may have ${length - 1} in all: narrow it by a namespace, selectors or field masks, or raise the policy's memory limit`;
    await assert.rejects(ask(lists, texts, [], length - 1), { message });
    await assert.rejects(ask(new ListTexts(), texts, [], length - 1), { message });
    assert.equal(reads(), before);
    const masked = await ask(lists, texts, ["spec.replicas"]);
    await assert.rejects(ask(new ListTexts(), texts, ["spec.replicas"], masked.length - 1), /narrow it/);
    await assert.rejects(ask(lists, texts, ["spec.replicas"], masked.length - 1), /narrow it/);
    assert.equal(await ask(lists, texts, ["spec.replicas"], masked.length), masked);
  });

  test("let others have their turn while a long one is made", async () => {
    const texts = textsOf(Array.from({ length: 40 }, (_, i) => ({ name: `${i}`, text: "x".repeat(1024 * 1024) })));
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await new ListTexts().answer(KIND, texts);
    clearImmediate(timer);
    assert.ok(turns >= 5, `${turns} turns for 40 MiB`);
  });
});
