import assert from "node:assert/strict";
import { test } from "node:test";
import { primary } from "../../../../../src/kinds/kyverno/convert/cel-text.js";
import { withContext } from "../../../../../src/kinds/kyverno/convert/context/context.js";
import { template } from "../../../../../src/kinds/kyverno/convert/jmespath/template.js";
import { NotConverted, placed } from "../../../../../src/kinds/kyverno/convert/not-converted.js";
import type { Scope } from "../../../../../src/kinds/kyverno/convert/scope.js";
import { refusal, resultOf, scopeOf, written } from "../converted.js";

/** Converts a text in the scope of a context. */
const used =
  (entries: readonly unknown[], text: string) =>
  (scope: Scope): ReturnType<typeof template> =>
    template(text, withContext(entries, scope));

const variable = (name: string, body: unknown): unknown => ({ name, variable: body });
const call = (name: string, urlPath: string, jmesPath?: string): unknown => ({
  name,
  apiCall: { urlPath, ...(jmesPath !== undefined && { jmesPath }) },
});

test("each entry becomes a variable where it is first used, and keeps its name", () => {
  const entries = [
    variable("unused", { jmesPath: "request.roles" }),
    variable("spec", { jmesPath: "request.object.spec" }),
    variable("owner", { value: "{{ request.object.metadata.namespace }}-owner" }),
    variable("limit", { value: 3 }),
    variable("names", { jmesPath: "spec.l[].n" }),
    variable("long", { value: ["alpha", "beta", "gamma", "delta", "epsilon"] }),
    variable("map", { value: { data: { a: "x" } } }),
    variable("second", { value: { a: ["x", "y"] }, jmesPath: "a[1]" }),
  ];
  const cases: readonly (readonly [string, ...string[]])[] = [
    ["{{ owner }}", "variables.owner", 'owner = object.metadata.namespace + "-owner"'],
    ["{{ spec.a.b }}", "variables.spec.a.b", "spec = object.spec"],
    ["{{ limit }}", "3"],
    [
      "{{ names }} and {{ names }}",
      'json.marshal(variables.names) + " and " + json.marshal(variables.names)',
      "spec = object.spec",
      "names = (variables.spec.l + dyn([])).map(e, has(e.n), e.n)",
    ],
    [
      "{{ long[?@ == 'beta'] }}",
      'variables.long.filter(e, e == "beta")',
      'long = ["alpha", "beta", "gamma", "delta", "epsilon"]',
    ],
    ["{{ second }}", '"y"'],
    ['{{ map.data."{{ request.namespace }}" }}', 'dyn({"a": "x"})[request.namespace]'],
  ];
  for (const [text, ...wanted] of cases) assert.deepEqual(written(used(entries, text)), wanted, text);
  assert.match(refusal(used(entries, "{{ unused }}")), /request.roles is not converted/);
});

test("match conditions repeat entries, as they see no variables", () => {
  const entries = [variable("spec", { jmesPath: "request.object.spec" })];
  assert.deepEqual(written(used(entries, "{{ spec.a }}"), { inline: true }), ["object.spec.a"]);
});

test("an entry that looks at the element of a loop stands inside of the loop", () => {
  const names = new Map([
    ["element", { cel: primary("element"), type: "dyn", nullable: false, fails: false } as const],
  ]);
  const entries = [
    variable("image", { jmesPath: "element.image" }),
    variable("kind", { jmesPath: "request.object.kind" }),
  ];
  assert.deepEqual(written(used(entries, "{{ image }} {{ kind }}"), { names, depth: 1 }), [
    'string(element.image) + " " + variables.kind',
    "kind = object.kind",
  ]);
});

test("a default stands for null and for what is missing, not for an empty text", () => {
  const of = (jmesPath: string, otherwise: unknown): ReturnType<typeof used> =>
    used([variable("v", { jmesPath, default: otherwise })], "{{ v }}");
  const none = of("request.object.spec.t", "none");
  assert.deepEqual(written(none), ["variables.v", 'v = object.?spec.t.orValue(null) == null ? "none" : object.spec.t']);
  for (const [spec, wanted] of [
    [{ t: "x" }, "x"],
    [{ t: "" }, ""],
    [{ t: null }, "none"],
    [{}, "none"],
  ] as const)
    assert.equal(resultOf(none, { spec }), wanted);
  const label = of("request.object.metadata.labels.a", "none");
  assert.deepEqual(written(label), ["variables.v", 'v = object.metadata.?labels.a.orValue("none")']);
  const list = of("request.object.spec.l[].n", []);
  assert.deepEqual(written(list), ["variables.v", "v = object.?spec.l.orValue([]).map(e, has(e.n), e.n)"]);
  assert.deepEqual(resultOf(of("request.object.spec.l[].n", "none"), { spec: { l: "x" } }), "none");
});

test("a variable that is null is an error where it is used", () => {
  const names = used([variable("v", { jmesPath: "request.object.spec.l[].n" })], "{{ v || 'none' }}");
  assert.deepEqual(resultOf(names, { spec: { l: [{ n: 1 }] } }), [1]);
  assert.equal(resultOf(names, { spec: {} }), "error");
  const either = used(
    [variable("v", { jmesPath: "request.object.spec.a || request.object.spec.b" })],
    "{{ v || 'none' }}",
  );
  assert.equal(resultOf(either, { spec: { b: 1 } }), 1);
  assert.equal(resultOf(either, { spec: {} }), "error");
});

test("ConfigMaps, objects and lists are looked up", () => {
  const entries = [
    { name: "dictionary", configMap: { name: "allowed", namespace: "{{ request.namespace }}" } },
    { name: "shared", configMap: { name: "shared" } },
    call("hosts", "/apis/networking.k8s.io/v1/ingresses", "items[].spec.rules[].host"),
    call(
      "others",
      "/api/v1/namespaces/{{ request.namespace }}/pods?labelSelector=app%3D{{ request.object.metadata.labels.app }}",
      "items[].metadata.name",
    ),
    call(
      "parent",
      "/apis/apps/v1/namespaces/{{ request.namespace }}/deployments?fieldSelector=metadata.name={{ request.name }}",
      "items[0]",
    ),
    call("exec", "/api/v1/namespaces/{{ request.namespace }}", "metadata.labels.exec || ''"),
    call(
      "images",
      "/apis/apps/v1/namespaces/staging/deployments/{{ request.name }}",
      "spec.template.spec.containers[].image || `[]`",
    ),
    call("log", "/api/v1/namespaces/a/pods/x/log"),
    call("count", "/api/v1/pods", "items[?spec.nodeName == 'a'].metadata.name"),
  ];
  const cases: readonly (readonly [string, ...string[]])[] = [
    [
      "{{ dictionary.data.roles }}",
      "variables.dictionary.data.roles",
      'dictionary = resource.Get("v1", "configmaps", request.namespace, "allowed")',
    ],
    [
      "{{ shared.data.\"a.b\" || 'none' }}",
      'variables.shared.data[?"a.b"].orValue("") == "" ? "none" : variables.shared.data["a.b"]',
      'shared = resource.Get("v1", "configmaps", "default", "shared")',
    ],
    [
      "{{ hosts }}",
      "variables.hosts",
      'hosts = dyn(resource.List("networking.k8s.io/v1", "ingresses", "").items.orValue([]).map(e, e.?spec.rules.hasValue(), e.spec.rules).flatten()).map(e, has(e.host), e.host)',
    ],
    [
      "{{ others }}",
      "variables.others",
      'others = resource.List("v1", "pods", request.namespace, {"app": object.metadata.labels.app}).items.orValue([]).map(e, e.metadata.name)',
    ],
    [
      "{{ parent }}",
      "variables.parent",
      'parent = resource.List("apps/v1", "deployments", request.namespace).items.orValue([]).filter(o, o.metadata.name == request.name)[?0].orValue(null)',
    ],
    [
      "{{ exec }}",
      "variables.exec",
      'exec = resource.Get("v1", "namespaces", "", request.namespace).metadata.?labels.exec.orValue("")',
    ],
    [
      "{{ images }}",
      "variables.images",
      'images = (resource.Get("apps/v1", "deployments", "staging", request.name).spec.?template.spec.containers.orValue([]) + dyn([])).map(e, has(e.image), e.image)',
    ],
    ["{{ log }}", "[dyn(variables.log)].filter(o, o != null)[0]", 'log = resource.Get("v1", "pods/log", "a", "x")'],
    [
      "{{ count }}",
      "variables.count",
      'count = resource.List("v1", "pods", "").items.orValue([]).map(e, e.?spec.nodeName.orValue("") == "a", e.metadata.name)',
    ],
  ];
  for (const [text, ...wanted] of cases) assert.deepEqual(written(used(entries, text)), wanted, text);
});

test("an object that is not there is an error, and so are its members in every expression", () => {
  // The world of these tests has no objects.
  const entries = [call("exec", "/api/v1/namespaces/x", "metadata.labels.exec || ''")];
  assert.deepEqual(written(used(entries, "{{ exec }}"), { inline: true }), [
    'resource.Get("v1", "namespaces", "", "x").metadata.?labels.exec.orValue("")',
  ]);
  const withDefault = [
    { name: "exec", apiCall: { urlPath: "/api/v1/namespaces/x", jmesPath: "metadata.name", default: "none" } },
  ];
  assert.deepEqual(written(used(withDefault, "{{ exec }}")), [
    "variables.exec",
    'execSource = resource.Get("v1", "namespaces", "", "x")',
    'exec = dyn(variables.execSource) == null ? dyn("none") : dyn(variables.execSource.metadata.name)',
  ]);
});

test("services are called, and reviews are posted", () => {
  const entries = [
    { name: "a", apiCall: { service: { url: "https://svc.ns/x" }, jmesPath: "allowed" } },
    {
      name: "b",
      apiCall: {
        method: "POST",
        service: {
          url: "https://svc.ns/{{ request.namespace }}",
          caBundle: "PEM",
          headers: [{ key: "X", value: "{{ request.name }}" }],
        },
        data: [{ key: "o", value: "{{ request.object.spec }}" }],
        jmesPath: "[0].cost",
      },
    },
    {
      name: "c",
      apiCall: {
        method: "POST",
        urlPath: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        data: [{ key: "kind", value: "SubjectAccessReview" }],
      },
    },
    { name: "d", globalReference: { name: "entry.part", jmesPath: "[].metadata.name" } },
  ];
  const cases: readonly (readonly [string, ...string[]])[] = [
    ["{{ a }}", "variables.a", 'a = [http.Get("https://svc.ns/x")].filter(r, r.statusCode < 300)[0].allowed'],
    [
      "{{ b }}",
      "variables.b",
      'b = [http.Client("PEM").Post("https://svc.ns/" + request.namespace, {"o": dyn(object.spec)}, {"X": request.name})].filter(r, r.statusCode < 300)[0].body[?0].optMap(e, e.cost).orValue(null)',
    ],
    [
      "{{ c.status.allowed }}",
      "variables.c.status.allowed",
      'c = resource.Post("authorization.k8s.io/v1", "subjectaccessreviews", "", {"kind": dyn("SubjectAccessReview")})',
    ],
    [
      "{{ d }}",
      "variables.d",
      'd = globalContext.Get("entry", "part").map(e, e.?metadata.name.hasValue(), e.metadata.name)',
    ],
  ];
  for (const [text, ...wanted] of cases) assert.deepEqual(written(used(entries, text)), wanted, text);
});

test("a Policy looks up its own namespace, without naming it", () => {
  const entries = [
    { name: "own", configMap: { name: "x", namespace: "team" } },
    { name: "none", configMap: { name: "x" } },
    { name: "other", configMap: { name: "x", namespace: "other" } },
    call("pods", "/api/v1/namespaces/{{ request.namespace }}/pods", "items"),
    call("all", "/api/v1/pods"),
    { name: "global", globalReference: { name: "x" } },
    { name: "service", apiCall: { service: { url: "https://x" } } },
  ];
  const scope = { namespace: "team" };
  assert.deepEqual(written(used(entries, "{{ own }}"), scope), [
    "[dyn(variables.own)].filter(o, o != null)[0]",
    'own = resource.Get("v1", "configmaps", "x")',
  ]);
  assert.deepEqual(written(used(entries, "{{ none }}"), scope), [
    "[dyn(variables.none)].filter(o, o != null)[0]",
    'none = resource.Get("v1", "configmaps", "x")',
  ]);
  assert.deepEqual(written(used(entries, "{{ pods }}"), scope), [
    "variables.pods",
    'pods = resource.List("v1", "pods").items.orValue([])',
  ]);
  for (const name of ["other", "all", "global", "service"])
    assert.match(refusal(used(entries, `{{ ${name} }}`), scope), /ClusterPolic/, name);
});

test("what has no counterpart is told with its place", () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [variable("x", { value: "a", default: "b" }), /Kyverno refuses a default without jmesPath/],
    [{ name: "x", imageRegistry: { reference: "a" } }, /data of images is not converted: write image.GetMetadata/],
    [call("x", "/version", "minor"), /the path "\/version" is not that of objects/],
    [call("x", "/api/v1/pods?limit=5"), /"limit=5" is not converted/],
    [call("x", "/api/v1/pods?labelSelector=a!=b"), /is not converted: labels that equal something/],
    [variable("x", {}), /"" is not a query/],
    [{ name: "x" }, /an entry of variable, configMap, apiCall or globalReference is converted/],
  ];
  for (const [entry, wanted] of cases) assert.match(refusal(used([entry], "{{ x }}")), wanted);
});

test("the place of a reason is the entry's, wherever it is used", () => {
  const entries = [call("x", "/version"), variable("y", { value: "{{ x }}" })];
  const place = (depth: number): readonly unknown[] => {
    try {
      placed(["validate", "deny"], () => used(entries, "{{ y }}")(scopeOf({ depth })));
    } catch (error) {
      if (error instanceof NotConverted) return error.path;
    }
    return [];
  };
  assert.deepEqual(place(0), ["context", 0, "apiCall", "urlPath"]);
});
