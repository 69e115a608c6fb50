import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { parseConfig } from "../../src/config/load-config.js";
import { entryOf, goodConfig, plain, problems, problemsOf } from "./helpers.js";

const VALIDATIONS = "cel: {validations: [{expression: 'true'}]}";

describe("entries of policies.yaml", () => {
  test("an empty map is a configuration without policies", () => {
    assert.deepEqual(goodConfig("{}").entries, []);
  });

  test("a module entry has Kubewarden's defaults", () => {
    const entry = entryOf(goodConfig("p: {module: ghcr.io/a/b:v1}"), "p", "module");
    assert.deepEqual(plain(entry), {
      kind: "module",
      id: "p",
      module: { kind: "registry", text: "ghcr.io/a/b:v1", location: "registry://ghcr.io/a/b:v1" },
      settings: {},
      policyMode: "protect",
      allowedToMutate: false,
      contextAwareResources: [],
      hostCapabilities: [],
      native: true,
      warmStart: true,
    });
  });

  test("every key of a module entry is read", () => {
    const config = goodConfig(`
p:
  module: https://files.example.org/p.wasm
  policyMode: monitor
  allowedToMutate: true
  settings: {a: [1, 1.0, 9007199254740993, "x"], __proto__: {b: null}}
  contextAwareResources: [{apiVersion: v1, kind: Namespace}]
  message: See the handbook.
  timeoutEvalSeconds: 7
  hostCapabilities: [" oci/* ", kubernetes/get_resource]
  executionMode: kubewarden
  native: false
  memoryLimitMiB: 64
  warmStart: false
  namespacedName: {Namespace: "", Name: p}
`);
    const entry = entryOf(config, "p", "module");
    assert.equal(entry.policyMode, "monitor");
    assert.equal(entry.allowedToMutate, true);
    assert.equal(entry.message, "See the handbook.");
    assert.equal(entry.timeoutEvalSeconds, 7);
    assert.deepEqual(entry.hostCapabilities, ["oci/*", "kubernetes/get_resource"]);
    assert.deepEqual(entry.contextAwareResources, [{ apiVersion: "v1", kind: "Namespace" }]);
    assert.equal(entry.executionMode, "kubewarden-wapc");
    assert.equal(entry.native, false);
    assert.equal(entry.memoryLimitMiB, 64);
    assert.equal(entry.warmStart, false);
    const list = entry.settings.a as unknown[];
    assert.equal(list[0], 1);
    assert.equal(list[1], 1);
    assert.equal(list[2], 9007199254740993n);
    assert.deepEqual(Object.getOwnPropertyDescriptor(entry.settings, "__proto__")?.value, { b: null });
    assert.ok(Object.isFrozen(entry) && Object.isFrozen(entry.settings) && Object.isFrozen(list));
  });

  test("settings that are null count as none", () => {
    assert.deepEqual(entryOf(goodConfig("p: {module: ./x.wasm, settings: null}"), "p", "module").settings, {});
  });

  test("url stands for module when module is absent", () => {
    const entry = entryOf(goodConfig("p: {url: registry://r.example/x}"), "p", "module");
    assert.equal(entry.module.location, "registry://r.example/x");
    assert.match(problems("p: {url: ./a.wasm, module: ./b.wasm}").join(), /"url" is another name for "module"/);
  });

  test("an absent hostCapabilities grants nothing", () => {
    const config = goodConfig("p: {module: ./x.wasm}\nq: {module: ./x.wasm, hostCapabilities: ['*']}");
    assert.deepEqual(entryOf(config, "p", "module").hostCapabilities, []);
    assert.deepEqual(entryOf(config, "q", "module").hostCapabilities, ["*"]);
  });

  test("JSON with tabs and surrogate escapes is read like YAML", () => {
    const config = goodConfig('{\n\t"p": {\n\t\t"module": "./x.wasm",\n\t\t"message": "\\ud83d\\ude00 \\/"\n\t}\n}\n');
    assert.equal(entryOf(config, "p", "module").message, "😀 /");
  });

  test("entries keep the order of the file, numbers as names included", () => {
    const config = goodConfig(`"10": {${VALIDATIONS}}\n"9": {${VALIDATIONS}}\na: {${VALIDATIONS}}`);
    assert.deepEqual(
      config.entries.map(({ id }) => id),
      ["10", "9", "a"],
    );
  });

  test("an inline CEL policy is checked by key and type and handed on as it is", () => {
    const entry = entryOf(goodConfig(`p: {${VALIDATIONS}, validationActions: [Warn, Audit]}`), "p", "cel");
    assert.deepEqual(entry.cel, { validations: [{ expression: "true" }] });
    assert.deepEqual(entry.validationActions, ["Warn", "Audit"]);
    assert.deepEqual(problems("p:\n  cel:\n    validations:\n      - expresion: 'true'\n"), [
      'p.yaml:4:9: p.cel.validations[0].expresion: unknown key (did you mean "expression"?)',
    ]);
  });

  test("relative module paths start at the file's folder, file:// ones too", () => {
    const config = goodConfig(
      "a: {module: policies/x.wasm}\nb: {module: 'file://policies/x%20y.wasm'}\nc: {module: file:///abs/x.wasm}",
    );
    const locations = config.entries.map((entry) => (entry.kind === "module" ? entry.module.location : ""));
    assert.deepEqual(locations, [
      pathToFileURL(resolve("policies/x.wasm")).href,
      pathToFileURL(resolve("policies/x y.wasm")).href,
      "file:///abs/x.wasm",
    ]);
  });
});

describe("mistakes of policies.yaml", () => {
  const cases: Record<string, [text: string, expected: string[]]> = {
    "an entry with module and policies is refused": [
      "p:\n  module: ./x.wasm\n  policies: {a: {policy: b}}\n  expression: a()\n  message: m\n",
      [
        "p.yaml:2:3: p: has module and expression and policies, but a policy is exactly one of module, resource, cel, expression",
      ],
    ],
    "an entry of no kind is refused, with the likely key": [
      "p: {modul: ./x.wasm}",
      [
        'p.yaml:1:4: p: does not say what it is: expected exactly one of module, resource, cel, expression (did you mean "module"?)',
      ],
    ],
    "an unknown mode is refused, letter case included": [
      "p: {module: ./x.wasm, policyMode: Monitor}",
      [
        'p.yaml:1:35: p.policyMode: expected one of protect, monitor, found the string "Monitor" (did you mean "monitor"?)',
      ],
    ],
    "settings must be a map": [
      "p:\n  module: ./x.wasm\n  settings: [1]\n",
      ["p.yaml:3:13: p.settings: expected a map with string keys, found a list"],
    ],
    "an unknown key is refused": [
      "p: {module: ./x.wasm, zzz: 1}",
      [
        "p.yaml:1:23: p.zzz: unknown key, expected one of module, settings, timeoutEvalSeconds, contextAwareResources, hostCapabilities, executionMode, native, memoryLimitMiB, config, allowedHosts, logLevel, warmStart, policyMode, allowedToMutate, message, namespacedName",
      ],
    ],
    "a key of the custom resource is named as it is here": [
      "p: {module: ./x.wasm, mutating: true}",
      ['p.yaml:1:23: p.mutating: unknown key: write "allowedToMutate"'],
    ],
    "a merge key is applied, its members at their places": [
      "p: {module: ./x.wasm, <<: {policyMode: monitr}}",
      [
        'p.yaml:1:40: p.policyMode: expected one of protect, monitor, found the string "monitr" (did you mean "monitor"?)',
      ],
    ],
    "no map is no merge": [
      "p: {module: ./x.wasm, <<: 1}",
      ["p.yaml:1:27: p: what is merged by << has to be a map, or a list of maps"],
    ],
    "a repeated id and a repeated key are refused": [
      "p: {module: ./x.wasm, native: true, native: false}\np: {module: ./y.wasm}",
      [
        "p.yaml:1:37: p.native: duplicate key: the same key stands above in this map",
        "p.yaml:2:1: p: duplicate key: the same key stands above in this map",
      ],
    ],
    "a merge key that replaces what stands above it is refused, among policies too": [
      "p: {module: ./x.wasm, policyMode: protect, <<: {policyMode: monitor}}\n<<: {p: {module: ./y.wasm}}",
      [
        "p.yaml:1:44: p.policyMode: duplicate key: what << merges replaces the same key above it: put << first in this map",
        "p.yaml:2:1: p: duplicate key: what << merges replaces the same key above it: put << first in this map",
      ],
    ],
    "a time limit is a whole number from 1": [
      "p: {module: ./x.wasm, timeoutEvalSeconds: 0}\nq: {module: ./x.wasm, timeoutEvalSeconds: 1.5}",
      [
        "p.yaml:1:43: p.timeoutEvalSeconds: expected a whole number from 1 to 86400, found the number 0",
        "p.yaml:2:43: q.timeoutEvalSeconds: expected a whole number from 1 to 86400, found the number 1.5",
      ],
    ],
    "a slash in an id is refused in Kubewarden's words": [
      "a/b: {module: ./x.wasm}",
      ["p.yaml:1:1: [\"a/b\"]: policy name 'a/b' contains a '/' character"],
    ],
    "an empty id is refused": ['"": {module: ./x.wasm}', ['p.yaml:1:1: [""]: Not a valid Policy ID: it is empty']],
    "a key that is no string is refused": [
      "1: {module: ./x.wasm}",
      ['p.yaml:1:1: 1: keys are strings: write "1" in quotes'],
    ],
    "a word that YAML 1.1 reads as a boolean or number is no text, no word of a list and no key": [
      `p: {${VALIDATIONS}, message: no}\nq: {module: on, policyMode: off}\nr: {module: 0777}\ny: {module: ./x.wasm, settings: {on: 1, 1_0: 2}}\nz: {module: true}`,
      [
        'p.yaml:1:58: p.message: expected a message, found the boolean false: YAML 1.1 reads no so; write "no" in quotes',
        'p.yaml:2:13: q.module: expected the address of a WASM module, found the boolean true: YAML 1.1 reads on so; write "on" in quotes',
        'p.yaml:2:29: q.policyMode: expected one of protect, monitor, found the boolean false: YAML 1.1 reads off so; write "off" in quotes',
        'p.yaml:3:13: r.module: expected the address of a WASM module, found the number 511: YAML 1.1 reads 0777 so; write "0777" in quotes',
        'p.yaml:4:1: true: keys are strings: YAML 1.1 reads y as the boolean true; write "y" in quotes',
        'p.yaml:4:34: true.settings.true: keys are strings: YAML 1.1 reads on as the boolean true; write "on" in quotes',
        'p.yaml:4:41: true.settings.10: keys are strings: YAML 1.1 reads 1_0 as the number 10; write "1_0" in quotes',
        "p.yaml:5:13: z.module: expected the address of a WASM module, found the boolean true",
      ],
    ],
    "a value that JSON lacks is refused": [
      "p: {module: ./x.wasm, settings: {a: .nan}}",
      ["p.yaml:1:37: p.settings.a: JSON can't hold the number .nan: use a string or a finite number"],
    ],
    "an unknown scheme is refused": [
      "p: {module: 'ftp://x/y'}",
      ["p.yaml:1:13: p.module: unknown scheme: ftp (known are file, http, https and registry)"],
    ],
    "an action is not repeated, and Deny excludes Warn": [
      `p: {${VALIDATIONS}, validationActions: [Deny, Warn]}`,
      ["p.yaml:1:68: p.validationActions: must not contain both Deny and Warn"],
    ],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    test(name, () => assert.deepEqual(problems(text), expected));
  }

  test("all mistakes are found in one run, and entries without any are kept", () => {
    const text = "a: {module: ./x.wasm, polcyMode: monitor}\nb: {module: ./x.wasm}\nc: [1]\nd: {cel: 1}\n";
    assert.deepEqual(problems(text), [
      'p.yaml:1:23: a.polcyMode: unknown key (did you mean "policyMode"?)',
      "p.yaml:3:4: c: expected a map with exactly one of module, resource, cel, expression, found a list",
      "p.yaml:4:10: d.cel: expected a map with the keys failurePolicy, paramKind, matchConstraints, matchConditions, variables, validations, auditAnnotations, found the number 1",
    ]);
  });

  test("a word in settings that is a text for Kubewarden's server has a warning at its place", () => {
    const text =
      'p: {module: ./x.wasm, settings: {a: on, b: [n, "no", true, {c: 0777}], d: 1_000, e: 10, f: 1.5, g: 0o17, h: 0x1f, i: 0, j: ~}}\n' +
      "g: {expression: m(), message: x, policies: {m: {module: ./x.wasm, settings: {a: Off}}}}\n";
    const result = parseConfig(text, "p.yaml");
    const as = (what: string, word: string) =>
      `read as ${what}, as Kubernetes reads YAML; write "${word}" in quotes if a text is meant`;
    assert.deepEqual(problemsOf(result), [
      `p.yaml:1:37: warning: p.settings.a: ${as("the boolean true", "on")}`,
      `p.yaml:1:45: warning: p.settings.b[0]: ${as("the boolean false", "n")}`,
      `p.yaml:1:64: warning: p.settings.b[3].c: ${as("the number 511", "0777")}`,
      `p.yaml:1:75: warning: p.settings.d: ${as("the number 1000", "1_000")}`,
      `p.yaml:2:81: warning: g.policies.m.settings.a: ${as("the boolean false", "Off")}`,
    ]);
    assert.ok(result.ok && result.config.entries.every(({ kind }) => kind !== "invalid"));
  });
});
