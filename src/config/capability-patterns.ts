/**
 * `hostCapabilities`: which host calls a guest may make (spec kubewarden.md 1.5). A pattern is `*`, `<prefix>/*` or a complete path; the
 * empty list allows nothing.
 */

/** Every capability a guest can ask for; `tracing` is always allowed and stands outside. */
export const HOST_CAPABILITIES = [
  "crypto/v1/is_certificate_trusted",
  "kubernetes/can_i",
  "kubernetes/get_resource",
  "kubernetes/list_resources_all",
  "kubernetes/list_resources_by_namespace",
  "net/v1/dns_lookup_host",
  "oci/v1/manifest_digest",
  "oci/v1/oci_manifest",
  "oci/v1/oci_manifest_config",
  "oci/v1/verify",
  "oci/v2/verify",
] as const;

/** What is wrong with a pattern, in Kubewarden's words; undefined when it is fine. */
export function capabilityPatternMistake(pattern: string): string | undefined {
  const trimmed = pattern.trim();
  if (trimmed === "") return "invalid pattern: pattern must not be empty";
  if (trimmed === "*") return undefined;
  const quoted = `invalid pattern "${trimmed}":`;
  const wildcard = trimmed.endsWith("/*");
  const path = wildcard ? trimmed.slice(0, -2) : trimmed;
  if (path.includes("*")) {
    return `${quoted} wildcard '*' must be the entire last path segment (e.g. 'oci/*'), not a partial match`;
  }
  const segments = path.split("/");
  for (const [depth, segment] of segments.entries()) {
    const valid = segmentsBelow(segments.slice(0, depth));
    if (valid.includes(segment)) continue;
    return `${quoted} unknown segment "${segment}", valid options at this level are: ${valid.join(", ")}`;
  }
  const complete = segmentsBelow(segments).length === 0;
  if (complete && wildcard) {
    return `${quoted} unknown segment "*", "${path}" is a complete capability path: write it without "/*"`;
  }
  if (!complete && !wildcard) {
    return `${quoted} not a complete capability path; use "${path}/*" to allow all capabilities under it`;
  }
  return undefined;
}

/** Whether checked patterns allow `<namespace>/<operation>`. */
export function allowsCapability(patterns: readonly string[], capability: string): boolean {
  return patterns.some((pattern) => {
    const trimmed = pattern.trim();
    if (trimmed === "*") return true;
    return trimmed.endsWith("/*") ? capability.startsWith(trimmed.slice(0, -1)) : trimmed === capability;
  });
}

/** The distinct next segments of the capability tree below a path, sorted. */
function segmentsBelow(segments: readonly string[]): readonly string[] {
  const prefix = segments.map((segment) => `${segment}/`).join("");
  const next = HOST_CAPABILITIES.filter((capability) => capability.startsWith(prefix)).map(
    (capability) => capability.slice(prefix.length).split("/")[0]!,
  );
  return [...new Set(next)].sort();
}
