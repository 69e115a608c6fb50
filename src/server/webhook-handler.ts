/** Handles requests to webhooks about policies themselves: an AdmissionReview in, one of the same version out. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AdmissionResponse } from "../admission/admission-response.js";
import { decodeVersionedReview, type VersionedReview } from "../admission/decode.js";
import { encodeAdmissionReview } from "../admission/encode.js";
import { type RequestProblem, somethingWentWrong, tooManyLargeBodies } from "../admission/request-problem.js";
import { CLIENT_GONE } from "../policy/evaluate-in-time.js";
import type { Turns } from "../policy/turns.js";
import type { Webhook } from "../policy/webhook.js";
import { type BodyReading, receiveJson } from "./body.js";
import { callerDeadline } from "./caller-timeout.js";
import { LARGE_BODY, LargeBodies } from "./large-bodies.js";
import { type ReportSinks, reportWebhook, traceparentOf } from "./report.js";
import { sendJson, sendProblem } from "./respond.js";

/** The options of requests to webhooks. */
export interface WebhookHandlerOptions extends ReportSinks {
  readonly turns: Turns;
  /** Most bytes of a body, unless the webhook's own limit is lower. */
  readonly bodyLimit: number;
  /** Most JSON values in a body. */
  readonly maxValues: number;
  readonly bodies: BodyReading;
  /** Whether the server is stopping: its answers then close their connections. */
  readonly stopping: () => boolean;
}

/** The name of the route in metrics and records. */
const ROUTE = "webhook";

/** Answers a request to a webhook. */
export type WebhookHandler = (request: IncomingMessage, response: ServerResponse, webhook: Webhook) => void;

/** A handler of requests to webhooks. */
export function createWebhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const large = new LargeBodies(options.turns);
  return (request, response, webhook) => {
    const exchange = new WebhookExchange(options, request, response, webhook);
    const take = (body: Buffer | RequestProblem): void => {
      exchange.answer(body, large).catch((error: unknown) => {
        // By contract there is no error: but a request without an answer would be worse than a vague one.
        options.logger.error("a webhook failed unexpectedly", { path: webhook.path, error: String(error) });
        exchange.fail(somethingWentWrong);
      });
    };
    receiveJson(request, response, Math.min(options.bodyLimit, webhook.bodyLimit), take, options.bodies);
  };
}

class WebhookExchange {
  readonly #options: WebhookHandlerOptions;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #webhook: Webhook;
  readonly #received = performance.now();

  constructor(options: WebhookHandlerOptions, request: IncomingMessage, response: ServerResponse, webhook: Webhook) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    this.#webhook = webhook;
  }

  async answer(body: Buffer | RequestProblem, large: LargeBodies): Promise<void> {
    if (!Buffer.isBuffer(body)) {
      this.fail(body);
      return;
    }
    if (body.length >= LARGE_BODY) {
      const turn = large.wait();
      if (turn === undefined) {
        this.fail(tooManyLargeBodies);
        return;
      }
      // Here it is read at once.
      (await turn)();
    }
    if (this.#response.destroyed) {
      this.#count(CLIENT_GONE);
      return;
    }
    const review = decodeVersionedReview(body, this.#options.maxValues);
    if (review.kind === "problem") this.fail(review);
    else await this.#ask(review);
  }

  async #ask(review: VersionedReview): Promise<void> {
    const { request } = review;
    const target = this.#request.url ?? "";
    const queryAt = target.indexOf("?");
    const deadline = callerDeadline(queryAt < 0 ? "" : target.slice(queryAt + 1), this.#received);
    const { allowed, code, reason, message } = await this.#webhook.answer(request, deadline - performance.now());
    const response: AdmissionResponse = {
      uid: request.uid,
      allowed,
      status: { ...(message !== undefined && { message }), ...(reason !== undefined && { reason }), code },
    };
    const gone = this.#response.destroyed;
    if (!gone) {
      if (this.#options.stopping()) this.#response.shouldKeepAlive = false;
      sendJson(this.#response, 200, encodeAdmissionReview(response, review.apiVersion));
    }
    this.#count(gone ? CLIENT_GONE : 200);
    const milliseconds = performance.now() - this.#received;
    const answered = { name: this.#webhook.name, response, milliseconds };
    reportWebhook(this.#options, request, ROUTE, answered, traceparentOf(this.#request));
  }

  fail(problem: RequestProblem): void {
    sendProblem(this.#request, this.#response, problem, "validate");
    this.#count(problem.status);
    const { path } = this.#webhook;
    this.#options.logger.debug("request refused", { path, status: problem.status, reason: problem.text });
  }

  #count(status: number): void {
    this.#options.metrics.answered(ROUTE, status, performance.now() - this.#received);
  }
}
