import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AUTHORIZER,
  createEnvironment,
  DYN,
  INT,
  namesVariable,
  objectType,
  RESOURCE_CHECK,
} from "../../src/cel/index.js";

const environment = createEnvironment({
  flavour: "kubernetes",
  variables: [
    { name: "object", type: DYN },
    { name: "variables", type: objectType("vars") },
    { name: "authorizer", type: AUTHORIZER },
    { name: "authorizer.requestResource", type: RESOURCE_CHECK },
  ],
  objectTypes: [
    {
      name: "vars",
      fields: new Map([
        ["a", INT],
        ["b", DYN],
      ]),
    },
  ],
});

function references(source: string, check = true) {
  const compiled = environment.compile(source, { check });
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
  return compiled.program.references;
}

describe("what an expression refers to", () => {
  test("are the environment's variables under their full names, wherever they stand", () => {
    const { variables } = references(
      "authorizer.requestResource.check('get').allowed() || (false ? object.x : [object.y].size() == 1)",
    );
    assert.deepEqual(variables.map(({ name }) => name).sort(), ["authorizer.requestResource", "object"]);
    assert.deepEqual(references("1 + 1 == 2").variables, []);
    // Neither texts, nor fields, nor the variables of a loop.
    assert.deepEqual(
      references("'authorizer' == '' && [1].all(object, object > 0) && {'object': 1}.object == 1").variables,
      [],
    );
    assert.deepEqual(references("object in []").variables, [{ name: "object", fields: undefined }]);
  });

  test("are the fields of a variable of an object type, unless it is used as a whole", () => {
    const fields = (source: string) => references(source).variables.map((each) => each.fields);
    assert.deepEqual(fields("variables.a == 1 && has(variables.b) && variables.a > 0"), [["a", "b"]]);
    assert.deepEqual(fields("variables.?b.orValue(variables.a) == 1"), [["b", "a"]]);
    assert.deepEqual(fields("variables.a == 1 && dyn(variables) == null"), [undefined]);
    assert.deepEqual(fields("dyn(variables) == null && variables.a == 1"), [undefined]);
    assert.deepEqual(fields("object.a == 1"), [undefined]);
  });

  test("are functions and methods, under their full names", () => {
    const { functions } = references(
      "sets.contains([1], [object.a]) && object.s.startsWith('x') && ![1].exists(x, x in [size('a')])",
    );
    assert.deepEqual([...functions].sort(), ["sets.contains", "size", "startsWith"]);
  });

  test("are found without a check, too", () => {
    const { variables, functions } = references("object.a + nope + [1].map(x, x + f(variables.a))[0]", false);
    assert.deepEqual(variables.map(({ name }) => name).sort(), ["nope", "object", "variables"]);
    assert.deepEqual(functions, ["f"]);
  });

  test("are asked for by name, with what is declared below it", () => {
    assert.equal(namesVariable(references("authorizer.requestResource.check('get').allowed()"), "authorizer"), true);
    assert.equal(namesVariable(references("object.authorizer == 1"), "authorizer"), false);
  });
});
