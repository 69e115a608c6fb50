/**
 * Breaks off what a worker thread runs and keeps the thread: an endless loop in a guest, or a sleep in a host call. Ending the thread and starting
 * another would cost some 30 ms of CPU each time. The engine offers this through its inspector protocol (`Runtime.terminateExecution`), which the
 * main thread speaks with its workers inside of the process; no port is opened.
 */
import type { Session } from "node:inspector";

/** The messages of the inspector's domain for workers, as far as they are needed here. */
interface AttachedEvent {
  readonly params: { readonly sessionId: string; readonly workerInfo: { readonly title: string } };
}
interface ReplyEvent {
  readonly params: { readonly sessionId: string; readonly message: string };
}
interface DetachedEvent {
  readonly params: { readonly sessionId: string };
}
/** The session's methods with the names that Node's types leave out. */
interface WorkerSession {
  on(event: string, listener: (event: never) => void): void;
  post(method: string, parameters: object): void;
}

/** A way to all worker threads that are started after it. */
export class Interrupter {
  /** Inspector sessions by thread id. */
  readonly #sessions = new Map<number, string>();
  readonly #waiting = new Map<string, () => void>();
  #requests = 0;

  readonly #session: Session;

  private constructor(session: Session) {
    this.#session = session;
    const workers = session as unknown as WorkerSession;
    workers.on("NodeWorker.attachedToWorker", ({ params }: AttachedEvent) => {
      // Only the title has the thread's number: "[worker 7]", "Worker 7" in older releases. A thread that is not found is not interrupted but killed.
      const thread = /\d+/.exec(params.workerInfo.title)?.[0];
      if (thread !== undefined) this.#sessions.set(Number(thread), params.sessionId);
    });
    workers.on("NodeWorker.detachedFromWorker", ({ params }: DetachedEvent) => {
      for (const [thread, session] of this.#sessions)
        if (session === params.sessionId) {
          this.forget(thread);
          this.#sessions.delete(thread);
        }
    });
    workers.on("NodeWorker.receivedMessageFromWorker", ({ params }: ReplyEvent) => {
      const { id } = JSON.parse(params.message) as { id?: number };
      const key = `${params.sessionId} ${id}`;
      const done = this.#waiting.get(key);
      this.#waiting.delete(key);
      // This very listener is called by an interrupt of the main thread: in the middle of whatever that does, even of what asked for it.
      if (done) setImmediate(done);
    });
    workers.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  }

  /** Undefined where Node was built without its inspector. */
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
   * Breaks off what the thread runs.
   * @param done called when it has come to rest; perhaps never, so the caller must have a limit
   * @returns false when this thread can't be reached
   */
  interrupt(threadId: number, done: () => void): boolean {
    const sessionId = this.#sessions.get(threadId);
    if (sessionId === undefined) return false;
    const id = ++this.#requests;
    this.#waiting.set(`${sessionId} ${id}`, done);
    const message = JSON.stringify({ id, method: "Runtime.terminateExecution" });
    (this.#session as unknown as WorkerSession).post("NodeWorker.sendMessageToWorker", { sessionId, message });
    return true;
  }

  /** A thread that has not answered, and will not: it is going to be killed, or has ended. */
  forget(threadId: number): void {
    const sessionId = this.#sessions.get(threadId);
    for (const key of this.#waiting.keys()) if (key.startsWith(`${sessionId} `)) this.#waiting.delete(key);
  }

  close(): void {
    this.#session.disconnect();
  }
}
