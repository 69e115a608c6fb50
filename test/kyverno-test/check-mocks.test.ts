import assert from "node:assert/strict";
import { test } from "node:test";
import { callKey, callResponsesError, contextEntriesError } from "../../src/kyverno-test/check-mocks.js";
import type { CallResponse, ContextEntry } from "../../src/kyverno-test/test-file.js";

const BODY = { body: {} };

test("mocked responses need an address, a method that exists, and an object", () => {
  for (const [response, error] of [
    [{ url: "https://a.b/c", response: BODY }, undefined],
    [{ urlPath: "/api/v1", method: "get", response: { body: {}, statusCode: 404 } }, undefined],
    [{ response: BODY }, "apiCallResponses[0]: either url or urlPath is required"],
    [{ url: "http://a", urlPath: "/b" }, "apiCallResponses[0]: url and urlPath are mutually exclusive"],
    [{ url: "ftp://a" }, 'apiCallResponses[0]: url "ftp://a" must be an absolute https/http URL'],
    [{ url: "http://:80/x" }, 'apiCallResponses[0]: url "http://:80/x" has scheme but no host'],
    [{ urlPath: "api" }, `apiCallResponses[0]: urlPath "api" must be an absolute path starting with '/'`],
    [{ url: "http://a", method: "PUT" }, "apiCallResponses[0]: method must be GET or POST"],
    [{ url: "http://a" }, 'apiCallResponses[0] "http://a": response.body is required'],
    [
      { url: "http://a", response: { body: [] } },
      'apiCallResponses[0] "http://a": response.body must be a JSON object',
    ],
    [
      { urlPath: "/a", response: { body: {}, statusCode: 600 } },
      'apiCallResponses[0] "/a": statusCode 600 must be between 100 and 599',
    ],
  ] as readonly [CallResponse, string | undefined][]) {
    assert.equal(callResponsesError([response]), error);
  }
});

test("a request has one mocked response", () => {
  const get = { url: " http://a ", method: "get", response: BODY };
  assert.equal(callKey(get), "GET:http://a");
  assert.equal(callResponsesError([get, { url: "http://a", response: BODY }]), undefined);
  assert.equal(
    callResponsesError([get, { ...get, method: "GET" }]),
    'apiCallResponses: duplicate entry for "http://a" (key "GET:http://a") — each method+url combination must be unique',
  );
});

test("entries of the global context have a name and one source", () => {
  const entry = (more: Partial<ContextEntry>): readonly ContextEntry[] => [{ name: "e", ...more }];
  const data = {};
  for (const [entries, error] of [
    [entry({ data, projections: [{ name: "p", path: "a" }] }), undefined],
    [entry({ resources: [] }), undefined],
    [entry({ resourceFiles: ["a/../b.yaml"] }), undefined],
    [[{ data }], "globalContextEntries: name is required"],
    [[...entry({ data }), ...entry({ data })], 'globalContextEntries: duplicate name "e"'],
    [entry({}), 'globalContextEntries entry "e": one of data, resources, or resourceFiles is required'],
    [
      entry({ data, resources: [] }),
      'globalContextEntries entry "e": data, resources, and resourceFiles are mutually exclusive',
    ],
    [entry({ data: 1 }), 'globalContextEntries entry "e": data must be a JSON object'],
    [
      entry({ resources: [{}, 1] }),
      'globalContextEntries entry "e" resources[1]: must be a JSON object (Kubernetes resource manifest)',
    ],
    [entry({ data, projections: [{}] }), 'globalContextEntries entry "e": projection name is required'],
    [entry({ data, projections: [{ name: "p" }] }), 'globalContextEntries entry "e" projection "p": path is required'],
    [
      entry({ resourceFiles: ["a/../../b"] }),
      'globalContextEntries entry "e" resourceFiles[0]: file path must not escape the test directory',
    ],
    [
      entry({ resourceFiles: ["/b"] }),
      'globalContextEntries entry "e" resourceFiles[0]: file path must not be absolute',
    ],
    [entry({ resourceFiles: [" "] }), 'globalContextEntries entry "e" resourceFiles[0]: file path must not be empty'],
  ] as readonly [readonly ContextEntry[], string | undefined][]) {
    assert.equal(contextEntriesError(entries), error);
  }
});
