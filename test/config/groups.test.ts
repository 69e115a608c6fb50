import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatPath } from "../../src/config/documents/problem.js";
import { parseConfig } from "../../src/config/load-config.js";
import { entryOf, goodConfig, problems, problemsOf } from "./helpers.js";

const GROUP = "expression: a(), message: m";

describe("groups", () => {
  test("members are references or policies of their own, nested groups included, in order", () => {
    const group = entryOf(
      goodConfig(`
other: {module: ./x.wasm}
g:
  expression: b() && a() || m()
  message: not this
  groupWarnings: rejected
  timeoutEvalSeconds: 20
  policies:
    b: {policy: other}
    a: {module: ./y.wasm, settings: {k: 1}, timeoutEvalSeconds: 3}
    m:
      expression: c()
      message: inner
      policies: {c: {cel: {validations: [{expression: 'true'}]}}}
`),
      "g",
      "group",
    );
    assert.equal(group.groupWarnings, "rejected");
    assert.equal(group.timeoutEvalSeconds, 20);
    assert.deepEqual(
      group.members.map(({ name, policy }) => [name, policy.kind, policy.id]),
      [
        ["b", "reference", "other"],
        ["a", "module", "g/a"],
        ["m", "group", "g/m"],
      ],
    );
    const nested = group.members[2]!.policy;
    assert.equal(nested.kind === "group" && nested.members[0]!.policy.id, "g/m/c");
  });

  test("the list form of the policy-group RFC is the same", () => {
    const text = `g: {${GROUP}, policies: [{name: a, url: ./x.wasm, settings: {k: 1}}, {name: b, policy: g2}]}
g2: {${GROUP}, policies: {a: {module: ./x.wasm}}}`;
    const group = entryOf(goodConfig(text), "g", "group");
    assert.deepEqual(
      group.members.map(({ name, policy }) => [name, policy.kind, policy.id]),
      [
        ["a", "module", "g/a"],
        ["b", "reference", "g2"],
      ],
    );
  });

  test("an alias stands for a whole member", () => {
    const group = entryOf(goodConfig(`g: {${GROUP}, policies: {a: &m {module: ./x.wasm}, b: *m}}`), "g", "group");
    assert.deepEqual(
      group.members.map(({ policy }) => policy.id),
      ["g/a", "g/b"],
    );
  });

  const mistakes: Record<string, [text: string, expected: string[]]> = {
    "a group needs expression, message and members": [
      "g: {policies: {}}",
      [
        'p.yaml:1:4: g: missing key "expression": CEL expression with one function per member; true allows the request.',
        'p.yaml:1:4: g: missing key "message": Status message when the expression is false.',
        "p.yaml:1:15: g.policies: must not be empty: policy groups must have at least one policy member",
      ],
    ],
    "names with a slash are refused in Kubewarden's words, all at once": [
      `g: {${GROUP}, policies: {a/b: {module: ./x.wasm}, c: {module: ./x.wasm}, d/e: {module: ./x.wasm}}}`,
      [`p.yaml:1:44: g.policies: policy group 'g' contains policies with invalid names: ["a/b", "d/e"]`],
    ],
    "a name that the expression can't call is only pointed out": [
      `g: {${GROUP}, policies: {a-b: {module: ./x.wasm}, if: {module: ./x.wasm}, x.y: {module: ./x.wasm}}}`,
      [
        "p.yaml:1:45: warning: g.policies.a-b: the expression can't call a member of this name: use letters, digits and _, no digit first",
        "p.yaml:1:70: warning: g.policies.if: the expression can't call a member of this name: if is a reserved word of CEL",
      ],
    ],
    "a member has no mode, mutation or message": [
      `g: {${GROUP}, policies: {a: {module: ./x.wasm, message: x}}}`,
      ["p.yaml:1:67: g.policies.a.message: unknown key: a member's own words are shown; the group has the message"],
    ],
    "an unknown reference gets a suggestion": [
      `g: {${GROUP}, policies: {a: {policy: privileged-pod}}}\nprivileged-pods: {module: ./x.wasm}`,
      ['p.yaml:1:57: g.policies.a.policy: no policy is named "privileged-pod" (did you mean "privileged-pods"?)'],
    ],
    "a list member says its name, once": [
      `g: {${GROUP}, policies: [{module: ./x.wasm}, {name: b, module: ./x.wasm}, {name: b, module: ./x.wasm}]}`,
      [
        'p.yaml:1:45: g.policies[0]: missing key "name": in a list every member says its name',
        'p.yaml:1:101: g.policies[2].name: a second member named "b"',
      ],
    ],
    "a bad capability pattern of a member names the group": [
      `g: {${GROUP}, policies: {a: {module: ./x.wasm, hostCapabilities: [oci/v1]}}}`,
      [
        'p.yaml:1:86: g.policies.a.hostCapabilities[0]: invalid hostCapabilities pattern for policy g: invalid pattern "oci/v1": not a complete capability path; use "oci/v1/*" to allow all capabilities under it',
      ],
    ],
  };
  for (const [name, [text, expected]] of Object.entries(mistakes)) {
    test(name, () => assert.deepEqual(problems(text), expected));
  }

  test("references of a group with other mistakes are checked too", () => {
    assert.deepEqual(problems(`g: {${GROUP}, policies: {a: {policy: nope}, b: {modul: x}}}`), [
      'p.yaml:1:57: g.policies.a.policy: no policy is named "nope"',
      'p.yaml:1:67: g.policies.b: does not say what it is: expected exactly one of policy, module, resource, cel, expression (did you mean "module"?)',
    ]);
  });

  test("a cycle is an error of every group on it, with its path; others are untouched", () => {
    const group = (id: string, member: string) =>
      `${id}:\n  expression: a()\n  message: m\n  policies:\n    a: {policy: ${member}}\n`;
    const result = parseConfig(
      group("a", "b") + group("b", "c") + group("c", "a") + group("d", "a") + group("e", "e"),
      "p.yaml",
    );
    assert.deepEqual(problemsOf(result), [
      "p.yaml:5:17: a.policies.a.policy: groups must not contain themselves: a -> b -> c -> a",
      "p.yaml:10:17: b.policies.a.policy: groups must not contain themselves: b -> c -> a -> b",
      "p.yaml:15:17: c.policies.a.policy: groups must not contain themselves: c -> a -> b -> c",
      "p.yaml:25:17: e.policies.a.policy: groups must not contain themselves: e -> e",
    ]);
    assert.ok(result.ok);
    assert.deepEqual(
      result.config.entries.map(({ kind }) => kind),
      ["invalid", "invalid", "invalid", "group", "invalid"],
    );
  });

  test("a reference to an entry with errors is no error of the group", () => {
    const result = parseConfig(`bad: {module: 1}\ng: {${GROUP}, policies: {a: {policy: bad}}}`, "p.yaml");
    assert.deepEqual(problemsOf(result), [
      "p.yaml:1:15: bad.module: expected the address of a WASM module, found the number 1",
    ]);
    assert.ok(result.ok);
    assert.deepEqual(
      result.config.entries.map(({ kind }) => kind),
      ["invalid", "group"],
    );
  });

  describe("auditAnnotations and messageExpression", () => {
    const written = (more: string): string => `g: {${GROUP}, policies: {a: {module: ./x.wasm}}, ${more}}`;

    test("are read from a map and a list, with their places", () => {
      const map = entryOf(
        goodConfig(written("messageExpression: x, auditAnnotations: {k: one, auditAnnotations: z}")),
        "g",
        "group",
      );
      assert.equal(map.messageExpression, "x");
      assert.deepEqual(map.auditAnnotations, [
        { key: "k", valueExpression: "one", path: ["auditAnnotations", "k"] },
        { key: "auditAnnotations", valueExpression: "z", path: ["auditAnnotations", "auditAnnotations"] },
      ]);
      const list = entryOf(goodConfig(written("auditAnnotations: [{key: k, valueExpression: one}]")), "g", "group");
      assert.deepEqual(list.auditAnnotations, [
        { key: "k", valueExpression: "one", path: ["auditAnnotations", 0, "valueExpression"] },
      ]);
    });

    test("mistakes are said at their places", () => {
      const rule =
        "is not the key of an audit annotation: at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
      for (const [more, ...expected] of [
        ["auditAnnotations: {a/b: x}", `g.auditAnnotations["a/b"]: "a/b" ${rule}`],
        [
          `auditAnnotations: {${"k".repeat(64)}: x}`,
          `g.auditAnnotations.${"k".repeat(64)}: "${"k".repeat(64)}" ${rule}`,
        ],
        ["auditAnnotations: {-k: x}", `g.auditAnnotations.-k: "-k" ${rule}`],
        [
          "auditAnnotations: k",
          'g.auditAnnotations: expected a map from key to expression, or a list of key and valueExpression, found the string "k"',
        ],
        [
          "auditAnnotations: [{key: k, valueExpression: x}, {key: k, valueExpression: z}]",
          "g.auditAnnotations[1].key: a second one of this key",
        ],
        [
          `auditAnnotations: {${Array.from({ length: 21 }, (_, i) => `k${i}: x`).join(", ")}}`,
          "g.auditAnnotations: has 21 annotations, at most 20",
        ],
      ] as const) {
        const found = parseConfig(written(more), "p.yaml").problems.map(
          ({ path, message }) => `${formatPath(path)}: ${message}`,
        );
        assert.deepEqual(found, expected, more.slice(0, 80));
      }
    });
  });
});
