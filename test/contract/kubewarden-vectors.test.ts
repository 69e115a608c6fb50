/**
 * Every recorded answer of the reference server (test/vectors/kubewarden), asked of ours over HTTP. Statuses and bodies must be equal; where we
 * differ on purpose (docs/differences.md) the difference is stated here, per case.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type ExampleServer, startExample } from "../support/example-server.js";

interface Case {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly port: "api" | "readiness";
    readonly headers: Record<string, string>;
    readonly bodyJson?: unknown;
    readonly bodyText?: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly bodyJson?: Body;
    readonly bodyText?: string;
  };
}

interface Body {
  readonly response?: Answer;
  readonly [member: string]: unknown;
}

interface Answer {
  readonly allowed: boolean;
  readonly status?: {
    readonly message?: string;
    readonly code?: number;
    readonly details?: { readonly causes?: { message: string | null }[] };
  };
  readonly [member: string]: unknown;
}

const VECTORS = new URL("../../../test/vectors/kubewarden/", import.meta.url);
const CASES = readFileSync(new URL("cases.jsonl", VECTORS), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Case);

/** The code of a group's denial, which has none there. */
const GROUP_DENIED = 403;

/** `/metrics` is served here. */
const SERVED_HERE = new Set(["http-metrics-api-port", "http-metrics-readiness-port"]);

describe("answers recorded from Kubewarden's policy-server", () => {
  let server: ExampleServer;
  before(async () => {
    // The recorded server ran without a cluster, too.
    server = await startExample(
      "--policies",
      fileURLToPath(new URL("policies.yml", VECTORS)),
      "--workers",
      "2",
      "--ignore-kubernetes-connection-failure",
    );
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
  });

  for (const vector of CASES) {
    test(vector.name, async () => {
      const { request, response: expected } = vector;
      const base = request.port === "api" ? server.url : server.probes;
      const body = request.bodyJson === undefined ? request.bodyText : JSON.stringify(request.bodyJson);
      const response = await fetch(base + request.path, {
        method: request.method,
        headers: request.headers,
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      if (SERVED_HERE.has(vector.name)) {
        assert.equal(response.status, 200);
        return;
      }
      assert.equal(response.status, expected.status, text);
      if (expected.status === 404 && expected.bodyText === "") {
        // Ours says what may have been meant (docs/differences.md).
        assert.match(text, /^GET \//);
        return;
      }
      assert.equal(response.headers.get("content-type"), expected.headers["content-type"] ?? null);
      if (expected.bodyJson === undefined) {
        assert.equal(text, expected.bodyText ?? "");
      } else {
        const actual = JSON.parse(text) as Body;
        if (actual.response !== undefined && expected.bodyJson.response !== undefined) {
          compareAnswers(vector.name, actual.response, expected.bodyJson.response);
          assert.deepEqual({ ...actual, response: null }, { ...expected.bodyJson, response: null });
        } else {
          assert.deepEqual(actual, expected.bodyJson);
        }
      }
    });
  }
});

/** Groups whose name says that they negate their member. */
function negates(name: string): boolean {
  return name.includes("g-not-");
}

function compareAnswers(name: string, actual: Answer, expected: Answer): void {
  if (negates(name) && isFailure(name)) {
    // There: accepted. Here a member that could not decide decides nothing.
    assert.equal(actual.allowed, false);
    assert.equal(actual.status?.code, 500);
    return;
  }
  assert.deepEqual(comparable(name, actual), comparable(name, expected));
  if (isGroup(name)) assert.deepEqual(actual.auditAnnotations, annotationsOfMember(name));
}

const isGroup = (name: string): boolean => /(^|-)g-/.test(name);

/** The annotations that a group's one member has when it is asked alone, by its name: they are dropped there. */
function annotationsOfMember(name: string): unknown {
  const [, guest = "", way = ""] = /g-(?:not-)?([a-z]+)-(.*)$/.exec(name) ?? [];
  const member = guest === "wasi" ? "w" : guest;
  // A guest answers a raw request, where its case was recorded only so, in the same way.
  const names = guest === "wasi" ? [`wasi-chaos-${way}`] : [`${guest}-${way}`, `raw-${guest}-${way}`];
  const alone = CASES.map(
    (vector) => names.includes(vector.name) && vector.response.bodyJson?.response?.auditAnnotations,
  ).find(Boolean);
  const found = Object.entries((alone ?? {}) as object).map(([key, value]) => [`${member}.${key}`, value] as const);
  return found.length === 0 ? null : Object.fromEntries(found);
}

/** What the guest does in these cases is no answer. */
function isFailure(name: string): boolean {
  return /-(panic|trap|loop|oom|stack|guest-error|not-json|empty|wrong-shape|exit|mutate)$/.test(name);
}

function comparable(name: string, answer: Answer): unknown {
  const { warnings, auditAnnotations, ...rest } = answer;
  const group = isGroup(name);
  const status = rest.status === undefined ? undefined : comparableStatus(name, group, rest.status);
  // Groups explain themselves in warnings here.
  return { ...rest, status, ...(group ? {} : { warnings, auditAnnotations }) };
}

function comparableStatus(name: string, group: boolean, status: NonNullable<Answer["status"]>): unknown {
  const causes = status.details?.causes?.map((cause) => ({ ...cause, message: comparableText(name, cause.message) }));
  const { code, ...rest } = status;
  return {
    ...rest,
    message: comparableText(name, status.message ?? null),
    ...(status.details !== undefined && { details: causes === undefined ? status.details : { causes } }),
    // A group that a failed member decides has the code of a failure here, none there; one whose expression is false has 403 here.
    ...(group && isFailure(name) ? {} : { code: group && code === GROUP_DENIED ? undefined : code }),
  };
}

/** The case ends in a trap there, or (out of memory) in a time-out that came before the trap. */
function traps(name: string): boolean {
  return /-(panic|trap|oom|stack)$/.test(name);
}

/**
 * What of a text is the contract: of traps and of unreadable answers the prefix only (spec kubewarden.md 3.6), as the rest is the engine's and the
 * parser's own; of a guest that answers with its payload the payload, as the order of keys is not part of the contract.
 */
function comparableText(name: string, text: string | null): unknown {
  if (text === null) return null;
  if (name.endsWith("echo") && text.startsWith("{")) return JSON.parse(text);
  if (traps(name) && /^(internal server error: Guest call failure: |Policy execution interrupted)/.test(text))
    return "<trap>";
  return text.replace(
    /^(internal server error: (?:invalid response from policy|Cannot deserialize policy validation response): ).*$/s,
    "$1<reason>",
  );
}
