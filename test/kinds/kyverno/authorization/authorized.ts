/** Policies for an authorization server, asked in short. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import {
  type AuthorizationMode,
  Authorizer,
  prepareAuthorization,
  readRequest,
} from "../../../../src/kinds/kyverno/authorization/index.js";
import type { PolicyResource } from "../../../../src/kinds/kyverno/index.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import type { World } from "../../../../src/world/world.js";
import { world } from "../asked.js";

/** A policy of a mode, called `p`, whose validations are these expressions. */
export const policyOf = (
  mode: AuthorizationMode,
  expressions: string | readonly string[],
  spec: JsonObject = {},
): PolicyResource =>
  ({
    apiVersion: "policies.kyverno.io/v1",
    kind: "ValidatingPolicy",
    metadata: { name: "p" },
    spec: { evaluation: { mode }, validations: [expressions].flat().map((expression) => ({ expression })), ...spec },
  }) as unknown as PolicyResource;

/** What a policy says of a request: `status: message`. */
export async function said(policy: PolicyResource, payload: unknown, more: Partial<World> = {}): Promise<string> {
  const { policies, failures } = prepareAuthorization([policy]);
  assert.deepEqual(
    failures.map(({ text }) => text),
    [],
  );
  const mode = policies[0]?.mode ?? "HTTP";
  const read = readRequest(mode, typeof payload === "string" ? payload : JSON.stringify(payload));
  assert.ok(read.ok, read.ok ? "" : read.error);
  const [answer, ...others] = await new Authorizer(policies, world(more)).about(read.request);
  assert.deepEqual(others, []);
  assert.equal(answer?.rule, "p");
  return `${answer?.status}: ${answer?.message}`;
}

/** What is wrong with a policy that does not compile. */
export function refusal(policy: PolicyResource): string {
  const { policies, failures } = prepareAuthorization([policy]);
  assert.deepEqual(policies, []);
  return failures.map(({ text }) => text).join("\n");
}

/** What an expression gives, a text, for an HTTP request with these attributes. */
export async function shown(expression: string, attributes: JsonObject = {}, spec: JsonObject = {}): Promise<string> {
  const text = await said(policyOf("HTTP", `http.Denied(${expression}).Response()`, spec), { attributes });
  return text.replace(/^fail: request denied, reason: /, "");
}

/** A token that is signed with a secret. */
export function tokenOf(
  claims: unknown,
  { alg = "HS256", key = "secret", header = {} }: { alg?: string; key?: string; header?: JsonObject } = {},
): string {
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encoded({ alg, ...header })}.${encoded(claims)}`;
  const digest = `sha${alg.slice(2)}`;
  return `${signed}.${alg.startsWith("HS") ? createHmac(digest, key).update(signed).digest("base64url") : "AAAA"}`;
}
