/**
 * Ends what a worker thread runs (an endless loop in a guest, or a sleep in a host call) and keeps the thread: killing it and starting another one
 * costs some 30 ms of CPU. The engine offers this by its inspector protocol (`Runtime.terminateExecution`), which the main thread speaks with its
 * workers inside of the process; no port is opened.
 */
import type { Session } from "node:inspector";

/** A message of the inspector's domain for workers: which session it is about, and more. */
interface WorkerEvent<More = unknown> {
  readonly params: { readonly sessionId: string } & More;
}
/** The session's methods with the names that Node's types leave out. */
interface WorkerSession {
  on(event: string, listener: (event: never) => void): void;
  post(method: string, parameters: object): void;
}

/**
 * Reaches all worker threads that are started after it. One serves all pools of the process, and stays: the engine crashes when its domain for workers
 * is enabled while threads begin or end (it walks through them and runs JavaScript, in which others come and go), and another pool may have such.
 * A program that has threads of its own should have loaded its first module before it starts them.
 */
export class Interrupter {
  static #ofProcess: Promise<Interrupter | undefined> | undefined;
  /** Inspector sessions by thread id. */
  readonly #sessions = new Map<number, string>();
  /** Requests without an answer yet, by their numbers. */
  readonly #waiting = new Map<number, { readonly sessionId: string; readonly done: () => void }>();
  #requests = 0;
  readonly #session: Session;

  private constructor(session: Session) {
    this.#session = session;
    const workers = session as unknown as WorkerSession;
    workers.on("NodeWorker.attachedToWorker", ({ params }: WorkerEvent<{ workerInfo: { title: string } }>) => {
      // Only the title has the thread's number: "[worker 7]", "Worker 7" in older releases. A thread that is not found is not interrupted but killed.
      const thread = /\d+/.exec(params.workerInfo.title)?.[0];
      if (thread !== undefined) this.#sessions.set(Number(thread), params.sessionId);
    });
    workers.on("NodeWorker.detachedFromWorker", ({ params }: WorkerEvent) => {
      for (const [thread, session] of this.#sessions)
        if (session === params.sessionId) {
          this.forget(thread);
          this.#sessions.delete(thread);
        }
    });
    workers.on("NodeWorker.receivedMessageFromWorker", ({ params }: WorkerEvent<{ message: string }>) => {
      // Notifications have no id.
      const { id = 0 } = JSON.parse(params.message) as { id?: number };
      const done = this.#waiting.get(id)?.done;
      this.#waiting.delete(id);
      // The engine calls this listener in the middle of anything that the main thread runs, even of `interrupt` itself.
      if (done) setImmediate(done);
    });
    workers.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  }

  /** The one of this process, opened by the first who asks; to be awaited before threads are started. */
  static get(): Promise<Interrupter | undefined> {
    Interrupter.#ofProcess ??= Interrupter.open();
    return Interrupter.#ofProcess;
  }

  /** Another one. Undefined where Node was built without its inspector. */
  static async open(): Promise<Interrupter | undefined> {
    try {
      const { Session } = await import("node:inspector");
      const session = new Session();
      session.connect();
      return new Interrupter(session);
    } catch {
      return undefined;
    }
  }

  /**
   * Ends what the thread runs.
   * @param done called when it has ended; perhaps never, so the caller must have a time limit
   * @returns false when this thread can't be reached
   */
  interrupt(threadId: number, done: () => void): boolean {
    const sessionId = this.#sessions.get(threadId);
    if (sessionId === undefined) return false;
    const id = ++this.#requests;
    this.#waiting.set(id, { sessionId, done });
    const message = JSON.stringify({ id, method: "Runtime.terminateExecution" });
    (this.#session as unknown as WorkerSession).post("NodeWorker.sendMessageToWorker", { sessionId, message });
    return true;
  }

  /** The thread's answers are no longer waited for: it is going to be killed, or has ended. */
  forget(threadId: number): void {
    const forgotten = this.#sessions.get(threadId);
    for (const [id, { sessionId }] of this.#waiting) if (sessionId === forgotten) this.#waiting.delete(id);
  }
}
