import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { constraint, converted, errorsOf, type Json, judge, SOURCE, template } from "./converted.js";

describe("parameters", () => {
  const pod = { object: { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "a" } } };
  /** What an expression comes to, by a message. */
  async function value(expression: string, schema: Json | undefined, parameters?: unknown): Promise<string> {
    const source = { validations: [{ expression: "false", messageExpression: expression }] };
    const made = converted(template(source, { schema }), constraint(parameters === undefined ? {} : { parameters }));
    return (await judge(made, [pod]))[0]?.message ?? "";
  }
  const of = (properties: Json): Json => ({ type: "object", properties });

  test("have the defaults of their schema, at every depth", async () => {
    const inner = of({ b: { type: "integer", default: 2 }, c: { type: "string" } });
    const schema = of({
      a: { ...inner, default: {} },
      l: { type: "array", items: inner },
      m: { type: "object", additionalProperties: inner },
    });
    const all = "string(variables.params.a.b) + string(variables.params.l[0].b) + string(variables.params.m.x.b)";
    assert.equal(await value(all, schema, { l: [{}], m: { x: { b: 3 } } }), "223");
    assert.equal(await value("string(has(variables.params.l))", schema, {}), "false");
    assert.equal(await value("string(variables.params == null)", schema), "true");
    assert.equal(await value("string(variables.params.a.b)", { ...schema, default: {} }), "2");
  });

  test("of every form are the same values", async () => {
    const any = of({ v: { "x-kubernetes-preserve-unknown-fields": true } });
    const write = "variables.params.v == dyn(EXPECTED) ? 'same' : 'other'";
    for (const [given, expected] of [
      [[1, "a", null, [true], { a: 1.5 }], `[dyn(1), dyn("a"), dyn(null), dyn([true]), dyn({"a": 1.5})]`],
      ['quo"te\\ \n ü 💥 $x', `"quo\\"te\\\\ \\n ü 💥 $x"`],
      [{ "a.b/c-d": { "": -7 } }, `{"a.b/c-d": {"": -7}}`],
      [[], "[]"],
      [9007199254740991, "9007199254740991"],
      [-0.25, "-0.25"],
      [1e21, "1e21"],
    ] as const) {
      assert.equal(
        await value(
          write.replace("EXPECTED", () => expected),
          any,
          { v: given },
        ),
        "same",
        expected,
      );
    }
  });

  test("that a cluster would refuse are named at their place", () => {
    const schema = {
      ...of({ labels: { type: "array", items: { type: "string" } }, mode: { type: "string", enum: ["a", "b"] } }),
      required: ["mode"],
    };
    for (const [parameters, expected] of [
      [{ labels: "team", mode: "a" }, /parameters\.labels: expected an array/],
      [{ labels: [1], mode: "a" }, /parameters\.labels\[0\]: expected a string/],
      [{ labels: null, mode: "a" }, /parameters\.labels: expected an array/],
      [{ label: [], mode: "a" }, /parameters\.label: unknown parameter.*did you mean "labels"/],
      [{ mode: "c" }, /parameters\.mode: expected one of "a", "b"/],
      [{}, /parameters: the required parameter mode is missing/],
      [[], /parameters: expected an object/],
    ] as const) {
      const made = converted(template(SOURCE, { schema }), constraint({ parameters }));
      assert.equal(made.policies.length, 0);
      assert.match(errorsOf(made).join("\n"), expected);
    }
    assert.match(
      errorsOf(converted(template(SOURCE), constraint({ parameters: { a: 1 } }))).join(),
      /no schema of parameters/,
    );
    assert.match(
      errorsOf(
        converted(template(SOURCE, { schema: { type: "object" } }), constraint({ parameters: { a: 1 } })),
      ).join(),
      /unknown parameter/,
    );
  });
});
