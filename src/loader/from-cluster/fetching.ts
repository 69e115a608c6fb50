/** Options for fetching modules of a cluster's policies, from the server's options and the PolicyServer. */
import type { FetchTerms } from "../../config/from-cluster/index.js";
import type { Sources } from "../../config/sources.js";
import { imageVerifier, type ModuleFetcherOptions } from "../../fetch/index.js";
import type { LoaderFetchOptions } from "../fetch-options.js";

/** Joins both options: exceptions for hosts add up, and signatures that either demands must exist. */
export function fetchingUnder(
  { sources, verification }: FetchTerms,
  options: LoaderFetchOptions,
): ModuleFetcherOptions {
  const { verifier, signatures } = options;
  const merged = { ...options, sources: together(options.sources, sources) };
  if (verification === undefined) return merged;
  return {
    ...merged,
    verifier: (registry) => {
      const [first, second] = [verifier?.(registry), imageVerifier(verification, registry, signatures)];
      return {
        async verify(image, signal) {
          // The second check gets the digest that the first one has accepted: the tag may have moved since.
          const digest = await first?.verify(image, signal);
          return second.verify(digest === undefined ? image : { ...image, digest }, signal);
        },
      };
    },
  };
}

function together(one: Sources | undefined, other: Sources): Sources {
  if (one === undefined) return other;
  const authorities = new Map(one.authorities);
  for (const [host, pems] of other.authorities) authorities.set(host, [...(authorities.get(host) ?? []), ...pems]);
  return { insecure: new Set([...one.insecure, ...other.insecure]), authorities };
}
