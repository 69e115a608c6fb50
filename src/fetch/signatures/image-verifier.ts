/** Decides by verification.yml whether an image may be used (spec kubewarden.md 1.8). */
import type { VerificationConfig } from "../../config/verification.js";
import { FetchError, reasonOf, shownOf } from "../fetch-error.js";
import type { ImageVerifier } from "../module-fetcher.js";
import type { RegistryClient } from "../registry-client.js";
import type { SignatureChecks } from "./signature-checks.js";

/** Verifies images by a configuration. */
export function imageVerifier(
  config: VerificationConfig,
  registry: RegistryClient,
  checks: SignatureChecks,
): ImageVerifier {
  return {
    async verify(image, signal) {
      try {
        const digest = image.digest ?? (await registry.manifest(image, signal)).digest;
        await checks.check(config, { registry, image, digest, signal });
        return digest;
      } catch (cause) {
        if (cause instanceof FetchError && cause.stage === "verify") throw cause;
        const shown = shownOf(cause);
        throw new FetchError(reasonOf(cause), { stage: "verify", cause, ...(shown !== undefined && { shown }) });
      }
    },
  };
}
