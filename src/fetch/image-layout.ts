/**
 * Serves images from folders in the OCI image layout (image specification 1.1) in place of registries, as skopeo, crane, oras, notation, cosign, BuildKit
 * and Docker write them. The network is never asked.
 */
import { constants, existsSync } from "node:fs";
import { type FileHandle, open, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { UsageError } from "../data/command-io.js";
import { errorText } from "../data/error-text.js";
import { fileProblem } from "../data/file-problem.js";
import { GatheredBytes } from "../data/gathered-bytes.js";
import { orAborted } from "../data/or-aborted.js";
import { FetchError, TOO_LARGE } from "./fetch-error.js";
import type { TakesPieces } from "./http-client.js";
import { formatImageReference, type ImageReference, isDockerHub, parseImageReference } from "./image-reference.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import type { Descriptor, Manifest, Registry } from "./registry.js";
import { hashLike, isDescriptor, manifestOf, manifestsOf } from "./registry-client.js";
import { objectIn, readObject } from "./registry-connection.js";

/** Most bytes of a layout's `index.json`, some 4,000 artifacts: it is parsed in one go. */
export const MAX_LAYOUT_INDEX_BYTES = 1024 * 1024;
/** Most JSON values of it. */
export const MAX_LAYOUT_INDEX_VALUES = 30_000;
/** Most bytes of one manifest that is looked at for what it refers to, and of all files that are. */
export const LAYOUT_MANIFEST_BYTES = { each: 4 * 1024 * 1024, total: 256 * 1024 * 1024 } as const;
/** Most files of a layout. */
export const MAX_LAYOUT_FILES = 20_000;
/** Bytes that are read and hashed before other work has its turn. */
const PIECE_BYTES = 256 * 1024;
/** Files that are read at a time. */
const FILES_AT_ONCE = 8;

/** Annotations with names: the specification's, and containerd's. */
const NAMES = ["org.opencontainers.image.ref.name", "io.containerd.image.name"];
/** Tags of what cosign saves with an image, by its kind. */
const COSIGN: Readonly<Record<string, string>> = { sigs: ".sig", atts: ".att" };
const kindOf = ({ annotations }: Descriptor) =>
  /^dev\.cosignproject\.cosign\/(.+)$/.exec(annotations?.kind ?? "")?.[1] ?? "";
/** The artifact type of an image: none, or the type of its configuration, as crane and cosign list it. */
const IMAGE = /^(?:application\/vnd\.(?:oci\.image\.config|docker\.container\.image)\.v1\+json)?$/;
/** A tag without a repository. */
const BARE_TAG = /^\w[\w.-]{0,127}$/;
/** The tag of what belongs to a digest. */
const TAG_OF_DIGEST = /^sha(?:256-[0-9a-f]{64}|512-[0-9a-f]{128})(?:\.\w+)?$/;
const UNREAD = "the image layout was not read in time";

/** The content of an index. */
interface Listing {
  /** Digests by {@link keyOf}, or by a tag alone, or by `""` for the only one without a name; more than one where the index contradicts itself. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
  readonly entries: ReadonlyMap<string, Descriptor>;
}

/**
 * Opens layouts, which are read at the first question. Of two, the first that has an artifact gives it; what refers to an image is taken from all.
 * @param texts each `FOLDER`, or `NAME=FOLDER`: `ghcr.io/org/app` is the repository of tags that stand there alone, `ghcr.io/org/app:v1` also the name of
 * its only image without one
 * @throws UsageError for what is not a layout
 */
export const openImageLayouts = (texts: readonly string[]): Registry => new ImageLayouts(texts.map(layoutOf));

/** The content of an `index.json`. @throws FetchError */
export function layoutIndex(bytes: Buffer, name: string): { readonly manifests: readonly Descriptor[] } {
  const content = readObject(bytes, name, MAX_LAYOUT_INDEX_VALUES);
  return { ...content, manifests: manifestsOf(content, name) };
}

function layoutOf(text: string): Layout {
  const wrong = (what: string) => new UsageError(`--image-layout ${text}: ${what}`);
  const [, name, folder = text] = existsSync(text) ? [] : (/^([^=]*)=(.*)$/.exec(text) ?? []);
  const missing = ["oci-layout", "index.json", "blobs"].find((part) => !existsSync(join(folder, part)));
  if (missing !== undefined)
    throw wrong(
      `it is not a folder with an image layout, where ${missing} would be: unpack a tar file, or make one by policy-server pull --with-signatures IMAGE -d FOLDER`,
    );
  if (name === undefined) return new Layout(folder, undefined);
  try {
    const { host, repository, tag } = parseImageReference(name);
    return new Layout(folder, { host, repository, ...(/:[^/]*$/.test(name) && { tag: tag! }) });
  } catch (cause) {
    throw wrong(`expected FOLDER, or NAME=FOLDER with the name of an image: ${errorText(cause)}`);
  }
}

/** Layouts in the place of all registries. */
class ImageLayouts implements Registry {
  readonly #layouts: readonly Layout[];

  constructor(layouts: readonly Layout[]) {
    this.#layouts = layouts;
  }

  async manifest(image: ImageReference, signal: AbortSignal, maxBytes = MAX_ANSWER_BYTES): Promise<Manifest> {
    const hints: string[] = [];
    for (const layout of this.#layouts) {
      const found = await layout.find(image, signal);
      const name = `the manifest of ${formatImageReference(image)} in ${layout.folder}`;
      if (typeof found === "string") hints.push(found);
      else if (found !== undefined) {
        const bytes = await layout.read(found, name, maxBytes, signal);
        if (bytes !== undefined) return manifestOf(bytes, found.digest, name);
      }
    }
    throw this.#absent(formatImageReference(image), hints);
  }

  async blob(image: ImageReference, descriptor: Descriptor, most: number, signal: AbortSignal, into?: TakesPieces) {
    const name = `${descriptor.digest} of ${formatImageReference(image)}`;
    for (const layout of this.#layouts) {
      const bytes = await layout.read(descriptor, `${name} in ${layout.folder}`, most, signal, into);
      if (bytes !== undefined) return bytes;
    }
    throw this.#absent(name);
  }

  async *referrers(image: ImageReference, digest: string, signal: AbortSignal): AsyncGenerator<readonly Descriptor[]> {
    const seen = new Set<string>();
    const fallback = { host: image.host, repository: image.repository, tag: digest.replace(":", "-") };
    for (const layout of this.#layouts) {
      const listed = [...(await layout.referrers(digest, signal))];
      const tagged = await layout.find(fallback, signal);
      const name = `the list of what refers to ${digest} in ${layout.folder}`;
      const bytes = typeof tagged === "object" && (await layout.read(tagged, name, MAX_ANSWER_BYTES, signal));
      if (bytes) listed.push(...manifestsOf(readObject(bytes, name), name));
      yield listed.filter((one) => !seen.has(one.digest) && seen.add(one.digest));
    }
  }

  #absent(what: string, hints: readonly string[] = []): FetchError {
    const folders = this.#layouts.map(({ folder }) => folder);
    const all = `${what} is not in the image layout${folders.length > 1 ? "s" : ""} ${folders.join(", ")}`;
    const shown = [all, ...hints].join("; ");
    return new FetchError(shown, { status: 404, shown });
  }
}

/** One folder. */
class Layout {
  readonly folder: string;
  readonly #given: ImageReference | undefined;
  #root: Promise<string> | undefined;
  #listing: Promise<Listing> | undefined;
  #referrers: Promise<ReadonlyMap<string, readonly Descriptor[]>> | undefined;

  constructor(folder: string, given: ImageReference | undefined) {
    this.folder = folder;
    this.#given = given;
  }

  /** The descriptor of a manifest, which has no size where it is not listed; undefined, or a hint, where no name leads to one. */
  async find(image: ImageReference, signal: AbortSignal): Promise<Pick<Descriptor, "digest"> | string | undefined> {
    this.#listing ??= this.#list();
    const { names, entries } = await orAborted(this.#listing, signal, UNREAD);
    const { host, repository, tag = "latest", digest = "" } = image;
    if (digest !== "") return entries.get(digest) ?? { digest };
    const found = names.get(keyOf({ host, repository, tag })) ?? (TAG_OF_DIGEST.test(tag) ? names.get(tag) : undefined);
    const [named, second] = found ?? [];
    if (second !== undefined)
      throw this.#broken(`index.json has several images with the name ${formatImageReference(image)}`);
    if (named !== undefined) return entries.get(named);
    const isTagged = names.has(tag);
    if (this.#given !== undefined || (!isTagged && !names.has(""))) return undefined;
    const [has, name] = isTagged ? [`the tag ${tag} without a repository`, ""] : ["an image without a name", `:${tag}`];
    return `it has ${has}: write --image-layout ${host}/${repository}${name}=${this.folder} if it is that`;
  }

  /** The artifacts with this subject. */
  async referrers(digest: string, signal: AbortSignal): Promise<readonly Descriptor[]> {
    this.#listing ??= this.#list();
    this.#referrers ??= this.#listing.then(({ entries }) => this.#refer(entries));
    return (await orAborted(this.#referrers, signal, UNREAD)).get(digest) ?? [];
  }

  /**
   * Reads a blob.
   * @returns undefined where there is none, unless the index lists it
   * @throws FetchError for one of another size or digest, and for what is not a file of this folder
   */
  async read(
    { digest, size }: { readonly digest: string; readonly size?: number },
    name: string,
    most: number,
    signal?: AbortSignal,
    into?: TakesPieces,
  ): Promise<Buffer | undefined> {
    if (!isDescriptor({ mediaType: "", digest, size: 0 }))
      throw this.#broken(`${name} has the unusable digest ${JSON.stringify(digest)}`);
    const [algorithm, hash] = hashLike(digest);
    const path = join("blobs", algorithm, digest.slice(algorithm.length + 1));
    const gathered = new GatheredBytes();
    const actual = await this.#file(path, most, name, async (piece) => {
      signal?.throwIfAborted();
      hash.update(piece);
      await (into === undefined ? gathered.add(piece) : into(piece));
    });
    if (actual === undefined) {
      if ((await this.#listing)?.entries.has(digest))
        throw this.#broken(`index.json lists ${digest}, and ${path} is missing`);
      return undefined;
    }
    const found = `${algorithm}:${hash.digest("hex")}`;
    const isSized = actual === (size ?? actual);
    if (isSized && found === digest) return gathered.take();
    const wrong = isSized ? `the digest ${found} instead of ${digest}` : `${actual} bytes instead of ${size}`;
    throw new FetchError(`${name} has ${wrong}`, { stage: "integrity" });
  }

  async #list(): Promise<Listing> {
    const gathered = new GatheredBytes();
    const name = `index.json in ${this.folder}`;
    await this.#file("index.json", MAX_LAYOUT_INDEX_BYTES, name, (piece) => gathered.add(piece));
    const listed = layoutIndex(gathered.take(), name).manifests;
    const names = new Map<string, Set<string>>();
    const add = (key: string, { digest }: Descriptor) => names.set(key, (names.get(key) ?? new Set()).add(digest));
    for (const entry of listed) for (const key of this.#keysOf(entry)) add(key, entry);
    const images = listed.filter((one) => COSIGN[kindOf(one)] === undefined && IMAGE.test(one.artifactType ?? ""));
    const unnamed = images.filter((one) => this.#keysOf(one).length === 0);
    if (unnamed.length === 1) add(this.#given?.tag === undefined ? "" : keyOf(this.#given), unnamed[0]!);
    const saved = images.find((one) => kindOf(one) !== "")?.digest.replace(":", "-");
    for (const one of listed) if (COSIGN[kindOf(one)] !== undefined) add(`${saved}${COSIGN[kindOf(one)]}`, one);
    return { names, entries: new Map(listed.map((entry) => [entry.digest, entry])) };
  }

  /** The keys of an entry's names; names that no image can have are none. */
  #keysOf({ annotations, digest }: Descriptor): readonly string[] {
    return NAMES.flatMap((annotation) => {
      const text = annotations?.[annotation];
      if (text === undefined) return [];
      if (BARE_TAG.test(text)) return this.#given === undefined ? [text] : [text, keyOf({ ...this.#given, tag: text })];
      try {
        const image = parseImageReference(text);
        return image.tag === undefined || (image.digest ?? digest) !== digest ? [] : [keyOf(image)];
      } catch {
        return [];
      }
    });
  }

  /** The manifests that have a subject, by it: also those that are not listed, such as the bundles of `cosign save`. */
  async #refer(entries: Listing["entries"]): Promise<ReadonlyMap<string, readonly Descriptor[]>> {
    const found = new Map<string, Descriptor[]>();
    const files = await readdir(join(this.folder, "blobs", "sha256")).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return [];
      throw this.#broken(`blobs/sha256 can't be read: ${fileProblem(cause)}`);
    });
    if (files.length > MAX_LAYOUT_FILES) throw this.#broken(`blobs/sha256 has more than ${MAX_LAYOUT_FILES} files`);
    const others = files.filter((file) => /^[0-9a-f]{64}$/.test(file)).map((file) => `sha256:${file}`);
    let total = 0;
    const look = async (digest: string): Promise<readonly [string, Descriptor] | undefined> => {
      const entry = entries.get(digest);
      // Others may be layers and documents, which are larger, or not for us.
      const isManifest = /manifest|index/.test(entry?.mediaType ?? "");
      const name = `the manifest ${digest} in ${this.folder}`;
      const most = isManifest ? LAYOUT_MANIFEST_BYTES.each : MAX_ANSWER_BYTES;
      const bytes = await this.read(entry ?? { digest }, name, most).catch((error: unknown) => {
        if (isManifest || !(error instanceof FetchError) || error.shown !== TOO_LARGE) throw error;
        return undefined;
      });
      total += bytes?.length ?? 0;
      if (total > LAYOUT_MANIFEST_BYTES.total)
        throw this.#broken(`its manifests have more than ${LAYOUT_MANIFEST_BYTES.total} bytes`);
      // Only those are parsed: lists of signatures may be large.
      if (bytes?.[0] !== 0x7b || !bytes.includes('"subject"')) return undefined;
      const content = (isManifest ? readObject(bytes, name) : objectIn(bytes)) ?? {};
      const { artifactType, annotations, mediaType = "" } = content;
      const [to, config] = [content.subject, content.config].map((part) => (part ?? {}) as Partial<Descriptor>);
      if (typeof to?.digest !== "string") return undefined;
      const type = artifactType || config?.mediaType;
      const one = { mediaType, digest, size: bytes.length, artifactType: type, annotations };
      if (isDescriptor(one)) return [to.digest, one];
      if (isManifest) throw this.#broken(`the manifest ${digest} has unusable annotations, or types`);
      return undefined;
    };
    const all = [...new Set([...entries.keys(), ...others])];
    for (let from = 0; from < all.length; from += FILES_AT_ONCE)
      for (const [to, one] of (await Promise.all(all.slice(from, from + FILES_AT_ONCE).map(look))).filter(
        (each) => !!each,
      ))
        found
          .set(to, found.get(to) ?? [])
          .get(to)!
          .push(one);
    return found;
  }

  /**
   * Reads a file of this folder: not one that links lead out to, and not one that waits, such as a pipe.
   * @returns its bytes; undefined where there is none
   */
  async #file(path: string, most: number, name: string, take: TakesPieces): Promise<number | undefined> {
    let file: FileHandle | undefined;
    try {
      this.#root ??= realpath(this.folder);
      const root = await this.#root;
      const real = await realpath(join(root, path));
      if (!real.startsWith(root + sep)) throw this.#broken(`${path} leads out of the folder`);
      file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const found = await file.stat();
      if (!found.isFile()) throw this.#broken(`${path} is not a file`);
      if (found.size > most)
        throw new FetchError(`${name} has ${found.size} bytes, more than ${most}`, { shown: TOO_LARGE });
      let at = 0;
      for (let read = 1; read > 0 && at < found.size; at += read) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, found.size - at));
        read = (await file.read(piece, 0, piece.length, at)).bytesRead;
        await take(piece.subarray(0, read));
      }
      return at;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      if (!(cause as NodeJS.ErrnoException).syscall) throw cause;
      throw this.#broken(`${path} can't be read: ${fileProblem(cause)}`);
    } finally {
      await file?.close();
    }
  }

  #broken(what: string): FetchError {
    const shown = `the image layout ${this.folder} is unusable: ${what}`;
    return new FetchError(shown, { stage: "integrity", shown });
  }
}

/** A name for comparison. */
function keyOf({ host, repository, tag = "latest" }: ImageReference): string {
  return `${isDockerHub(host) ? "docker.io" : host.toLowerCase()}/${repository}:${tag}`;
}
