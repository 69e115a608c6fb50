/** A large review is asked about by many policies: of its values only those are copied that hold an integer, and once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { compileCelModule } from "../../../src/kinds/cel-module/policy.js";
import { Doubles } from "../../../src/kinds/shared/doubles.js";
import type { Review } from "../../../src/policy/index.js";
import { answerOf } from "../../support/asking.js";

describe("doubles in place of integers", () => {
  test("what holds no integer is the original, what does is a copy that leaves it as it was", () => {
    const text = '{"a":{"b":["c",true,null,1.5]},"n":{"list":["x",1],"large":9007199254740993},"__proto__":{"one":1}}';
    const value = parseJson(text) as Record<string, unknown>;
    const made = new Doubles().of(value) as Record<string, unknown>;
    assert.equal(made.a, value.a);
    assert.deepEqual(made.n, { list: ["x", Object(1)], large: 9007199254740992 });
    assert.deepEqual(Object.getOwnPropertyDescriptor(made, "__proto__")?.value, { one: Object(1) });
    assert.deepEqual(value, parseJson(text));
  });

  test("are made once of a value, a request's members too", () => {
    const doubles = new Doubles();
    const object = { replicas: 3 };
    assert.equal(doubles.of(object), doubles.of(object));
    assert.equal((doubles.ofMembers({ object }) as { readonly object: unknown }).object, doubles.of(object));
  });

  describe("made ahead, in turns", () => {
    const object = { list: Array.from({ length: 1_000 }, (_, index) => index) };
    const staying = (): boolean => false;

    /** Doubles for which a step takes so many milliseconds, and turns that tell how many were taken. */
    function slow(step: number) {
      let time = 0;
      let taken = 0;
      const doubles = new Doubles(() => {
        time += step;
        return time;
      });
      const turns = {
        next: async () => {
          taken += 1;
        },
      };
      return { doubles, turns, taken: () => taken };
    }

    test("what takes little is there at once", () => {
      const { doubles, turns, taken } = slow(0.1);
      assert.equal(doubles.prepare(object, turns, staying), undefined);
      const [first] = (doubles.of(object) as { readonly list: unknown[] }).list;
      assert.deepEqual([first, taken()], [Object(0), 0]);
      assert.equal(doubles.prepare("x", turns, staying), undefined);
    });

    test("what takes long lets others have their turn, and is what is found then", async () => {
      const { doubles, turns, taken } = slow(6);
      const request = { object, n: 1 };
      await doubles.prepare(object, turns, staying);
      assert.ok(taken() >= 3, `${taken()}`);
      const before = taken();
      const made = doubles.of(object);
      await doubles.prepare(request, turns, staying);
      assert.equal(taken(), before);
      assert.equal((doubles.ofMembers(request) as { readonly object: unknown }).object, made);
      assert.deepEqual(made, new Doubles().of(object));
    });

    test("ends when nobody waits any more, and is made where it is asked for", async () => {
      const { doubles, turns, taken } = slow(6);
      await doubles.prepare(object, turns, () => true);
      assert.equal(taken(), 1);
      assert.deepEqual(doubles.of(object), new Doubles().of(object));
    });
  });

  test("are made of what an expression refers to, and of nothing else", () => {
    const read: string[] = [];
    const member = (name: string) => ({
      get replicas() {
        read.push(name);
        return 3;
      },
    });
    const request = { uid: "u", object: member("object"), oldObject: member("oldObject") };
    const review = { kind: "admission", request, requestBytes: () => new Uint8Array() } as unknown as Review;
    const validations = [{ expression: "object.replicas == 3.0" }];
    const policy = compileCelModule({ validations }, { id: "p", timeoutMs: 1000, now: () => 0 });
    assert.ok(policy);
    const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
    assert.deepEqual(answerOf(policy, review, context), { verdict: "allow" });
    assert.ok(read.includes("object") && !read.includes("oldObject"), read.join());
  });
});
