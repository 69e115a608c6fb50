/** Reads what ImageValidatingPolicies ask about images, without a cache (spec kyverno.md 9). */
import { hasMoreValues } from "../data/json-values.js";
import { FetchError, TOO_LARGE } from "./fetch-error.js";
import { parseImageReference } from "./image-reference.js";
import type { Registry } from "./registry.js";
import { layersOf } from "./registry-client.js";
import { jsonOf } from "./registry-connection.js";
import { SharedReads } from "./shared-reads.js";
import type { Attestor, AttestorVerdict, Sought } from "./signatures/attestor.js";
import { attestorVerdict } from "./signatures/attestor-verdict.js";
import { MAX_REFERRER_LISTS } from "./signatures/bundle.js";
import type { SignatureChecks } from "./signatures/signature-checks.js";

/** Largest artifact whose content is read, in bytes; and most JSON values of it: reading it takes some 50 ms. */
const MAX_ARTIFACT_BYTES = 2 * 1024 * 1024;
const MAX_ARTIFACT_VALUES = 50_000;

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
    const reference = parseImageReference(image);
    const { host, repository } = reference;
    let lists = 0;
    for await (const list of this.#reads.referrers(reference, digest, signal)) {
      const found = list.find((one) => one.artifactType === artifactType);
      if (found !== undefined) {
        const [layer, ...more] = layersOf(
          await this.#reads.manifest({ host, repository, digest: found.digest }, signal),
        );
        if (layer === undefined || more.length > 0)
          throw failed(`the artifact of type ${artifactType} has not one layer`);
        const text = (await this.#reads.blob(reference, layer, MAX_ARTIFACT_BYTES, signal)).toString("utf8");
        if (hasMoreValues(text, MAX_ARTIFACT_VALUES)) throw failed(TOO_LARGE);
        const content = jsonOf(text);
        if (content === undefined) throw failed(`the artifact of type ${artifactType} is not JSON`);
        return content;
      }
      if (++lists >= MAX_REFERRER_LISTS) throw failed("the registry's list of artifacts does not end");
    }
    throw failed(`there is no artifact of type ${artifactType}`);
  }
}

const failed = (shown: string): FetchError => new FetchError(shown, { shown });
