/** A playground in a thread of its own: whatever is typed there, requests are answered meanwhile, and evaluations that take too long are ended from outside. */
import { Worker } from "node:worker_threads";
import type { LoaderSettings } from "../../loader/settings.js";
import { PageError, type Playground } from "../playground.js";

/** A question: a method of the playground. */
type Kind = "sources" | "check" | "evaluate";
type Answer<K extends Kind = Kind> = Awaited<ReturnType<Playground[K]>>;

/** To the thread. */
export interface PlayMessage<K extends Kind = Kind> {
  readonly id: number;
  readonly kind: K;
  readonly args: Parameters<Playground[K]>;
}

/** From the thread. */
export type PlayReply =
  | { readonly id: number; readonly answer: Answer }
  /** `status` absent: a failure of ours. */
  | { readonly id: number; readonly error: string; readonly status?: number };

/** Longest time for an answer: a module may have to be compiled, and served policies may have to be fetched. */
export const MAX_ANSWER_MS = 30_000;
/** Memory limit in megabytes: the schemas of Kubernetes' kinds take some 100, a compiled policy some. */
const LIMITS = { maxOldGenerationSizeMb: 512 };

interface Pending {
  resolve(answer: Answer): void;
  reject(error: PageError): void;
  readonly timer: NodeJS.Timeout;
}

/** Takes the drafts of the page, with policies loaded by these settings beside them. */
export const openPlayground = (settings: LoaderSettings): Playground =>
  new ThreadPlayground(new URL("./thread.js", import.meta.url), settings);

/** Starts its thread at the first question, and again after it has ended. */
export class ThreadPlayground implements Playground {
  readonly #script: URL;
  readonly #data: unknown;
  readonly #longest: number;
  #worker: Worker | undefined;
  readonly #pending = new Map<number, Pending>();
  #next = 0;

  /**
   * @param script the thread's code: it answers each {@link PlayMessage} with a {@link PlayReply}
   * @param data passed to it
   * @param longest milliseconds for an answer
   */
  constructor(script: URL, data: unknown, longest = MAX_ANSWER_MS) {
    this.#script = script;
    this.#data = data;
    this.#longest = longest;
  }

  readonly sources: Playground["sources"] = (...args) => this.#ask("sources", args);
  readonly check: Playground["check"] = (...args) => this.#ask("check", args);
  readonly evaluate: Playground["evaluate"] = (...args) => this.#ask("evaluate", args);

  async close(): Promise<void> {
    await this.#end(new PageError(503, "the server stops"));
  }

  #ask<K extends Kind>(kind: K, args: Parameters<Playground[K]>): Promise<Answer<K>> {
    const worker = this.#worker ?? this.#start();
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const late = new PageError(
        504,
        `no answer within ${this.#longest / 1000} s: the draft may take too long to be compiled`,
      );
      const timer = setTimeout(() => void this.#end(late), this.#longest).unref();
      this.#pending.set(id, { resolve: resolve as Pending["resolve"], reject, timer });
      const message: PlayMessage<K> = { id, kind, args };
      // A thread with a question keeps the process alive, an idle one does not.
      worker.ref();
      worker.postMessage(message);
    });
  }

  #start(): Worker {
    const worker = new Worker(this.#script, { workerData: this.#data, resourceLimits: LIMITS });
    this.#worker = worker;
    worker.unref();
    const gone = (reason: string) => () => {
      if (this.#worker === worker) void this.#end(new PageError(500, reason));
    };
    worker.on("message", (reply: PlayReply) => this.#settle(reply));
    worker.on("error", (error) => gone(reasonOf(error))());
    worker.on("exit", gone("what checks drafts has ended: try again"));
    return worker;
  }

  #settle(reply: PlayReply): void {
    const waiting = this.#pending.get(reply.id);
    if (waiting === undefined) return;
    this.#pending.delete(reply.id);
    clearTimeout(waiting.timer);
    if (this.#pending.size === 0) this.#worker?.unref();
    if ("answer" in reply) waiting.resolve(reply.answer);
    else waiting.reject(new PageError(reply.status ?? 500, reply.error));
  }

  /** Ends the thread; waiting questions are refused, and the next one starts another. */
  async #end(why: PageError): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject, timer } of waiting) {
      clearTimeout(timer);
      reject(why);
    }
    await worker?.terminate();
  }
}

const reasonOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY"
    ? "the draft takes more memory than there is for it"
    : "what checks drafts has failed: try again";
