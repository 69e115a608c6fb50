import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { builtinNamespaced, pluralOf } from "../../src/kubernetes/builtin-kinds.js";
import { goQuote } from "../../src/kubernetes/field-error.js";
import { formatFieldSelector, parseFieldSelector } from "../../src/kubernetes/field-selector.js";
import { formatLabelSelector, parseLabelSelector } from "../../src/kubernetes/label-selector-text.js";
import { apiVersionOf, compareNames, type GroupVersionResource, parseApiVersion } from "../../src/kubernetes/names.js";
import { canonicalQuantity } from "../../src/kubernetes/quantity.js";
import { SomeEquivalents } from "../../src/kubernetes/shared-storage.js";
import { asStored, FileResources } from "../../src/world/resources/file-resources.js";
import { LookupFailure } from "../../src/world/resources/resource-source.js";

/** The API versions of a resource's storage; undefined when they are not known. */
function versionsOf(files: FileResources, resource: GroupVersionResource, subresource = ""): string[] | undefined {
  const found = files.equivalents(resource, subresource);
  assert.ok(!(found instanceof LookupFailure || found instanceof Promise));
  const known = found instanceof SomeEquivalents ? found.resources : found;
  return known?.map((each) => apiVersionOf(each.resource));
}

describe("quantities in canonical form", () => {
  for (const [written, canonical] of [
    ["1000m", "1"],
    ["1.5", "1500m"],
    ["1.5Gi", "1536Mi"],
    ["1024Ki", "1Mi"],
    ["512", "512"],
    ["0.1m", "100u"],
    ["1e3", "1e3"],
    ["1500e3", "1500e3"],
    ["0", "0"],
    ["-2000m", "-2"],
    ["0.5Ki", "512"],
    ["1000k", "1M"],
    ["100Gi", "100Gi"],
    ["no quantity", "no quantity"],
    // Of 10^21 and above, exponents go on in steps of three; there is no suffix for them, and the server writes none.
    ["1000e18", "1e21"],
    ["-1000e18", "-1e21"],
    ["1e22", "10e21"],
    ["1e100000", "10e99999"],
    ["0.5e25", "5e24"],
    ["123456789012345678901e2000", "12345678901234567890100e1998"],
    ["2000E", "2"],
    ["-2000E", "-2"],
    ["-2000.5E", "-2000500P"],
    ["1000000000000000000000", "1"],
    ["1500000000000000000000", "1500E"],
    ["2000000Ei", "9223372036854775807"],
    ["1.23e19", "12300e15"],
    ["1e-1000", "1e-9"],
    ["0e2000", "0"],
  ] as const) {
    test(`${written} is ${canonical}`, () => assert.equal(canonicalQuantity(written), canonical));
  }
});

describe("selectors as text", () => {
  for (const [written, said] of [
    ["a=b,c in (y,x)", "a=b, c in (x,y)"],
    ["b,!a", "!a, b"],
    ["x>5", "x>5"],
    ["a in ()", "a in ()"],
    ["", ""],
    ["a in", "unable to parse requirement: found '' expected: '('"],
    ["(", "found '(', expected: !, identifier, or 'end of string'"],
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a,", "found '', expected: identifier after ','"],
  ] as const) {
    test(`labels: ${written}`, () => {
      const parsed = parseLabelSelector(written);
      assert.equal("error" in parsed ? parsed.error : formatLabelSelector(parsed), said);
    });
  }
  for (const [written, said] of [
    ["b=1,a!=2", "a!=2,b=1"],
    ["a=b\\,c", "a=b,c"],
    ["x", "invalid selector: 'x'; can't understand 'x'"],
    ["a=\\x", "invalid field selector: invalid escape sequence: \\x"],
    ["a=b=c", "invalid field selector: unescaped character in value: 61"],
  ] as const) {
    test(`fields: ${written}`, () => {
      const parsed = parseFieldSelector(written);
      assert.equal("error" in parsed ? parsed.error : formatFieldSelector(parsed), said);
    });
  }
});

test("text is quoted as Go quotes it", () => {
  assert.equal(
    goQuote('a"b\\c\n\t\u0001\u007f é 過 \u200b\u{1f600}'),
    '"a\\"b\\\\c\\n\\t\\x01\\x7f é 過 \\u200b\u{1f600}"',
  );
});

test("names compare by bytes, API versions have at most one slash", () => {
  assert.deepEqual(["\u{1f600}", "ﬀ", "b", "B"].sort(compareNames), ["B", "b", "ﬀ", "\u{1f600}"]);
  const units = ["", "a", "b", "\u00e9", "\ud7ff", "\ue000", "\uffff", "\ud83d", "\ude00", "\u{1f600}", "\u{10ffff}"];
  const names = units.flatMap((first) => units.flatMap((second) => units.map((third) => first + second + third)));
  for (const [i, a] of names.entries()) {
    const b = names[(i * 7919 + 13) % names.length] ?? "";
    const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.equal(Math.sign(compareNames(a, b)), bytes, JSON.stringify([a, b]));
  }
  assert.deepEqual(parseApiVersion("apps/v1"), { group: "apps", version: "v1" });
  assert.equal(parseApiVersion("a/b/c"), undefined);
});

test("built-in kinds", () => {
  assert.equal(builtinNamespaced({ group: "", version: "v1", kind: "Pod" }), true);
  assert.equal(builtinNamespaced({ group: "", version: "v1", kind: "Node" }), false);
  assert.equal(builtinNamespaced({ group: "", version: "v2", kind: "Pod" }), undefined);
  assert.deepEqual(["Ingress", "NetworkPolicy", "Endpoints", "Pod"].map(pluralOf), [
    "ingresses",
    "networkpolicies",
    "endpoints",
    "pods",
  ]);
});

describe("resources from files", () => {
  const map = (name: string, namespace: string): { readonly [key: string]: unknown } => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace, labels: {} },
    data: {},
    other: 1,
  });
  const KIND = { group: "", version: "v1", kind: "ConfigMap" };
  const files = new FileResources([map("b", "x"), map("a", "x"), map("a", "w")]);

  test("are found by name, listed in order, and shaped as a cluster shows them", () => {
    assert.deepEqual(files.get(KIND, "x", "a"), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "x" },
    });
    assert.equal(files.get(KIND, "y", "a"), undefined);
    const listed = files.list(KIND, "") as readonly { metadata: { name: string; namespace: string } }[];
    assert.deepEqual(
      listed.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
      ["w/a", "x/a", "x/b"],
    );
  });

  test("secrets are encoded, typed objects keep empty sections", () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: {}, stringData: { a: "é" }, data: { b: "Yg==" } };
    assert.deepEqual(asStored(secret), {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {},
      data: { b: "Yg==", a: "w6k=" },
    });
    assert.deepEqual(asStored({ apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } }), {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "n" },
      spec: {},
      status: {},
    });
    const custom = { apiVersion: "acme.example/v1", kind: "X", data: {}, n: null };
    assert.equal(asStored(custom), custom);
  });

  test("that no cluster would hold are failures, not absent", () => {
    const misfit = { ...map("c", "x"), data: { n: 3 } };
    const all = new FileResources([map("a", "x"), misfit, map("a", "w")]);
    const failure = all.get(KIND, "x", "c");
    assert.ok(failure instanceof LookupFailure);
    assert.equal(
      failure.message,
      "ConfigMap 'x/c' does not fit its type: json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    );
    assert.equal(all.list(KIND, ""), failure);
    assert.equal(all.list(KIND, "x"), failure);
    assert.equal((all.list(KIND, "w") as readonly unknown[]).length, 1);
    const labels = { apiVersion: "v1", kind: "Namespace", metadata: { name: "n", labels: { a: true } } };
    assert.ok(new FileResources([labels], { synthesiseNamespaces: true }).namespace("n") instanceof LookupFailure);
  });

  test("whose name or namespace is no text may be any that is looked for: none of them is absent", () => {
    const LIMIT = { group: "acme.example", version: "v1", kind: "Limit" };
    const wrong = [
      { name: 1234, namespace: "x" },
      { name: "a", namespace: 1234 },
      { name: true, namespace: "x" },
      { name: ["a"], namespace: "x" },
    ];
    for (const metadata of [...wrong, 5, [wrong[0]]]) {
      for (const kind of [KIND, LIMIT]) {
        const misnamed = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
        const lookup = new FileResources([misnamed, map("b", "x")], { guessScope: true });
        assert.ok(lookup.get(kind, "x", "1234") instanceof LookupFailure, JSON.stringify(metadata));
        assert.ok(lookup.get(kind, "1234", "a") instanceof LookupFailure);
        assert.ok(lookup.list(kind, "1234") instanceof LookupFailure);
        assert.ok(lookup.list(kind, "") instanceof LookupFailure);
      }
    }
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: 1234, labels: { env: "prod" } } };
    assert.ok(
      new FileResources([namespace], { synthesiseNamespaces: true }).namespace("1234") instanceof LookupFailure,
    );
    const lookup = new FileResources([{ ...namespace, kind: "Node" }, map("b", "x")]);
    assert.equal(lookup.get(KIND, "x", "a"), undefined);
    assert.ok(!(lookup.get(KIND, "x", "b") instanceof LookupFailure));
  });

  test("of a kind that is not built in have metadata like any", () => {
    const limit = (metadata: object) => ({ apiVersion: "acme.example/v1", kind: "Limit", metadata });
    const stored = asStored(limit({ name: "l", namespace: "n", labels: { a: 5 } }));
    assert.ok(stored instanceof LookupFailure);
    assert.match(stored.message, /^Limit 'n\/l' does not fit its type: json: cannot unmarshal number into /);
    const good = limit({ name: "l", creationTimestamp: null, labels: null, other: 5 });
    assert.equal(asStored(good), good);
  });

  test("Namespaces may be made up, kinds guessed", () => {
    assert.equal(files.namespace("n"), undefined);
    assert.ok(files.namespace("") instanceof LookupFailure);
    const lenient = new FileResources(
      [{ apiVersion: "acme.example/v1", kind: "Limit", metadata: { name: "l", namespace: "n" } }],
      {
        guessScope: true,
        synthesiseNamespaces: true,
      },
    );
    const made = lenient.namespace("n") as { metadata: { labels: unknown } };
    assert.deepEqual(made.metadata.labels, { "kubernetes.io/metadata.name": "n" });
    assert.equal(lenient.namespaced({ group: "acme.example", version: "v1", kind: "Limit" }), true);
    assert.equal(lenient.namespaced({ group: "acme.example", version: "v1", kind: "Other" }), undefined);
  });

  test("versions of a custom resource are equivalent, and convert when their shapes are equal", () => {
    const definition = (strategy: string, served = ["v1", "v2"]): { readonly [key: string]: unknown } => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "limits.acme.example" },
      spec: {
        group: "acme.example",
        scope: "Namespaced",
        names: { kind: "Limit", plural: "limits" },
        conversion: { strategy },
        versions: [...served.map((name) => ({ name, served: true })), { name: "v0", served: false }],
      },
    });
    const resource = { group: "acme.example", version: "v1", resource: "limits" };
    const kind = { group: "acme.example", version: "v2", kind: "Limit" };
    const object = { apiVersion: "acme.example/v1", kind: "Limit", spec: {} };
    const same = new FileResources([definition("None")]);
    assert.deepEqual(versionsOf(same, resource), ["acme.example/v1", "acme.example/v2"]);
    assert.deepEqual(same.convert(object, kind), { ...object, apiVersion: "acme.example/v2" });
    const other = new FileResources([definition("Webhook")]);
    assert.ok(other.convert(object, kind) instanceof LookupFailure);
    assert.equal(other.convert(object, { ...kind, version: "v1" }), object);
    const single = new FileResources([definition("None", ["v1"])]);
    assert.deepEqual(versionsOf(single, resource), ["acme.example/v1"], "it is known to have no other");
  });

  test("all versions of a built-in resource are equivalent; only those of one shape convert", () => {
    const files = new FileResources([]);
    const of = (group: string, resource: string, subresource = "") =>
      versionsOf(files, { group, version: "v1", resource }, subresource);
    assert.deepEqual(of("", "pods"), ["v1"]);
    assert.deepEqual(of("", "events"), ["v1", "events.k8s.io/v1", "events.k8s.io/v1beta1"]);
    assert.deepEqual(of("events.k8s.io", "events"), of("", "events"));
    assert.deepEqual(of("policy", "poddisruptionbudgets", "status"), ["policy/v1", "policy/v1beta1"]);
    assert.ok(of("apps", "deployments")?.includes("extensions/v1beta1"));
    for (const group of ["resource.k8s.io", "flowcontrol.apiserver.k8s.io", "admissionregistration.k8s.io"]) {
      const resource = { r: "resourceclaims", f: "flowschemas", a: "mutatingwebhookconfigurations" }[group.charAt(0)];
      assert.ok((of(group, resource ?? "")?.length ?? 0) > 1, group);
    }
    assert.equal(of("acme.example", "limits"), undefined, "nobody here knows");

    const converted = (apiVersion: string, kind: string, to: string) => {
      const [group = "", version = ""] = to.split("/");
      return files.convert({ apiVersion, kind, spec: {} }, { group, version, kind });
    };
    assert.deepEqual(converted("batch/v1beta1", "CronJob", "batch/v1"), {
      apiVersion: "batch/v1",
      kind: "CronJob",
      spec: {},
    });
    for (const [from, kind, to] of [
      ["autoscaling/v1", "HorizontalPodAutoscaler", "autoscaling/v2"],
      ["resource.k8s.io/v1beta1", "ResourceClaim", "resource.k8s.io/v1"],
      ["events.k8s.io/v1", "Event", "/v1"],
      ["batch/v7", "CronJob", "batch/v1"],
      ["acme.example/v1", "Limit", "acme.example/v2"],
    ] as const) {
      const failure = converted(from, kind, to);
      assert.ok(failure instanceof LookupFailure, `${from} ${kind}`);
      assert.equal(failure.message, "only the API server can convert between its versions");
    }
  });

  test("a CustomResourceDefinition says nothing of the shapes of other kinds, also where it shares one with them", () => {
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "limits.acme.example" },
      spec: {
        group: "acme.example",
        names: { kind: "Limit", plural: "limits" },
        versions: [{ name: "v1", served: true }],
      },
    };
    const scale = { apiVersion: "extensions/v1beta1", kind: "Scale", status: { selector: { a: "b" } } };
    const to = { group: "autoscaling", version: "v1", kind: "Scale" };
    for (const documents of [[], [definition]]) {
      const failure = new FileResources(documents).convert(scale, to);
      assert.ok(failure instanceof LookupFailure);
      assert.equal(failure.message, "only the API server can convert between its versions");
    }
  });

  test("of resources that no document defines, whoever is given for it knows the versions", () => {
    const resource = { group: "acme.example", version: "v1", resource: "limits" };
    const files = new FileResources([], { versions: { equivalents: () => [{ resource, kind: undefined }] } });
    assert.deepEqual(versionsOf(files, resource), ["acme.example/v1"]);
    const failing = new FileResources([], { versions: { equivalents: () => new LookupFailure("down") } });
    const budgets = { group: "policy", version: "v1", resource: "poddisruptionbudgets" };
    for (const each of [resource, budgets]) assert.ok(failing.equivalents(each, "") instanceof LookupFailure);
    const ignorant = new FileResources([], { versions: { equivalents: () => undefined } });
    assert.deepEqual(versionsOf(ignorant, budgets), ["policy/v1", "policy/v1beta1"], "the table stands in");
    assert.ok(ignorant.equivalents(budgets, "") instanceof SomeEquivalents, "which may be older than the cluster");
    assert.equal(versionsOf(new FileResources([]), { ...budgets, version: "v3" }), undefined, "newer than the table");
  });
});
