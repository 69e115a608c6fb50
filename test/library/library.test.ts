import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import {
  createEvaluator,
  createReview,
  createServer,
  type Decision,
  type LoadedPolicies,
  type LogRecord,
  loadPolicies,
  OptionError,
  PoliciesFileError,
} from "../../src/index.js";

const TEXT = `
small:
  cel:
    validations:
      - expression: "object.spec.replicas <= 5"
        message: "too many"
watched:
  policyMode: monitor
  cel:
    validations:
      - expression: "false"
both:
  expression: "first() && second()"
  message: "no"
  policies:
    first: { policy: small }
    second: { cel: { validations: [{ expression: "object.metadata.name != 'evil'" }] } }
`;

const deployment = (replicas: number, name = "web") => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "shop" },
  spec: { replicas },
});

async function withPolicies(text: string, use: (loaded: LoadedPolicies) => Promise<void>): Promise<void> {
  const loaded = await loadPolicies({ text, file: "own.yaml" });
  try {
    await use(loaded);
  } finally {
    loaded.close();
  }
}

const optionError = (pattern: RegExp) => (error: unknown) =>
  error instanceof OptionError && error.code === "OPTION" && pattern.test(error.message);

describe("policies in a program of one's own", () => {
  test("are asked about objects", () =>
    withPolicies(TEXT, async (loaded) => {
      const evaluator = createEvaluator(loaded);
      const denied = await evaluator.evaluate("small", createReview({ object: deployment(7) }));
      assert.equal(denied.allowed, false);
      assert.equal(denied.outcome.verdict, "deny");
      assert.match(denied.response.status?.message ?? "", /too many/);
      assert.equal(JSON.parse(denied.text).kind, "AdmissionReview");
      assert.equal((await evaluator.evaluate("small", createReview({ object: deployment(5) }))).allowed, true);
    }));

  test("in monitor mode let requests pass and say what they found", () =>
    withPolicies(TEXT, async (loaded) => {
      const { allowed, outcome } = await createEvaluator(loaded).evaluate(
        "watched",
        createReview({ object: deployment(1) }),
      );
      assert.equal(allowed, true);
      assert.equal(outcome.verdict, "deny");
    }));

  test("of groups say what members came to", () =>
    withPolicies(TEXT, async (loaded) => {
      const { members } = await createEvaluator(loaded).evaluate(
        "both",
        createReview({ object: deployment(2, "evil") }),
      );
      assert.deepEqual(
        members.map(({ policy, outcome }) => [policy, outcome.verdict]),
        [
          ["both/first", "allow"],
          ["both/second", "deny"],
        ],
      );
    }));

  test("go on with new ones after a reload, and stay as they are when it fails", () =>
    withPolicies(TEXT, async (loaded) => {
      const evaluator = createEvaluator(loaded);
      const review = createReview({ object: deployment(7) });
      await loaded.reload(TEXT.replace("<= 5", "<= 50"));
      assert.equal((await evaluator.evaluate("small", review)).allowed, true);
      await assert.rejects(loaded.reload("- no map"), PoliciesFileError);
      assert.equal((await evaluator.evaluate("small", review)).allowed, true);
      await loaded.reload();
      assert.equal((await evaluator.evaluate("small", review)).allowed, true);
    }));

  test("with mistakes are there, and deny", () =>
    withPolicies("broken:\n  cel:\n    validations:\n      - expression: 'object.('\n", async (loaded) => {
      assert.equal(loaded.errors, 1);
      assert.equal(loaded.problems[0]?.line, 4);
      const { allowed, outcome } = await createEvaluator(loaded).evaluate("broken", createReview({ raw: {} }));
      assert.equal(allowed, false);
      assert.equal(outcome.verdict, "error");
    }));

  test("are not waited for longer than somebody wants to know", () =>
    withPolicies(TEXT, async (loaded) => {
      const review = createReview({ object: deployment(1) });
      const { allowed } = await createEvaluator(loaded).evaluate("small", review, { timeout: 1e-9 });
      assert.equal(allowed, false);
    }));

  test("a question is what it was when it was made", () =>
    withPolicies(TEXT, async (loaded) => {
      const object = deployment(1);
      const review = createReview({ object });
      object.spec.replicas = 100;
      assert.equal((await createEvaluator(loaded).evaluate("small", review)).allowed, true);
    }));
});

describe("what a program gets wrong", () => {
  test("arguments that are no question are refused, by name", () =>
    withPolicies(TEXT, async (loaded) => {
      const evaluator = createEvaluator(loaded);
      const review = createReview({ object: deployment(1) });
      const wrong: readonly [unknown, unknown, unknown, RegExp][] = [
        [undefined, review, {}, /first argument/],
        ["small", undefined, {}, /second argument/],
        ["small", {}, {}, /second argument/],
        ["small", review, { signal: {} }, /signal must be an AbortSignal/],
      ];
      for (const [id, asked, options, message] of wrong)
        await assert.rejects(
          evaluator.evaluate(id as string, asked as typeof review, options as object),
          optionError(message),
        );
    }));

  test("questions of which JSON knows nothing are refused", () => {
    for (const raw of [undefined, Number.NaN, () => 1, Symbol("x")])
      assert.throws(() => createReview({ raw }), optionError(/^createReview: (raw must be JSON|give exactly one)/));
    const userInfo = { username: 1 } as unknown as { username: string };
    assert.throws(() => createReview({ object: deployment(1), userInfo }), optionError(/^createReview: userInfo: /));
    assert.throws(() => createReview({ object: {} }), optionError(/use raw for other JSON/));
  });

  test("closed policies are asked no more, and a reload that is under way ends so", async () => {
    const loaded = await loadPolicies({ text: TEXT, file: "own.yaml" });
    const evaluator = createEvaluator(loaded);
    const reload = loaded.reload();
    loaded.close();
    loaded.close();
    await assert.rejects(reload, optionError(/closed meanwhile/));
    await assert.rejects(
      evaluator.evaluate("small", createReview({ object: deployment(1) })),
      optionError(/the policies are closed/),
    );
    assert.throws(() => createEvaluator(loaded), optionError(/the policies are closed/));
    await assert.rejects(createServer(loaded), optionError(/the policies are closed/));
  });

  test("of reloads that fail side by side none leaves its text behind", () =>
    withPolicies(TEXT, async (loaded) => {
      await Promise.allSettled([loaded.reload("a: ["), loaded.reload("b: [")]);
      await loaded.reload();
      assert.ok(loaded.ids.includes("small"));
    }));

  test("a signal holds nothing of questions that are answered", () =>
    withPolicies(TEXT, async (loaded) => {
      const controller = new AbortController();
      const evaluator = createEvaluator(loaded);
      for (let asked = 0; asked < 3; asked++)
        await evaluator.evaluate("both", createReview({ object: deployment(1) }), { signal: controller.signal });
      assert.equal(getEventListeners(controller.signal, "abort").length, 0);
    }));

  test("a server without a certificate, or a log that throws", () =>
    withPolicies(TEXT, async (loaded) => {
      await assert.rejects(createServer(loaded, { tls: {} }), optionError(/tls must be an object with cert and key/));
      const server = await createServer(loaded, {
        log: () => {
          throw new Error("the log is full");
        },
      });
      try {
        assert.throws(() => server.secure({ cert: "x", key: "y" }), optionError(/made without tls/));
        assert.equal((await fetch(`${server.url}/validate/small`, { method: "POST" })).status, 415);
      } finally {
        await Promise.all([server.close(), server.close()]);
      }
    }));
});

describe("the server in a program of one's own", () => {
  test("answers, tells its log and its decisions, and stops", () =>
    withPolicies(TEXT, async (loaded) => {
      const lines: LogRecord[] = [];
      const decisions: Decision[] = [];
      const server = await createServer(loaded, {
        log: (line) => lines.push(line),
        onDecision: (decision) => decisions.push(decision),
        processMetrics: false,
        page: "read",
      });
      const ask = async (): Promise<boolean> => {
        const answer = await fetch(`${server.url}/validate/small`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ request: reviewed(9) }),
        });
        return ((await answer.json()) as { response: { allowed: boolean } }).response.allowed;
      };
      try {
        const state = (await (await fetch(`${server.url}/page/state`)).json()) as { mode: string };
        assert.equal(state.mode, "read");
        assert.equal(await ask(), false);
        assert.equal(decisions[0]?.policy, "small");
        assert.ok(lines.some(({ message }) => message === "policy evaluated"));
        assert.match(await server.metrics(), /kubewarden_policy_evaluations_total\{policy_name="small"/);
        await loaded.reload("small: { cel: { validations: [{ expression: 'true' }] } }");
        assert.equal(await ask(), true);
      } finally {
        await server.close(100);
      }
      await assert.rejects(ask());
    }));
});

const reviewed = (replicas: number) => ({
  uid: "1",
  kind: { group: "apps", version: "v1", kind: "Deployment" },
  resource: { group: "apps", version: "v1", resource: "deployments" },
  operation: "CREATE",
  userInfo: { username: "me" },
  object: deployment(replicas),
});

describe("what can't be used is named", () => {
  test("options", async () => {
    await assert.rejects(loadPolicies({ polices: "x" } as never), optionError(/unknown option polices/));
    await assert.rejects(loadPolicies({ fiel: "x" } as never), optionError(/did you mean "file"/));
    await assert.rejects(loadPolicies({ policyTimeout: -1 }), optionError(/policyTimeout must be milliseconds/));
    await assert.rejects(loadPolicies("policies.yaml" as never), optionError(/options must be an object/));
    await withPolicies(TEXT, async (loaded) => {
      await assert.rejects(createServer(loaded, { port: 70_000 }), optionError(/port must be a port/));
      await assert.rejects(
        createServer(loaded, { page: "play" as never }),
        optionError(/page must be "off" or "read"/),
      );
      await assert.rejects(createServer({} as never), optionError(/what loadPolicies gave/));
      assert.throws(() => createEvaluator(undefined as never), optionError(/what loadPolicies gave/));
    });
  });

  test("files", async () => {
    await assert.rejects(loadPolicies({ file: "no/such.yaml" }), PoliciesFileError);
  });

  test("questions", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    assert.throws(() => createReview({} as never), optionError(/exactly one of/));
    assert.throws(() => createReview({ object: {}, raw: 1 } as never), optionError(/exactly one of/));
    assert.throws(() => createReview({ object: { spec: 1 } }), optionError(/apiVersion and kind/));
    assert.throws(() => createReview({ raw: circle }), optionError(/can't be written as JSON/));
    assert.throws(
      () => createReview({ object: deployment(1), operation: "PATCH" as never }),
      optionError(/unknown operation/),
    );
    await withPolicies(TEXT, async (loaded) => {
      await assert.rejects(
        createEvaluator(loaded).evaluate("smal", createReview({ raw: 1 })),
        optionError(/did you mean "small"/),
      );
    });
  });
});
