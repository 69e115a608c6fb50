/** References of images: `registry/repository:tag@digest` (spec kyverno.md 4.6). */
import { isIPv6 } from "node:net";
import { CelError, noSuchOverload, OpaqueValue, type Value } from "../../../cel/index.js";

const DEFAULT_REGISTRY = "index.docker.io";
/** Most characters of a reference: host, repository, tag and digest together have fewer, though the reference's library accepts any length. */
export const LONGEST_REFERENCE = 4_096;

const REPOSITORY = /^[a-z0-9_\-./]{2,255}$/;
const TAG = /^[A-Za-z0-9_\-.]{1,128}$/;
const DIGEST = /^sha256:[a-f0-9]{64}$/;
/** The characters of a host and its port in a URL, by the rules of the reference's library. */
const HOST = /^[^\0-\x20\x7f\\^`{|}%/?#@[\]]*$/;
const BRACKETED_HOST = /^\[([0-9A-Fa-f:.]+)\](?::[0-9]*)?$/;

interface Parts {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/** An image reference as a value; equal to one that is written the same way. */
export class ImageReference extends OpaqueValue {
  readonly typeName = "kyverno.image";
  readonly #text: string;
  readonly #parts: Parts;

  private constructor(text: string, parts: Parts) {
    super();
    this.#text = text;
    this.#parts = parts;
  }

  /** Reads a reference. */
  static parse(text: string): ImageReference | CelError {
    if (text.length > LONGEST_REFERENCE) return new CelError("too long for an image reference", "too-large");
    const parts = partsOf(text);
    if (parts === undefined) return new CelError(`could not parse reference: ${text}`, "conversion");
    return new ImageReference(text, parts);
  }

  get registry(): string {
    return this.#parts.registry;
  }

  /** The repository; names of one part on Docker Hub get `library/`. */
  get repository(): string {
    return this.#parts.repository;
  }

  /** The tag; `latest` where neither tag nor digest is written, `""` with a digest alone. */
  get tag(): string {
    return this.#parts.tag;
  }

  /** `sha256:…`; `""` where there is none. */
  get digest(): string {
    return this.#parts.digest;
  }

  /** The tag, the digest, or both: `1.2@sha256:…`. */
  get identifier(): string {
    const { tag, digest } = this.#parts;
    return tag !== "" && digest !== "" ? `${tag}@${digest}` : tag + digest;
  }

  /** `:1.2`, or `@sha256:…` whatever the tag. */
  get identifierWithSeparator(): string {
    const { tag, digest } = this.#parts;
    return digest === "" ? `:${tag}` : `@${digest}`;
  }

  equals(other: Value): boolean | CelError {
    return other instanceof ImageReference ? other.#text === this.#text : noSuchOverload();
  }

  toString(): string {
    return this.#text;
  }

  override get identity(): string {
    return this.#text;
  }
}

function partsOf(text: string): Parts | undefined {
  const { base, tag } = splitTag(text);
  if (tag === undefined || TAG.test(tag)) {
    const named = nameOf(base);
    if (named !== undefined) return { ...named, tag: tag ?? "latest", digest: "" };
  }
  return withDigest(text);
}

/** Splits a tag from a reference: the text behind the last colon, unless it contains a slash: then the colon is that of a port. */
function splitTag(text: string): { readonly base: string; readonly tag: string | undefined } {
  const colon = text.lastIndexOf(":");
  if (colon === -1 || text.includes("/", colon)) return { base: text, tag: undefined };
  return { base: text.slice(0, colon), tag: text.slice(colon + 1) };
}

function withDigest(text: string): Parts | undefined {
  const [before = "", digest = "", ...more] = text.split("@");
  if (more.length > 0 || !DIGEST.test(digest)) return undefined;
  const { base, tag } = splitTag(before);
  const tagged = tag === undefined || TAG.test(tag) ? nameOf(base) : undefined;
  // A text that is not a tag may still be the port of a registry, if there is no path: then it is part of the name.
  const named = tagged ?? nameOf(before);
  return named && { ...named, tag: tag ?? "", digest };
}

function nameOf(name: string): Pick<Parts, "registry" | "repository"> | undefined {
  const slash = name.indexOf("/");
  const first = name.slice(0, slash);
  const named = slash !== -1 && (first === "localhost" || /[.:]/.test(first));
  const path = named ? name.slice(slash + 1) : name;
  if (!REPOSITORY.test(path) || (named && !isHost(first))) return undefined;
  const registry = !named || first === "" || first === "docker.io" ? DEFAULT_REGISTRY : first;
  const implied = registry === DEFAULT_REGISTRY && !path.includes("/");
  return { registry, repository: implied ? `library/${path}` : path };
}

function isHost(text: string): boolean {
  if (text.startsWith("[")) return isIPv6(BRACKETED_HOST.exec(text)?.[1] ?? "");
  const colon = text.lastIndexOf(":");
  return HOST.test(text) && (colon === -1 || /^[0-9]*$/.test(text.slice(colon + 1)));
}
