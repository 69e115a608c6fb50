/** Every production package of package-lock.json, under the direct dependencies that bring it. */
import { readFileSync } from "node:fs";

/** An entry of the lock file. */
export interface LockedPackage {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The packages of the lock file by their place, such as `node_modules/a/node_modules/b`. */
export function lockedPackages(): Readonly<Record<string, LockedPackage>> {
  const lock = JSON.parse(readFileSync(new URL("../../../package-lock.json", import.meta.url), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  return lock.packages;
}

/** What we import of others at run time: installed beside us, or joined into what is shipped (scripts/joined-packages.json). */
export function directPackages(packages: Readonly<Record<string, LockedPackage>>): {
  readonly installed: readonly string[];
  readonly joined: readonly string[];
} {
  const joined = JSON.parse(
    readFileSync(new URL("../../../scripts/joined-packages.json", import.meta.url), "utf8"),
  ) as string[];
  return { installed: Object.keys(packages[""]?.dependencies ?? {}), joined };
}

/** Names of the packages that a production install has. */
export function installedPackages(packages: Readonly<Record<string, LockedPackage>>): string[] {
  const places = Object.keys(packages).filter((place) => place.includes(MODULES) && !packages[place]?.dev);
  return [...new Set(places.map(nameOf))].sort();
}

/** Names of all packages whose code runs in production. */
export function productionPackages(packages: Readonly<Record<string, LockedPackage>>): string[] {
  const joined = directPackages(packages).joined.flatMap((name) => [...reach(packages, name)].map(nameOf));
  return [...new Set([...installedPackages(packages), ...joined])].sort();
}

/** A row per set of direct dependencies: what they bring, and nobody else does. */
export function dependencyTables(): Readonly<Record<string, string>> {
  const packages = lockedPackages();
  const { installed, joined } = directPackages(packages);
  const direct = [...installed, ...joined];
  const bringers = new Map<string, string[]>();
  for (const name of direct) {
    for (const place of reach(packages, name)) {
      const brought = nameOf(place);
      const by = bringers.get(brought) ?? [];
      if (!by.includes(name)) by.push(name);
      bringers.set(brought, by);
    }
  }
  const rows = new Map<string, string[]>();
  for (const [brought, by] of bringers) {
    if (direct.includes(brought)) continue;
    const key = by.sort().join(", ");
    rows.set(key, [...(rows.get(key) ?? []), brought]);
  }
  const lines = [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([by, brought]) => `| ${by} | ${brought.length} | ${brought.sort().join(", ")} |`);
  const total = productionPackages(packages).length;
  const beside = installedPackages(packages).length;
  const head = `${total} packages, of which ${direct.length} are direct; ${beside} are installed beside ours, the others are joined into it.`;
  return {
    "dependency-tree": [head, "", "| Brought by | Count | Packages |", "| --- | --- | --- |", ...lines].join("\n"),
  };
}

const MODULES = "node_modules/";

function nameOf(place: string): string {
  return place.slice(place.lastIndexOf(MODULES) + MODULES.length);
}

/** The places of a direct dependency and of everything that it needs. */
function reach(packages: Readonly<Record<string, LockedPackage>>, name: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (place: string | undefined): void => {
    if (place === undefined || seen.has(place)) return;
    seen.add(place);
    const { dependencies, optionalDependencies, peerDependencies } = packages[place] ?? {};
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      visit(resolve(packages, place, needed));
    }
  };
  visit(resolve(packages, "", name));
  return seen;
}

/** Where Node finds a package from a place: the nearest folder of modules that has it. */
function resolve(packages: Readonly<Record<string, LockedPackage>>, from: string, name: string): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf(`/${MODULES}`)))) {
    const candidate = place === "" ? `${MODULES}${name}` : `${place}/${MODULES}${name}`;
    if (packages[candidate] !== undefined) return candidate;
    if (place === "") return undefined;
  }
}
