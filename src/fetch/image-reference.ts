/** Names of images and artifacts in OCI registries, expanded as Docker does (spec kubewarden.md 1.6, 7.2). */
import { FetchError } from "./fetch-error.js";

/** `busybox` is `{host: "docker.io", repository: "library/busybox", tag: "latest"}`. */
export interface ImageReference {
  /** `host` or `host:port` as written; `docker.io` when none is. */
  readonly host: string;
  readonly repository: string;
  /** `latest` when neither tag nor digest is written. */
  readonly tag?: string;
  /** `sha256:<hex>`; wins over the tag. */
  readonly digest?: string;
}

const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::\d{1,5})?$/;
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})$/;
/** The longest repository name that registries accept. */
const MAX_REPOSITORY = 255;

/**
 * @param text without a scheme
 * @throws FetchError
 */
export function parseImageReference(text: string): ImageReference {
  const [name, digest, ...rest] = text.split("@");
  const bad = (what: string, part?: string) =>
    new FetchError(
      `invalid image reference ${JSON.stringify(text)}: ${what}${part === undefined ? "" : ` ${JSON.stringify(part)}`}`,
      { shown: `invalid image reference: ${what}` },
    );
  if (name === undefined || name === "" || rest.length > 0) throw bad("expected [host/]repository[:tag][@digest]");
  if (digest !== undefined && !DIGEST.test(digest)) throw bad("bad digest", digest);
  const slash = name.indexOf("/");
  const first = slash === -1 ? "" : name.slice(0, slash);
  const hasHost = /[.:A-Z]/.test(first) || first === "localhost";
  const host = hasHost ? first : "docker.io";
  const path = hasHost ? name.slice(slash + 1) : name;
  const colon = path.lastIndexOf(":");
  const tag = colon === -1 ? undefined : path.slice(colon + 1);
  let repository = colon === -1 ? path : path.slice(0, colon);
  if (isDockerHub(host) && !repository.includes("/")) repository = `library/${repository}`;
  if (!HOST.test(host)) throw bad("bad host", host);
  if (repository.length > MAX_REPOSITORY || !REPOSITORY.test(repository)) {
    throw bad("bad repository name", repository);
  }
  if (tag !== undefined && !TAG.test(tag)) throw bad("bad tag", tag);
  return {
    host,
    repository,
    ...(tag !== undefined && { tag }),
    ...(tag === undefined && digest === undefined && { tag: "latest" }),
    ...(digest !== undefined && { digest }),
  };
}

/** The reference in full: `docker.io/library/busybox:latest`. */
export function formatImageReference({ host, repository, tag, digest }: ImageReference): string {
  return `${host}/${repository}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}

/** Docker Hub's names: in references, in configurations, and where it is. */
export const DOCKER_HUB: readonly string[] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/** Whether a host is one of Docker Hub's names. */
export function isDockerHub(host: string): boolean {
  return DOCKER_HUB.includes(host);
}

/** Whether what the reference names may change from one day to the next as a matter of course. */
export function isFloating({ tag, digest }: ImageReference): boolean {
  return digest === undefined && tag === "latest";
}
