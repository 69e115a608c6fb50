/** The package as npm would install it for production, in an empty folder, without asking a registry. */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** This checkout. */
export const repository = fileURLToPath(new URL("../../../", import.meta.url));

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
}

/** An installation. */
export interface Installed {
  /** The folder that a newcomer begins in; but for `node_modules` it is empty. */
  readonly folder: string;
  /** This package in it. */
  readonly own: string;
  /** Its executable, linked as npm links it. */
  readonly executable: string;
}

/** Packs this checkout (which has to be built), unpacks it, and puts its production dependencies beside it. */
export function installPacked(): Installed {
  const folder = mkdtempSync(join(tmpdir(), "newcomer-"));
  const modules = join(folder, "node_modules");
  const own = join(modules, "policy-group-gateway");
  mkdirSync(own, { recursive: true });
  const packing = ["pack", "--ignore-scripts", "--silent", "--pack-destination", modules];
  execFileSync("npm", packing, { cwd: repository, stdio: ["ignore", "ignore", "inherit"] });
  const [packed = ""] = readdirSync(modules).filter((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["-xzf", join(modules, packed), "-C", own, "--strip-components", "1"]);
  execFileSync("rm", [join(modules, packed)]);
  for (const path of productionPackages()) cpSync(join(repository, path), join(folder, path), { recursive: true });
  const { bin } = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as { bin: Record<string, string> };
  mkdirSync(join(modules, ".bin"));
  for (const [name, file] of Object.entries(bin)) {
    symlinkSync(join("../policy-group-gateway", file), join(modules, ".bin", name));
    chmodSync(join(own, file), 0o755);
  }
  return { folder, own, executable: join(modules, ".bin/policy-server") };
}

/** Where `npm install --omit=dev` puts packages, by the lock file; packages within others come with these. */
function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(packages).flatMap(([path, { dev, devOptional, link }]) =>
    path === "" || dev || devOptional || link || path.lastIndexOf("node_modules/") > 0 ? [] : [path],
  );
}

/** Bytes of all files below a folder. */
export function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
