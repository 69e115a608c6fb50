/** Webhooks that are asked about policies themselves, not by them: each has a path of its own. */
import type { AdmissionRequest } from "../admission/admission-request.js";

/** What a webhook answers. */
export interface WebhookAnswer {
  readonly allowed: boolean;
  /** As in HTTP. */
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
}

/** A webhook. It needs no configuration: whoever sends requests there is answered. */
export interface Webhook {
  /** Where it is asked, with the slash in front. */
  readonly path: string;
  /** What records call it. */
  readonly name: string;
  /** Most bytes of a request. */
  readonly bodyLimit: number;
  /**
   * Answers a request; never rejects.
   * @param wait milliseconds that the answer may take at most
   */
  answer(request: AdmissionRequest, wait: number): Promise<WebhookAnswer>;
  /** Ends what it has started; who waits is refused. */
  close(): void;
}
