/** The allow list of host capabilities, spec kubewarden.md 1.5. */

/** Every capability that can be granted. `tracing` is always allowed and not among them. */
export const CAPABILITY_PATHS = [
  "oci/v1/verify",
  "oci/v2/verify",
  "oci/v1/manifest_digest",
  "oci/v1/oci_manifest",
  "oci/v1/oci_manifest_config",
  "net/v1/dns_lookup_host",
  "crypto/v1/is_certificate_trusted",
  "kubernetes/list_resources_by_namespace",
  "kubernetes/list_resources_all",
  "kubernetes/get_resource",
  "kubernetes/can_i",
] as const;

/** The capabilities of a policy. */
export interface CapabilityGrants {
  /** @param path `<namespace>/<operation>`, whether or not there is such an operation */
  allows(path: string): boolean;
}

/** The error of a refused pattern; the message has the words of spec kubewarden.md 1.5. */
export class CapabilityPatternError extends Error {
  readonly code = "capability-pattern";
  override readonly name = "CapabilityPatternError";
}

/**
 * Reads patterns: `*`, `<prefix>/*`, or an exact path.
 * @throws CapabilityPatternError
 */
export function parseCapabilities(patterns: readonly string[]): CapabilityGrants {
  const exact = new Set<string>();
  const prefixes: string[] = [];
  for (const given of patterns) {
    const pattern = given.trim();
    if (pattern === "*") return { allows: () => true };
    checkPattern(pattern);
    if (pattern.endsWith("/*")) prefixes.push(pattern.slice(0, -1));
    else exact.add(pattern);
  }
  return { allows: (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix)) };
}

function checkPattern(pattern: string): void {
  if (pattern === "") throw new CapabilityPatternError("invalid pattern: pattern must not be empty");
  const segments = pattern.split("/");
  if (segments.some((segment, index) => segment.includes("*") && (segment !== "*" || index < segments.length - 1)))
    throw new CapabilityPatternError(
      `invalid pattern "${pattern}": wildcard '*' must be the entire last path segment (e.g. 'oci/*'), not a partial match`,
    );
  let below: readonly string[] = CAPABILITY_PATHS;
  for (const [index, segment] of segments.entries()) {
    const options = new Set(below.map((path) => path.split("/")[index] ?? "").filter((option) => option !== ""));
    if (segment === "*" && options.size > 0) return;
    if (!options.has(segment)) {
      const known = [...options].sort().join(", ");
      throw new CapabilityPatternError(
        `invalid pattern "${pattern}": unknown segment "${segment}", valid options at this level are: ${known}`,
      );
    }
    below = below.filter((path) => path.split("/")[index] === segment);
  }
  if (!below.includes(pattern))
    throw new CapabilityPatternError(
      `invalid pattern "${pattern}": not a complete capability path; use "${pattern}/*" to allow all capabilities under it`,
    );
}
