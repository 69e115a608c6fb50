/** Modules in the download folder. */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { printable } from "../../data/printable.js";
import {
  DIGEST_SUFFIX,
  hashFile,
  MANIFEST_SUFFIX,
  modulePath,
  PART_SUFFIX,
  SCHEME_FOLDERS,
  withoutSecrets,
} from "../../fetch/index.js";
import { typedAddress } from "./address.js";

const UNITS = ["bytes", "KiB", "MiB", "GiB"] as const;

/** A size for display: `934 bytes`, `22.4 MiB`. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Suffixes of files that are not modules. */
const BESIDE = [DIGEST_SUFFIX, MANIFEST_SUFFIX, PART_SUFFIX] as const;
/** Characters of a shortened digest. */
const SHORT_DIGEST = 12;

/** A module that was downloaded. */
export interface KeptModule {
  readonly address: string;
  readonly path: string;
  readonly bytes: number;
  /** Digest of its bytes. */
  readonly digest: string;
  /** Whether it differs from the download: it is fetched again when it is needed. */
  readonly damaged: boolean;
}

/** Lists the modules that were downloaded. @returns the exit code */
export async function policiesCommand(output: "text" | "json", folder: string, io: CommandIo): Promise<number> {
  if ((await stat(folder).catch(() => undefined))?.isDirectory() !== true)
    throw new UsageError(`--policies-download-dir: there is no folder ${folder}`);
  const kept = await keptModules(folder);
  if (output === "json") {
    io.stdout.write(`${JSON.stringify(kept, null, 2)}\n`);
    return 0;
  }
  if (kept.length === 0)
    say(io.stderr, `no modules in ${folder} (--policies-download-dir): policy-server pull <address> puts one there`);
  const rows = kept.map(({ address, bytes, digest, damaged }) => [
    printable(address),
    sizeText(bytes),
    `${digest.slice("sha256:".length, "sha256:".length + SHORT_DIGEST)}${damaged ? " (damaged)" : ""}`,
  ]);
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  for (const [address = "", size = "", digest = ""] of rows)
    io.stdout.write(`${address.padEnd(widths[0] ?? 0)}  ${size.padStart(widths[1] ?? 0)}  ${digest}\n`);
  return 0;
}

/** Removes a module that was downloaded. @returns the exit code */
export async function rmCommand(text: string, folder: string, io: CommandIo): Promise<number> {
  const address = typedAddress(text);
  if (address.kind === "file") throw new UsageError(`${text} is a file, and not in the download folder: rm ${text}`);
  const path = modulePath(folder, address.location);
  if ((await stat(path).catch(() => undefined))?.isFile() !== true)
    throw new Error(`${withoutSecrets(text)} is not in ${folder}: policy-server policies lists what is`);
  await rm(path);
  for (const suffix of [DIGEST_SUFFIX, MANIFEST_SUFFIX]) await rm(path + suffix, { force: true });
  say(io.stderr, `removed ${path}`);
  return 0;
}

async function keptModules(folder: string): Promise<readonly KeptModule[]> {
  const kept: KeptModule[] = [];
  for (const scheme of SCHEME_FOLDERS) {
    const top = join(folder, scheme);
    const entries = await readdir(top, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isFile() || BESIDE.some((suffix) => entry.name.endsWith(suffix))) continue;
      const path = join(entry.parentPath, entry.name);
      const { size: bytes } = await stat(path);
      const digest = await hashFile(path);
      const noted = await readFile(path + DIGEST_SUFFIX, "utf8").catch(() => digest);
      const address = `${scheme}://${relative(top, path).split(sep).join("/")}`;
      kept.push({ address, path, bytes, digest, damaged: noted !== digest });
    }
  }
  return kept.toSorted((left, right) => (left.address < right.address ? -1 : 1));
}
