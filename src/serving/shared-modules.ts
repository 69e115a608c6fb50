/** One process of a server says how much of modules all of them fetch and hold at a time, and what stays in the download folder. */
import { resolve } from "node:path";
import { SYSTEM_CLOCK } from "../data/clock.js";
import {
  DistantModuleShare,
  FolderBound,
  type FromShareKeeper,
  KeptShare,
  LocalModuleShare,
  MAX_FOLDER_BYTES,
  type ModuleShare,
  type ToShareKeeper,
} from "../fetch/index.js";
import type { LoaderSettings } from "../loader/settings.js";

/** How messages about modules are told from others. */
interface Envelope<M> {
  readonly type: "modules";
  readonly message: M;
}

const isEnvelope = (message: unknown): message is Envelope<ToShareKeeper> & Envelope<FromShareKeeper> =>
  typeof message === "object" && message !== null && "type" in message && message.type === "modules";

/** Another process, which this one has started. */
export interface StartedProcess {
  send?(message: object, done: () => void): unknown;
  on(event: "message", hear: (message: unknown) => void): unknown;
  once(event: "exit", ended: () => void): unknown;
}

/** The share of the process that starts the others. */
export interface KeptModules {
  readonly share: ModuleShare;
  /** Shares with another process, until it ends. */
  readonly attend: (child: StartedProcess) => void;
}

/** Keeps it. */
export function keepModules({ downloadDirectory = "." }: LoaderSettings): KeptModules {
  const share = new LocalModuleShare(new FolderBound(resolve(downloadDirectory), MAX_FOLDER_BYTES, SYSTEM_CLOCK.wall));
  const attend = (child: StartedProcess): void => {
    const kept = new KeptShare(share, (message) => {
      const sent: Envelope<FromShareKeeper> = { type: "modules", message };
      // A failure is of one that has just died, which is told as its end.
      child.send?.(sent, () => {});
    });
    child.on("message", (message) => {
      if (isEnvelope(message)) void kept.hear(message.message);
    });
    child.once("exit", () => kept.end());
  };
  return { share, attend };
}

/** What the process keeps that has started this one. */
export function distantModules(): ModuleShare {
  return new DistantModuleShare({
    send(message) {
      const sent: Envelope<ToShareKeeper> = { type: "modules", message };
      if (process.connected) process.send?.(sent, () => {});
    },
    listen(hear) {
      process.on("message", (message) => {
        if (isEnvelope(message)) hear(message.message);
      });
    },
  });
}
