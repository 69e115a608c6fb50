import { wholeOf } from "../../../kubernetes/client/text-pieces.js";
import type { HostAnswer } from "./call.js";

/** The payload of the host's answer, joined if it came in pieces. */
export const wholeAnswer = ({ payload, pieces }: Extract<HostAnswer, { ok: true }>): Uint8Array =>
  pieces === undefined ? payload : wholeOf(pieces);
