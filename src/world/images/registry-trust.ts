import type { Eventual } from "../eventual.js";
import { type LookupFailure, lookupFailureOf } from "../resources/resource-source.js";
import type { Attestor, AttestorVerdict, ImageAccess, ImageTrust, Sought, TrustQuestion } from "./image-trust.js";

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

/** Verdicts on images of registries. */
export class RegistryTrust implements ImageTrust {
  readonly #ask: (access: ImageAccess) => AskRegistries;
  readonly #signal: AbortSignal;

  /** @param signal ends requests under way */
  constructor(ask: (access: ImageAccess) => AskRegistries, signal: AbortSignal) {
    this.#ask = ask;
    this.#signal = signal;
  }

  digest(image: string, access: ImageAccess): Eventual<string | LookupFailure> {
    return this.#ask(access).digest(image, this.#signal).catch(lookupFailureOf);
  }

  verdict({ image, attestor, sought, access }: TrustQuestion): Eventual<AttestorVerdict | LookupFailure> {
    const ask = this.#ask(access);
    return ask
      .digest(image, this.#signal)
      .then((digest) => ask.verdict(image, digest, attestor, sought, this.#signal))
      .catch(lookupFailureOf);
  }

  artifact(image: string, artifactType: string, access: ImageAccess): Eventual<unknown> {
    const ask = this.#ask(access);
    return ask
      .digest(image, this.#signal)
      .then((digest) => ask.artifact(image, digest, artifactType, this.#signal))
      .catch(lookupFailureOf);
  }
}
