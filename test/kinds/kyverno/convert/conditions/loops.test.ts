import assert from "node:assert/strict";
import { test } from "node:test";
import { primary } from "../../../../../src/kinds/kyverno/convert/cel-text.js";
import { denyRule } from "../../../../../src/kinds/kyverno/convert/conditions/conditions.js";
import { foreachRule } from "../../../../../src/kinds/kyverno/convert/conditions/foreach-rule.js";
import type { RuleWriter } from "../../../../../src/kinds/kyverno/convert/convert-rule.js";
import type { RuleDraft } from "../../../../../src/kinds/kyverno/convert/rule-draft.js";
import { refusal, scopeOf, resultOf as valueFor } from "../converted.js";

const PODS = { object: primary("object"), oldObject: primary("oldObject") };
const pod = { object: primary("variables.pod"), oldObject: primary("variables.oldPod") };

function draftOf(writer: RuleWriter, body: unknown, message: string, ofPods = false): RuleDraft {
  const scope = scopeOf(ofPods ? { roots: { ...PODS, pod } } : {});
  writer(body, message, scope, ["validate"]);
  return scope.draft;
}

/** The expression and the message of the only validation, and the variables. */
function written(writer: RuleWriter, body: unknown, message: string, ofPods = false): readonly (string | undefined)[] {
  const { validations, variables } = draftOf(writer, body, message, ofPods);
  assert.equal(validations.length, 1);
  const { expression, message: text, messageExpression } = validations[0] ?? { expression: "" };
  return [expression, messageExpression ?? text, ...variables.map((each) => `${each.name} = ${each.expression}`)];
}

const equals = (key: string, value: unknown, message?: string) => ({
  key: `{{ ${key} }}`,
  operator: "Equals",
  value,
  ...(message !== undefined && { message }),
});
const A = equals("request.object.spec.a", "x");

test("a denial is the opposite of its conditions, with the rule's message", () => {
  assert.deepEqual(written(denyRule, { conditions: { any: [A] } }, "no x"), ['object.spec.a != "x"', "no x"]);
  assert.deepEqual(written(denyRule, {}, "never"), ["false", "never"]);
  assert.deepEqual(written(denyRule, { conditions: [] }, ""), ["false", "validation error: rule check failed"]);
});

test("what an error of one condition says is no less than that another one holds", () => {
  const any = [A, equals("request.object.spec.b", "y")];
  assert.deepEqual(written(denyRule, { conditions: { any } }, "no"), [
    'object.spec.a != "x" && object.spec.b != "y"',
    "no",
  ]);
  assert.deepEqual(written(denyRule, { conditions: { all: any } }, "no"), [
    'object.spec.a == "x" ? object.spec.b != "y" : true',
    "no",
  ]);
});

test("messages of conditions stand behind the rule's", () => {
  const any = [
    { ...A, message: "a must not be x" },
    equals("request.object.spec.b", "y", "nor b {{ request.object.spec.b }}"),
  ];
  assert.deepEqual(written(denyRule, { conditions: { any: any.slice(0, 1) } }, "no").at(1), "no; a must not be x");
  assert.deepEqual(
    written(denyRule, { conditions: { any } }, "no").at(1),
    'object.spec.a == "x" ? "no; a must not be x" : "no; nor b " + string(object.spec.b)',
  );
  assert.deepEqual(
    written(denyRule, { conditions: { all: any.slice(0, 1).concat({ ...A, message: "really" }) } }, "").at(1),
    "a must not be x; really",
  );
});

test("a loop denies where one element is denied", () => {
  const deny = { conditions: { any: [equals("element.image", "bad:*")] } };
  assert.deepEqual(written(foreachRule, [{ list: "request.object.spec.containers", deny }], "no", true), [
    'variables.pod.spec.containers.all(container, !container.image.startsWith("bad:"))',
    "validation failure: no",
  ]);
  assert.deepEqual(
    written(foreachRule, [{ list: "request.object.spec.initContainers[]", deny }], "no", true).at(0),
    'variables.pod.spec.?initContainers.orValue([]).all(container, !container.image.startsWith("bad:"))',
  );
});

test("an element without what its preconditions ask for is left out", () => {
  const loop = {
    list: "request.object.spec.containers",
    preconditions: { all: [equals("element.kind", "x")] },
    deny: { conditions: { any: [equals("element.name", "y")] } },
  };
  assert.deepEqual(
    written(foreachRule, [loop], "no", true).at(0),
    'variables.pod.spec.containers.all(container, !has(container.kind) || container.kind != "x" || container.name != "y")',
  );
});

test("a message about an element is about the first one that is denied", () => {
  const deny = { conditions: { any: [equals("element.name", "y", "not {{ element.name }}")] } };
  assert.deepEqual(written(foreachRule, [{ list: "request.object.spec.containers", deny }], "no", true), [
    'variables.pod.spec.containers.all(container, container.name != "y")',
    'variables.pod.spec.containers.map(container, container.name == "y", "validation failure: no; not " + container.name)[0]',
  ]);
});

test("loops nest, with names for the elements and their places", () => {
  const body = [
    {
      list: "request.object.spec.volumes",
      foreach: [
        {
          list: "element.paths",
          deny: {
            conditions: {
              all: [
                equals("element1.name", "{{ element0.name }}"),
                { key: "{{ elementIndex }}", operator: "GreaterThan", value: 0 },
              ],
            },
          },
        },
      ],
    },
  ];
  assert.deepEqual(written(foreachRule, body, "no", true), [
    "variables.pod.spec.?volumes.orValue([]).all(index, volume, volume.?paths.orValue([]).all(index2, path, path.name == volume.name ? index2 <= 0 : true))",
    "validation failure: validation failure: no",
  ]);
});

/** A list of the object, and whether a loop over it that denies `bad` passes. */
const LISTS: readonly (readonly [unknown, unknown])[] = [
  [["a", "b"], true],
  [["a", "bad"], false],
  [["a", null], true],
  [[null], true],
  [[], true],
  [null, true],
  [undefined, true],
  ["bad", false],
  ["good", true],
  [{ n: "bad" }, true],
];

for (const [items, wanted] of LISTS)
  test(`the list ${JSON.stringify(items)} ${wanted === true ? "passes" : "is denied"}`, () => {
    const body = [{ list: "request.object.spec.items", deny: { conditions: { any: [equals("element", "bad")] } } }];
    const [expression = ""] = written(foreachRule, body, "no");
    const { variables } = draftOf(foreachRule, body, "no");
    const text = variables.reduce(
      (rest, each) => rest.replaceAll(`variables.${each.name}`, `(${each.expression})`),
      expression,
    );
    assert.equal(
      valueFor(() => ({ cel: primary(text) }) as never, { spec: items === undefined ? {} : { items } }),
      wanted,
    );
  });

test("patterns look at the element, or at the whole object where it is asked for or the element is a text", () => {
  const of = (more: object, list = "request.object.spec.containers") =>
    written(foreachRule, [{ list, ...more }], "no", true).at(0);
  assert.match(of({ pattern: { image: "a*" } }) ?? "", /container\.\?image/);
  assert.match(of({ pattern: { spec: { on: true } }, elementScope: false }) ?? "", /variables\.pod\.spec\.\?on/);
  assert.match(
    of({ anyPattern: [{ image: "a*" }, { image: "b*" }] }) ?? "",
    /startsWith\("a"\).* \|\| .*startsWith\("b"\)/,
  );
  assert.equal(
    written(foreachRule, [{ list: "request.object.spec.containers", pattern: { image: "a*" } }], "No.", true).at(1),
    "validation failure: validation error: No. rule check failed",
  );
});

test("what is no loop is told at its place", () => {
  const told = (body: unknown) => refusal((scope) => foreachRule(body, "", scope, []));
  assert.equal(told({}), "foreach is a list");
  assert.equal(told([{}]), "a loop needs a list");
  assert.equal(told([{ list: "request.object.spec.a" }]), "foreach is a list");
  assert.equal(told([{ list: "request.object.spec.a", anyPattern: {} }]), "anyPattern is a list");
  assert.equal(told([{ list: "request.object.spec.a", deny: [] }]), "deny is a map with conditions");
});
