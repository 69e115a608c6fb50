/** The face of the fetching room. */
export { FetchError, fetchFailureText } from "./fetch-error.js";
export { ImageInspector, type JsonObject } from "./image-inspector.js";
export {
  createModuleFetcher,
  type FetchedModule,
  type ModuleFetcher,
  type ModuleFetcherOptions,
} from "./module-fetcher.js";
export { createImageInspector, type RegistryAccessOptions } from "./registry-access.js";
export { imageVerifier, type Wanted, type WantedSignatures } from "./signatures/image-verifier.js";
export { readTrustConfig, sigstoreTrustRoot, type TrustRoot } from "./signatures/trust-root.js";
