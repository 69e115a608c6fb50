import { loadSources } from "../config/sources.js";
import { loadVerification } from "../config/verification.js";
import {
  imageVerifier,
  type ModuleFetcherOptions,
  readTrustConfig,
  SignatureChecks,
  sigstoreTrustRoot,
} from "../fetch/index.js";
import type { LoaderSettings } from "./settings.js";

/** Options for fetching modules, and for guests' questions about images. */
export interface LoaderFetchOptions extends ModuleFetcherOptions {
  /** Checks the signatures of images. */
  readonly signatures: SignatureChecks;
}

/**
 * Makes the options for fetching modules by these settings.
 * @throws an error whose message names the file, when sources.yml, verification.yml or the trust configuration cannot be used: verification
 * fails closed
 */
export function fetchOptions(settings: LoaderSettings, warn: (message: string) => void = () => {}): LoaderFetchOptions {
  const { sourcesFile, verificationFile, dockerConfigDirectory, sigstoreTrustFile: trustConfig } = settings;
  if (trustConfig !== undefined) readTrustConfig(trustConfig);
  const config = verificationFile === undefined ? undefined : loadVerification(verificationFile);
  const { sigstoreDirectory: cacheDirectory = "sigstore-data" } = settings;
  const trustRoot = sigstoreTrustRoot({ cacheDirectory, ...(trustConfig !== undefined && { trustConfig }) });
  const signatures = new SignatureChecks(trustRoot, () => performance.now());
  return {
    downloadDirectory: settings.downloadDirectory ?? ".",
    environment: settings.environment ?? {},
    signatures,
    warn,
    ...(sourcesFile !== undefined && { sources: loadSources(sourcesFile) }),
    ...(dockerConfigDirectory !== undefined && { dockerConfigDirectory }),
    ...(config && { verifier: (registry) => imageVerifier(config, registry, signatures) }),
  };
}
