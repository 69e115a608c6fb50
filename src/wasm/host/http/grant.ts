import type { HostPatterns } from "../../../config/host-patterns.js";

/** HTTP permissions of a policy. */
export interface HttpGrant {
  readonly hosts: HostPatterns;
  /** Most bytes of an answer's body. */
  readonly maxResponseBytes: number;
}

/** Highest limit of an answer's body: as base64 in JSON it costs the main thread, which serves all requests, some 40 ms. */
export const MAX_HTTP_RESPONSE_BYTES = 8 * 1024 * 1024;
/** The default: lists and reports for policies have some KiB. */
export const DEFAULT_HTTP_RESPONSE_BYTES = 1024 * 1024;
