import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { unchecked } from "../../../src/cel/checker/unchecked.js";
import { Emitter } from "../../../src/cel/compiler/emitter.js";
import { MAX_PARTS, measured } from "../../../src/cel/compiler/plan-size.js";
import { Planner } from "../../../src/cel/compiler/planner.js";
import { createEnvironment, type Environment } from "../../../src/cel/index.js";
import { parserOptions } from "../../../src/cel/macros/macro-sets.js";
import { parse } from "../../../src/cel/parser/index.js";
import { DYN } from "../../../src/cel/types.js";
import { vectorDeclarations } from "../support/vectors.js";

const nested =
  (wrap: (inner: string) => string, innermost: string) =>
  (depth: number): string => {
    let text = innermost;
    for (let level = 0; level < depth; level += 1) text = wrap(text);
    return text;
  };

/** Every operator and macro inside of itself, in each place where an expression may stand. */
const FAMILIES: Readonly<Record<string, (depth: number) => string>> = {
  "key, no": nested((e) => `a[c ? 'x' : ${e}]`, "'z'"),
  "key, yes": nested((e) => `a[c ? ${e} : 'x']`, "'z'"),
  "key of a conditional": nested((e) => `(c ? a : b)[${e}]`, "'z'"),
  "key of a conditional, conditional": nested((e) => `(c ? a : b)[d ? ${e} : 'q']`, "'z'"),
  "optional key of a conditional": nested((e) => `(c ? a : b)[?${e}].orValue('x')`, "'z'"),
  "field of a conditional": nested((e) => `(c ? ${e} : b).f`, "a"),
  "fields of both branches": nested((e) => `(c ? ${e} : b.g).f[d ? 'x' : 'y']`, "a"),
  "optional field of a conditional": nested((e) => `(c ? ${e} : b).?f.orValue(a)`, "a"),
  "presence in a conditional": nested((e) => `(c ? a : b)[string(has((d ? a : b)[${e}].f))]`, "'z'"),
  "conditional, condition": nested((e) => `(${e} ? c : d)`, "c"),
  "conditional of conditionals": nested((e) => `(c ? (d ? ${e} : b) : a).f`, "a"),
  key: nested((e) => `a[${e}]`, "s"),
  "optional key": nested((e) => `a[?${e}].orValue(s)`, "s"),
  "+ left": nested((e) => `(${e} + s)`, "s"),
  "+ right": nested((e) => `(s + ${e})`, "s"),
  "*": nested((e) => `(${e} * i)`, "i"),
  "-": nested((e) => `(i - ${e})`, "i"),
  "/": nested((e) => `(i / ${e})`, "i"),
  "%": nested((e) => `(${e} % i)`, "i"),
  negation: nested((e) => `-(${e})`, "i"),
  "!": nested((e) => `!(${e})`, "c"),
  "==": nested((e) => `(${e} == c)`, "c"),
  "!=": nested((e) => `(c != ${e})`, "c"),
  "<": nested((e) => `((${e}) < c)`, "c"),
  "&& and ||": nested((e) => `(c && (d || ${e}))`, "c"),
  "in a list": nested((e) => `(${e} in [c, d])`, "c"),
  "in constants": nested((e) => `(${e} in [true, false])`, "c"),
  "in a map": nested((e) => `(${e} in m)`, "c"),
  list: nested((e) => `[${e}]`, "c"),
  "optional element": nested((e) => `[?optional.of(${e})]`, "c"),
  map: nested((e) => `{'a': ${e}}`, "c"),
  "map key": nested((e) => `{string(${e}): 1}`, "c"),
  message: nested((e) => `google.protobuf.BoolValue{value: ${e}}`, "c"),
  "all, range": nested((e) => `[${e}].all(x, x)`, "c"),
  "all, predicate": nested((e) => `[c].all(x, ${e})`, "c"),
  exists: nested((e) => `[c].exists(x, ${e})`, "c"),
  exists_one: nested((e) => `[c].exists_one(x, ${e})`, "c"),
  filter: nested((e) => `${e}.filter(x, x)`, "[c]"),
  "map, range": nested((e) => `${e}.map(x, x)`, "[c]"),
  "map, transform": nested((e) => `[c].map(x, x, ${e})`, "c"),
  "two-variable all": nested((e) => `[c].all(j, x, ${e})`, "c"),
  transformList: nested((e) => `${e}.transformList(j, x, x)`, "[c]"),
  transformMap: nested((e) => `${e}.transformMap(j, x, x)`, "m"),
  transformMapEntry: nested((e) => `${e}.transformMapEntry(j, x, {j: x})`, "m"),
  sortBy: nested((e) => `${e}.sortBy(x, x)`, "[s]"),
  "optMap, transform": nested((e) => `optional.of(c).optMap(x, ${e})`, "c"),
  "optFlatMap, transform": nested((e) => `optional.of(c).optFlatMap(x, ${e})`, "m.?f"),
  "cel.bind, value": nested((e) => `cel.bind(x, ${e}, c ? x : x && d)`, "c"),
  "cel.bind, body": nested((e) => `cel.bind(x, d, ${e} && x)`, "c"),
  "cel.block": nested((e) => `cel.block([${e}], c ? cel.index(0) : cel.index(0))`, "c"),
  "orValue, left": nested((e) => `${e}.?f.orValue(a)`, "a"),
  "orValue, right": nested((e) => `a.?f.orValue(${e})`, "a"),
  "or, left": nested((e) => `${e}.or(a.?f)`, "a.?f"),
  "or, right": nested((e) => `a.?f.or(${e})`, "a.?f"),
  "call of one": nested((e) => `string(size(${e}))`, "s"),
  "call of two": nested((e) => `string(s.startsWith(${e}))`, "s"),
  "call, target": nested((e) => `string(${e}.contains(s))`, "s"),
  "call of three": nested((e) => `s.replace(${e}, s)`, "s"),
  pattern: nested((e) => `string(${e}.matches('a.b'))`, "s"),
  format: nested((e) => `'%s'.format([${e}])`, "s"),
  "math.greatest": nested((e) => `math.greatest(${e}, i)`, "i"),
};

const FORMS = [
  { counting: true, exact: false, trace: false, pauses: false },
  { counting: true, exact: true, trace: false, pauses: false },
  { counting: true, exact: false, trace: true, pauses: false },
  { counting: false, exact: false, trace: false, pauses: false },
  { counting: true, exact: true, trace: false, pauses: true },
] as const;

const declarations = { ...vectorDeclarations(), flavour: "standard", marksLists: false } as const;
const parsing = parserOptions("standard", declarations.version);

/** Characters of the function that an expression is compiled to. */
function codeLength(source: string, form: (typeof FORMS)[number]): number {
  const parsed = parse(source, parsing);
  assert.ok(parsed.ok, source);
  const emitter = new Emitter({ ...form, flavour: "standard", behaviour: "1.37", marksLists: false });
  const plan = new Planner(unchecked(parsed.parsed, declarations), declarations).run();
  if (form.pauses) emitter.buildGenerator(plan);
  else emitter.build(plan);
  return emitter.code.length;
}

describe("generated code grows with the expression, and no faster", () => {
  for (const [name, family] of Object.entries(FAMILIES)) {
    test(name, () => {
      for (const form of FORMS) {
        const [first, second, third] = [8, 16, 24].map((depth) => codeLength(family(depth), form)) as [
          number,
          number,
          number,
        ];
        // Names of temporaries get longer as they get more: hence a margin.
        assert.ok(third - second <= 1.25 * (second - first), `${first}, ${second}, ${third} characters`);
      }
    });
  }
});

describe("what one expression may be compiled to is limited", () => {
  const variables = ["a", "b", "c"].map((name) => ({ name, type: DYN }));
  const kubernetes = createEnvironment({ flavour: "kubernetes", variables });
  const standard = createEnvironment({ flavour: "standard", variables });
  const refused = (source: string, environment: Environment = kubernetes): string => {
    const compiled = environment.compile(source);
    assert.ok(!compiled.ok, "compiled");
    return compiled.text;
  };

  test("by its parts, where it says what to do", () => {
    const text = refused(`[${Array(MAX_PARTS).fill("a").join(",")}]`);
    assert.match(text, /^the expression is too large: 10001 parts after macros, at most 10000 .* divide it/);
    const below = kubernetes.compile(
      `[${Array(MAX_PARTS - 1)
        .fill("a")
        .join(",")}]`,
    );
    assert.ok(below.ok);
    assert.equal((below.program.evaluate({ a: 1 }).result as unknown[]).length, MAX_PARTS - 1);
  });

  test("a constant is one part however large it is", () => {
    assert.ok(kubernetes.compile(`a in [${Array(40_000).fill("1").join(",")}]`).ok);
    assert.equal(measured({ kind: "const", id: 1, value: [1, 2, 3] }), 1);
  });

  test("a chain of optMap ends where its copies are too many", () => {
    const chain = (length: number): string => `optional.of(a)${".optMap(x, x)".repeat(length)}`;
    assert.ok(kubernetes.compile(chain(8)).ok);
    assert.match(refused(chain(40)), /optMap\(\) makes the expression larger than 20000 nodes/);
  });

  test("a block of cel.block holds no more values than parts may nest", () => {
    assert.ok(standard.compile(`cel.block([${"1,".repeat(250)}], cel.index(0))`).ok);
    assert.match(refused(`cel.block([${"a,".repeat(20_000)}], cel.index(0))`, standard), /at most 250 values/);
  });
});
