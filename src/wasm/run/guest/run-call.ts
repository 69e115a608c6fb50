/** Runs one call of a guest to its end, in the calling thread. It reads no clock: the call's budget does. */
import { readCallAnswer, readWasiAnswer } from "../../answer.js";
import type { ReadAnswer } from "../../question.js";
import type { Ended, ExecutionMode, GuestFailure, GuestModule, GuestOperation, RunResult } from "./call.js";
import type { CallHost } from "./call-host.js";
import { GuestLimitError, GuestMemoryError, GuestStartError, type RunGuest } from "./guest.js";
import { Places } from "./instance-pool.js";
import type { InstancePlace } from "./place.js";
import { readAnswer } from "./read-answer.js";

/** Characters of a failure's text: it becomes part of an HTTP answer, and a Rego module chooses it. */
const FAILURE_CHARACTERS = 8 * 1024;

/** The question. Its bytes are only valid during the call. */
export interface Question {
  readonly operation: GuestOperation;
  /** The payload, JSON in UTF-8. */
  readonly input: Uint8Array;
  /** The data document of a Rego module, JSON in UTF-8. */
  readonly data?: Uint8Array;
}

/** The runner of one kind of guests, and the reader of their answers. */
interface GuestKind {
  readonly run: RunGuest;
  readonly read: ReadAnswer;
}

/** Each protocol's code is loaded with its first guest. */
const loaders: Record<ExecutionMode, () => Promise<GuestKind>> = {
  extism: async () => ({ run: (await import("../../protocols/extism/guest.js")).extismRunner(), read: readCallAnswer }),
  "kubewarden-wapc": async () => ({
    run: (await import("../../protocols/wapc/guest.js")).wapcRunner(),
    read: readCallAnswer,
  }),
  wasi: async () => ({ run: (await import("../../protocols/wasi/guest.js")).wasiRunner(), read: readWasiAnswer }),
  opa: async () => ({
    run: (await import("../../protocols/opa/guest.js")).regoRunner(),
    read: (await import("../../protocols/opa/answer.js")).readOpaAnswer,
  }),
  gatekeeper: async () => ({
    run: (await import("../../protocols/opa/guest.js")).regoRunner(),
    read: (await import("../../protocols/gatekeeper/answer.js")).readGatekeeperAnswer,
  }),
};

/** Runs calls, one at a time. A thread has one runner. */
export class GuestRunner {
  readonly #kinds = new Map<ExecutionMode, GuestKind>();
  readonly #places = new Places();
  readonly #answerBytes: number;

  /** @param answerBytes most bytes of an answer, beside the call's own limits */
  constructor(answerBytes = Number.POSITIVE_INFINITY) {
    this.#answerBytes = answerBytes;
  }

  /** Whether {@link run} can run guests of this mode. */
  has(mode: ExecutionMode): boolean {
    return this.#kinds.has(mode);
  }

  /** Loads the code for a kind of guests. */
  async load(mode: ExecutionMode): Promise<void> {
    if (!this.#kinds.has(mode)) this.#kinds.set(mode, await loaders[mode]());
  }

  /** Runs a call in an instance equal to a new one; never throws. The mode's code has been {@link load}ed. */
  run(module: GuestModule, question: Question, host: CallHost): RunResult | Ended {
    const kind = this.#kinds.get(module.mode);
    if (!kind) return { kind: "start-failed", text: `the code for ${module.mode} policies is not loaded` };
    const { importedMemory: shape, image } = module;
    const { operation } = question;
    const { limits } = host;
    let place: InstancePlace | undefined;
    let result: RunResult;
    try {
      if (shape && image) place = this.#places.take(module.id, shape, image, module);
      const name = operation === "validate-raw" ? "validate" : operation;
      const answer = kind.run(module, { ...question, operation: name }, host, place);
      result = readAnswer(answer, operation, { input: question.input, limits }, kind.read, this.#answerBytes);
    } catch (error) {
      const failed = failure(error);
      result =
        failed.kind === "trap" && place !== undefined
          ? { ...failed, memoryBytes: place.memory.buffer.byteLength }
          : failed;
    }
    // Even if the guest has caught the error.
    if (host.passed && result.kind !== "limit") result = failure(host.passed);
    if (host.budget.isSpent) return { kind: "ended", phase: host.phase, stderr: host.stderrText() };
    // The place of a failed call is not reused.
    if (place && (result.kind === "outcome" || result.kind === "answer")) this.#places.give(place);
    host.finish();
    return result;
  }

  /**
   * Makes the memory for a module's next call, when there is none to be reused.
   * @returns whether it made one
   */
  prepare(module: GuestModule): boolean {
    const { id, importedMemory: shape, image, marking } = module;
    if (!shape || !image || !marking) return false;
    try {
      return this.#places.prepare(id, shape, image, module);
    } catch {
      // The call meets the same error, and reports it.
      return false;
    }
  }

  /** Prepares for the next call; called after the answer was sent. Otherwise the next call does the same, and takes longer. */
  tidy(): void {
    this.#places.tidy();
  }
}

/** Turns a guest's exception into a result. Texts are kept short: the first line, no stack. */
function failure(error: unknown): GuestFailure {
  if (error instanceof GuestLimitError) return { kind: "limit", text: error.message };
  const text = firstLine(error instanceof Error ? error.message : thrownText(error));
  if (error instanceof GuestMemoryError) return { kind: "out-of-memory", text };
  if (error instanceof GuestStartError) return { kind: "start-failed", text };
  return { kind: "trap", text };
}

/** The text of a guest's exception; one of its own kind is not an Error, and has no readable text. */
function thrownText(thrown: unknown): string {
  return thrown instanceof WebAssembly.Exception ? "an exception that the policy did not catch" : String(thrown);
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > FAILURE_CHARACTERS ? `${line.slice(0, FAILURE_CHARACTERS)}…` : line;
}
