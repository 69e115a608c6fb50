/** Reads what ImageValidatingPolicies ask about images, without a cache (spec kyverno.md 9). */
import { artifactContent, artifactError, artifactsOf } from "./artifacts.js";
import { type ImageReference, parseImageReference } from "./image-reference.js";
import type { Registry } from "./registry.js";
import { Room } from "./room.js";
import { SharedReads } from "./shared-reads.js";
import type { Attestor, AttestorVerdict, Sought } from "./signatures/attestor.js";
import { attestorVerdict } from "./signatures/attestor-verdict.js";
import type { SignatureChecks } from "./signatures/signature-checks.js";

/** Questions about images at a time, and those to one host: requests choose names, and registries how much an answer takes. */
export const IMAGE_QUESTIONS = { total: 64, share: 24 } as const;

const questions = new Room(IMAGE_QUESTIONS.total, IMAGE_QUESTIONS.share);

/** Puts a question about an image when there is room for it. */
export const inTurn = <T>({ host }: ImageReference, signal: AbortSignal, ask: () => Promise<T>): Promise<T> =>
  questions.run(host, 1, signal, "there was no turn for the question in time", ask);

/** Reads digests, verdicts and artifacts. Images have Docker's names: `busybox` is `docker.io/library/busybox:latest`. */
export class ImageTrustReader {
  readonly #registry: Registry;
  readonly #reads: Registry;
  readonly #checks: SignatureChecks;

  constructor(registry: Registry, checks: SignatureChecks) {
    this.#registry = registry;
    this.#reads = new SharedReads(registry);
    this.#checks = checks;
  }

  /**
   * The digest of an image's manifest or index, which must be there.
   * @throws FetchError
   */
  async digest(image: string, signal: AbortSignal): Promise<string> {
    const reference = parseImageReference(image);
    return inTurn(reference, signal, async () => (await this.#registry.manifest(reference, signal)).digest);
  }

  /**
   * The verdict of an attestor about an image with that digest.
   * @throws FetchError when the registry or the trust root can't be asked
   */
  async verdict(
    image: string,
    digest: string,
    attestor: Attestor,
    sought: Sought,
    signal: AbortSignal,
  ): Promise<AttestorVerdict> {
    const about = { registry: this.#reads, image: parseImageReference(image), digest, signal };
    return inTurn(about.image, signal, () => attestorVerdict(attestor, sought, about, this.#checks));
  }

  /**
   * The content of the first artifact of a type that refers to an image, in JSON; its signatures are not looked at.
   * @throws FetchError
   */
  async artifact(image: string, digest: string, artifactType: string, signal: AbortSignal): Promise<unknown> {
    const about = { registry: this.#reads, image: parseImageReference(image), digest, signal };
    return inTurn(about.image, signal, async () => {
      const [first] = await artifactsOf(about, digest, artifactType);
      if (first === undefined) throw artifactError(`artifact of type ${artifactType} not found`);
      return artifactContent(about, first);
    });
  }
}
