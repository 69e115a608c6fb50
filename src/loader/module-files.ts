/** What the address of a module entry leads to: the bytes of a module, or of those that an Extism manifest names. */
import { createHash } from "node:crypto";
import {
  addressPath,
  isPluginManifest,
  type ManifestModule,
  type ModuleEntry,
  missingFileHint,
  moduleKey,
  type Problem,
  readPluginManifest,
} from "../config/index.js";
import { FetchError, fetchFailureShown, fetchFailureText, type ModuleFetcher, withoutSecrets } from "../fetch/index.js";
import type { ModuleFiles, Warn } from "../kinds/kind.js";
import { LoadError } from "../kinds/load-error.js";

/** @throws LoadError */
export async function moduleFiles(entry: ModuleEntry, fetcher: ModuleFetcher, warn: Warn): Promise<ModuleFiles> {
  const { module, origin, allowedHosts } = entry;
  const place = (message: string): Problem => {
    const hint = missingFileHint(module);
    return { ...origin.error([moduleKey(entry)], message), ...(hint !== undefined && { hint }) };
  };
  const bytes = await fetched(entry, module, fetcher, place);
  if (!isPluginManifest(bytes, module.location)) return { bytes };
  const file = module.kind === "file" ? addressPath(module) : withoutSecrets(module.text);
  const read = await readPluginManifest(bytes, file, module.location);
  if ("problems" in read)
    throw new LoadError("the module's manifest is invalid: the server's log says where", read.problems);
  const { manifest } = read;
  if (!manifest.isLocal && manifest.allowedHosts?.length && allowedHosts === undefined)
    warn(
      origin.warning(
        ["module"],
        `the manifest's allowed_hosts (${manifest.allowedHosts.join(", ")}) are not granted, for it was downloaded: write allowedHosts here`,
        undefined,
        { code: "MODULE_MANIFEST" },
      ),
    );
  const [main, ...others] = await Promise.all(
    [manifest.main, ...manifest.others].map((each) => moduleOf(entry, each, fetcher)),
  );
  if (main === undefined) throw new Error("a manifest has a main module");
  const linked = manifest.others.map(({ name }, index) => ({ name, bytes: others[index] ?? new Uint8Array() }));
  return { bytes: main, plugin: { manifest, linked } };
}

/** A module of a manifest, its hash checked. */
async function moduleOf(
  entry: ModuleEntry,
  { source, hash, error }: ManifestModule,
  fetcher: ModuleFetcher,
): Promise<Uint8Array> {
  const bytes = "data" in source ? source.data : await fetched(entry, source.address, fetcher, error);
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (hash === undefined || hash === actual) return bytes;
  const message = `hash mismatch. Expected: ${hash}. Actual: ${actual}`;
  throw new LoadError(message, [error(message)]);
}

/** The operator reads the reason, a client only what kind of reason: reasons name registries, and paths of this machine. */
async function fetched(
  { id }: ModuleEntry,
  { location, text }: ModuleEntry["module"],
  fetcher: ModuleFetcher,
  place: (message: string) => Problem,
): Promise<Uint8Array> {
  try {
    return (await fetcher.fetch(location)).bytes;
  } catch (cause) {
    const error =
      cause instanceof FetchError ? cause : new FetchError("unexpected failure", { stage: "download", cause });
    // Fetch messages mark members with `#` (spec kubewarden.md 1.4).
    const asNamed = id.replace("/", "/#");
    const reason = fetchFailureText(asNamed, text, error);
    throw new LoadError(fetchFailureShown(asNamed, error), [place(reason)], { cause, detail: reason });
  }
}
