/**
 * Serves images from folders in the OCI image layout (image specification 1.1) in place of registries, as skopeo, crane, oras, notation, cosign, BuildKit
 * and Docker write them. What is not there is not there: the network is never asked.
 */
import { constants, statSync } from "node:fs";
import { type FileHandle, open, readdir, realpath, stat } from "node:fs/promises";
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
import { hashLike, isDescriptor, manifestsOf } from "./registry-client.js";
import { readObject } from "./registry-connection.js";

/** Most bytes of a layout's `index.json`. */
export const MAX_LAYOUT_INDEX_BYTES = 4 * 1024 * 1024;
/** Most JSON values of it: some 15,000 artifacts. */
export const MAX_LAYOUT_INDEX_VALUES = 100_000;
/** Most bytes of one manifest that is looked at for what it refers to, and of all. */
export const LAYOUT_MANIFEST_BYTES = { each: 4 * 1024 * 1024, total: 256 * 1024 * 1024 } as const;
/** Most files of a layout by `cosign save` that are looked at: it lists no bundles. */
export const MAX_LAYOUT_FILES = 20_000;
/** Bytes that are read and hashed before other work has its turn. */
const PIECE_BYTES = 256 * 1024;

const NAME = "org.opencontainers.image.ref.name";
const CONTAINERD_NAME = "io.containerd.image.name";
const COSIGN = "dev.cosignproject.cosign/";
/** A tag without a repository. */
const BARE_TAG = /^\w[\w.-]{0,127}$/;
/** The tag of what belongs to a digest: `sha256-<hex>`, with `.sig` or `.att`. */
const TAG_OF_DIGEST = /^sha(?:256-[0-9a-f]{64}|512-[0-9a-f]{128})(?:\.\w+)?$/;
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const MANIFEST_TYPE =
  /^application\/vnd\.(?:oci\.image\.(?:manifest|index)\.v1|docker\.distribution\.manifest(?:\.list)?\.v2)\+json$/;
const DIGEST = /^(sha256):([0-9a-f]{64})$|^(sha512):([0-9a-f]{128})$/;

/** What an index says. */
interface Listing {
  /** Digests by {@link keyOf}, or by a tag alone; more than one where the index contradicts itself. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
  readonly entries: ReadonlyMap<string, Descriptor>;
  /** Whether `cosign save` wrote it. */
  readonly isCosigns: boolean;
}

/**
 * Opens layouts; they are read at the first question. Of two, the first that has an artifact gives it; what refers to an image is taken from all.
 * @param texts each `FOLDER`, or `NAME=FOLDER`: `ghcr.io/org/app` for the repository of tags that stand there alone, and `ghcr.io/org/app:v1` for the one
 * image that has no name there
 * @throws UsageError for what is not a layout
 */
export const openImageLayouts = (texts: readonly string[]): Registry => new ImageLayouts(texts.map(layoutOf));

function layoutOf(text: string): Layout {
  const wrong = (what: string) => new UsageError(`--image-layout ${text}: ${what}`);
  const at = text.indexOf("=");
  const isWhole = at === -1 || statSync(text, { throwIfNoEntry: false }) !== undefined;
  const [name, folder] = isWhole ? [undefined, text] : [text.slice(0, at), text.slice(at + 1)];
  let given: ImageReference | undefined;
  try {
    const read = name === undefined ? undefined : parseImageReference(name);
    if (read?.digest !== undefined) throw new FetchError("a digest needs no name");
    given = read && { host: read.host, repository: read.repository, ...(/:[^/]*$/.test(name!) && { tag: read.tag! }) };
  } catch (cause) {
    throw wrong(`expected FOLDER, or NAME=FOLDER with the name of an image: ${errorText(cause)}`);
  }
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) throw wrong("there is no such folder");
  if (!found.isDirectory())
    throw wrong("it is a file: unpack it (mkdir layout && tar -xf FILE -C layout), and name that folder");
  const missing = ["oci-layout", "index.json", "blobs"].find(
    (part) => !statSync(join(folder, part), { throwIfNoEntry: false }),
  );
  if (missing === undefined) return new Layout(folder, given);
  throw wrong(
    `it has no ${missing}, and is not an image layout: policy-server pull --with-signatures IMAGE -d FOLDER makes one`,
  );
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
      const name = `${formatImageReference(image)} in ${layout.folder}`;
      if (typeof found === "string") hints.push(found);
      const bytes =
        typeof found === "object" ? await layout.read(found, `the manifest of ${name}`, maxBytes, signal) : undefined;
      if (typeof found !== "object" || bytes === undefined) continue;
      let content: Manifest["content"] | undefined;
      return {
        digest: found.digest,
        bytes,
        get content() {
          content ??= readObject(bytes, `the manifest of ${name}`);
          return content;
        },
      };
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
    const { host, repository } = image;
    const fallback = { host, repository, tag: digest.replace(":", "-") };
    for (const layout of this.#layouts) {
      const listed = [...(await layout.referrers(digest, signal))];
      const tagged = await layout.find(fallback, signal);
      if (typeof tagged === "object") {
        const name = `the list of what refers to ${formatImageReference({ host, repository, digest })} in ${layout.folder}`;
        const bytes = await layout.read(tagged, name, MAX_ANSWER_BYTES, signal);
        listed.push(...(bytes === undefined ? [] : manifestsOf(readObject(bytes, name), name)));
      }
      const fresh = listed.filter((one) => !seen.has(one.digest));
      for (const one of fresh) seen.add(one.digest);
      if (fresh.length > 0) yield fresh;
    }
  }

  #absent(what: string, hints: readonly string[] = []): FetchError {
    const folders = this.#layouts.map(({ folder }) => folder);
    const shown = [
      `${what} is not in the image layout${folders.length > 1 ? "s" : ""} ${folders.join(", ")}`,
      ...hints,
    ].join("; ");
    return new FetchError(shown, { status: 404, shown });
  }
}

/** One folder. */
class Layout {
  readonly folder: string;
  readonly #given: ImageReference | undefined;
  #listing: Promise<Listing> | undefined;
  #referrers: Promise<ReadonlyMap<string, readonly Descriptor[]>> | undefined;

  constructor(folder: string, given: ImageReference | undefined) {
    this.folder = folder;
    this.#given = given;
  }

  /** The descriptor of a manifest; undefined, or a hint, where there is none. */
  async find(image: ImageReference, signal: AbortSignal): Promise<Descriptor | string | undefined> {
    this.#listing ??= this.#list();
    const { names, entries } = await orAborted(this.#listing, signal, "the image layout could not be read in time");
    if (image.digest !== undefined) return entries.get(image.digest) ?? sized(image.digest);
    const tag = image.tag ?? "latest";
    const found = names.get(keyOf({ ...image, tag })) ?? (TAG_OF_DIGEST.test(tag) ? names.get(tag) : undefined);
    const [digest, second] = found ?? [];
    if (second !== undefined)
      throw this.#broken(`index.json has several images with the name ${formatImageReference(image)}`);
    if (digest !== undefined) return entries.get(digest);
    const { host, repository } = image;
    if (names.has(tag) && this.#given === undefined) {
      return `it has the tag ${tag} without a repository: write --image-layout ${host}/${repository}=${this.folder} if it is that`;
    }
    return undefined;
  }

  /** The listed artifacts with this subject. */
  async referrers(digest: string, signal: AbortSignal): Promise<readonly Descriptor[]> {
    this.#listing ??= this.#list();
    this.#referrers ??= this.#listing.then((listing) => this.#refer(listing));
    return (await orAborted(this.#referrers, signal, "the image layout could not be read in time")).get(digest) ?? [];
  }

  /**
   * Reads a blob.
   * @param size negative where it is not known
   * @returns undefined where there is none, unless the index lists it
   * @throws FetchError for one of another size or digest, and for what is not a file of this folder
   */
  async read(
    { digest, size }: Pick<Descriptor, "digest" | "size">,
    name: string,
    most: number,
    signal?: AbortSignal,
    into?: TakesPieces,
  ) {
    const [, ...parts] = DIGEST.exec(digest) ?? [];
    const [algorithm, hex] = parts.filter((part) => part !== undefined);
    if (algorithm === undefined || hex === undefined)
      throw this.#broken(`${name} has the unusable digest ${JSON.stringify(digest)}`);
    const file = await this.#open(join("blobs", algorithm, hex));
    if (file === undefined) {
      if (!(await this.#listing)?.entries.has(digest)) return undefined;
      throw this.#broken(`index.json lists ${digest}, and the file blobs/${algorithm}/${hex} is missing`);
    }
    try {
      const { size: actual } = await file.stat();
      const known = size < 0 ? actual : size;
      if (known > most || actual > most)
        throw new FetchError(`${name} has ${Math.max(known, actual)} bytes, more than ${most}`, { shown: TOO_LARGE });
      if (actual !== known)
        throw new FetchError(`${name} has ${actual} bytes instead of ${known}`, { stage: "integrity" });
      const [, hash] = hashLike(digest);
      const gathered = new GatheredBytes();
      for await (const piece of pieces(file, actual)) {
        signal?.throwIfAborted();
        hash.update(piece);
        if (into === undefined) gathered.add(piece);
        else await into(piece);
      }
      const found = `${algorithm}:${hash.digest("hex")}`;
      if (found === digest) return gathered.take();
      throw new FetchError(`${name} has the digest ${found} instead of ${digest}`, { stage: "integrity" });
    } finally {
      await file.close();
    }
  }

  async #list(): Promise<Listing> {
    const version = readObject(await this.#text("oci-layout", MAX_ANSWER_BYTES), `oci-layout in ${this.folder}`);
    if (!/^1\./.test(String(version.imageLayoutVersion)))
      throw this.#broken(
        `oci-layout says the version ${JSON.stringify(version.imageLayoutVersion)}: only 1.x is known`,
      );
    const name = `index.json in ${this.folder}`;
    const bytes = await this.#text("index.json", MAX_LAYOUT_INDEX_BYTES);
    const listed = manifestsOf(readObject(bytes, name, MAX_LAYOUT_INDEX_VALUES), name);
    const kindOf = ({ annotations }: Descriptor) =>
      annotations?.kind?.startsWith(COSIGN) && annotations.kind.slice(COSIGN.length);
    const names = new Map<string, Set<string>>();
    const add = (key: string, { digest }: Descriptor) => names.set(key, (names.get(key) ?? new Set()).add(digest));
    for (const entry of listed) for (const key of this.#keysOf(entry)) add(key, entry);
    const unnamed = listed.filter(
      (one) => this.#keysOf(one).length === 0 && !/^(?:sigs|atts)$/.test(kindOf(one) || "") && !one.artifactType,
    );
    if (this.#given?.tag !== undefined && unnamed.length === 1) add(keyOf(this.#given), unnamed[0]!);
    const signed = listed.find((one) => /^image/.test(kindOf(one) || ""));
    for (const one of listed) {
      const ending = { sigs: ".sig", atts: ".att" }[kindOf(one) || ""];
      if (signed !== undefined && ending !== undefined) add(`${signed.digest.replace(":", "-")}${ending}`, one);
    }
    const entries = new Map(listed.map((entry) => [entry.digest, entry]));
    return { names, entries, isCosigns: listed.some(kindOf) };
  }

  /** The keys of the names that an entry has; names that no image can have are none. */
  #keysOf({ annotations }: Descriptor): readonly string[] {
    const written = [annotations?.[NAME], annotations?.[CONTAINERD_NAME]].filter((text) => text !== undefined);
    return written.flatMap((text) => {
      if (BARE_TAG.test(text)) return this.#given === undefined ? [text] : [text, keyOf({ ...this.#given, tag: text })];
      try {
        const image = parseImageReference(text);
        return image.tag === undefined ? [] : [keyOf(image)];
      } catch {
        return [];
      }
    });
  }

  /** The listed manifests that have a subject, by it. */
  async #refer({ entries, isCosigns }: Listing): Promise<ReadonlyMap<string, readonly Descriptor[]>> {
    const found = new Map<string, Descriptor[]>();
    const others = isCosigns ? await this.#unlisted(entries) : [];
    let total = 0;
    for (const entry of [...entries.values(), ...others]) {
      if (entry.mediaType !== "" && !MANIFEST_TYPE.test(entry.mediaType)) continue;
      const name = `the manifest ${entry.digest} in ${this.folder}`;
      const bytes = await this.read(entry, name, LAYOUT_MANIFEST_BYTES.each);
      total += bytes?.length ?? 0;
      if (total > LAYOUT_MANIFEST_BYTES.total)
        throw this.#broken(`its manifests have more than ${LAYOUT_MANIFEST_BYTES.total} bytes`);
      // Only those are parsed: lists of signatures may be large.
      if (bytes?.includes('"subject"') !== true || bytes[0] !== 0x7b) continue;
      const { subject, artifactType, config, annotations, mediaType } = readObject(bytes, name);
      const { digest } = (subject ?? {}) as { readonly digest?: unknown };
      if (typeof digest !== "string") continue;
      const type = artifactType || (config as { readonly mediaType?: unknown } | undefined)?.mediaType;
      const one = {
        mediaType: entry.mediaType || (mediaType ?? MANIFEST),
        digest: entry.digest,
        size: bytes.length,
        artifactType: type,
        annotations,
      };
      const all = found.get(digest) ?? [];
      if (!isDescriptor(one)) throw this.#broken(`the manifest ${entry.digest} has unusable annotations, or types`);
      found.set(digest, [...all, one]);
    }
    return found;
  }

  /** The blobs that may be manifests and are not listed. */
  async #unlisted(entries: Listing["entries"]): Promise<readonly Descriptor[]> {
    const files = await readdir(join(this.folder, "blobs", "sha256")).catch(() => []);
    if (files.length > MAX_LAYOUT_FILES) throw this.#broken(`blobs/sha256 has more than ${MAX_LAYOUT_FILES} files`);
    const found: Descriptor[] = [];
    for (const digest of files.map((file) => `sha256:${file}`)) {
      if (!DIGEST.test(digest) || entries.has(digest)) continue;
      const file = join(this.folder, "blobs", "sha256", digest.slice("sha256:".length));
      const { size } = (await stat(file).catch(() => undefined)) ?? { size: Number.POSITIVE_INFINITY };
      if (size <= MAX_ANSWER_BYTES) found.push({ ...sized(digest), size });
    }
    return found;
  }

  async #text(path: string, most: number): Promise<Buffer> {
    const file = await this.#open(path);
    if (file === undefined) throw this.#broken(`${path} is missing`);
    try {
      const { size } = await file.stat();
      if (size > most) throw this.#broken(`${path} has ${size} bytes, more than ${most}`);
      const gathered = new GatheredBytes();
      for await (const piece of pieces(file, size)) gathered.add(piece);
      return gathered.take();
    } finally {
      await file.close();
    }
  }

  /** Opens a file of this folder: not one that links lead out to, and not one that waits, such as a pipe. */
  async #open(path: string): Promise<FileHandle | undefined> {
    try {
      const root = await realpath(this.folder);
      const real = await realpath(join(root, path));
      if (!real.startsWith(root + sep)) throw this.#broken(`${path} leads out of the folder`);
      const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      if ((await file.stat()).isFile()) return file;
      await file.close();
      throw this.#broken(`${path} is not a file`);
    } catch (cause) {
      if (cause instanceof FetchError) throw cause;
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw this.#broken(`${path} can't be read: ${fileProblem(cause)}`);
    }
  }

  #broken(what: string): FetchError {
    const shown = `the image layout ${this.folder} is unusable: ${what}`;
    return new FetchError(shown, { stage: "integrity", shown });
  }
}

/** A manifest of which only the digest is known. */
const sized = (digest: string): Descriptor => ({ mediaType: "", digest, size: -1 });

/** A name for comparison. */
function keyOf({ host, repository, tag = "latest" }: ImageReference): string {
  return `${isDockerHub(host) ? "docker.io" : host.toLowerCase()}/${repository}:${tag}`;
}

async function* pieces(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at)), 0, null, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
