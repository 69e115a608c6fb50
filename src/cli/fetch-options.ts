import { loadSources } from "../config/sources.js";
import { loadVerification } from "../config/verification.js";
import { imageVerifier, readTrustConfig, SignatureChecks, sigstoreTrustRoot } from "../fetch/index.js";
import type { LoaderFetchOptions } from "../loader/index.js";
import type { CommandIo } from "./io.js";

/**
 * How modules are fetched, from the options about downloads, sources and signatures.
 * @throws an error whose message names the file, when sources.yml, verification.yml or the trust configuration cannot be used: verification
 *   fails closed
 */
export function fetchOptions(
  values: Readonly<Record<string, unknown>>,
  env: CommandIo["env"],
  warn: (message: string) => void,
): LoaderFetchOptions {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const [sources, verification] = [text("sourcesPath"), text("verificationPath")];
  const dockerConfigDirectory = text("dockerConfigJsonPath");
  const trustConfig = text("sigstoreTrustConfig");
  if (trustConfig !== undefined) readTrustConfig(trustConfig);
  const config = verification === undefined ? undefined : loadVerification(verification);
  const trustRoot = sigstoreTrustRoot({
    cacheDirectory: text("sigstoreCacheDir") ?? "sigstore-data",
    ...(trustConfig !== undefined && { trustConfig }),
  });
  const signatures = new SignatureChecks(trustRoot, () => performance.now());
  return {
    downloadDirectory: text("policiesDownloadDir") ?? ".",
    environment: env,
    signatures,
    warn,
    ...(sources !== undefined && { sources: loadSources(sources) }),
    ...(dockerConfigDirectory !== undefined && { dockerConfigDirectory }),
    ...(config !== undefined && { verifier: (registry) => imageVerifier(config, registry, signatures) }),
  };
}
