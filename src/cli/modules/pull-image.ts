/** `pull --with-signatures`: copies an image and all that refers to it into an image layout, without its layers, which no check of signatures reads. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
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
  layoutIndex,
  MAX_LAYOUT_INDEX_BYTES,
  type Manifest,
  parseImageReference,
  type Registry,
} from "../../fetch/index.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { withRegistries } from "./access.js";
import { sizeText } from "./kept-modules.js";
import type { PullOptions } from "./pull.js";
import { flaggedSignatures } from "./verification-flags.js";

/**
 * Most manifests of an image and of what refers to it, most lists of that, and most bytes of a part: artifacts with a larger one, such as SBOMs, are left
 * out.
 */
export const PULLED = { manifests: 1_000, lists: 20, partBytes: 32 * 1024 * 1024 } as const;

const NAME = "org.opencontainers.image.ref.name";

/**
 * Copies an image into a new layout, or adds it to one.
 * @returns the exit code
 * @throws UsageError for what is not the name of an image, and a folder with other files
 */
export async function pullImageCommand(
  text: string,
  options: PullOptions,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  const { destination: folder } = options;
  if (flaggedSignatures(options) !== undefined)
    throw new UsageError("--with-signatures copies signatures, and verifies none: leave out what they must be");
  if (folder === undefined)
    throw new UsageError("--with-signatures makes an image layout: name its folder with -d, as in -d layout");
  let image: ImageReference;
  try {
    image = parseImageReference(text.replace(/^registry:\/\//, ""));
  } catch (cause) {
    throw new UsageError(`${errorText(cause)}: name an image, such as ghcr.io/acme/app:v1`);
  }
  const layout = new WrittenLayout(folder);
  const name = formatImageReference(image);
  const warn = (what: string) => say(io.stderr, `warning: ${what}`);
  const { digest, found } = await withRegistries(settings, name, ({ registry }) => copy(image, registry, layout, warn));
  if (found.refer === 0) warn(`nothing refers to ${name}: its registry has no signatures of it, and no attestations`);
  const parts = [counted(found.image, "manifest"), `${counted(found.refer, "artifact")} about it`, "no layers"];
  say(io.stderr, `pulled ${name}: ${digest}, ${parts.join(", ")}`);
  io.stdout.write(`${folder}\n`);
  return 0;
}

/** Copies the image, which keeps its name unless it has a digest. */
async function copy(image: ImageReference, registry: Registry, layout: WrittenLayout, warn: (what: string) => void) {
  const { host, repository } = image;
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  const seen = new Set<string>();
  const found = { image: 0, refer: 0 };
  const fail = (what: string) => new FetchError(`${formatImageReference(image)}: ${what}`);
  const find = (part: Pick<ImageReference, "tag" | "digest">) =>
    registry.manifest({ host, repository, ...part }, signal, LAYOUT_MANIFEST_BYTES.each).catch((error: unknown) => {
      if (error instanceof FetchError && error.status === 404) return undefined;
      throw error;
    });
  /** Copies what the registry lists, or has under a tag. */
  const follow = async (part: Pick<ImageReference, "tag" | "digest">, as: keyof typeof found, isListed = true) => {
    const one = await find(part);
    if (one === undefined && part.digest !== undefined)
      warn(`left out: the registry lists ${part.digest}, and does not have it`);
    if (one !== undefined && (await take(one, as)) && isListed)
      layout.list(one, part.tag && formatImageReference({ host, repository, ...part }));
  };
  /** Copies a manifest, its children, and what refers to them; not one with a large part. */
  const take = async (manifest: Manifest, as: keyof typeof found): Promise<boolean> => {
    const { digest, bytes, content } = manifest;
    if (seen.has(digest)) return true;
    const parts = [content.config, ...(as === "refer" ? layersOf(manifest) : [])].filter(isDescriptor);
    const large = parts.find(({ size }) => size > PULLED.partBytes);
    if (large !== undefined) warn(`left out: ${digest} has a part of ${sizeText(large.size)}`);
    if (large !== undefined) return false;
    if (seen.add(digest).size > PULLED.manifests) throw fail(`it has more than ${PULLED.manifests} manifests`);
    for (const part of parts) layout.write(part.digest, await registry.blob(image, part, PULLED.partBytes, signal));
    layout.write(digest, bytes);
    found[as]++;
    const children: readonly unknown[] = Array.isArray(content.manifests) ? content.manifests : [];
    for (const child of children.filter(isDescriptor)) await follow({ digest: child.digest }, as, false);
    let lists = 0;
    for await (const list of registry.referrers({ host, repository }, digest, signal)) {
      if (++lists > PULLED.lists || list.length > PULLED.manifests)
        throw fail("the registry's list of what refers to it is too long, or does not end");
      for (const each of list) await follow({ digest: each.digest }, "refer");
    }
    for (const ending of as === "image" ? ["sig", "att", "sbom"] : [])
      await follow({ tag: `${digest.replace(":", "-")}.${ending}` }, "refer");
    return true;
  };
  const manifest = await registry.manifest(image, signal);
  if (!(await take(manifest, "image"))) throw fail("its configuration is too large");
  layout.list(manifest, image.digest === undefined ? formatImageReference(image) : undefined);
  layout.end();
  return { digest: manifest.digest, found };
}

/** A layout that is written: blobs at once, the index in the end. */
class WrittenLayout {
  readonly #folder: string;
  #index: { readonly manifests: readonly Descriptor[] };

  constructor(folder: string) {
    this.#folder = folder;
    const file = join(folder, "index.json");
    try {
      if (!existsSync(folder)) mkdirSync(folder);
      const found = statSync(file, { throwIfNoEntry: false });
      // Without an index the last pull did not end.
      if (found === undefined && readdirSync(folder).some((name) => name !== "blobs" && name !== "oci-layout"))
        throw new Error("it has other files");
      if (found !== undefined && (!found.isFile() || found.size > MAX_LAYOUT_INDEX_BYTES))
        throw new Error("its index.json is too large, or not a file");
      const bytes = found === undefined ? Buffer.from('{"schemaVersion":2,"manifests":[]}') : readFileSync(file);
      this.#index = layoutIndex(bytes, "its index.json");
    } catch (cause) {
      throw new UsageError(`-d ${folder}: ${fileProblem(cause)}: name a new folder, or an image layout to add to`);
    }
  }

  /** Lists an artifact; a name leads from then on to this one. */
  list({ digest, bytes, content }: Manifest, name?: string): void {
    const others = this.#index.manifests.filter(
      ({ annotations }) => name === undefined || annotations?.[NAME] !== name,
    );
    if (name === undefined && others.some((each) => each.digest === digest)) return;
    const { mediaType = "application/vnd.oci.image.manifest.v1+json", artifactType } = content;
    const one = { mediaType, digest, size: bytes.length, artifactType, ...(name && { annotations: { [NAME]: name } }) };
    if (!isDescriptor(one)) throw new FetchError(`the manifest ${digest} has unusable types`);
    this.#index = { ...this.#index, manifests: [...others, one] };
  }

  /** Writes a blob with this digest. */
  write(digest: string, bytes: Uint8Array): void {
    const [algorithm = "", hex = ""] = digest.split(":");
    mkdirSync(join(this.#folder, "blobs", algorithm), { recursive: true });
    this.#replace(join("blobs", algorithm, hex), bytes);
  }

  end(): void {
    const text = JSON.stringify(this.#index);
    if (text.length > MAX_LAYOUT_INDEX_BYTES)
      throw new UsageError(`${this.#folder} has too many artifacts: pull into another layout, and name both`);
    this.#replace("oci-layout", '{"imageLayoutVersion":"1.0.0"}');
    this.#replace("index.json", text);
  }

  #replace(path: string, content: string | Uint8Array): void {
    const file = join(this.#folder, path);
    try {
      writeFileSync(`${file}.part`, content);
      renameSync(`${file}.part`, file);
    } catch (cause) {
      throw new UsageError(`cannot write ${file}: ${fileProblem(cause)}`);
    }
  }
}
