import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MadeList, type Value } from "../../../src/cel/index.js";
import { mutationOf } from "../../../src/kinds/shared/mutation/evaluate-mutation.js";
import { ObjectVal } from "../../../src/kinds/shared/mutation/mutation-types.js";
import { applies, asked, binding, policy, review } from "./support/documents.js";

/** What the server says of the value as a name; the object has the lists `l` of x and y, `nested` and the text `a`. */
async function saidOf(variable: string, expression: string): Promise<string> {
  const applied = applies(`Object{metadata: Object.metadata{name: ${expression}}}`);
  const documents = [policy({ variables: [{ name: "x", expression: variable }], ...applied }), binding()];
  const metadata = { name: "m", namespace: "ns" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "1,2" }, l: ["x", "y"], nested: [["q"]] };
  const outcome = await asked(documents).evaluate(review(object), {
    signal: new AbortController().signal,
    deadline: Number.POSITIVE_INFINITY,
  });
  assert.ok("message" in outcome);
  return outcome.message.split("&value.valueUnstructured{Value:")[1] ?? outcome.message;
}

const DATA = '[]interface {}{[]interface {}{"x", "y"}}}';

// The answers of the API server's plugin.
describe("lists that expressions make", () => {
  test("are told from the request's, also when the expression is a variable", async () => {
    for (const given of [
      "object.l",
      "dyn(object.l)",
      "object.?l.orValue([1])",
      "optional.of(object.l).value()",
      "[object.l][0]",
      "{'a': object.l}.a",
      "object.l + []",
    ]) {
      assert.equal(await saidOf(given, "[variables.x]"), DATA, given);
      assert.equal(await saidOf("1", `[${given}]`), DATA, given);
    }
    for (const made of [
      "['x', 'y']",
      "object.l.map(x, x)",
      "object.l.filter(x, true)",
      "object.l.slice(0, 2)",
      "object.l.sort()",
      "object.l.distinct()",
      "object.nested.flatten()",
      "object.data.a.split(',')",
      "object.data.a.findAll('[0-9]')",
      "lists.range(2)",
      "[object.l[0], ?object.?none]",
      "[['x', 'y']].map(x, x)[0]",
      "format.dns1123Label().validate('A_').value()",
      "url('https://h/?a=b').getQuery()['a']",
    ]) {
      assert.doesNotMatch(await saidOf(made, "[variables.x]"), /\{\[\]interface \{\}\{"/, made);
      assert.doesNotMatch(await saidOf("1", `[${made}]`), /\{\[\]interface \{\}\{"/, made);
    }
  });

  test("and sums are sums there, too: what they hold is shown as what the request holds", async () => {
    const sum = '[]interface {}{[]interface {}{"x", "y", "x", "y"}}}';
    assert.equal(await saidOf("object.l + object.l", "[variables.x]"), sum);
    assert.equal(await saidOf("1", "[object.l + object.l]"), sum);
  });

  test("are told without a look at what the request has else", () => {
    let looks = 0;
    const watched = new Proxy([], {
      get: (list, name) => {
        looks++;
        return Reflect.get(list, name);
      },
    });
    const value = new ObjectVal("Object", new Map<string, Value>([["l", MadeList.of("x")]]));
    const mutation = mutationOf("ApplyConfiguration", value, { object: { a: [[watched]], b: watched } as Value });
    assert.deepEqual(mutation, { kind: "apply-configuration", configuration: { l: ["x"] } });
    assert.equal(looks, 0);
  });
});
