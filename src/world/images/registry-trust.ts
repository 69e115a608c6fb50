import { LRUCache } from "lru-cache";
import { withDoubles } from "../../data/doubles.js";
import { jsonWeight } from "../../data/json-weight.js";
import { endWithin } from "../../kubernetes/client/abort.js";
import { ANSWER_KEPT_MS } from "../../kubernetes/client/limits.js";
import { andThen, type Eventual } from "../eventual.js";
import { LookUps } from "../look-ups.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
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
 * signature that is removed, and a key that the trust root no longer has, count no longer than this.
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
/** Most policies' ways to access registries that are kept, each with its log-ins. */
const MAX_ACCESSES = 100;

/** Verdicts on images of registries. Tags are looked up again after a moment, and what is known about a digest is kept. */
export class RegistryTrust implements ImageTrust {
  readonly #ask: (access: ImageAccess) => AskRegistries;
  readonly #signal: AbortSignal;
  readonly #asked = new LRUCache<string, AskRegistries>({ max: MAX_ACCESSES });
  readonly #digests: LookUps<string>;
  readonly #verdicts: LookUps<AttestorVerdict>;
  readonly #artifacts: LookUps<unknown>;

  /**
   * @param now monotonic milliseconds
   * @param signal ends requests under way
   */
  constructor(ask: (access: ImageAccess) => AskRegistries, now: () => number, signal: AbortSignal) {
    this.#ask = ask;
    this.#signal = signal;
    this.#digests = new LookUps(now, { room: { bytes: MAX_DIGESTS_BYTES, sizeOf: ({ length }) => length } });
    const room = {
      bytes: MAX_VERDICTS_BYTES,
      each: MAX_KEPT_VERDICT_BYTES,
      sizeOf: (kept: unknown) => jsonWeight(kept),
    };
    this.#verdicts = new LookUps<AttestorVerdict>(now, { max: MAX_VERDICTS, room });
    this.#artifacts = new LookUps<unknown>(now, { max: MAX_VERDICTS, room });
  }

  digest(image: string, access: ImageAccess): Eventual<string | LookupFailure> {
    const found = this.#digests.ask(
      `${wordOf(access)} ${image}`,
      () => this.#within((signal) => this.#asks(access).digest(image, signal)),
      (digest) => (image.endsWith(`@${digest}`) ? VERIFIED_KEPT_MS : ANSWER_KEPT_MS),
    );
    return andThen(found, present);
  }

  verdict({ image, digest, attestor, sought, access }: DigestQuestion): Eventual<AttestorVerdict | LookupFailure> {
    const found = this.#verdicts.ask(
      `${digest} ${wordOf(access)} ${wordOf(sought)} ${wordOf(attestor)} ${repositoryOf(image)}`,
      () =>
        this.#within(async (signal) => {
          const verdict = await this.#asks(access).verdict(image, digest, attestor, sought, signal);
          return verdict.payload === undefined ? verdict : { ...verdict, payload: withDoubles(verdict.payload) };
        }),
      (verdict) => (verdict?.verified === true ? VERIFIED_KEPT_MS : UNVERIFIED_KEPT_MS),
    );
    return andThen(found, present);
  }

  artifact(image: string, digest: string, artifactType: string, access: ImageAccess): Eventual<unknown> {
    const found = this.#artifacts.ask(
      `${digest} ${wordOf(access)} ${JSON.stringify(artifactType)} ${repositoryOf(image)}`,
      () =>
        this.#within(async (signal) =>
          withDoubles(await this.#asks(access).artifact(image, digest, artifactType, signal)),
        ),
      () => ANSWER_KEPT_MS,
    );
    return andThen(found, present);
  }

  #asks(access: ImageAccess): AskRegistries {
    const word = wordOf(access);
    const asks = this.#asked.get(word) ?? this.#ask(access);
    this.#asked.set(word, asks);
    return asks;
  }

  async #within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = endWithin(this.#signal, IMAGE_MS);
    try {
      return await work(limit.signal);
    } finally {
      limit.done();
    }
  }
}

const present = <T>(answer: Lookup<T>): T | LookupFailure => answer ?? new LookupFailure("the registry says nothing");

/** The repository of an image, as written: tags of one digest share its verdicts. */
function repositoryOf(image: string): string {
  const [name = ""] = image.split("@", 1);
  const colon = name.lastIndexOf(":");
  return colon > name.lastIndexOf("/") ? name.slice(0, colon) : name;
}
