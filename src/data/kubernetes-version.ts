/** Versions of Kubernetes that environments can follow. */

/** Every version whose CEL environment is known, oldest first; 1.27 is the last one without optionals. */
export const KUBERNETES_VERSIONS = [
  "1.27",
  "1.28",
  "1.29",
  "1.30",
  "1.31",
  "1.32",
  "1.33",
  "1.34",
  "1.35",
  "1.36",
  "1.37",
  "1.38",
] as const;

/** A version of Kubernetes: an expression may use whatever a cluster of that version knows. */
export type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];

/** The newest one that is released: the default. */
export const NEWEST_VERSION: KubernetesVersion = "1.37";

/** Whether a text is one of {@link KUBERNETES_VERSIONS}. */
export const isKubernetesVersion = (text: string): text is KubernetesVersion =>
  (KUBERNETES_VERSIONS as readonly string[]).includes(text);

/** Whether `version` has a feature that came with `since`. */
export const isSince = (version: KubernetesVersion, since: KubernetesVersion): boolean =>
  KUBERNETES_VERSIONS.indexOf(version) >= KUBERNETES_VERSIONS.indexOf(since);

/**
 * How a server's program behaves, whatever the version of the environment: as that of 1.37 and of every earlier release, or as that of 1.38 (spec
 * kubernetes-1-38.md 1).
 */
export type Behaviour = "1.37" | "1.38";

/** The behaviour of the program of a release. */
export const behaviourOf = (release: KubernetesVersion): Behaviour => (isSince(release, "1.38") ? "1.38" : "1.37");
