/** Inspects a module at any address: fetched and analysed, not run. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatProblem, type ModuleEntry, parseConfig } from "../../config/index.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { inlineYaml } from "../../data/print-yaml.js";
import {
  createModuleFetcher,
  DOWNLOAD_TIMEOUT_MS,
  digestOf,
  layersOf,
  parseImageReference,
  type SignatureChecks,
  signatureReport,
  withoutSecrets,
} from "../../fetch/index.js";
import { fetchOptions } from "../../loader/fetch-options.js";
import { LoadError } from "../../loader/index.js";
import { moduleFiles } from "../../loader/module-files.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { describeModule } from "../../wasm/index.js";
import { withAdvice } from "../modules/access.js";
import type { InspectedArtifact, InspectedModule } from "./inspected.js";

/** Options of inspecting modules. */
export interface ModuleInspection {
  readonly settings: LoaderSettings;
  readonly io: CommandIo;
  readonly signatures: boolean;
}

/** An entry without a file for a module at an address. @throws UsageError */
export function entryFor(address: string): ModuleEntry {
  const read = parseConfig(`inspected:\n  module: ${inlineYaml(address)}\n`, join(process.cwd(), "inspected"));
  const [entry] = read.ok ? read.config.entries : [];
  if (entry?.kind === "module") return entry;
  const [problem] = read.problems;
  throw new UsageError(`${address}: ${problem?.message ?? "no address of a module"}`);
}

/**
 * Fetches a module and describes it. Nothing is kept.
 * @throws Error with the failure and its remedy
 */
export async function inspectModule(
  entry: ModuleEntry,
  { settings, io, signatures }: ModuleInspection,
): Promise<InspectedModule> {
  const { module } = entry;
  const downloadDirectory = await mkdtemp(join(tmpdir(), "inspect-"));
  const options = fetchOptions(settings, (message) => say(io.stderr, `warning: ${message}`));
  const fetcher = createModuleFetcher({ ...options, downloadDirectory });
  try {
    return await withAdvice(withoutSecrets(module.text), async () => {
      const wanted = { fetcher, ...(signatures && { checks: options.signatures }) };
      const artifact = module.kind === "registry" ? await artifactAt(module.location, wanted) : undefined;
      const contents = async () => (await moduleFiles(entry, fetcher, () => {})).read();
      const { bytes, plugin } = await contents().catch((cause: unknown) => {
        // Its own message is for clients: the cause, or its problems, have the place.
        if (cause instanceof LoadError && cause.cause === undefined && cause.problems.length > 0)
          throw new Error(cause.problems.map(formatProblem).join("\n"));
        throw cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
      });
      return {
        address: withoutSecrets(module.text),
        size: bytes.length,
        digest: digestOf(bytes),
        ...(artifact && { artifact }),
        ...(plugin && {
          plugin: {
            modules: [plugin.manifest.main, ...plugin.manifest.others].map(({ name, source, hash }) => ({
              name,
              source: "data" in source ? "in the manifest" : withoutSecrets(source.address.text),
              ...(hash !== undefined && { hash }),
            })),
            config: Object.keys(plugin.manifest.config),
            allowedHosts: plugin.manifest.allowedHosts ?? [],
          },
        }),
        ...(await describeModule(bytes, plugin?.linked)),
      };
    });
  } finally {
    await fetcher.close();
    await rm(downloadDirectory, { recursive: true, force: true });
  }
}

async function artifactAt(
  location: string,
  {
    fetcher: { registry },
    checks,
  }: { readonly fetcher: ReturnType<typeof createModuleFetcher>; readonly checks?: SignatureChecks },
): Promise<InspectedArtifact> {
  const image = parseImageReference(location.slice("registry://".length));
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  const manifest = await registry.manifest(image, signal);
  const { digest, content } = manifest;
  const config = (content.config as { mediaType?: unknown } | undefined)?.mediaType;
  const annotations = Object.entries((content.annotations ?? {}) as Record<string, unknown>);
  const signatures = checks && (await signatureReport({}, { registry, image, digest, signal }, checks)).found;
  return {
    reference: `${image.host}/${image.repository}@${digest}`,
    ...(typeof config === "string" && { config }),
    layers: layersOf(manifest).map(({ mediaType, size, digest: own }) => ({ mediaType, size, digest: own })),
    annotations: Object.fromEntries(annotations.map(([key, text]) => [key, String(text)])),
    ...(signatures && { signatures }),
  };
}
