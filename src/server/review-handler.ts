/**
 * The straight way of a hot request: content type, body, decode, gate, evaluate, encode, respond; errors in the order of spec kubewarden.md 3.5.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  admissionReviewInSteps,
  decodeAdmissionReview,
  decodeRawReview,
  rawReviewInSteps,
} from "../admission/decode.js";
import { encodeAdmissionReview, encodeRawReview } from "../admission/encode.js";
import {
  type RequestProblem,
  somethingWentWrong,
  tooManyLargeBodies,
  tooManyUnfinishedBodies,
  unknownPolicy,
} from "../admission/request-problem.js";
import { CLIENT_GONE } from "../policy/evaluate-in-time.js";
import type { Review } from "../policy/review.js";
import type { Evaluator } from "../policy/served/evaluator.js";
import type { JoinedVerdict } from "../policy/served/joined-verdict.js";
import type { ServedPolicy } from "../policy/served/policy-set.js";
import { findSet, type ServedSet } from "../policy/served/served-set.js";
import { answering } from "../policy/served/shadow/versions.js";
import type { Verdict } from "../policy/served/verdict.js";
import { type BodyReading, receiveJson } from "./body.js";
import { callerDeadline } from "./caller-timeout.js";
import { type Gate, refusalText } from "./gate.js";
import { LARGE_BODY, LargeBodies } from "./large-bodies.js";
import type { PhasedRequest, Phases } from "./phases.js";
import { type ReportSinks, report, reportSet, traceparentOf } from "./report.js";
import { sendJson, sendProblem } from "./respond.js";
import type { ReviewRoute } from "./routes.js";

/** The options of hot requests. */
export interface ReviewHandlerOptions extends ReportSinks {
  readonly evaluator: Evaluator;
  readonly gate: Gate;
  /** Most bytes of a body. */
  readonly bodyLimit: number;
  /** Most JSON values in a body. */
  readonly maxValues: number;
  readonly bodies: BodyReading;
  readonly phases: Phases;
  /** Called with each answer: bytes of the request's body, and milliseconds since it came. */
  readonly answered?: (bytes: number, milliseconds: number) => void;
  /** Whether the server is stopping: its answers then close their connections. */
  readonly stopping: () => boolean;
}

/** Answers a request for a verdict. */
export type ReviewHandler = (request: IncomingMessage, response: ServerResponse, route: ReviewRoute) => void;

/** A handler of hot requests. */
export function createReviewHandler(options: ReviewHandlerOptions): ReviewHandler {
  const { bodyLimit, bodies } = options;
  const large = new LargeBodies(options.evaluator.turns);
  return (request, response, route) => {
    const exchange = new Exchange(options, request, response, route);
    const take = (body: Buffer | RequestProblem): void => {
      if (body === tooManyUnfinishedBodies) options.metrics.refused("full");
      if (!Buffer.isBuffer(body)) exchange.fail(body);
      else if (body.length < LARGE_BODY) exchange.decode(body);
      else exchange.decodeInTurn(body, large);
    };
    receiveJson(request, response, bodyLimit, take, bodies);
  };
}

/** One request and its state. */
class Exchange implements PhasedRequest {
  /** Bytes of the body. */
  bytes = 0;
  readonly #options: ReviewHandlerOptions;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #route: ReviewRoute;
  readonly #received = performance.now();
  #ifGone: (() => void) | undefined;
  /** The body until it is read. */
  #body: Buffer | undefined;
  /** The review once the body is read, until it is reported. */
  #review: Review | undefined;
  #verdict: Verdict | JoinedVerdict | undefined;
  /** The generation of its policies: a reload may come before they answer. */
  #generation = 0;

  constructor(options: ReviewHandlerOptions, request: IncomingMessage, response: ServerResponse, route: ReviewRoute) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    this.#route = route;
  }

  /** Starts the phases of the request. */
  decode(body: Buffer): void {
    this.bytes = body.length;
    this.#body = body;
    this.#options.phases.read(this);
  }

  read(): void {
    try {
      const body = this.#body;
      this.#body = undefined;
      if (body === undefined || this.#isGone()) return;
      this.#review = this.#reviewIn(body);
      if (this.#review !== undefined) this.#options.phases.ask(this);
    } catch (error) {
      this.#broken(error);
    }
  }

  ask(): void {
    try {
      if (this.#review !== undefined && !this.#isGone()) this.#admit(this.#review);
    } catch (error) {
      this.#broken(error);
    }
  }

  answer(): void {
    try {
      if (this.#review === undefined || this.#verdict === undefined) return;
      this.#verdict = this.#whenSent(this.#review, this.#verdict);
      this.#send(this.#verdict);
    } catch (error) {
      this.#broken(error);
    }
  }

  report(): void {
    const [review, verdict] = [this.#review, this.#verdict];
    // A connection that waits for its next request must not keep the objects of the last one.
    this.#review = undefined;
    this.#verdict = undefined;
    try {
      if (review !== undefined && verdict !== undefined) this.#report(review, verdict);
    } catch (error) {
      this.#broken(error);
    }
  }

  /** {@link decode} for a large body: reading it takes turns on the main thread, evaluating the next, and only for a client that still waits. */
  decodeInTurn(body: Buffer, bodies: LargeBodies): void {
    const { metrics, logger } = this.#options;
    const turn = bodies.wait();
    if (turn === undefined) {
      metrics.refused("full");
      this.fail(tooManyLargeBodies);
      return;
    }
    turn
      .then((read) => this.#readInTurns(body, bodies).finally(read))
      .then(async (review) => {
        if (review === undefined) return;
        await bodies.next();
        if (this.#isGone()) return;
        this.#review = review;
        this.#admit(review);
      })
      .catch((error: unknown) => {
        logger.error("reading a request failed unexpectedly", { policy_id: this.#route.id, error: String(error) });
        this.fail(somethingWentWrong);
      });
  }

  /**
   * Handles an unexpected error of a step, so that it affects no other request. By contract there is none: but a request without an answer would be worse than
   * a vague one.
   */
  #broken(error: unknown): void {
    const { logger } = this.#options;
    logger.error("answering a request failed unexpectedly", { policy_id: this.#route.id, error: String(error) });
    if (!this.#response.headersSent) this.fail(somethingWentWrong);
  }

  /** Whether the client has gone before its answer; it is counted then. */
  #isGone(): boolean {
    const { destroyed } = this.#response;
    if (destroyed) this.#options.metrics.answered(this.#route.origin, CLIENT_GONE, performance.now() - this.#received);
    return destroyed;
  }

  /** The review in a body; undefined when the request has been refused. */
  #reviewIn(body: Buffer): Review | undefined {
    const decode = this.#route.origin === "validate_raw" ? decodeRawReview : decodeAdmissionReview;
    return this.#unlessProblem(decode(body, this.#options.maxValues));
  }

  /** The same for a large body, which gives others their turn; undefined when the client has gone, too. */
  async #readInTurns(body: Buffer, bodies: LargeBodies): Promise<Review | undefined> {
    if (this.#isGone()) return undefined;
    this.bytes = body.length;
    const { evaluator, maxValues } = this.#options;
    const isGuest = evaluator.policies.entries.get(this.#route.id)?.policy.kind === "wasm";
    const inSteps = this.#route.origin === "validate_raw" ? rawReviewInSteps : admissionReviewInSteps;
    const steps: Iterator<unknown, Review | RequestProblem> = inSteps(body, maxValues, isGuest);
    const read = await bodies.inTurns(steps, () => !this.#isGone());
    return read && this.#unlessProblem(read);
  }

  #unlessProblem(review: Review | RequestProblem): Review | undefined {
    if (review.kind !== "problem") return review;
    this.fail(review);
    return undefined;
  }

  #admit(review: Review): void {
    const { evaluator, gate, metrics } = this.#options;
    const { id, query } = this.#route;
    const { policies } = evaluator;
    this.#generation = policies.generation;
    const found = policies.entries.get(id);
    // Which of two versions answers is decided before it takes a place.
    const entry =
      (found && answering(found, review)) ??
      (this.#route.origin === "validate" ? findSet(policies.sets, id) : undefined);
    if (entry === undefined) {
      this.fail(unknownPolicy(id));
      return;
    }
    const deadline = callerDeadline(query, this.#received);
    if ("members" in entry ? entry.immediate : entry.policy.immediate) {
      this.#evaluate(entry, review, deadline, false);
      return;
    }
    const forget = gate.admit({
      policy: id,
      deadline,
      enter: (waited) => {
        if (waited > 0) metrics.queued(waited);
        this.#evaluate(entry, review, deadline, true);
      },
      refuse: (why) => {
        metrics.refused(why);
        this.fail(refusalText(why, gate.limits));
      },
    });
    if (forget === undefined) return;
    this.#whenGone(() => {
      forget();
      metrics.answered(this.#route.origin, CLIENT_GONE, performance.now() - this.#received);
    });
  }

  /** Sets the action for a client that closes its connection before its answer. */
  readonly #whenGone = (act: () => void): void => {
    if (this.#ifGone === undefined) {
      this.#response.once("close", () => {
        if (!this.#response.writableEnded) this.#ifGone?.();
      });
    }
    this.#ifGone = act;
  };

  /** @param placed whether a place is taken, which is returned in any case; a policy that usually answers at once takes one only to wait */
  #evaluate(entry: ServedPolicy | ServedSet, review: Review, deadline: number, placed: boolean): void {
    const { evaluator, gate } = this.#options;
    const { origin } = this.#route;
    const asked = { review, origin, deadline, whenGone: this.#whenGone, bytes: this.bytes };
    const verdict = "members" in entry ? evaluator.evaluateSet(entry, asked) : evaluator.evaluate(entry, asked);
    if (verdict instanceof Promise) {
      if (!placed) gate.take(entry.id);
      this.#finishLater(verdict);
    } else {
      if (placed) gate.leave(entry.id);
      this.#finish(verdict);
    }
  }

  #finishLater(pending: Promise<Verdict | JoinedVerdict>): void {
    const { gate } = this.#options;
    const { id } = this.#route;
    pending.then(
      (verdict) => {
        gate.leave(id);
        this.#finish(verdict);
      },
      (error: unknown) => {
        // By contract there is no error: but a request without an answer would be worse than a vague one.
        gate.leave(id);
        this.#options.logger.error("evaluation failed unexpectedly", { policy_id: id, error: String(error) });
        this.fail(somethingWentWrong);
      },
    );
  }

  #finish(verdict: Verdict | JoinedVerdict): void {
    const { phases } = this.#options;
    this.#ifGone = undefined;
    this.#verdict = verdict;
    phases.answer(this);
    phases.report(this);
  }

  #whenSent(review: Review, verdict: Verdict | JoinedVerdict): Verdict | JoinedVerdict {
    const { evaluator } = this.#options;
    const about = { review, origin: this.#route.origin };
    return "members" in verdict ? evaluator.setWhenSent(verdict, about) : evaluator.whenSent(verdict, about);
  }

  #report(review: Review, verdict: Verdict | JoinedVerdict): void {
    const { recorder } = this.#options;
    const { origin, id } = this.#route;
    const traceparent = traceparentOf(this.#request);
    if ("members" in verdict) reportSet(this.#options, review, origin, verdict, traceparent);
    else report(this.#options, review, origin, verdict, traceparent);
    // A client that has gone got no answer.
    if (recorder === undefined || !this.#response.writableEnded) return;
    recorder.record({ review, origin, verdict, policy: id, bytes: this.bytes, generation: this.#generation });
  }

  #send({ response }: Verdict | JoinedVerdict): void {
    const { metrics, stopping, answered } = this.#options;
    const { origin } = this.#route;
    const gone = this.#response.destroyed;
    if (!gone) {
      if (stopping()) this.#response.shouldKeepAlive = false;
      const encode = origin === "validate_raw" ? encodeRawReview : encodeAdmissionReview;
      sendJson(this.#response, 200, encode(response));
    }
    const milliseconds = performance.now() - this.#received;
    metrics.answered(origin, gone ? CLIENT_GONE : 200, milliseconds);
    answered?.(this.bytes, milliseconds);
  }

  fail(problem: RequestProblem): void {
    const { metrics, logger } = this.#options;
    const { origin, id } = this.#route;
    // A request without an evaluation is not reported, and the connection must not keep it (see report).
    if (this.#verdict === undefined) this.#review = undefined;
    sendProblem(this.#request, this.#response, problem, origin);
    metrics.answered(origin, problem.status, performance.now() - this.#received);
    logger.debug("request refused", { origin, policy_id: id, status: problem.status, reason: problem.text });
  }
}
