/** Names of images and artifacts in OCI registries, expanded as Docker does (spec kubewarden.md 1.6, 7.2). */
import { isIPv6 } from "node:net";
import { imagePath, splitHost } from "../config/registry-host.js";
import { FetchError } from "./fetch-error.js";

export { DOCKER_HUB, isDockerHub } from "../config/registry-host.js";

/** `busybox` is `{host: "docker.io", repository: "library/busybox", tag: "latest"}`. */
export interface ImageReference {
  /** `host` or `host:port` as written; default `docker.io`. */
  readonly host: string;
  readonly repository: string;
  /** `latest` when neither tag nor digest is written. */
  readonly tag?: string;
  /** `sha256:<hex>`; wins over the tag. */
  readonly digest?: string;
}

/** Host names and IPv4 addresses. */
const HOST = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})$/;
/** Characters of the longest host name (RFC 1035). */
const MAX_HOST = 253;
/** Characters of the longest repository name that registries accept. */
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
  const { host, path } = splitHost(name);
  const colon = path.lastIndexOf(":");
  const tag = colon === -1 ? undefined : path.slice(colon + 1);
  const repository = imagePath(host, colon === -1 ? path : path.slice(0, colon));
  if (!isHost(host)) throw bad("bad host", host);
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

/** Whether a text is a host as written in a reference, not one that URLs change (`127.1`) or reject (`256.1.1.1`). */
function isHost(text: string): boolean {
  const url = `https://${text}/`;
  if (!URL.canParse(url)) return false;
  const name = text.replace(/:\d{1,5}$/, "");
  if (isIPv6(name.replace(/^\[(.*)\]$/, "$1"))) return true;
  return name.length <= MAX_HOST && HOST.test(name) && new URL(url).hostname === name.toLowerCase();
}

/** Whether the reference is expected to change its image, such as `latest`. */
export function isFloating({ tag, digest }: ImageReference): boolean {
  return digest === undefined && tag === "latest";
}
