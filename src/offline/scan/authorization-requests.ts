/** `--http-payload` and `--envoy-payload`: requests for policies of an authorization server (spec kyverno.md 6.3). */
import {
  AUTHORIZATION_MODES,
  type AuthorizationMode,
  type AuthorizationRequest,
  type PreparedAuthorization,
} from "../../kinds/kyverno/authorization/index.js";
import { readAuthorizationFile } from "./authorization-file.js";
import { ScanError } from "./scan-error.js";

/** The reference's names. */
const NAMES: Readonly<Record<AuthorizationMode, string>> = { HTTP: "HTTP", Envoy: "envoy" };

/**
 * The requests of files, those of HTTP first.
 * @throws ScanError for an invalid file
 */
export function readRequests(
  paths: Readonly<Record<AuthorizationMode, readonly string[]>>,
): readonly AuthorizationRequest[] {
  return AUTHORIZATION_MODES.flatMap((mode) => paths[mode].map((path) => requestOf(mode, path)));
}

function requestOf(mode: AuthorizationMode, path: string): AuthorizationRequest {
  try {
    return readAuthorizationFile(mode, path);
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    throw new ScanError(`failed to parse ${NAMES[mode]} payload from ${path}: ${error.message}`, { cause: error });
  }
}

/** Warnings about policies without a request of their mode. */
export function* unasked(
  { policies }: PreparedAuthorization,
  requests: readonly AuthorizationRequest[],
): Iterable<string> {
  for (const { resource, mode } of policies) {
    if (requests.some((request) => request.mode === mode)) continue;
    const flag = mode === "HTTP" ? "--http-payload" : "--envoy-payload";
    yield `nothing is checked with ValidatingPolicy ${resource.metadata.name ?? ""}, which is for an authorization server (mode ${mode}): give requests with ${flag}`;
  }
}
