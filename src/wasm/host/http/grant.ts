import type { HostPatterns } from "../../../config/host-patterns.js";

/** What a policy may ask by HTTP. */
export interface HttpGrant {
  readonly hosts: HostPatterns;
  /** Most bytes of an answer's body. */
  readonly maxResponseBytes: number;
}

/** Most bytes of an answer's body that a policy may be given: as base64 in JSON it costs the main thread, which serves all requests, some 40 ms. */
export const MAX_HTTP_RESPONSE_BYTES = 8 * 1024 * 1024;
/** The default: lists and reports that policies ask for have some KiB. */
export const DEFAULT_HTTP_RESPONSE_BYTES = 1024 * 1024;
