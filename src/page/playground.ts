/** What checks and evaluates drafts, wherever it does. */
import type { CheckAnswer, CheckQuestion, EvaluateAnswer, EvaluateQuestion, PageSource } from "./api.js";

/** By the id of the entry, all of the policies file; undefined: it can't be edited. */
export type PageSources = ReadonlyMap<string, PageSource | undefined>;

/** Drafts beside what is served. A question about another generation reads the files anew. Rejects with a {@link PageError}. */
export interface Playground {
  sources(generation: number): Promise<PageSources>;
  check(question: CheckQuestion, generation: number): Promise<CheckAnswer>;
  evaluate(question: EvaluateQuestion, generation: number): Promise<EvaluateAnswer>;
  close(): Promise<void>;
}

/** Why a question is not answered, for whoever asked it. */
export class PageError extends Error {
  readonly code = "PAGE";
  override readonly name = "PageError";
  /** HTTP. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
