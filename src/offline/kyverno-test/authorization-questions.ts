/** Evaluates policies for an authorization server on the requests of a test (spec kyverno.md 6.3). */
import {
  AUTHORIZATION_MODES,
  type AuthorizationMode,
  type AuthorizationRequest,
  Authorizer,
  prepareAuthorization,
} from "../../kinds/kyverno/authorization/index.js";
import type { PolicyResource } from "../../kinds/kyverno/index.js";
import type { World } from "../../world/world.js";
import { readAuthorizationFile } from "../scan/authorization-file.js";
import { reportedPolicy } from "../scan/kyverno-judge.js";
import { ScanError } from "../scan/scan-error.js";
import { reportedResult } from "./answer-result.js";
import type { Evaluated } from "./answers.js";
import type { TestWords } from "./run.js";
import { TestRunError } from "./run-error.js";
import type { TestDocument } from "./test-file.js";

/** A request, and its path for display. */
export interface NamedRequest {
  readonly name: string;
  readonly request: AuthorizationRequest;
}

/**
 * Reads a test's requests.
 * @param at resolves a path of the test
 * @throws TestRunError for an invalid file
 */
export function loadRequests(
  { httpPayloads, envoyPayloads }: TestDocument,
  at: (path: string) => string,
  { say }: TestWords,
): readonly NamedRequest[] {
  const paths: Readonly<Record<AuthorizationMode, readonly string[]>> = { HTTP: httpPayloads, Envoy: envoyPayloads };
  return AUTHORIZATION_MODES.flatMap((mode) => {
    const own = new Set(paths[mode].map(at));
    if (own.size > 0) say(`  Loading ${mode} payloads ...`);
    return [...own].map((name) => ({ name, request: loaded(mode, name) }));
  });
}

function loaded(mode: AuthorizationMode, path: string): AuthorizationRequest {
  try {
    return readAuthorizationFile(mode, path);
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    const reason = `error: failed to load ${mode} payloads from path ${path} (${error.message})`;
    throw new TestRunError(reason, { cause: error });
  }
}

/**
 * The policies' answers about requests. A policy that does not compile fails with the first request of its mode.
 * @throws TestRunError for such a policy
 */
export async function askedAbout(
  requests: readonly NamedRequest[],
  resources: readonly PolicyResource[],
  world: World,
): Promise<readonly Evaluated[]> {
  const { policies, failures } = prepareAuthorization(resources);
  const authorizer = new Authorizer(policies, world);
  const evaluated: Evaluated[] = [];
  for (const { name, request } of requests) {
    const failure = failures.find(({ mode }) => mode === request.mode);
    if (failure !== undefined) {
      throw new TestRunError(`failed to apply policies on ${request.mode} payload (${failure.text})`);
    }
    const answers = (await authorizer.about(request)).map(({ policy, rule, status, message }) => {
      const finding = { policy: 0, rule, status, message, properties: {}, exceptions: [] };
      return { policy: policy.metadata.name ?? "", result: reportedResult(reportedPolicy(policy), finding) };
    });
    evaluated.push({ subject: { name }, answers });
  }
  return evaluated;
}
