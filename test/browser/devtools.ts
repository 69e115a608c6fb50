/** A Chromium of our own, spoken to over the DevTools protocol: as little of it as the page's tests need. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type MessageEvent, WebSocket } from "undici";

/** A command that takes longer is a failure, and so is a browser that does not start. In milliseconds. */
const PATIENCE = 20_000;
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

type Fields = Readonly<Record<string, unknown>>;
type Listener = (parameters: Fields) => void;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly message: string };
}

/** Where a Chromium is installed: `CHROMIUM`, or on the path. */
export function findChromium(): string | undefined {
  const wanted = process.env.CHROMIUM;
  if (wanted !== undefined) return existsSync(wanted) ? wanted : undefined;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
}

/** One tab, without a window. */
export class Devtools {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<
    number,
    { readonly done: (result: Fields) => void; readonly failed: (error: Error) => void }
  >();
  readonly #listeners = new Map<string, Listener[]>();
  #last = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", (event: MessageEvent) => this.#read(JSON.parse(String(event.data)) as Message));
    socket.addEventListener("close", () => {
      for (const { failed } of this.#waiting.values()) failed(new Error("the browser has gone"));
      this.#waiting.clear();
    });
  }

  /** Calls a method of the protocol. */
  send(method: string, parameters: Fields = {}): Promise<Fields> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`${method} was not answered within ${PATIENCE / 1000} s`));
      }, PATIENCE);
      this.#waiting.set(id, {
        done: (result) => {
          clearTimeout(timer);
          resolve(result);
        },
        failed: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.#socket.send(JSON.stringify({ id, method, params: parameters }));
    });
  }

  /** Calls a function with every event of a name. */
  on(event: string, listener: Listener): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  close(): void {
    this.#socket.close();
  }

  #read(message: Message): void {
    if (message.id === undefined) {
      for (const listener of this.#listeners.get(message.method ?? "") ?? []) listener(message.params ?? {});
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error === undefined) waiting?.done(message.result ?? {});
    else waiting?.failed(new Error(message.error.message));
  }
}

/** A running browser. */
export interface Browser {
  readonly tab: Devtools;
  readonly end: () => Promise<void>;
}

function opened(address: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    socket.addEventListener("open", () => resolve(socket));
    socket.addEventListener("error", () => reject(new Error(`no connection to ${address}`)));
  });
}

/** Starts a Chromium with a profile of its own, which is gone at its end. */
export async function launch(executable: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "page-browser-"));
  const flags = [
    "--headless=new",
    "--remote-debugging-port=0",
    `--user-data-dir=${profile}`,
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    // Chromium does not sandbox for root.
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    "about:blank",
  ];
  const child = spawn(executable, flags, { stdio: ["ignore", "ignore", "pipe"], detached: true });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = () => {
    try {
      // The whole group: the processes of its tabs, too.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
  process.once("exit", kill);
  const end = async () => {
    kill();
    await gone;
    process.removeListener("exit", kill);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let text = "";
      const timer = setTimeout(() => reject(new Error(`Chromium did not start: ${text.slice(-500)}`)), PATIENCE);
      child.stderr.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const found = /DevTools listening on (ws:\/\/\S+)/.exec(text);
        if (found?.[1] === undefined) return;
        clearTimeout(timer);
        resolve(found[1]);
      });
      child.once("error", reject);
    });
    const { host } = new URL(address);
    const answer = await fetch(`http://${host}/json/list`);
    const targets = (await answer.json()) as readonly {
      readonly type: string;
      readonly webSocketDebuggerUrl: string;
    }[];
    const page = targets.find(({ type }) => type === "page");
    if (page === undefined) throw new Error("Chromium has no page");
    return { tab: new Devtools(await opened(page.webSocketDebuggerUrl)), end };
  } catch (error) {
    await end();
    throw error;
  }
}
