/** What the server's thread and the playground's say to each other. */
import type { CheckAnswer, CheckQuestion, EvaluateAnswer, EvaluateQuestion } from "../api.js";
import type { PageSources } from "../playground.js";

/** Questions by kind, with what answers them. */
export interface PlayKinds {
  readonly sources: readonly [undefined, PageSources];
  readonly check: readonly [CheckQuestion, CheckAnswer];
  readonly evaluate: readonly [EvaluateQuestion, EvaluateAnswer];
}

/** To the playground. */
export interface PlayMessage<K extends keyof PlayKinds = keyof PlayKinds> {
  readonly id: number;
  readonly kind: K;
  readonly question: PlayKinds[K][0];
  readonly generation: number;
}

/** From the playground. */
export type PlayReply =
  | { readonly id: number; readonly answer: PlayKinds[keyof PlayKinds][1] }
  /** `status` absent: a failure of ours. */
  | { readonly id: number; readonly error: string; readonly status?: number };
