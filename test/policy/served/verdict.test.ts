import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AdmissionRequest } from "../../../src/admission/admission-request.js";
import { admissionQuestion, rawQuestion } from "../../../src/admission/decode.js";
import { encodeResponse } from "../../../src/admission/encode.js";
import type { Outcome } from "../../../src/policy/outcome.js";
import type { Review } from "../../../src/policy/review.js";
import type { ServedPolicy } from "../../../src/policy/served/policy-set.js";
import { decide, type RequestOrigin, uidOf } from "../../../src/policy/served/verdict.js";

const REQUEST: AdmissionRequest = {
  uid: "u",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  operation: "CREATE",
  userInfo: {},
  object: { a: 1 },
};
const POD = admissionQuestion(REQUEST);
const { object: _, ...WITHOUT_OBJECT } = REQUEST;
const DELETE = admissionQuestion({ ...WITHOUT_OBJECT, operation: "DELETE" });

type Options = Partial<Omit<ServedPolicy, "policy">> & { origin?: RequestOrigin; review?: Review };

/** The response to an outcome, as the client reads it. */
function answer(
  outcome: Outcome,
  { origin = "validate", review = POD, ...options }: Options = {},
): Record<string, unknown> {
  const policy = {
    id: "chaos",
    kind: "wasm",
    implementation: "fake",
    immediate: false,
    evaluate: async () => outcome,
  } as const;
  const entry: ServedPolicy = { id: "chaos", policy, mode: "protect", allowedToMutate: false, ...options };
  const { uid, ...response } = JSON.parse(
    encodeResponse(
      decide(entry, review, outcome, origin, { milliseconds: 0, observations: [], deadline: Number.POSITIVE_INFINITY })
        .response,
    ),
  ) as Record<string, unknown>;
  assert.equal(uid, review.kind === "admission" ? "u" : "");
  return response;
}

const EMPTY = { auditAnnotations: null, warnings: null };
const FORBIDDEN =
  "Request rejected by policy chaos. The policy attempted to mutate the request, but it is currently configured to not allow mutations.";
const MUTATION = { kind: "object", object: { a: 1, b: 2 } } as const;
const PATCH = { patchType: "JSONPatch", patch: Buffer.from('[{"op":"add","path":"/b","value":2}]').toString("base64") };

describe("from outcome to response (spec kubewarden.md 4.1)", () => {
  test("an allowed answer keeps the policy's message and code", () => {
    assert.deepEqual(answer({ verdict: "allow" }), { allowed: true, ...EMPTY });
    assert.deepEqual(answer({ verdict: "allow", message: "accepted with a message", code: 201 }), {
      allowed: true,
      status: { message: "accepted with a message", code: 201 },
      ...EMPTY,
    });
  });

  test("a denial has a status only when it has something to say", () => {
    assert.deepEqual(answer({ verdict: "deny" }), { allowed: false, ...EMPTY });
    assert.deepEqual(answer({ verdict: "deny", message: "no" }), {
      allowed: false,
      status: { message: "no" },
      ...EMPTY,
    });
    assert.deepEqual(answer({ verdict: "deny", code: 418 }), { allowed: false, status: { code: 418 }, ...EMPTY });
  });

  test("warnings and audit annotations go along", () => {
    const findings = { warnings: ["first"], auditAnnotations: { who: "chaos" } };
    for (const outcome of [
      { verdict: "allow", ...findings },
      { verdict: "skip", reason: "r", ...findings },
    ] as const) {
      assert.deepEqual(answer(outcome), { allowed: true, ...findings });
    }
  });

  test("an error denies with 500, a skip allows with nothing", () => {
    assert.deepEqual(answer({ verdict: "error", message: "boom", cause: "trap" }), {
      allowed: false,
      status: { message: "boom", code: 500 },
      ...EMPTY,
    });
    assert.deepEqual(answer({ verdict: "skip", reason: "no rule matches" }), { allowed: true, ...EMPTY });
  });

  test("a group's denial: causes in order, or empty details when nobody denied (5.3)", () => {
    const cause = { reason: null, message: "no", field: "spec.policies.a" };
    assert.deepEqual(answer({ verdict: "deny", message: "g", causes: [cause] }).status, {
      message: "g",
      details: { causes: [cause] },
    });
    assert.deepEqual(answer({ verdict: "deny", message: "g", causes: [] }).status, { message: "g", details: {} });
  });

  test("reason and code of a metav1.Status, and a whole status, pass through without nulls", () => {
    assert.deepEqual(answer({ verdict: "deny", message: "m", reason: "Invalid", code: 422 }).status, {
      message: "m",
      reason: "Invalid",
      code: 422,
    });
    const status = { status: "Failure", message: "opa", code: null, reason: "Forbidden" };
    assert.deepEqual(answer({ verdict: "deny", status }).status, {
      status: "Failure",
      message: "opa",
      reason: "Forbidden",
    });
  });
});

describe("mutation (spec kubewarden.md 4.1, 4.3)", () => {
  test("allowed: a base64 JSON Patch from the object to the mutated one", () => {
    assert.deepEqual(answer({ verdict: "allow", mutation: MUTATION }, { allowedToMutate: true }), {
      allowed: true,
      ...PATCH,
      ...EMPTY,
    });
  });

  test("an unchanged object is no mutation", () => {
    const outcome: Outcome = { verdict: "allow", mutation: { kind: "object", object: { a: 1 } } };
    assert.deepEqual(answer(outcome), { allowed: true, ...EMPTY });
  });

  test("a ready patch passes as it is", () => {
    const outcome: Outcome = { verdict: "allow", mutation: { kind: "patch", patch: "W10=" } };
    assert.deepEqual(answer(outcome, { allowedToMutate: true }), {
      allowed: true,
      patchType: "JSONPatch",
      patch: "W10=",
      ...EMPTY,
    });
  });

  test("a denial carries no patch, whatever its policy may change and whoever asks", () => {
    for (const mutation of [MUTATION, { kind: "patch", patch: "W10=" }] as const) {
      for (const origin of ["validate", "audit", "validate_raw"] as const) {
        const review = origin === "validate_raw" ? rawQuestion({ a: 1 }) : POD;
        const { allowed, patch, patchType, status } = answer(
          { verdict: "deny", message: "m", mutation },
          { allowedToMutate: true, origin, review },
        );
        assert.deepEqual({ allowed, patch, patchType }, { allowed: false, patch: undefined, patchType: undefined });
        assert.deepEqual(status, { message: "m" });
      }
    }
    const given = { uid: "u", allowed: false, patch: "W10=" };
    assert.equal(encodeResponse(given).includes("patch"), false, "nor does one that was made elsewhere");
  });

  test("a raw request is patched as a whole", () => {
    const outcome: Outcome = { verdict: "allow", mutation: MUTATION };
    assert.deepEqual(answer(outcome, { allowedToMutate: true, review: rawQuestion({ a: 1 }) }), {
      allowed: true,
      ...PATCH,
      ...EMPTY,
    });
  });

  test("not allowed: denied, patch removed, status replaced, warnings and annotations kept; also when the guest had rejected", () => {
    for (const verdict of ["allow", "deny"] as const) {
      const outcome: Outcome = {
        verdict,
        message: "m",
        code: 418,
        mutation: MUTATION,
        warnings: ["w"],
        auditAnnotations: { k: "v" },
      };
      assert.deepEqual(answer(outcome), {
        allowed: false,
        status: { message: FORBIDDEN },
        warnings: ["w"],
        auditAnnotations: { k: "v" },
      });
    }
  });

  test("of a DELETE, which has no object: denied without code, findings dropped", () => {
    const message =
      "Incoming object is null, which happens only with DELETE operations, but the policy is attempting a mutation. This is not allowed";
    const withNull = admissionQuestion({ ...REQUEST, operation: "DELETE", object: null });
    for (const review of [DELETE, withNull]) {
      for (const origin of ["validate", "audit"] as const) {
        const outcome: Outcome = { verdict: "allow", mutation: MUTATION, warnings: ["w"] };
        assert.deepEqual(answer(outcome, { review, allowedToMutate: true, origin }), {
          allowed: false,
          status: { message },
          ...EMPTY,
        });
      }
    }
  });
});

describe("monitor mode (spec kubewarden.md 4.2)", () => {
  test("allows without patch and status, keeps warnings and annotations", () => {
    for (const verdict of ["allow", "deny"] as const) {
      const outcome: Outcome = {
        verdict,
        message: "m",
        code: 1,
        mutation: MUTATION,
        warnings: ["w"],
        auditAnnotations: { k: "v" },
      };
      assert.deepEqual(answer(outcome, { mode: "monitor", message: "custom" }), {
        allowed: true,
        warnings: ["w"],
        auditAnnotations: { k: "v" },
      });
    }
  });

  test("even crashes and time-outs are allowed, but a policy that could not start is not", () => {
    const trap: Outcome = { verdict: "error", message: "trap", cause: "trap" };
    assert.deepEqual(answer(trap, { mode: "monitor" }), { allowed: true, ...EMPTY });
    const broken: Outcome = { verdict: "error", message: "bootstrap failure", cause: "unavailable", final: true };
    assert.deepEqual(answer(broken, { mode: "monitor", message: "custom" }), {
      allowed: false,
      status: { message: "bootstrap failure", code: 500 },
      ...EMPTY,
    });
  });
});

describe("custom message (spec kubewarden.md 4.4)", () => {
  test("replaces the message and appends the former one to the causes; the code stays", () => {
    const status = answer({ verdict: "deny", message: "no", code: 403 }, { message: "ask team-x" }).status;
    assert.deepEqual(status, {
      message: "ask team-x",
      code: 403,
      details: { causes: [{ reason: null, message: "no", field: null }] },
    });
  });

  test("without a former message the cause is empty", () => {
    const causes = [{ reason: null, message: "", field: null }];
    assert.deepEqual(answer({ verdict: "deny" }, { message: "ask" }).status, { message: "ask", details: { causes } });
  });

  test("after the policy's own causes", () => {
    const own = { reason: "FieldValueInvalid", message: "x", field: "spec" };
    const { details } = answer({ verdict: "deny", message: "no", causes: [own] }, { message: "ask" }).status as {
      details: unknown;
    };
    assert.deepEqual(details, { causes: [own, { reason: null, message: "no", field: null }] });
  });

  test("is applied to a forbidden mutation and to errors, and to nothing that is allowed", () => {
    assert.deepEqual(answer({ verdict: "allow", mutation: MUTATION }, { message: "ask" }).status, {
      message: "ask",
      details: { causes: [{ reason: null, message: FORBIDDEN, field: null }] },
    });
    assert.deepEqual(answer({ verdict: "error", message: "boom", cause: "trap" }, { message: "ask" }).status, {
      message: "ask",
      code: 500,
      details: { causes: [{ reason: null, message: "boom", field: null }] },
    });
    assert.equal(answer({ verdict: "allow" }, { message: "ask" }).status, undefined);
  });
});

describe("audit (spec kubewarden.md 4.5)", () => {
  test("shows what the policy said: no monitor mode, no mutation rule, no custom message", () => {
    const options = { origin: "audit", mode: "monitor", message: "custom" } as const;
    assert.deepEqual(answer({ verdict: "deny", message: "no" }, options), {
      allowed: false,
      status: { message: "no" },
      ...EMPTY,
    });
    assert.deepEqual(answer({ verdict: "allow", mutation: MUTATION }, { ...options, mode: "protect" }), {
      allowed: true,
      ...PATCH,
      ...EMPTY,
    });
  });
});

describe("what a person sees through kubectl", () => {
  test("the message of an invalid object is among its causes, as `kubectl apply` shows only those", () => {
    const cause = { reason: "FieldValueInvalid", message: "too many", field: "spec.replicas" };
    const outcome: Outcome = { verdict: "deny", message: "no", reason: "Invalid", causes: [cause] };
    const { details } = answer(outcome).status as { details: unknown };
    assert.deepEqual(details, { causes: [{ reason: null, message: "no", field: null }, cause] });
    const said: Outcome = { ...outcome, message: "too many" };
    assert.deepEqual((answer(said).status as { details: unknown }).details, { causes: [cause] });
  });

  test("warnings are within the API server's limits; the audit scanner gets them as they are", () => {
    const outcome: Outcome = { verdict: "allow", warnings: ["two\nlines"] };
    assert.deepEqual(answer(outcome).warnings, ["two lines"]);
    assert.deepEqual(answer(outcome, { origin: "audit" }).warnings, ["two\nlines"]);
  });
});

describe("what an answer keeps", () => {
  const cause = { reason: "FieldValueInvalid", message: "c", field: "spec" };
  const whole: Outcome = {
    verdict: "deny",
    message: "m",
    code: 422,
    status: { reason: "Invalid", details: { name: "x", causes: [cause] } },
  };

  test("code, reason and details beside a message that joins the causes", () => {
    assert.deepEqual(answer(whole).status, {
      ...{ message: "m", code: 422, reason: "Invalid" },
      details: { name: "x", causes: [{ reason: null, message: "m", field: null }, cause] },
    });
  });

  test("a message that is among several causes already is not repeated", () => {
    const causes = [cause, { ...cause, message: "m" }];
    const { status } = answer({ verdict: "deny", message: "m", reason: "Invalid", causes }) as { status: unknown };
    assert.deepEqual(status, { message: "m", reason: "Invalid", details: { causes } });
  });

  test("no list of causes where there are none", () => {
    const outcome: Outcome = { verdict: "deny", message: "g", causes: [] };
    const { vanilla } = decide(served, POD, outcome, "validate", {
      milliseconds: 0,
      observations: [],
      deadline: Number.POSITIVE_INFINITY,
    });
    assert.deepEqual(vanilla.status, { message: "g", details: {} });
  });

  test("details beside a custom message", () => {
    assert.deepEqual(answer(whole, { message: "ask us", origin: "audit" }).status, {
      ...{ message: "m", code: 422, reason: "Invalid", details: { name: "x", causes: [cause] } },
    });
    const { status } = answer(whole, { message: "ask us" }) as { status: { details: unknown } };
    assert.deepEqual(status.details, {
      name: "x",
      causes: [{ reason: null, message: "ask us", field: null }, cause, { reason: null, message: "m", field: null }],
    });
  });

  test("a failure's reason, when it has one", () => {
    const failure: Outcome = { verdict: "error", message: "boom", cause: "trap" };
    const statusOf = (outcome: Outcome) =>
      decide(served, POD, outcome, "audit", { milliseconds: 0, observations: [], deadline: Number.POSITIVE_INFINITY })
        .response.status;
    assert.deepEqual(statusOf(failure), { message: "boom", code: 500 });
    assert.deepEqual(statusOf({ ...failure, reason: "Invalid" }), { message: "boom", code: 500, reason: "Invalid" });
  });

  test("nothing but warnings and annotations in monitor mode, whatever was allowed", () => {
    const findings = { warnings: ["w"], auditAnnotations: { k: "v" } };
    for (const outcome of [
      { verdict: "allow", message: "m", ...findings },
      { verdict: "allow", mutation: MUTATION, ...findings },
      { verdict: "allow", code: 201, mutation: MUTATION, ...findings },
      { verdict: "deny", ...findings },
    ] as const) {
      assert.deepEqual(answer(outcome, { mode: "monitor" }), { allowed: true, ...findings });
    }
  });

  test("itself, where nothing is to be changed: it is not copied", () => {
    for (const mode of ["protect", "monitor"] as const) {
      const outcome: Outcome = { verdict: "allow", warnings: ["w"] };
      const verdict = decide({ ...served, mode }, POD, outcome, "validate", {
        milliseconds: 0,
        observations: [],
        deadline: Number.POSITIVE_INFINITY,
      });
      assert.equal(verdict.response, verdict.vanilla);
    }
  });

  const served: ServedPolicy = {
    ...{ id: "p", mode: "protect", allowedToMutate: false },
    policy: { id: "p", kind: "wasm", implementation: "fake", immediate: true, evaluate: () => ({ verdict: "allow" }) },
  };
});

test("the uid of a raw request is its own text of that name, if it has one (spec kubewarden.md 3.4)", () => {
  assert.equal(uidOf(POD), "u");
  const inherited = Object.create({ uid: "theirs" }) as unknown;
  const payloads = [{ uid: "r" }, { uid: 5 }, {}, inherited, [], null, "text", 1, true];
  assert.deepEqual(
    payloads.map((payload) => uidOf(rawQuestion(payload))),
    ["r", "", "", "", "", "", "", "", ""],
  );
});
