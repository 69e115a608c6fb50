/** The policies' webhook as it is served (spec certificate-request-policy.md 7.1): one request after the other is answered in a thread. */
import { Worker } from "node:worker_threads";
import { type After, afterTimeout } from "../../data/clock.js";
import type { Webhook, WebhookAnswer } from "../../policy/webhook.js";
import type { PolicyAdmission } from "./webhook.js";

/** Where the reference has it, so that its configuration fits. */
const PATH = "/validate-policy-cert-manager-io-v1alpha1-certificaterequestpolicy";
/** Its name there. */
const NAME = "policy.cert-manager.io";
/** The reference's limit. */
const BODY_LIMIT = 7 * 1024 * 1024;
/** Milliseconds for a request: the reference's configuration has the API server wait no longer. */
const TIMEOUT_MS = 5000;
/** Requests that wait for the one before. Policies are written by people: more at a time are somebody's mistake. */
const MAX_WAITING = 64;
/** Milliseconds after which a thread that has nothing to do ends, for it holds some 20 MiB. */
const IDLE_MS = 30_000;
/** A policy that needs more is refused. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

const SCRIPT = new URL("./webhook-worker.js", import.meta.url);

const refused = (code: number, message: string): WebhookAnswer => ({ allowed: false, code, message });
const TOO_LATE = refused(500, "execution deadline exceeded");
const FULL = refused(429, "too many policies wait to be checked: try again later");
const FAILED = refused(500, "the policy could not be checked");

/** One request, until it is answered. */
interface Waiting {
  readonly request: PolicyAdmission;
  readonly answer: (answer: WebhookAnswer) => void;
  /** It has been answered before its time was up. */
  readonly inTime: () => void;
}

/** The webhook. Its thread starts with the first request. @param script what the thread runs @param after by which requests are late */
export class PolicyWebhook implements Webhook {
  readonly path = PATH;
  readonly name = NAME;
  readonly bodyLimit = BODY_LIMIT;
  readonly #script: URL;
  readonly #after: After;
  /** The first one is in the thread. */
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(script: URL = SCRIPT, after: After = afterTimeout) {
    this.#script = script;
    this.#after = after;
  }

  answer({ operation, object, oldObject }: PolicyAdmission, wait: number): Promise<WebhookAnswer> {
    if (this.#waiting.length > MAX_WAITING) return Promise.resolve(FULL);
    return new Promise((answer) => {
      const inTime = this.#after(Math.max(0, Math.min(wait, TIMEOUT_MS)), () => this.#giveUp(waiting));
      const waiting: Waiting = { request: { operation, object, oldObject }, answer, inTime };
      this.#waiting.push(waiting);
      if (this.#waiting.length === 1) this.#askNext();
    });
  }

  close(): void {
    this.#endThread();
    for (const { answer, inTime } of this.#waiting.splice(0)) {
      inTime();
      answer(FAILED);
    }
  }

  #askNext(): void {
    clearTimeout(this.#idle);
    const [next] = this.#waiting;
    if (next === undefined) this.#idle = setTimeout(() => this.#endThread(), IDLE_MS).unref();
    else this.#thread().postMessage(next.request);
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#script, { env: {}, execArgv: [], resourceLimits: RESOURCE_LIMITS });
    worker.unref();
    worker.on("message", (answer: WebhookAnswer) => {
      if (worker === this.#worker) this.#finish(answer);
    });
    // Out of memory, mostly. Whoever asked is refused, the next one has a new thread.
    worker.on("error", () => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      this.#finish(FAILED);
    });
    this.#worker = worker;
    return worker;
  }

  /** Answers the first one, and asks for the next. */
  #finish(answer: WebhookAnswer): void {
    const done = this.#waiting.shift();
    if (done === undefined) return;
    done.inTime();
    done.answer(answer);
    this.#askNext();
  }

  #giveUp(waiting: Waiting): void {
    if (waiting === this.#waiting[0]) {
      this.#endThread();
      this.#finish(TOO_LATE);
      return;
    }
    const at = this.#waiting.indexOf(waiting);
    if (at > 0) this.#waiting.splice(at, 1);
    waiting.answer(TOO_LATE);
  }

  #endThread(): void {
    clearTimeout(this.#idle);
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}
