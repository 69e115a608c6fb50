import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HttpQuestion, HttpSource } from "../../../../src/world/http/http-source.js";
import { Crash, type ObjectPlace, type ObjectSource } from "../../../../src/world/objects/object-source.js";
import { LookupFailure } from "../../../../src/world/resources/resource-source.js";
import { evaluated, issueOf } from "./support.js";

const never = (): never => {
  throw new Error("nobody should ask this");
};

const objects = (own: Partial<ObjectSource>): { readonly objects: ObjectSource } => ({
  objects: { get: never, list: never, create: never, resourceOf: never, ...own },
});

const configMap = { apiVersion: "v1", kind: "ConfigMap", data: { mode: "on" }, spec: { containers: [{ n: 1 }] } };

describe("what compiles", () => {
  test("an object that may be missing is a map, which is never null", () => {
    const get = 'resource.Get("v1", "configmaps", "ns", "cm")';
    assert.match(
      issueOf(`${get} == null`) ?? "",
      /found no matching overload for '_==_' applied to '\(map\(string, any\), null\)'/,
    );
    assert.equal(issueOf(`${get}.data == null`), undefined);
    assert.equal(issueOf(`dyn(${get}) == null`), undefined);
  });

  test("a member of an object is no range, what is below it is", () => {
    const list = 'resource.List("v1", "pods", "ns")';
    assert.equal(
      issueOf(`${list}.items.exists(p, true)`),
      "expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)",
    );
    assert.equal(issueOf(`dyn(${list}.items).exists(p, true)`), undefined);
    assert.equal(issueOf('resource.Get("v1", "pods", "ns", "p").spec.containers.all(c, true)'), undefined);
  });

  test("an answer of HTTP is any, a member of it is dyn", () => {
    assert.equal(issueOf('http.Get("http://x").items.exists(i, true)'), undefined);
    assert.equal(issueOf('http.Get("http://x", {"a": "b"}).x == 1'), undefined);
    assert.equal(issueOf('http.Post("http://x", {"a": dyn(1)}, {"a": "b"}).x == 1'), undefined);
    assert.equal(issueOf('http.Client("").Post("http://x", object).x == 1'), undefined);
  });

  test("a resource is good as an argument only", () => {
    const resource = 'resource.ToGVR("apps/v1", "Deployment")';
    assert.equal(issueOf(`resource.Get(${resource}, "ns", "d").x == 1`), undefined);
    assert.equal(issueOf(`resource.List(${resource}, "ns", {"a": "b"}).items == null`), undefined);
    assert.equal(
      issueOf(`${resource}.resource == "deployments"`),
      "type 'schema.GroupVersionResource' does not support field selection",
    );
  });

  test("policies of a namespace name none", () => {
    const message = (source: string): string => issueOf(source, true) ?? "compiles";
    assert.match(
      message('resource.Get("v1", "configmaps", "other", "cm").x == 1'),
      /found no matching overload for 'Get'/,
    );
    assert.equal(message('resource.Get("v1", "configmaps", "cm").x == 1'), "compiles");
    assert.equal(message('resource.List("v1", "configmaps", {"a": "b"}).x == 1'), "compiles");
    assert.equal(message('resource.Post("v1", "configmaps", {"a": dyn(1)}).x == 1'), "compiles");
    assert.equal(message('resource.List(resource.ToGVR("v1", "Pod")).x == 1'), "compiles");
  });

  test("every method has a name in lower case, too", () => {
    for (const source of [
      'resource.get("v1", "pods", "ns", "p").x == 1',
      'resource.list("v1", "pods", "ns").x == 1',
      'resource.post("v1", "pods", {"a": dyn(1)}).x == 1',
      'resource.list(resource.toGVR("v1", "Pod"), "").x == 1',
      'http.get("u").x == http.client("").post("u", 1).x',
      'globalContext.get("e") == globalContext.get("e", "p")',
      'image.getMetadata("nginx").config == image.GetMetadata("nginx").config',
    ])
      assert.equal(issueOf(source), undefined, source);
  });
});

describe("resource", () => {
  test("asks for the object, and for nothing twice in one request", async () => {
    const asked: unknown[] = [];
    const external = objects({
      async get(place, name) {
        asked.push([place, name]);
        return configMap;
      },
    });
    const get = 'resource.Get("v1", "configmaps", "ns", "cm")';
    assert.equal(
      await evaluated(`${get}.data.mode == "on" && ${get}.spec.containers.all(c, c.n == 1)`, { external }),
      true,
    );
    assert.deepEqual(asked, [[{ apiVersion: "v1", resource: "configmaps", namespace: "ns" }, "cm"]]);
  });

  test("an object that does not exist is null", async () => {
    const external = objects({ get: () => undefined });
    const get = 'resource.Get("v1", "configmaps", "ns", "cm")';
    assert.equal(await evaluated(`dyn(${get}) == null`, { external }), true);
    assert.equal(await evaluated(`${get}.data.mode == "on"`, { external }), "error: no such key: data");
  });

  test("a policy of a namespace asks in its own", async () => {
    const places: ObjectPlace[] = [];
    const external = objects({
      get: (place) => {
        places.push(place);
        return configMap;
      },
      resourceOf: () => ({ group: "apps", version: "v1", resource: "deployments" }),
    });
    const source =
      'resource.Get("v1", "configmaps", "cm").data == resource.Get(resource.ToGVR("apps/v1", "Deployment"), "d").data';
    assert.equal(await evaluated(source, { external, namespace: "team" }), true);
    assert.deepEqual(places, [
      { apiVersion: "v1", resource: "configmaps", namespace: "team" },
      { apiVersion: "apps/v1", resource: "deployments", namespace: "team" },
    ]);
  });

  test("lists by labels", async () => {
    const asked: unknown[] = [];
    const external = objects({
      list: (place, labels) => {
        asked.push(place.namespace, labels);
        return { items: [configMap] };
      },
    });
    const source = 'dyn(resource.List("v1", "configmaps", "", {"a": "b"}).items).size() == 1';
    assert.equal(await evaluated(source, { external }), true);
    assert.deepEqual(asked, ["", { a: "b" }]);
  });

  test("creates an object once, however often it is asked to", async () => {
    const bodies: unknown[] = [];
    const external = objects({
      async create(_place, object) {
        bodies.push(object);
        return { status: { allowed: true } };
      },
    });
    const post =
      'resource.Post("authorization.k8s.io/v1", "subjectaccessreviews", {"spec": dyn({"user": "u"}), "n": dyn(2.0)})';
    assert.equal(await evaluated(`${post}.status.allowed && ${post}.status.allowed`, { external }), true);
    assert.deepEqual(bodies, [{ n: 2, spec: { user: "u" } }]);
  });

  test("failures have the reference's words before their reason", async () => {
    const fail = () => new LookupFailure("why");
    const external = objects({ get: fail, list: fail, create: fail, resourceOf: fail });
    const texts: Readonly<Record<string, string>> = {
      'resource.Get("v1", "pods", "ns", "p").x == 1': "error: failed to get resource: why",
      'resource.List("v1", "pods", "ns").x == 1': "error: failed to list resource: why",
      'resource.Post("v1", "pods", "ns", {"a": dyn(1)}).x == 1': "error: failed to create resource: why",
      'resource.List(resource.ToGVR("v1", "Pod"), "").x == 1': "error: failed to map kind to resource: why",
    };
    for (const [source, text] of Object.entries(texts)) assert.equal(await evaluated(source, { external }), text);
  });

  test("what the reference does not have offline is its crash", async () => {
    const external = objects({ create: () => new Crash("not implemented") });
    const source = 'resource.Post("v1", "pods", {"a": dyn(1)}).x == 1';
    assert.equal(await evaluated(source, { external }), "error: internal error: not implemented");
  });

  test("nothing is asked where there is nobody to ask", async () => {
    assert.match(
      String(await evaluated('resource.Get("v1", "pods", "ns", "p").x == 1')),
      /^error: failed to get resource: /,
    );
    assert.match(String(await evaluated('globalContext.Get("e") == null')), /^error: failed to get global reference: /);
    assert.match(String(await evaluated('http.Get("http://x").a == 1')), /^error: request failed: /);
    assert.match(String(await evaluated('image.GetMetadata("x") == null')), /^error: failed to get image data: /);
  });
});

describe("http", () => {
  const http = (asked: HttpQuestion[]): { readonly http: HttpSource } => ({
    http: {
      async send(question) {
        asked.push(question);
        return { ok: true, statusCode: 200 };
      },
    },
  });

  test("a GET has headers, and says for whom it is", async () => {
    const asked: HttpQuestion[] = [];
    const source = 'http.Get("http://x", {"a": "b"}).statusCode == 200';
    assert.equal(await evaluated(source, { external: http(asked), namespace: "team" }), true);
    assert.deepEqual(asked, [
      { method: "GET", url: "http://x", headers: { a: "b" }, body: undefined, ca: "", namespaced: true },
    ]);
  });

  test("a POST has the data as Go writes it", async () => {
    const asked: HttpQuestion[] = [];
    const source = 'http.Post("http://x", {"b": dyn("<"), "a": dyn([1, 2]), "c": dyn(duration("1.5s"))}).ok';
    assert.equal(await evaluated(source, { external: http(asked) }), true);
    assert.equal(asked[0]?.body, '{"a":[1,2],"b":"\\u003c","c":"1.5s"}\n');
  });

  test("certificates that are none are an error before anybody is asked", async () => {
    const source = 'http.Client("nonsense").Get("http://x").ok';
    assert.equal(
      await evaluated(source, { external: http([]) }),
      "error: request failed: failed to parse PEM CA bundle for APICall",
    );
  });

  test("what is no JSON is not sent", async () => {
    const asked: HttpQuestion[] = [];
    assert.match(
      String(await evaluated('http.Post("http://x", {1: 2}).ok', { external: http(asked) })),
      /^error: invalid arg 2: unsupported type conversion from 'int'/,
    );
    assert.deepEqual(asked, []);
  });
});

describe("globalContext", () => {
  const entries = {
    get: (name: string, projection: string) => (name === "missing" ? undefined : { [name]: projection }),
  };

  test("data of an entry, or of a projection", async () => {
    assert.equal(await evaluated('globalContext.Get("e").e == ""', { external: { entries } }), true);
    assert.equal(await evaluated('globalContext.Get("e", "p").e == "p"', { external: { entries } }), true);
    assert.equal(await evaluated('globalContext.Get("missing") == null', { external: { entries } }), true);
  });

  test("policies of a namespace have none", async () => {
    assert.equal(
      await evaluated('globalContext.Get("e") == null', { external: { entries }, namespace: "team" }),
      "error: failed to get global reference: globalContext.* is not allowed in namespaced policies",
    );
  });
});
