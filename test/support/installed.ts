/**
 * The package as npm installs it in an empty folder, by the command of the README. No registry outside is asked: one on loopback has what this checkout packs, and the packages
 * that the checkout itself has installed.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** This checkout. */
const repository = fileURLToPath(new URL("../../../", import.meta.url));
const OWN = "policy-group-gateway";

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** An installation. */
export interface Installed {
  /** The folder that a newcomer begins in; but for what npm has put there it is empty. */
  readonly folder: string;
  /** This package in it. */
  readonly own: string;
  /** Its executable, linked as npm links it. */
  readonly executable: string;
  /** The environment in which npm and npx ask the registry on loopback only, and find Node and themselves as this process has. */
  readonly env: NodeJS.ProcessEnv;
  /** All that npm has printed. */
  readonly printed: string;
  /** Removes all of it. */
  readonly remove: () => void;
}

/** Packs this checkout (which has to be built), and installs it with what it depends on. */
export async function installPacked(): Promise<Installed> {
  const kept = mkdtempSync(join(tmpdir(), "newcomer-registry-"));
  const folder = mkdtempSync(join(tmpdir(), "newcomer-"));
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", kept], {
    cwd: repository,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const { url, stop } = await registryOf(kept);
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    NO_COLOR: "1",
    npm_config_registry: url,
    npm_config_cache: join(kept, "cache"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_progress: "false",
  };
  const remove = (): void => {
    stop();
    for (const each of [folder, kept]) rmSync(each, { recursive: true, force: true, maxRetries: 5 });
  };
  const npm = (...args: string[]): Promise<string> =>
    new Promise((resolve, reject) =>
      execFile("npm", args, { cwd: folder, env }, (error, stdout, stderr) =>
        error === null ? resolve(stdout + stderr) : reject(new Error(`${error.message}\n${stdout}`)),
      ),
    );
  try {
    await npm("init", "-y");
    const printed = await npm("install", OWN);
    const modules = join(folder, "node_modules");
    return { folder, own: join(modules, OWN), executable: join(modules, ".bin/policy-server"), env, printed, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Serves this package from the packed file in a folder, and the checkout's packages, which are packed when they are asked for. */
async function registryOf(kept: string): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const [name = "", file] = path.split("/-/");
    const versions = versionsOf(name);
    const isKnown = file === undefined ? versions.size > 0 : versions.has(basename(file, ".tgz"));
    if (!isKnown) return void response.writeHead(404).end("{}");
    if (file !== undefined) return void response.end(packed(versions.get(basename(file, ".tgz")) ?? "", name, kept));
    const manifests = [...versions].map(([version, place]) => {
      const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8")) as Manifest;
      return [version, { ...manifest, dist: { tarball: `${url}/${name}/-/${version}.tgz` } }];
    });
    const latest = [...versions.keys()].at(-1);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, versions: Object.fromEntries(manifests), "dist-tags": { latest } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The folders with a package, by its versions. */
function versionsOf(name: string): ReadonlyMap<string, string> {
  const { packages } = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, Manifest & { readonly link?: boolean }>>;
  };
  const places = Object.entries(packages).filter(
    ([path, { link }]) => !link && (name === OWN ? path === "" : path.endsWith(`node_modules/${name}`)),
  );
  return new Map(places.map(([path, { version }]) => [version, join(repository, path)]));
}

function packed(place: string, name: string, kept: string): Buffer {
  if (name === OWN) return readFileSync(join(kept, readdirSync(kept).find((file) => file.endsWith(".tgz")) ?? ""));
  // Not compressed: that would take most of the time.
  const args = ["--exclude", "./node_modules", "--transform", "s,^\\.,package,", "-C", place, "-cf", "-", "."];
  return execFileSync("tar", args, { maxBuffer: 1 << 28 });
}

/** Bytes of all files below a folder. */
export function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
