import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  createEnvironment,
  DYN,
  type Environment,
  type Hint,
  listType,
  NAMESPACE,
  objectType,
  STRING,
} from "../../../src/cel/index.js";

const CONTAINER = "test.Container";
const environment = createEnvironment({
  flavour: "kubernetes",
  objectTypes: [
    ...ADMISSION_TYPES,
    { name: CONTAINER, fields: new Map([["image", STRING]]) },
    { name: "test.Pod", fields: new Map([["containers", listType(objectType(CONTAINER))]]) },
  ],
  variables: [
    { name: "object", type: DYN },
    { name: "oldObject", type: DYN },
    { name: "request", type: ADMISSION_REQUEST },
    { name: "namespaceObject", type: NAMESPACE },
    { name: "pod", type: objectType("test.Pod") },
    { name: "name", type: STRING },
  ],
});

function hintFor(source: string, from: Environment = environment): Hint | undefined {
  const checked = from.check(source);
  assert.ok(!checked.ok, `${source} compiles`);
  return from.hints(source, checked).find((hint) => hint !== undefined);
}

/** What is written, and what a hint makes of it: an expression that compiles. */
const MENDED: readonly (readonly [string, string])[] = [
  // Names that are nearly right.
  ['name.startWith("a")', 'name.startsWith("a")'],
  ['name.startswith("a")', 'name.startsWith("a")'],
  ['name.starts_with("a")', 'name.startsWith("a")'],
  ['name.endWith("a")', 'name.endsWith("a")'],
  ["object.spec.containers.exist(c, c.image == name)", "object.spec.containers.exists(c, c.image == name)"],
  ["objects.spec.replicas > 1", "object.spec.replicas > 1"],
  ["oldobject.spec.replicas > 1", "oldObject.spec.replicas > 1"],
  ['request.opration == "CREATE"', 'request.operation == "CREATE"'],
  ['request.user.username == "x"', 'request.userInfo.username == "x"'],
  ['request.userInfo.user == "x"', 'request.userInfo.username == "x"'],
  ['request.verb == "CREATE"', 'request.operation == "CREATE"'],
  ['pod.containers[0].imgae == "x"', 'pod.containers[0].image == "x"'],
  ['pod.container.all(c, c.image == "x")', 'pod.containers.all(c, c.image == "x")'],
  ["namespaceObject.metadta.name == name", "namespaceObject.metadata.name == name"],
  ["namespaceObject.name == name", "namespaceObject.metadata.name == name"],
  // Functions of other languages.
  ["len(object.spec.containers) > 1", "size(object.spec.containers) > 1"],
  ["object.spec.containers.length() > 1", "size(object.spec.containers) > 1"],
  ["object.spec.containers.len() > 1", "size(object.spec.containers) > 1"],
  ["lenght(object.x) > 1", "size(object.x) > 1"],
  ["pod.containers.length > 1", "pod.containers.size() > 1"],
  ["pod.containers.size > 1", "pod.containers.size() > 1"],
  ['pod.containers.image == "x"', 'pod.containers[0].image == "x"'],
  ['["a"].include(name)', '["a"].includes(name)'],
  ['"abc".include(name)', '"abc".contains(name)'],
  ['["a"].contains(name)', 'name in ["a"]'],
  ["object.containers.some(c, c.privileged)", "object.containers.exists(c, c.privileged)"],
  ["object.containers.any(c, c.privileged)", "object.containers.exists(c, c.privileged)"],
  ["object.containers.every(c, c.ready)", "object.containers.all(c, c.ready)"],
  ["object.containers.some(c => c.privileged)", "object.containers.exists(c, c.privileged)"],
  ["object.containers.every((c) => c.ready)", "object.containers.all(c, c.ready)"],
  ["object.containers.filter(c -> c.ready).size() > 0", "object.containers.filter(c, c.ready).size() > 0"],
  ["exists(object.containers, c, c.privileged)", "object.containers.exists(c, c.privileged)"],
  ['startsWith(name, "a")', 'name.startsWith("a")'],
  ['contains(name, "a")', 'name.contains("a")'],
  ['name.string() == "a"', 'string(name) == "a"'],
  ["set.contains([1], object.a)", "sets.contains([1], object.a)"],
  ["name.quantity().isGreaterThan(quantity(object.a))", "quantity(name).isGreaterThan(quantity(object.a))"],
  ["parseInt(name) == 1", "int(name) == 1"],
  ["max(size(name), 2) == 2", "[size(name), 2].max() == 2"],
  ['name.toLowerCase() == "a"', 'name.lowerAscii() == "a"'],
  ['name.hasPrefix("a")', 'name.startsWith("a")'],
  ["object.spec.replicas.toString() == name", "string(object.spec.replicas) == name"],
  ['object.labels.hasKey("a")', '"a" in object.labels'],
  ["object.containers.isEmpty()", "size(object.containers) == 0"],
  ['sprintf("%s", name) == "a"', '"%s".format([name]) == "a"'],
  ['object.labels.get("a", "b") == "b"', 'object.labels[?"a"].orValue("b") == "b"'],
  ['default(object.spec.x, "b") == "b"', 'object.spec.?x.orValue("b") == "b"'],
  ["exists(object.spec.x)", "has(object.spec.x)"],
  ['regex.match("^a", name)', 'name.matches("^a")'],
  ["typeof(name) == string", "type(name) == string"],
  // Syntax of other languages.
  ["object.a === 1", "object.a == 1"],
  ["object.a !== 1", "object.a != 1"],
  ["object.a <> 1", "object.a != 1"],
  ["object.a = 1", "object.a == 1"],
  ["object.a & object.b", "object.a && object.b"],
  ["object.a | object.b", "object.a || object.b"],
  ["object.a & object.b & object.c", "object.a && object.b && object.c"],
  ["object.a and object.b", "object.a && object.b"],
  ["object.a == 'x' or object.b", "object.a == 'x' || object.b"],
  ["not object.a", "!object.a"],
  ["not object.a == 1 && object.b", "!(object.a == 1) && object.b"],
  ["object.a === 1 and not object.b", "object.a == 1 && !object.b"],
  ["object.a not in ['x']", "!(object.a in ['x'])"],
  ["object.a is not null", "object.a != null"],
  ["object.a != nil", "object.a != null"],
  ["object.a == True", "object.a == true"],
  ["if object.a then true else false", "object.a ? true : false"],
  ["if (object.a) { return true; } else { return false; }", "object.a ? true : false"],
  ["object.a => 1", "object.a >= 1"],
  ["return object.a", "object.a"],
  ["object.a == 1;", "object.a == 1"],
  ["{{ object.a }}", "object.a"],
  ['object.metadata?.name == "x"', 'object.?metadata.name.orValue("") == "x"'],
  ["object.spec?.a?.b", "object.?spec.?a.b.orValue(false)"],
  ["object.spec?.containers.all(c, c.x)", "object.?spec.containers.orValue([]).all(c, c.x)"],
  ['object.a ?? "x" == "x"', 'object.?a.orValue("x") == "x"'],
  ['object.a =~ "^x"', 'object.a.matches("^x")'],
  ["object.a =~ /^x+/", 'object.a.matches(r"^x+")'],
  ["/^x+/.test(object.a)", 'object.a.matches(r"^x+")'],
  ["object.a.match(/^x+/)", 'object.a.matches(r"^x+")'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is the mistake
  ["`a-${object.a}` == name", '"a-" + string(object.a) == name'],
  ["object.a == “x”", 'object.a == "x"'],
  ["(object.a", "(object.a)"],
  ["object.a)", "object.a"],
  ["object.spec.containers.0.image == 'x'", "object.spec.containers[0].image == 'x'"],
  ["object.spec.containers[*].image == 'x'", "object.spec.containers.all(x, x.image == 'x')"],
  ["object.metadata.labels.app-name == 'x'", 'object.metadata.labels["app-name"] == "x"'],
  [
    "object.metadata.labels.app.kubernetes.io/part-of == 'x'",
    'object.metadata.labels["app.kubernetes.io/part-of"] == "x"',
  ],
  // has().
  ["has(object)", "object != null"],
  ['has(object.labels["a"])', '"a" in object.labels'],
  ["has(object.a == 1)", "(has(object.a) && object.a == 1)"],
  ["has(object.?a)", "object.?a.hasValue()"],
  // Names from elsewhere.
  ["input.review.object.spec.x == 1", "object.spec.x == 1"],
  ["input.request.operation == 'CREATE'", 'request.operation == "CREATE"'],
  ["spec.replicas > 1", "object.spec.replicas > 1"],
  ["self.replicas > 1", "object.replicas > 1"],
  ["userInfo.username == 'x'", 'request.userInfo.username == "x"'],
  // Types that do not go together.
  ["size(name) == 1.0", "double(size(name)) == 1.0"],
  ['"a" + size(name) == "a1"', '"a" + string(size(name)) == "a1"'],
  ['quantity(name) > quantity("2")', 'quantity(name).isGreaterThan(quantity("2"))'],
  ['quantity(name) >= "2"', '!quantity(name).isLessThan(quantity("2"))'],
  ['duration(name) > "30m"', 'duration(name) > duration("30m")'],
  ['semver(name) < semver("2.0.0")', 'semver(name).isLessThan(semver("2.0.0"))'],
  ["'a' in name", 'name.contains("a")'],
  ["name == 1", "int(name) == 1"],
  ['size(name) == "1"', "size(name) == 1"],
  ['name.startsWith(["a", "b"])', '["a", "b"].exists(each, name.startsWith(each))'],
  ['!name in ["a"]', '!(name in ["a"])'],
  ['!name == "a"', '!(name == "a")'],
  ['object.?a == "x"', 'object.?a.orValue("") == "x"'],
  ["object.?a > 1", "object.?a.orValue(0) > 1"],
  ["object.?a && true", "object.?a.orValue(false) && true"],
  ["!object.?a", "!object.?a.orValue(false)"],
  ['"a" in object.?labels', '"a" in object.?labels.orValue([])'],
  ["object.?containers.all(c, c.x)", "object.?containers.orValue([]).all(c, c.x)"],
  ["size(object.?containers) > 0", "size(object.?containers.orValue([])) > 0"],
  ["object.a || name && object.b", 'object.a || name != "" && object.b'],
  ["name && true", 'name != "" && true'],
  ["size(name) && true", "size(name) != 0 && true"],
  ["pod.containers && true", "size(pod.containers) > 0 && true"],
  ['(object.a ? "x" : 1) == "x"', '(object.a ? "x" : string(1)) == "x"'],
];

/** What looks at no data: a prompt is told what to write, but no rule. */
const CLOSED: readonly (readonly [string, string])[] = [
  ["set.contains([1], [1])", "sets.contains([1], [1])"],
  ['"1Gi".quantity().isGreaterThan(quantity("1"))', 'quantity("1Gi").isGreaterThan(quantity("1"))'],
  ['parseInt("1") == 1', 'int("1") == 1'],
  ["max(1, 2) == 2", "[1, 2].max() == 2"],
  ['"a" + 1 == "a1"', '"a" + string(1) == "a1"'],
  ["1 == 1.5", "1.0 == 1.5"],
  ['quantity("1") > quantity("2")', 'quantity("1").isGreaterThan(quantity("2"))'],
  ['quantity("1") >= "2"', '!quantity("1").isLessThan(quantity("2"))'],
  ['duration("1h") > "30m"', 'duration("1h") > duration("30m")'],
  ['semver("1.0.0") < semver("2.0.0")', 'semver("1.0.0").isLessThan(semver("2.0.0"))'],
  ['"a" in "abc"', '"abc".contains("a")'],
];

/** A literal is compared with what stands on the left of it. */
const COMPARED: readonly (readonly [string, string])[] = [
  ['object.tier == "gold" || "silver"', 'object.tier == "gold" || object.tier == "silver"'],
  ["object.tier == 'a' || 'b' || 'c'", 'object.tier == "a" || object.tier == "b" || object.tier == "c"'],
  ["object.on && (object.tier == 'a' || 'b')", 'object.on && (object.tier == "a" || object.tier == "b")'],
  ["object.tier == 'a' || 'b' && object.on", 'object.tier == "a" || object.tier == "b" && object.on'],
  ["'a' == object.tier || 'b'", '"a" == object.tier || object.tier == "b"'],
  ["object.tier != 'a' && 'b'", 'object.tier != "a" && object.tier != "b"'],
  ["object.tier != 'a' || 'b'", '!(object.tier in ["a", "b"])'],
  ["name.startsWith('a') || 'b'", 'name.startsWith("a") || name.startsWith("b")'],
  ["!name.endsWith('a') && 'b'", '!name.endsWith("a") && !name.endsWith("b")'],
  ["object.size == 3 || 5", "object.size == 3 || object.size == 5"],
  ["object.tier === 'a' || 'b'", 'object.tier == "a" || object.tier == "b"'],
  ["object.tier == 'a' or 'b'", 'object.tier == "a" || object.tier == "b"'],
];

/** What is not, and must not be lost. */
const NEGATED: readonly (readonly [string, string])[] = [
  ['object.a !~ "^x"', '!object.a.matches("^x")'],
  ["object.a !~ /^x+/", '!object.a.matches(r"^x+")'],
  ["object.a !~ object.b && object.c", "!object.a.matches(object.b) && object.c"],
  ["object.a =! 'x'", "object.a != 'x'"],
  ["!has(object.a['k'])", "!('k' in object.a)"],
  ["!has(object)", "!(object != null)"],
  ["false == has(object.a['k'])", "false == ('k' in object.a)"],
  ["object.a not in ['x'] && not object.b", "!(object.a in ['x']) && !object.b"],
];

/** No hint: all that could be proposed is always the same, or never works. */
const NOTHING: readonly string[] = [
  'size(object.a) == "many"',
  'size(object.a) == "many" || object.b',
  'request.dryRun == "no"',
  "object.tier == 'a' && 'b'",
  "object.a && (object.b || 'x' == 1)",
  "name.string() == name",
  "max(1, 2) == 2",
];

describe("hints", () => {
  for (const [source, mended] of MENDED) {
    test(`${source} → ${mended}`, () => {
      const hint = hintFor(source);
      assert.equal(hint?.fixed, mended, hint?.text);
      const checked = environment.check(mended);
      assert.ok(checked.ok, checked.ok ? "" : checked.text);
      assert.ok((hint?.text ?? "").length > 0);
      assert.ok(environment.varies(mended));
    });
  }

  for (const [source, mended] of [...COMPARED, ...NEGATED]) {
    test(`${source} → ${mended}`, () => {
      const { fixed, text = "" } = hintFor(source) ?? {};
      assert.equal(fixed, mended);
      if (mended.includes("!") && !source.includes("has(")) assert.match(text, /!/, "the text says so, too");
    });
  }

  for (const source of NOTHING) {
    test(`${source} has none`, () => {
      assert.equal(hintFor(source), undefined);
    });
  }

  for (const [source, mended] of CLOSED) {
    test(`${source} → ${mended}, at a prompt alone`, () => {
      const checked = environment.check(source);
      assert.ok(!checked.ok);
      assert.equal(
        environment.hints(source, checked).find((hint) => hint?.fixed !== undefined),
        undefined,
      );
      assert.equal(environment.hints(source, checked, undefined, true).find(Boolean)?.fixed, mended);
    });
  }

  test("at a prompt, too, are only such as work", () => {
    for (const source of ['1 == "many"', 'true == "no"', '"q" == duration("1h")']) {
      const checked = environment.check(source);
      assert.ok(!checked.ok);
      assert.equal(environment.hints(source, checked, undefined, true).find(Boolean), undefined, source);
    }
  });

  test("are looked for in bounded time, however long or costly the expression is", () => {
    const many = (part: string, count: number, by: string): string =>
      Array.from({ length: count }, (_, i) => part.replaceAll("#", String(i))).join(by);
    for (const source of [
      `object.kind == 'a' || ${many("'w#'", 400, " || ")}`,
      many("lists.range(90000).all(x, x >= 0) && objekt.a#", 90, " && "),
      many("size(object.a#) == 'many'", 150, " || "),
      "lists.range(1000000).map(x, x).size() > object.a && objekt.b",
    ]) {
      const checked = environment.check(source);
      assert.ok(!checked.ok);
      const start = process.cpuUsage();
      environment.hints(source, checked);
      const { user, system } = process.cpuUsage(start);
      assert.ok((user + system) / 1_000 < 250, `${(user + system) / 1_000} ms: ${source.slice(0, 60)}`);
    }
  });

  test("mend the whole expression where all of its mistakes have one, else they only say what to write", () => {
    assert.equal(hintFor("objekt.a.startWith('x') && objekt.b")?.fixed, 'object.a.startsWith("x") && object.b');
    const { text, fixed } = hintFor("objekt.a.startWith('x') && wobble(object)") ?? {};
    assert.deepEqual([text, fixed], ["write object", undefined]);
  });
});
