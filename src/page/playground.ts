/** Checks and evaluates drafts, in this thread or another. */
import type { CheckAnswer, CheckQuestion, EvaluateAnswer, EvaluateQuestion, PageSource } from "./api.js";

/** The editable sources by the id of the entry, for all of the policies file; undefined: it can't be edited. */
export type PageSources = ReadonlyMap<string, PageSource | undefined>;

/** Drafts beside the served policies. A question about another generation reads the files anew. Rejects with a {@link PageError}. */
export interface Playground {
  sources(generation: number): Promise<PageSources>;
  check(question: CheckQuestion, generation: number): Promise<CheckAnswer>;
  evaluate(question: EvaluateQuestion, generation: number): Promise<EvaluateAnswer>;
  close(): Promise<void>;
}

/** Why a question is not answered, for the user. */
export class PageError extends Error {
  readonly code = "PAGE";
  override readonly name = "PageError";
  /** The HTTP status. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
