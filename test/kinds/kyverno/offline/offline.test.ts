import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type EntryFiles,
  entryMistake,
  mockedAnswers,
  parseClusterResources,
  parseContextFile,
  writtenEntries,
} from "../../../../src/kinds/kyverno/offline/index.js";
import { KnownKinds } from "../../../../src/world/objects/known-kinds.js";
import { commandLineData } from "../../../../src/world/offline-values.js";
import { LookupFailure } from "../../../../src/world/resources/resource-source.js";
import { evaluated } from "../external/support.js";

const network = { send: () => new LookupFailure("nobody is asked here") };

const CONTEXT = `
apiVersion: cli.kyverno.io/v1alpha1
kind: Context
metadata: {name: c}
spec:
  resources:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: ns}, data: {mode: "1"}, count: 3}
  images:
    - image: nginx:1
      registry: index.docker.io
      config: {layers: 2}
`;

describe("a context file", () => {
  const context = parseContextFile(CONTEXT, new KnownKinds());

  test("has objects, whose numbers stay integers, and images, whose numbers are doubles", async () => {
    assert.ok(context.ok);
    const external = commandLineData(context.value, network);
    const get = 'resource.Get("v1", "configmaps", "ns", "cm")';
    assert.equal(await evaluated(`${get}.data.mode == "1" && ${get}.count + 1 == 4`, { external }), true);
    assert.equal(await evaluated('image.GetMetadata("nginx:1").config.layers + 1.0 == 3.0', { external }), true);
    assert.equal(await evaluated('image.GetMetadata("nginx:1").resolvedImage == ""', { external }), true);
    assert.equal(
      await evaluated('image.GetMetadata("nginx").config', { external }),
      "error: failed to get image data: image data for nginx not found in the context",
    );
  });

  test("has no member of another name, and no object of a kind that nobody knows", () => {
    assert.deepEqual(parseContextFile("spec: {objects: []}", new KnownKinds()), {
      ok: false,
      error: 'error unmarshaling JSON: while decoding JSON: json: unknown field "objects"',
    });
    assert.deepEqual(parseContextFile("spec: {resources: [{apiVersion: a/v1, kind: B}]}", new KnownKinds()), {
      ok: false,
      error: 'no matches for kind "B" in version "a/v1"',
    });
    assert.equal(parseContextFile("{", new KnownKinds()).ok, false);
  });
});

test("a file of cluster resources has paths of definitions, and objects", () => {
  const read = parseClusterResources("kind: ClusterResource\nspec: {crds: [a.yaml], resources: [{kind: Pod}]}");
  assert.deepEqual(read, { ok: true, value: { crds: ["a.yaml"], objects: [{ kind: "Pod" }] } });
  assert.equal(parseClusterResources("spec: {crd: []}").ok, false);
});

describe("Kyverno's command line without files", () => {
  const external = commandLineData({}, network);

  test("no object exists, a list is an error, nothing is created", async () => {
    assert.equal(await evaluated('dyn(resource.Get("v1", "pods", "ns", "p")) == null', { external }), true);
    assert.equal(
      await evaluated('resource.List("apps/v1", "deployments", "ns").items == null', { external }),
      "error: failed to list resource: deployments.apps resource not found",
    );
    for (const call of [
      'Post("v1", "pods", {"a": dyn(1)}).x == 1',
      'Get(resource.ToGVR("v1", "Pod"), "", "").x == 1',
    ]) {
      assert.equal(await evaluated(`resource.${call}`, { external }), "error: internal error: not implemented");
    }
    assert.equal(await evaluated('globalContext.Get("e") == null', { external }), true);
    assert.equal(
      await evaluated('image.GetMetadata("nginx") == null', { external }),
      "error: failed to get image data: image data for nginx not found in the context",
    );
  });
});

describe("answers that a test writes down", () => {
  const mocks = [
    { url: "https://x/a", method: "post", response: { statusCode: 201, body: { allowed: true } } },
    { url: "https://x/a", response: { body: { n: 1 } } },
  ];

  test("are found by method and address, or by address, and are not merged", async () => {
    const answers = mockedAnswers(mocks);
    assert.ok(answers.ok);
    const external = commandLineData({ mocks: answers.value }, network);
    assert.equal(await evaluated('http.Post("https://x/a", 1).body.allowed', { external }), true);
    assert.equal(await evaluated('http.Post("https://x/a", 1).statusCode == 201', { external }), true);
    assert.equal(await evaluated('http.Get("https://x/a").body.n + 1.0 == 2.0', { external }), true);
    assert.equal(await evaluated('http.Get("https://x/a").statusCode + 0 == 200', { external, namespace: "n" }), true);
    assert.equal(
      await evaluated('http.Get("https://x/b").statusCode == 200', { external }),
      "error: request failed: nobody is asked here",
    );
  });

  test("are looked at before the test runs", () => {
    const body = { a: 1 };
    const mistakes: readonly (readonly [object, string])[] = [
      [{}, "apiCallResponses[0]: either url or urlPath is required"],
      [{ url: "https://x", urlPath: "/x" }, "apiCallResponses[0]: url and urlPath are mutually exclusive"],
      [{ url: "ftp://x" }, 'apiCallResponses[0]: url "ftp://x" must be an absolute https/http URL'],
      [{ url: "https:///x" }, 'apiCallResponses[0]: url "https:///x" has scheme but no host'],
      [{ urlPath: "x" }, "apiCallResponses[0]: urlPath \"x\" must be an absolute path starting with '/'"],
      [{ url: "https://x", method: "DELETE" }, "apiCallResponses[0]: method must be GET or POST"],
      [{ url: "https://x" }, 'apiCallResponses[0] "https://x": response.body is required'],
      [
        { url: "https://x", response: { body: [1] } },
        'apiCallResponses[0] "https://x": response.body must be a JSON object',
      ],
      [
        { url: "https://x", response: { body, statusCode: 99 } },
        'apiCallResponses[0] "https://x": statusCode 99 must be between 100 and 599',
      ],
    ];
    for (const [entry, error] of mistakes) assert.deepEqual(mockedAnswers([entry]), { ok: false, error });
    const twice = { url: "https://x", method: "GET", response: { body } };
    assert.deepEqual(mockedAnswers([twice, twice]), {
      ok: false,
      error:
        'apiCallResponses: duplicate entry for "https://x" (key "GET:https://x") — each method+url combination must be unique',
    });
  });
});

describe("entries that a test writes down", () => {
  const readText = async (path: string): Promise<string> => {
    if (path !== "pods.yaml") throw new Error("no such file");
    return "{kind: Pod, size: 1}\n---\n{kind: Pod, size: 3, size: 2}\n";
  };
  const doubts: string[] = [];
  const files: EntryFiles = {
    text: readText,
    doubted: ({ line, column }, path) => doubts.push(`${path}:${line}:${column}`),
  };

  test("are data, a part of it, or projections by name; every number is a double", async () => {
    const entries = await writtenEntries(
      [
        { name: "data", data: { a: { n: 1 } }, fieldPath: "a" },
        { name: "files", resourceFiles: ["pods.yaml"], projections: [{ name: "numbers", path: "[].size" }] },
      ],
      files,
    );
    assert.ok(entries.ok, entries.ok ? "" : entries.error);
    assert.deepEqual(doubts, ["pods.yaml:3:22"]);
    const external = commandLineData({ entries: entries.value }, network);
    assert.equal(await evaluated('globalContext.Get("data").n + 1.0 == 2.0', { external }), true);
    assert.equal(await evaluated('globalContext.Get("files", "numbers") == [1.0, 2.0]', { external }), true);
    assert.equal(await evaluated('globalContext.Get("files").numbers == [1.0, 2.0]', { external }), true);
    assert.equal(
      await evaluated('globalContext.Get("files", "x") == null', { external }),
      'error: failed to get global reference: projection "x" not found in global context entry "files"',
    );
    assert.equal(await evaluated('globalContext.Get("none", "x") == null', { external }), true);
  });

  test("are looked at before the test runs", async () => {
    const mistakes: readonly (readonly [readonly object[], string])[] = [
      [[{}], "globalContextEntries: name is required"],
      [
        [
          { name: "N", data: {} },
          { name: "N", data: {} },
        ],
        'globalContextEntries: duplicate name "N"',
      ],
      [[{ name: "N" }], 'globalContextEntries entry "N": one of data, resources, or resourceFiles is required'],
      [
        [{ name: "N", data: {}, resources: [] }],
        'globalContextEntries entry "N": data, resources, and resourceFiles are mutually exclusive',
      ],
      [[{ name: "N", data: [1] }], 'globalContextEntries entry "N": data must be a JSON object'],
      [
        [{ name: "N", resources: [1] }],
        'globalContextEntries entry "N" resources[0]: must be a JSON object (Kubernetes resource manifest)',
      ],
      [
        [{ name: "N", resourceFiles: ["../x"] }],
        'globalContextEntries entry "N" resourceFiles[0]: file path must not escape the test directory',
      ],
      [
        [{ name: "N", data: {}, projections: [{ path: "a" }] }],
        'globalContextEntries entry "N": projection name is required',
      ],
    ];
    for (const [entries, error] of mistakes) assert.equal(entryMistake(entries), error);
    const bad = await writtenEntries([{ name: "N", data: {}, fieldPath: "a[" }], files);
    assert.match(bad.ok ? "" : bad.error, /^globalContextEntries "N" fieldPath: /);
    const gone = await writtenEntries([{ name: "N", resourceFiles: ["gone.yaml"] }], files);
    assert.match(gone.ok ? "" : gone.error, /resourceFiles "gone.yaml": no such file$/);
  });
});
