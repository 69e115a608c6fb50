/** Webhooks that validate policies themselves: each has a path of its own. */
import type { AdmissionRequest } from "../admission/admission-request.js";

/** A webhook's answer. */
export interface WebhookAnswer {
  readonly allowed: boolean;
  /** As in HTTP. */
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
}

/** A webhook. It needs no configuration: each request to its path is answered. */
export interface Webhook {
  /** Its path, with the slash in front. */
  readonly path: string;
  /** Its name in decision records. */
  readonly name: string;
  /** Most bytes of a request. */
  readonly bodyLimit: number;
  /**
   * Answers a request; never rejects.
   * @param wait milliseconds that the answer may take at most
   */
  answer(request: AdmissionRequest, wait: number): Promise<WebhookAnswer>;
  /** Ends running work; waiting requests are refused. */
  close(): void;
}
