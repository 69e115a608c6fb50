/** Hosts of registries in the names of images and artifacts. */

/** Docker Hub's names: in references, in configurations, and its server. */
export const DOCKER_HUB: readonly string[] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/** Whether a host is one of Docker Hub's names. */
export function isDockerHub(host: string): boolean {
  return DOCKER_HUB.includes(host);
}

/** The host of a name such as `ghcr.io/acme/x:v1`, and the text behind it; Docker Hub where no host is written. */
export function splitHost(name: string): { readonly host: string; readonly path: string } {
  const slash = name.indexOf("/");
  const first = slash === -1 ? "" : name.slice(0, slash);
  const hasHost = /[.:A-Z]/.test(first) || first === "localhost";
  return hasHost ? { host: first, path: name.slice(slash + 1) } : { host: "docker.io", path: name };
}

/** The path of an image: Docker Hub's own lie below `library`. */
export const imagePath = (host: string, path: string): string =>
  isDockerHub(host) && !path.includes("/") ? `library/${path}` : path;
