/** Whether a certificate chains up to a trusted one at a given moment. */
import type { X509Certificate } from "node:crypto";

/** The answer, in the words of spec kubewarden.md 7.5. */
export interface Trust {
  readonly trusted: boolean;
  /** Empty when trusted. */
  readonly reason: string;
}

/** Certificates between leaf and root: real chains have one to three. It also bounds the search among certificates that sign each other. */
const LONGEST_CHAIN = 8;

/**
 * Looks for a path from the leaf over intermediates to one of the roots: names match, each signature verifies, issuers are CAs, all but the
 * root are valid at the moment (a root is trusted by name and key). Any extended key usage will do.
 * @param at milliseconds since 1970
 */
export function trustOf(
  leaf: X509Certificate,
  intermediates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  at: number,
): Trust {
  if (leaf.ca) return { trusted: false, reason: "Certificate not trusted: the certificate is one of an authority" };
  if (at > Date.parse(leaf.validTo))
    return { trusted: false, reason: "Certificate is being used after its expiration date" };
  if (at < Date.parse(leaf.validFrom))
    return { trusted: false, reason: "Certificate is being used before its validity date" };
  if (leadsToRoot(leaf, intermediates, roots, at, LONGEST_CHAIN)) return { trusted: true, reason: "" };
  return { trusted: false, reason: "Certificate is not trusted by the provided cert chain" };
}

function leadsToRoot(
  certificate: X509Certificate,
  intermediates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  at: number,
  left: number,
): boolean {
  if (roots.some((root) => issued(root, certificate))) return true;
  if (left === 0) return false;
  return intermediates.some(
    (intermediate) =>
      issued(intermediate, certificate) &&
      at <= Date.parse(intermediate.validTo) &&
      at >= Date.parse(intermediate.validFrom) &&
      leadsToRoot(
        intermediate,
        intermediates.filter((other) => other !== intermediate),
        roots,
        at,
        left - 1,
      ),
  );
}

function issued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
