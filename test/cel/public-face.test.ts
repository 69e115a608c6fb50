import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, mock, test } from "node:test";
import { format } from "node:util";
import {
  type Bindings,
  CelError,
  createEnvironment,
  DYN,
  type FunctionDeclaration,
  fn,
  INT,
  kindOf,
  MapValue,
  mapType,
  method,
  OpaqueValue,
  Optional,
  type Overload,
  objectType,
  opaqueType,
  type Result,
  STRING,
  type Value,
} from "policy-group-gateway/cel";

/** The examples of the documentation, with what each prints: comments behind `console.log`, or below it. */
function examples(): { readonly code: string; readonly printed: readonly string[] }[] {
  const text = readFileSync(new URL("../../../docs/cel.md", import.meta.url), "utf8");
  return [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code = ""]) => ({
    code,
    printed: code.split("\n").flatMap((line) => /^(?:.*console\.log.*; )?\/\/ (.*)$/.exec(line)?.[1] ?? []),
  }));
}

describe("the documentation of the library", () => {
  for (const [index, { code, printed }] of examples().entries()) {
    test(`example ${index + 1} prints what it says`, async () => {
      const lines: string[] = [];
      const log = mock.method(console, "log", (...args: unknown[]) => lines.push(format(...args)));
      const resolved = code.replaceAll("policy-group-gateway/cel", import.meta.resolve("policy-group-gateway/cel"));
      try {
        await import(`data:text/javascript,${encodeURIComponent(resolved)}`);
      } finally {
        log.mock.restore();
      }
      assert.ok(printed.length > 0);
      assert.deepEqual(lines, printed);
    });
  }

  test("there are examples", () => {
    assert.ok(examples().length >= 7);
  });
});

/** The receiver of `resource.Get(…)`. */
class Resource extends OpaqueValue {
  readonly typeName = "Resource";

  override get identity(): string {
    return "resource";
  }

  equals(other: Value): boolean {
    return other instanceof Resource;
  }

  toString(): string {
    return this.typeName;
  }
}

/** Another kind of policy's dialect of CEL, made with nothing but the public face (spec kyverno.md 4.2 and 4.5). */
describe("a dialect", () => {
  const RESOURCE = opaqueType("Resource");
  /** What the state of an evaluation is: the cluster's objects by name. */
  interface Cluster {
    get(name: string): Promise<Value>;
  }

  const strictOrValue: FunctionDeclaration = {
    ...fn(
      "orValue",
      method("strict_or_value", [DYN, DYN], DYN, (value: Value, other: Value): Value => {
        if (!(value instanceof Optional)) return value;
        return value.value === undefined ? other : value.value;
      }),
    ),
    replaces: true,
  };
  const get: Overload = {
    id: "resource_get",
    member: true,
    params: [RESOURCE, STRING, STRING, STRING, STRING],
    result: mapType(STRING, DYN),
    cost: 10,
    call: async (state, _receiver, _apiVersion, resource, namespace, name) => {
      const found = await (state as Cluster).get([resource, namespace, name].join("/"));
      return found ?? null;
    },
  };
  const environment = createEnvironment({
    flavour: "kubernetes",
    version: "1.36",
    variables: [
      { name: "object", type: DYN },
      { name: "resource", type: RESOURCE },
      { name: "variables", type: objectType("variables") },
    ],
    objectTypes: [{ name: "variables", fields: new Map([["n", INT]]) }],
    functions: [strictOrValue, fn("Get", get), fn("get", { ...get, id: "resource_get_lower" })],
  });
  const object = { a: 1, none: null, items: ["x"] };

  function evaluate(source: string, bindings: Bindings = { object }): unknown {
    const compiled = environment.compile(source);
    if (!compiled.ok) return compiled.issues.map(({ code }) => code).join();
    const result = compiled.program.evaluate(bindings).result as Result;
    return result instanceof CelError ? `E ${result.message}` : result;
  }

  test("replaces orValue by a strict function", () => {
    assert.equal(evaluate("object.?a.orValue(5)"), 1);
    assert.equal(evaluate("object.?zz.orValue(5)"), 5);
    assert.equal(evaluate("object.a.orValue(5)"), 1, "a plain value is itself");
    assert.equal(evaluate("object.none.orValue(5)"), null, "null too");
    assert.equal(evaluate("object.zz.orValue(5)"), "E no such key: zz");
    assert.equal(evaluate("object.?a.orValue(1 / 0)"), "E division by zero", "the argument is always evaluated");
    assert.equal(evaluate("object.?zz.orValue(true) && true"), true, "dyn is fine as a condition");
    const compiled = environment.compile("object.?a.orValue(false)");
    assert.equal(compiled.ok && compiled.program.type.kind, "dyn");
    assert.equal(evaluate("object.?items.orValue([]).exists(i, i == 'x')"), true);
    assert.equal(evaluate("optional.none().or(optional.of(1)).value()"), 1, "or is as it was");
  });

  test("looks things up where it evaluates, each once", async () => {
    const asked: string[] = [];
    const objects: Readonly<Record<string, Value>> = { "configmaps/ns/a": { data: { k: "v" } } };
    const state: Cluster = {
      async get(name) {
        asked.push(name);
        return objects[name] ?? null;
      },
    };
    const source =
      "resource.Get('v1', 'configmaps', 'ns', 'a').data.k == 'v' && dyn(resource.get('v1', 'configmaps', 'ns', 'b')) == null";
    const compiled = environment.compile(source);
    assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
    const { program } = compiled;
    assert.deepEqual([...program.references.functions].sort(), ["Get", "dyn", "get"]);
    const resource = new Resource();
    const { result, cost } = await program.evaluateAsync({ resource }, { state });
    assert.equal(result instanceof CelError ? result.message : result, true);
    assert.ok(cost >= 20);
    assert.deepEqual(asked, ["configmaps/ns/a", "configmaps/ns/b"]);
  });
});

test("values of one's own kind, and maps with keys of any kind", () => {
  const map = new MapValue();
  map.set(1, "one");
  const environment = createEnvironment({
    flavour: "standard",
    variables: [{ name: "m", type: mapType(INT, STRING) }],
  });
  const compiled = environment.compile("m[1] + m[1]");
  assert.ok(compiled.ok);
  assert.equal(compiled.program.evaluate({ m: map }).result, "oneone");
  assert.equal(kindOf(map), "map");
});
