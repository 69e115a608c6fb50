/** Shares the limits for fetching and holding modules among all processes of a server: one of them keeps the counts. */
import { localModuleShare, MAX_FOLDER_BYTES, type ModuleShare, type RoomName } from "../fetch/index.js";

/** A request to enter, its confirmation, or, sent again, the exit. */
interface Message {
  readonly type: "modules";
  readonly id: number;
  readonly wanted?: readonly [room: RoomName, owner: string, weight: number];
}

const isMessage = (message: unknown): message is Message =>
  typeof message === "object" && message !== null && "type" in message && message.type === "modules";

/** A process as another process sees it. */
export interface OtherProcess {
  readonly connected?: boolean;
  send?(message: object, done: () => void): unknown;
  on(event: "message", hear: (message: unknown) => void): unknown;
  once(event: "exit", ended: () => void): unknown;
}

/** Sends a message. It fails for a process that has just ended, whose end is noticed separately. */
function tell(other: OtherProcess, id: number, wanted?: Message["wanted"]): void {
  const message: Message = { type: "modules", id, ...(wanted && { wanted }) };
  if (other.connected !== false) other.send?.(message, () => {});
}

/** The share, kept by the process that starts the others. */
export interface KeptModules {
  readonly share: ModuleShare;
  /** Serves the share to another process, until that ends. */
  readonly attend: (child: OtherProcess) => void;
}

/** Creates the share. */
export function keepModules(): KeptModules {
  const share = localModuleShare(MAX_FOLDER_BYTES);
  const attend = (child: OtherProcess): void => {
    const entered = new Map<number, ReturnType<ModuleShare["enter"]>>();
    const leave = (id: number): void => {
      void entered.get(id)?.then((release) => release());
      entered.delete(id);
    };
    child.on("message", (message) => {
      if (!isMessage(message)) return;
      const { id, wanted } = message;
      if (wanted === undefined) return leave(id);
      const entering = share.enter(...wanted);
      entered.set(id, entering);
      void entering.then(() => tell(child, id));
    });
    child.once("exit", () => {
      for (const id of entered.keys()) leave(id);
    });
  };
  return { share, attend };
}

/** The share that the parent process keeps. Without the parent nothing enters any more: this process is about to end as well. */
export function distantModules(keeper: OtherProcess = process): ModuleShare {
  const entering = new Map<number, () => void>();
  let last = 0;
  keeper.on("message", (message) => {
    if (!isMessage(message)) return;
    entering.get(message.id)?.();
    entering.delete(message.id);
  });
  return {
    maxFolderBytes: MAX_FOLDER_BYTES,
    enter: (...wanted) =>
      new Promise((resolve) => {
        last += 1;
        const id = last;
        entering.set(id, () => resolve(() => tell(keeper, id)));
        tell(keeper, id, wanted);
      }),
  };
}
