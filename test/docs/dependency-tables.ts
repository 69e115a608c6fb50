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

/** Names of the packages that a production install has. */
export function productionPackages(packages: Readonly<Record<string, LockedPackage>>): string[] {
  const places = Object.keys(packages).filter((place) => place.includes(MODULES) && !packages[place]?.dev);
  return [...new Set(places.map(nameOf))].sort();
}

/** A row per set of direct dependencies: what they bring, and nobody else does. */
export function dependencyTables(): Readonly<Record<string, string>> {
  const packages = lockedPackages();
  const direct = Object.keys(packages[""]?.dependencies ?? {});
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
  const head = `${total} packages, of which ${direct.length} are direct.`;
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
