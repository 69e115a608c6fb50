/** `pull --with-signatures`: copies an image and all that refers to it into an image layout, without the image's layers, which no check of signatures reads. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { errorText } from "../../data/error-text.js";
import { fileProblem } from "../../data/file-problem.js";
import {
  type Descriptor,
  DOWNLOAD_TIMEOUT_MS,
  FetchError,
  formatImageReference,
  type ImageReference,
  isDescriptor,
  LAYOUT_MANIFEST_BYTES,
  layersOf,
  MAX_LAYOUT_INDEX_BYTES,
  type Manifest,
  parseImageReference,
  type Registry,
} from "../../fetch/index.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { withRegistries } from "./access.js";
import { sizeText } from "./kept-modules.js";

/** Most manifests of an image and of what refers to it. */
export const MAX_PULLED_MANIFESTS = 1_000;
/** Most lists of what refers to one of them. */
const MAX_LISTS = 20;
/** Most bytes of a part of what refers to an image: larger artifacts, such as SBOMs, are left out. */
export const MAX_PULLED_PART_BYTES = 64 * 1024 * 1024;
/** Most bytes of all parts. */
const MAX_PULLED_BYTES = 1024 * 1024 * 1024;

const NAME = "org.opencontainers.image.ref.name";

/**
 * Copies an image into a new layout, or adds it to one.
 * @param folder the layout
 * @returns the exit code
 * @throws UsageError for what is not the name of an image, and a folder with other files
 */
export async function pullImageCommand(
  text: string,
  folder: string | undefined,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  if (folder === undefined)
    throw new UsageError("--with-signatures makes an image layout: name its folder with -d, as in -d layout");
  const image = imageOf(text);
  const layout = new LayoutFolder(folder);
  const name = formatImageReference(image);
  const warn = (what: string) => say(io.stderr, `warning: ${what}`);
  const copied = await withRegistries(settings, name, async ({ registry }) => {
    const copy = new Copy(registry, image, layout, warn);
    await copy.add(image, image.digest === undefined ? name : undefined);
    return copy;
  });
  await layout.end();
  const { manifests, references, bytes, digest } = copied;
  if (references === 0) warn(`nothing refers to ${name}: the registry has no signatures of it, and no attestations`);
  const parts = [
    counted(manifests, "manifest"),
    `${counted(references, "artifact")} that refer to it`,
    sizeText(bytes),
  ];
  say(io.stderr, `pulled ${name}: ${digest}, ${parts.join(", ")}; without layers`);
  io.stdout.write(`${folder}\n`);
  return 0;
}

function imageOf(text: string): ImageReference {
  try {
    return parseImageReference(text.replace(/^registry:\/\//, ""));
  } catch (cause) {
    throw new UsageError(`${errorText(cause)}: name an image, such as ghcr.io/acme/app:v1`);
  }
}

/** The copy of one image. */
class Copy {
  readonly #registry: Registry;
  readonly #image: ImageReference;
  readonly #layout: LayoutFolder;
  readonly #warn: (what: string) => void;
  readonly #signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  readonly #seen = new Set<string>();
  digest = "";
  manifests = 0;
  references = 0;
  bytes = 0;

  constructor(
    registry: Registry,
    { host, repository }: ImageReference,
    layout: LayoutFolder,
    warn: (what: string) => void,
  ) {
    this.#registry = registry;
    this.#image = { host, repository };
    this.#layout = layout;
    this.#warn = warn;
  }

  /** Copies the image, which gets a name unless it has a digest. */
  async add(image: ImageReference, name: string | undefined): Promise<void> {
    const manifest = await this.#registry.manifest(image, this.#signal);
    this.digest = manifest.digest;
    await this.#take(manifest, false);
    this.#layout.list(descriptorOf(manifest), name);
  }

  /** Copies a manifest, its children, and what refers to them. */
  async #take(manifest: Manifest, refers: boolean): Promise<boolean> {
    const { digest, bytes, content } = manifest;
    if (this.#seen.has(digest)) return true;
    if (this.#seen.size >= MAX_PULLED_MANIFESTS)
      throw new Error(`more than ${MAX_PULLED_MANIFESTS} manifests belong to it`);
    this.#seen.add(digest);
    const parts = [content.config, ...(refers ? layersOf(manifest) : [])].filter(isDescriptor);
    const large = parts.find(({ size }) => size > MAX_PULLED_PART_BYTES);
    if (large !== undefined) {
      this.#warn(
        `left out: ${digest} has a part of ${sizeText(large.size)}, more than ${sizeText(MAX_PULLED_PART_BYTES)}`,
      );
      return false;
    }
    for (const part of parts) await this.#part(part);
    await this.#layout.write(digest, async (put) => put(bytes));
    this.#count(bytes.length);
    if (refers) this.references++;
    else this.manifests++;
    const children = Array.isArray(content.manifests) ? content.manifests.filter(isDescriptor) : [];
    for (const child of children) {
      const found = await this.#find({ ...this.#image, digest: child.digest });
      if (found === undefined)
        this.#warn(`left out: the registry does not have ${child.digest}, which ${digest} names`);
      else await this.#take(found, refers);
    }
    await this.#references(digest);
    return true;
  }

  async #references(digest: string): Promise<void> {
    let lists = 0;
    for await (const list of this.#registry.referrers(this.#image, digest, this.#signal)) {
      if (++lists > MAX_LISTS) throw new Error(`the registry's list of what refers to ${digest} does not end`);
      for (const listed of list) {
        const found = await this.#find({ ...this.#image, digest: listed.digest });
        if (found === undefined)
          throw new Error(`the registry lists ${listed.digest}, and does not have it: pull again`);
        if (await this.#take(found, true)) this.#layout.list(descriptorOf(found));
      }
    }
    for (const ending of ["sig", "att", "sbom"]) {
      const tagged = { ...this.#image, tag: `${digest.replace(":", "-")}.${ending}` };
      const found = await this.#find(tagged);
      if (found !== undefined && (await this.#take(found, true)))
        this.#layout.list(descriptorOf(found), formatImageReference(tagged));
    }
  }

  async #part(part: Descriptor): Promise<void> {
    this.#count(part.size);
    const blob = (put: (piece: Uint8Array) => Promise<void>) =>
      this.#registry.blob(this.#image, part, MAX_PULLED_PART_BYTES, this.#signal, put);
    await this.#layout.write(part.digest, async (put) => void (await blob(put)));
  }

  #count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > MAX_PULLED_BYTES)
      throw new Error(`it has more than ${sizeText(MAX_PULLED_BYTES)} without its layers`);
  }

  async #find(image: ImageReference): Promise<Manifest | undefined> {
    try {
      return await this.#registry.manifest(image, this.#signal, LAYOUT_MANIFEST_BYTES.each);
    } catch (error) {
      if (error instanceof FetchError && error.status === 404) return undefined;
      throw error;
    }
  }
}

function descriptorOf({ digest, bytes, content }: Manifest): Descriptor {
  const { mediaType = "application/vnd.oci.image.manifest.v1+json", artifactType } = content;
  const type = typeof artifactType === "string" && { artifactType };
  return { mediaType: String(mediaType), digest, size: bytes.length, ...type };
}

/** A layout that is written: blobs at once, the index in the end. */
class LayoutFolder {
  readonly #folder: string;
  #index: { readonly manifests: readonly Descriptor[] };

  constructor(folder: string) {
    this.#folder = folder;
    const file = join(folder, "index.json");
    try {
      const found = statSync(file, { throwIfNoEntry: false });
      if (found === undefined && existsSync(folder) && readdirSync(folder).length > 0)
        throw new Error("it has other files");
      if (found !== undefined && (!found.isFile() || found.size > MAX_LAYOUT_INDEX_BYTES))
        throw new Error("its index.json is too large");
      const index = found === undefined ? { schemaVersion: 2, manifests: [] } : JSON.parse(readFileSync(file, "utf8"));
      if (index?.schemaVersion !== 2 || !Array.isArray(index.manifests) || !index.manifests.every(isDescriptor))
        throw new Error("its index.json is not that of an image layout");
      this.#index = index;
    } catch (cause) {
      throw new UsageError(`-d ${folder}: ${fileProblem(cause)}: name a new folder, or an image layout to add to`);
    }
  }

  /** Lists an artifact; a name leads from then on to this one. */
  list(one: Descriptor, name?: string): void {
    const manifests = this.#index.manifests.flatMap((each) => {
      const { [NAME]: given, ...others } = each.annotations ?? {};
      if (name === undefined || given !== name) return [each];
      return each.digest === one.digest ? [] : [{ ...each, annotations: others }];
    });
    if (name === undefined && manifests.some(({ digest }) => digest === one.digest)) return;
    this.#index = {
      ...this.#index,
      manifests: [...manifests, { ...one, ...(name !== undefined && { annotations: { [NAME]: name } }) }],
    };
  }

  /** Writes a blob, whose pieces are checked when `give` resolves. */
  async write(digest: string, give: (put: (piece: Uint8Array) => Promise<void>) => Promise<void>): Promise<void> {
    const [algorithm = "", hex = ""] = digest.split(":");
    await this.#replace(join("blobs", algorithm), hex, async (path) => {
      const file = await open(path, "w");
      try {
        await give(async (piece) => void (await file.writeFile(piece)));
      } finally {
        await file.close();
      }
    });
  }

  async end(): Promise<void> {
    await this.#replace("", "oci-layout", (path) => writeFile(path, '{"imageLayoutVersion":"1.0.0"}'));
    await this.#replace("", "index.json", (path) => writeFile(path, JSON.stringify(this.#index)));
  }

  async #replace(below: string, name: string, write: (path: string) => Promise<void>): Promise<void> {
    const folder = join(this.#folder, below);
    const made = join(folder, `${name}.part`);
    await mkdir(folder, { recursive: true });
    await write(made);
    await rename(made, join(folder, name));
  }
}
