import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { doublesInSteps } from "../../data/doubles.js";
import { jsonWeight } from "../../data/json-weight.js";
import { endWithin } from "../../kubernetes/client/abort.js";
import { ANSWER_KEPT_MS } from "../../kubernetes/client/limits.js";
import type { Eventual } from "../eventual.js";
import { LookUps } from "../look-ups.js";
import type { LookupFailure } from "../resources/resource-source.js";
import {
  type Attestor,
  type AttestorVerdict,
  type DigestQuestion,
  type ImageAccess,
  type ImageTrust,
  type Sought,
  wordOf,
} from "./image-trust.js";
import { IMAGE_MS } from "./registry-images.js";

/** Asks registries about images. Errors may have words for answers (`Shown`). */
export interface AskRegistries {
  digest(image: string, signal: AbortSignal): Promise<string>;
  verdict(
    image: string,
    digest: string,
    attestor: Attestor,
    sought: Sought,
    signal: AbortSignal,
  ): Promise<AttestorVerdict>;
  artifact(image: string, digest: string, artifactType: string, signal: AbortSignal): Promise<unknown>;
}

/**
 * How long a signature counts that was found, in milliseconds, and the manifest of a digest as being there. Shorter than the hour of the reference: a
 * signature that is removed counts no longer than this. The trust root itself is read once a process.
 */
export const VERIFIED_KEPT_MS = 600_000;
/** How long an attestor's signature counts as missing: as for modules. */
export const UNVERIFIED_KEPT_MS = 4_000;
/** Most verdicts that are kept. */
export const MAX_VERDICTS = 10_000;
/** Bytes of memory for them, most of them those of signed statements; */
const MAX_VERDICTS_BYTES = 32 * 1024 * 1024;
/** of one that is kept: it is made anew each time where its statement is larger; */
export const MAX_KEPT_VERDICT_BYTES = 4 * 1024 * 1024;
/** and of all digests: requests choose the names of images. */
const MAX_DIGESTS_BYTES = 4 * 1024 * 1024;
/** Milliseconds of work on a statement after which others have their turn. */
const SLICE_MS = 5;
/** Most policies' ways to access registries that are kept, each with its log-ins. */
const MAX_ACCESSES = 50;

/** Most digests, and verdicts of one attestor, that are found without making a key: the images of a rollout. */
const MAX_AT_HAND = 100;

/** A digest, and a verdict, with the time until which it counts. */
interface DigestAtHand {
  readonly digest: string;
  readonly access: ImageAccess;
  readonly until: number;
}

interface AtHand {
  readonly question: DigestQuestion;
  readonly verdict: AttestorVerdict;
  readonly until: number;
}

/** Verdicts on images of registries. Tags are looked up again after a moment, and what is known about a digest is kept. */
export class RegistryTrust implements ImageTrust {
  readonly #ask: (access: ImageAccess) => AskRegistries;
  readonly #signal: AbortSignal;
  readonly #asked = new LRUCache<string, AskRegistries>({ max: MAX_ACCESSES });
  readonly #digests: LookUps<string>;
  readonly #verdicts: LookUps<AttestorVerdict>;
  /** The last digests, by the images that are named by them. */
  readonly #digestsAtHand = new Map<string, DigestAtHand>();
  /** The last verdicts of each attestor, by the image as written. */
  readonly #atHand = new WeakMap<Attestor, Map<string, AtHand>>();
  readonly #now: () => number;
  readonly #artifacts: LookUps<unknown>;

  /**
   * @param now monotonic milliseconds
   * @param signal ends requests under way
   */
  constructor(ask: (access: ImageAccess) => AskRegistries, now: () => number, signal: AbortSignal) {
    this.#ask = ask;
    this.#now = now;
    this.#signal = signal;
    this.#digests = new LookUps(now, { room: { bytes: MAX_DIGESTS_BYTES, sizeOf: ({ length }) => length } });
    const room = {
      bytes: MAX_VERDICTS_BYTES,
      each: MAX_KEPT_VERDICT_BYTES,
      sizeOf: (kept: unknown) => jsonWeight(kept, MAX_KEPT_VERDICT_BYTES),
    };
    this.#verdicts = new LookUps<AttestorVerdict>(now, { max: MAX_VERDICTS, room });
    this.#artifacts = new LookUps<unknown>(now, { max: MAX_VERDICTS, room });
  }

  digest(image: string, access: ImageAccess): Eventual<string | LookupFailure> {
    const last = this.#digestsAtHand.get(image);
    if (last?.access === access && this.#now() < last.until) return last.digest;
    const keptMs = (digest: string): number => {
      if (!image.endsWith(`@${digest}`)) return ANSWER_KEPT_MS;
      if (this.#digestsAtHand.size >= MAX_AT_HAND) this.#digestsAtHand.clear();
      this.#digestsAtHand.set(image, { digest, access, until: this.#now() + VERIFIED_KEPT_MS });
      return VERIFIED_KEPT_MS;
    };
    return this.#known(this.#digests, access, image, (asks, signal) => asks.digest(image, signal), keptMs);
  }

  verdict(question: DigestQuestion): Eventual<AttestorVerdict | LookupFailure> {
    const { image, digest, attestor, sought, access } = question;
    const last = this.#atHand.get(attestor)?.get(image);
    if (last?.question.digest === digest && last.question.sought === sought && last.question.access === access)
      if (this.#now() < last.until) return last.verdict;
    const ask = async (asks: AskRegistries, signal: AbortSignal): Promise<AttestorVerdict> => {
      const verdict = await asks.verdict(image, digest, attestor, sought, signal);
      return verdict.payload === undefined ? verdict : { ...verdict, payload: await doublesOf(verdict.payload) };
    };
    const keptMs = (verdict: AttestorVerdict): number => {
      if (!verdict.verified) return UNVERIFIED_KEPT_MS;
      // Contents of statements are only in the memory that is counted.
      if (verdict.payload === undefined) this.#keepAtHand({ question, verdict, until: this.#now() + VERIFIED_KEPT_MS });
      return VERIFIED_KEPT_MS;
    };
    const key = `${digest} ${wordOf(sought)} ${wordOf(attestor)} ${repositoryOf(image)}`;
    return this.#known(this.#verdicts, access, key, ask, keptMs);
  }

  #keepAtHand(verdict: AtHand): void {
    const { attestor, image } = verdict.question;
    let own = this.#atHand.get(attestor);
    if (own === undefined || own.size >= MAX_AT_HAND) own = new Map();
    this.#atHand.set(attestor, own.set(image, verdict));
  }

  artifact(image: string, digest: string, artifactType: string, access: ImageAccess): Eventual<unknown> {
    const ask = async (asks: AskRegistries, signal: AbortSignal): Promise<unknown> =>
      doublesOf(await asks.artifact(image, digest, artifactType, signal));
    const key = `${digest} ${JSON.stringify(artifactType)} ${repositoryOf(image)}`;
    return this.#known(this.#artifacts, access, key, ask, () => ANSWER_KEPT_MS);
  }

  /** A kept answer, or that of the registries. */
  #known<V>(
    kept: LookUps<V>,
    access: ImageAccess,
    key: string,
    ask: (asks: AskRegistries, signal: AbortSignal) => Promise<V>,
    keptMs: (answer: V) => number,
  ): Eventual<V | LookupFailure> {
    const word = wordOf(access);
    const execute = async (): Promise<V> => {
      const asks = this.#asked.get(word) ?? this.#ask(access);
      this.#asked.set(word, asks);
      const limit = endWithin(this.#signal, IMAGE_MS);
      try {
        return await ask(asks, limit.signal);
      } finally {
        limit.done();
      }
    };
    return kept.ask(`${word} ${key}`, execute, (answer) => keptMs(answer as V)) as Eventual<V | LookupFailure>;
  }
}

/** The value with doubles for its numbers, made in turns with other work: statements may have a hundred thousand values. */
async function doublesOf(value: unknown): Promise<unknown> {
  const steps = doublesInSteps(value, () => undefined);
  for (let began = performance.now(); ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - began < SLICE_MS) continue;
    await nextTurn();
    began = performance.now();
  }
}

/** The repository of an image, as written: tags of one digest share its verdicts. */
function repositoryOf(image: string): string {
  const at = image.indexOf("@");
  const end = at === -1 ? image.length : at;
  const colon = image.lastIndexOf(":", end);
  return image.slice(0, colon > image.lastIndexOf("/", end) ? colon : end);
}
