/** Reads what ImageValidatingPolicies ask about images, without a cache (spec kyverno.md 9). */
import { artifactContent, artifactError, artifactsOf } from "./artifacts.js";
import { parseImageReference } from "./image-reference.js";
import type { Registry } from "./registry.js";
import { SharedReads } from "./shared-reads.js";
import type { Attestor, AttestorVerdict, Sought } from "./signatures/attestor.js";
import { attestorVerdict } from "./signatures/attestor-verdict.js";
import type { SignatureChecks } from "./signatures/signature-checks.js";

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
    return (await this.#registry.manifest(parseImageReference(image), signal)).digest;
  }

  /**
   * The verdict of an attestor about an image with that digest.
   * @throws FetchError when the registry or the trust root can't be asked
   */
  verdict(
    image: string,
    digest: string,
    attestor: Attestor,
    sought: Sought,
    signal: AbortSignal,
  ): Promise<AttestorVerdict> {
    const about = { registry: this.#reads, image: parseImageReference(image), digest, signal };
    return attestorVerdict(attestor, sought, about, this.#checks);
  }

  /**
   * The content of the first artifact of a type that refers to an image, in JSON; its signatures are not looked at.
   * @throws FetchError
   */
  async artifact(image: string, digest: string, artifactType: string, signal: AbortSignal): Promise<unknown> {
    const about = { registry: this.#reads, image: parseImageReference(image), digest, signal };
    const [first] = await artifactsOf(about, digest, artifactType);
    if (first === undefined) throw artifactError(`artifact of type ${artifactType} not found`);
    return artifactContent(about, first);
  }
}
