import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Waiting } from "../../src/cel/questions.js";
import type { JsonObject } from "../../src/kubernetes/object.js";
import { type Authorizer, type AuthorizerAttributes, NO_OPINION } from "../../src/world/authorizer/authorizer.js";
import { LookUps } from "../../src/world/look-ups.js";
import { MAX_QUESTIONS, RequestWorld } from "../../src/world/request-world.js";
import { FileResources } from "../../src/world/resources/file-resources.js";
import { LookupFailure, type ResourceSource } from "../../src/world/resources/resource-source.js";

const KIND = { group: "", version: "v1", kind: "ConfigMap" };
const RESOURCE = { group: "", version: "v1", resource: "configmaps" };
const attributes: AuthorizerAttributes = {
  user: { name: "jane", uid: "", groups: ["a", "b"], extra: { k: ["v", "w"] } },
  verb: "get",
  group: "",
  version: "*",
  resource: "pods",
  subresource: "",
  namespace: "",
  name: "",
  path: "",
  fieldSelector: "",
  labelSelector: "",
  selectorError: "",
};
const now = () => 0;
/** Clients are not told what any error says. */
const NO_ROUTE = new LookupFailure("the policy server could not ask the cluster", "no route");
const object: JsonObject = { metadata: { name: "x" } };

describe("the world as one request sees it", () => {
  test("what is at hand is answered at once; of it only the Namespace is remembered, so that a request sees one state of it", () => {
    let asked = 0;
    class Counting extends FileResources {
      override namespace(): JsonObject {
        asked++;
        return object;
      }
    }
    const world = new RequestWorld({ resources: new Counting([]), authorizer: NO_OPINION, now });
    assert.equal(world.namespace("n"), object);
    assert.equal(world.namespace("n"), object);
    assert.equal(asked, 1);
    assert.equal(world.namespace("other"), object);
    assert.equal(asked, 2);
    assert.ok(world.questions.empty);
  });

  test("what an authorizer answers at once is no question, whatever else is asked; what it has to ask is one, and asked once", async () => {
    let asked = 0;
    const authorizer: Authorizer = {
      authorize: ({ name }) => {
        asked++;
        const decision = { decision: "allow", reason: "" } as const;
        return name === "later" ? Promise.resolve(decision) : decision;
      },
    };
    const resources: ResourceSource = Object.assign(new FileResources([]), { namespace: async () => object });
    const world = new RequestWorld({ resources, authorizer, now });
    assert.ok(world.namespace("n") instanceof Waiting);
    for (let i = 0; i < 2 * MAX_QUESTIONS; i++) {
      const answer = world.authorizeBy(`use ${i}`, { ...attributes, name: `${i}` });
      assert.ok(!(answer instanceof Waiting) && answer.decision === "allow");
    }
    assert.equal(world.failure, undefined);
    asked = 0;
    const later = () => world.authorizeBy("use later", { ...attributes, name: "later" });
    assert.ok(later() instanceof Waiting && later() instanceof Waiting);
    await new Promise(setImmediate);
    const answer = later();
    assert.ok(!(answer instanceof Waiting) && answer.decision === "allow");
    assert.equal(asked, 1);
  });

  test("what has to be fetched is asked once, whatever it is, and different questions are different", async () => {
    const asked: string[] = [];
    const later = <T>(question: string, answer: T): Promise<T> => {
      asked.push(question);
      return Promise.resolve(answer);
    };
    const resources: ResourceSource = {
      namespace: (name) => later(`namespace ${name}`, object),
      get: ({ kind }, namespace, name) => later(`get ${kind} ${namespace}/${name}`, undefined),
      list: ({ kind }, namespace) => later(`list ${kind} ${namespace}`, [object]),
      namespaced: ({ kind }) => later(`scope ${kind}`, true),
      equivalents: ({ resource }, subresource) => later(`equivalents ${resource}/${subresource}`, []),
      convert: (converted) => converted,
    };
    const world = new RequestWorld({ resources, authorizer: NO_OPINION, now });
    const askAll = () => [
      world.namespace("n"),
      world.namespace("m"),
      world.get(KIND, "n", "x"),
      world.get({ ...KIND, kind: "Secret" }, "n", "x"),
      world.get(KIND, "n", "y"),
      world.list(KIND, "n"),
      world.list(KIND, ""),
      world.namespaced(KIND),
      world.equivalents(RESOURCE, ""),
      world.equivalents(RESOURCE, "status"),
    ];
    const waiter = { signal: new AbortController().signal };
    const first: unknown[] = [];
    const settled = await world.questions.settle<unknown[]>(
      () => {
        const answers = askAll();
        if (first.length === 0) first.push(...answers);
        return answers;
      },
      waiter,
      () => [],
    );
    assert.ok(first.every((answer) => answer === Waiting.INSTANCE));
    assert.deepEqual(settled, [object, object, undefined, undefined, undefined, [object], [object], true, [], []]);
    assert.deepEqual(askAll(), settled);
    assert.equal(asked.length, 10);
    assert.equal(new Set(asked).size, 10);
  });

  test("a rejection is a failure of the look-up", async () => {
    const resources = new FileResources([]);
    const broken: ResourceSource = Object.assign(Object.create(resources), {
      get: () => Promise.reject(new Error("no route")),
    });
    const world = new RequestWorld({ resources: broken, authorizer: NO_OPINION, now });
    const waiter = { signal: new AbortController().signal };
    const found = await world.questions.settle(
      () => world.get(KIND, "n", "x"),
      waiter,
      () => undefined,
    );
    assert.deepEqual(found, NO_ROUTE);
    assert.equal(world.failure, undefined);
    assert.equal(world.detail, "no route", "for the log");
  });

  test("somebody with many groups is read once, however many questions are put", () => {
    let looks = 0;
    const groups = new Proxy(["a", "b"], {
      get(target, key, self) {
        looks++;
        return Reflect.get(target, key, self);
      },
    });
    const world = new RequestWorld({ resources: new FileResources([]), authorizer: NO_OPINION, now });
    const asked = { ...attributes, user: { ...attributes.user, groups } };
    world.authorize({ ...asked, name: "p" });
    const first = looks;
    for (let i = 0; i < 1_000; i++) world.authorize({ ...asked, name: `p${i}` });
    assert.equal(looks, first);
  });

  test("the authorizer is asked once for equal questions, whatever the order of groups", () => {
    const asked: string[] = [];
    const authorizer = {
      authorize: ({ verb, user }: AuthorizerAttributes) => {
        asked.push(`${user.name} ${verb}`);
        return { decision: "allow", reason: "" } as const;
      },
    };
    const world = new RequestWorld({ resources: new FileResources([]), authorizer, now });
    world.authorize(attributes);
    const { user } = attributes;
    world.authorize({ ...attributes, user: { ...user, groups: ["b", "a"], extra: { k: ["w", "v"] } } });
    world.authorize({ ...attributes, verb: "list" });
    world.authorize({ ...attributes, user: { ...user, name: "bob" } });
    world.authorize({ ...attributes, user: { ...user, groups: ["a"] } });
    assert.deepEqual(asked, ["jane get", "jane list", "bob get", "jane get"]);
  });
});

describe("answers that are kept", () => {
  test("are fetched once at a time, kept as long as they say, failures for a second", async () => {
    let time = 1_000;
    let executed = 0;
    const lookUps = new LookUps<string>(() => time);
    const ask = (answer: () => Promise<string | undefined>) =>
      lookUps.ask(
        "k",
        () => {
          executed++;
          return answer();
        },
        (found) => (found === undefined ? 10 : 100),
      );
    const first = ask(() => Promise.resolve("a"));
    assert.equal(
      ask(() => Promise.resolve("b")),
      first,
    );
    assert.equal(await first, "a");
    assert.equal(
      ask(() => Promise.resolve("b")),
      "a",
    );
    assert.equal(executed, 1);
    time = 1_101;
    assert.equal(await ask(() => Promise.resolve(undefined)), undefined);
    assert.equal(
      ask(() => Promise.resolve("c")),
      undefined,
      "that there is nothing is an answer too",
    );
    time = 1_112;
    assert.deepEqual(await ask(() => Promise.reject(new Error("no route"))), NO_ROUTE);
    assert.deepEqual(
      ask(() => Promise.resolve("d")),
      NO_ROUTE,
    );
    time = 2_113;
    assert.equal(await ask(() => Promise.resolve("e")), "e");
  });
});
