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
  ["set.contains([1], [1])", "sets.contains([1], [1])"],
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
  ["name.string() == name", "string(name) == name"],
  ['"1Gi".quantity().isGreaterThan(quantity("1"))', 'quantity("1Gi").isGreaterThan(quantity("1"))'],
  ['name.toLowerCase() == "a"', 'name.lowerAscii() == "a"'],
  ['name.hasPrefix("a")', 'name.startsWith("a")'],
  ["object.spec.replicas.toString() == name", "string(object.spec.replicas) == name"],
  ['parseInt("1") == 1', 'int("1") == 1'],
  ['object.labels.hasKey("a")', '"a" in object.labels'],
  ["object.containers.isEmpty()", "size(object.containers) == 0"],
  ['sprintf("%s", name) == "a"', '"%s".format([name]) == "a"'],
  ['object.labels.get("a", "b") == "b"', 'object.labels[?"a"].orValue("b") == "b"'],
  ['default(object.spec.x, "b") == "b"', 'object.spec.?x.orValue("b") == "b"'],
  ["exists(object.spec.x)", "has(object.spec.x)"],
  ['regex.match("^a", name)', 'name.matches("^a")'],
  ["typeof(name) == string", "type(name) == string"],
  ["max(1, 2) == 2", "[1, 2].max() == 2"],
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
  ['"a" + 1 == "a1"', '"a" + string(1) == "a1"'],
  ["1 == 1.5", "1.0 == 1.5"],
  ["size(name) == 1.5", "double(size(name)) == 1.5"],
  ["name == 1", "int(name) == 1"],
  ['size(name) == "1"', "size(name) == 1"],
  ['quantity("1") > quantity("2")', 'quantity("1").isGreaterThan(quantity("2"))'],
  ['quantity("1") >= "2"', '!quantity("1").isLessThan(quantity("2"))'],
  ['duration("1h") > "30m"', 'duration("1h") > duration("30m")'],
  ['semver("1.0.0") < semver("2.0.0")', 'semver("1.0.0").isLessThan(semver("2.0.0"))'],
  ['"a" in "abc"', '"abc".contains("a")'],
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
  ['object.a || "x" == "x" && "y"', 'object.a || "x" == "x" && "y" != ""'],
  ["name && true", 'name != "" && true'],
  ["size(name) && true", "size(name) != 0 && true"],
  ["pod.containers && true", "size(pod.containers) > 0 && true"],
  ['(object.a ? "x" : 1) == "x"', '(object.a ? "x" : string(1)) == "x"'],
];

describe("hints", () => {
  for (const [source, mended] of MENDED) {
    test(`${source} → ${mended}`, () => {
      const hint = hintFor(source);
      assert.equal(hint?.fixed, mended, hint?.text);
      const checked = environment.check(mended);
      assert.ok(checked.ok, checked.ok ? "" : checked.text);
      assert.ok((hint?.text ?? "").length > 0);
    });
  }
});
