/** The messages between the server's thread and the playground's. */
import type { CheckAnswer, CheckQuestion, EvaluateAnswer, EvaluateQuestion } from "../api.js";
import type { PageSources } from "../playground.js";

/** Questions by kind, with their answers. */
export interface PlayKinds {
  readonly sources: readonly [undefined, PageSources];
  readonly check: readonly [CheckQuestion, CheckAnswer];
  readonly evaluate: readonly [EvaluateQuestion, EvaluateAnswer];
}

/** A message to the playground. */
export interface PlayMessage<K extends keyof PlayKinds = keyof PlayKinds> {
  readonly id: number;
  readonly kind: K;
  readonly question: PlayKinds[K][0];
  readonly generation: number;
}

/** A message from the playground. */
export type PlayReply =
  | { readonly id: number; readonly answer: PlayKinds[keyof PlayKinds][1] }
  /** `status` absent: a failure of ours. */
  | { readonly id: number; readonly error: string; readonly status?: number };
