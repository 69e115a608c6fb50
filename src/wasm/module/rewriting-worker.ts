/** The thread that rewrites modules (`rewriting-thread.ts`). */
import { parentPort } from "node:worker_threads";
import { WasmLoadError, type WasmLoadErrorCode } from "../errors.js";
import { type RewriteOrder, type Rewritten, rewritten } from "./rewritten.js";

/** The result of an order. */
export type RewriteAnswer =
  | { readonly made: Rewritten }
  | { readonly code: WasmLoadErrorCode; readonly message: string };

function answerTo(order: RewriteOrder): RewriteAnswer {
  try {
    return { made: rewritten(order) };
  } catch (error) {
    // Any other error ends the thread, which reports it.
    if (error instanceof WasmLoadError) return { code: error.code, message: error.message };
    throw error;
  }
}

parentPort?.on("message", (order: RewriteOrder) => {
  const answer = answerTo(order);
  parentPort?.postMessage(answer, "made" in answer ? buffersOf(answer.made) : []);
});

/** The buffers that are transferred, not copied; a snapshot lies in memory that threads share. */
function buffersOf({ bytes, limited, floor }: Rewritten): ArrayBuffer[] {
  return [...new Set([bytes, limited, ...(floor ? [floor.unmetered] : [])].map((each) => each.buffer))];
}
