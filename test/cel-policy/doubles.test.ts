/** A large review is asked about by many policies: of its values only those are copied that hold an integer, and once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Doubles } from "../../src/cel-policy/doubles.js";
import { parseJson } from "../../src/data/json.js";
import { compileCelModule } from "../../src/kinds/cel-module/policy.js";
import type { Review } from "../../src/policy/index.js";
import { answerOf } from "../support/asking.js";

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
