/** The face of the fetching room. */
export { FetchError, fetchFailureText } from "./fetch-error.js";
export {
  createModuleFetcher,
  type FetchedModule,
  type ModuleFetcher,
  type ModuleFetcherOptions,
} from "./module-fetcher.js";
export { imageVerifier } from "./signatures/image-verifier.js";
export { sigstoreTrustRoot } from "./signatures/trust-root.js";
