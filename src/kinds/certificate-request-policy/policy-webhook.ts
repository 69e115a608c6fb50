/** The policies' webhook (spec certificate-request-policy.md 7.1): a thread answers one request after the other. */
import { Worker } from "node:worker_threads";
import { type After, afterTimeout } from "../../data/clock.js";
import type { Webhook, WebhookAnswer } from "../../policy/webhook.js";
import type { PolicyAdmission } from "./webhook.js";

/** The reference's path, so that its configuration fits. */
const PATH = "/validate-policy-cert-manager-io-v1alpha1-certificaterequestpolicy";
/** The reference's name of the webhook. */
const NAME = "policy.cert-manager.io";
/** The reference's limit. */
const BODY_LIMIT = 7 * 1024 * 1024;
/** Time limit of a request: in the reference's configuration the API server waits no longer. */
const TIMEOUT_MS = 5000;
/** Most requests that wait for the one before. Policies are written by people: more at a time are a mistake. */
const MAX_WAITING = 64;
/** Milliseconds after which an idle thread ends, since it holds some 20 MiB. */
const IDLE_MS = 30_000;
/** Limits of the thread: a policy that needs more is refused. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

const SCRIPT = new URL("./webhook-worker.js", import.meta.url);

const refused = (code: number, message: string): WebhookAnswer => ({ allowed: false, code, message });
const TOO_LATE = refused(500, "execution deadline exceeded");
const FULL = refused(429, "too many policies wait to be checked: try again later");
const FAILED = refused(500, "the policy could not be checked");

/** A request that is not answered yet. */
interface Waiting {
  readonly request: PolicyAdmission;
  readonly answer: (answer: WebhookAnswer) => void;
  /** Keeps the request from being late: it has its answer. */
  readonly inTime: () => void;
}

/** The webhook. Its thread starts with the first request. @param script the thread's code @param after the timer of requests */
export class PolicyWebhook implements Webhook {
  readonly path = PATH;
  readonly name = NAME;
  readonly bodyLimit = BODY_LIMIT;
  readonly #script: URL;
  readonly #after: After;
  /** The requests; the first one is in the thread. */
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
    // Out of memory, mostly. The first request is refused, and the next one gets a new thread.
    worker.on("error", () => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      this.#finish(FAILED);
    });
    this.#worker = worker;
    return worker;
  }

  /** Answers the first request, and posts the next. */
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
