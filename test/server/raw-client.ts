/** A TCP client that sends bytes as a test wants them, well-formed or not. */
import net from "node:net";

/** Milliseconds after which what is waited for is taken never to come. */
const PATIENCE_MS = 60_000;

/** A connection under a test's control. */
export interface RawClient {
  send(text: string | Uint8Array): void;
  /** Everything received so far. */
  received(): string;
  /** Resolves when what was received matches, rejects when the connection ends before or it takes too long. */
  until(pattern: RegExp, milliseconds?: number): Promise<string>;
  /** Resolves with everything received once the connection is closed, by whichever side. */
  closed(milliseconds?: number): Promise<string>;
  destroy(): void;
}

/** Connects to a port of the loopback. */
export async function connect(port: number): Promise<RawClient> {
  const socket = net.connect(port, "127.0.0.1");
  let text = "";
  let over = false;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    text += chunk;
    notify();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    over = true;
    notify();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  const wait = (what: string, done: () => boolean, hopeless: () => boolean, milliseconds: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        listeners.delete(check);
        settle();
      };
      const check = (): void => {
        if (done()) finish(() => resolve(text));
        else if (hopeless()) finish(() => reject(new Error(`connection closed before ${what}; received: ${text}`)));
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(`no ${what} within ${milliseconds} ms; received: ${text}`))),
        milliseconds,
      );
      listeners.add(check);
      check();
    });
  return {
    send: (data) => void socket.write(data),
    received: () => text,
    until: (pattern, milliseconds = PATIENCE_MS) =>
      wait(
        String(pattern),
        () => pattern.test(text),
        () => over,
        milliseconds,
      ),
    closed: (milliseconds = PATIENCE_MS) =>
      wait(
        "close",
        () => over,
        () => false,
        milliseconds,
      ),
    destroy: () => socket.destroy(),
  };
}

/** A POST as text; `head` adds header lines. */
export function postText(path: string, body: string, head: readonly string[] = []): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...head,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
