/**
 * The API server that policies are written for: its version decides which API versions it serves, and the functions of new expressions (spec
 * validating-admission-policy.md 1.8).
 */
import { isSince, KUBERNETES_VERSIONS, type KubernetesVersion } from "../../cel/index.js";
import { plainWords } from "../../config/documents/each-mistake.js";
import { type FieldError, formatPath } from "../../kubernetes/field-error.js";
import { STORED_VERSION } from "./dialect.js";

/** A server of some version. `Compiler` is the kind's compiler of expressions. */
export interface Server<Compiler> {
  readonly version: KubernetesVersion;
  /** The compiler of expressions of a version. */
  readonly compiler: (version: KubernetesVersion) => Compiler;
}

/**
 * A server of `version`; each of its compilers is made when it is first needed, at most one per version.
 * @param make a compiler of expressions of a version, as a server of a release evaluates them
 */
export function createServer<Compiler>(
  version: KubernetesVersion,
  make: (version: KubernetesVersion, release: KubernetesVersion) => Compiler,
): Server<Compiler> {
  const made = new Map<KubernetesVersion, Compiler>();
  return {
    version,
    compiler: (wanted) => {
      const compiler = made.get(wanted) ?? make(wanted, version);
      made.set(wanted, compiler);
      return compiler;
    },
  };
}

/** The inputs of {@link evaluatedVersion}. */
interface Evaluating {
  /** The version that is asked for. */
  readonly evaluatedAs?: KubernetesVersion;
  /** The version whose rules for storing are checked: those of an older one are checked alone. */
  readonly kubernetesVersion?: KubernetesVersion;
  readonly release?: { readonly current: string | undefined };
}

/** The version by which policies are evaluated: the requested one, else the newest known one that the cluster has; at least the default. */
export function evaluatedVersion({ evaluatedAs, kubernetesVersion, release }: Evaluating): KubernetesVersion {
  if (evaluatedAs !== undefined && kubernetesVersion === undefined) return evaluatedAs;
  const minor = Number((evaluatedAs ?? release?.current ?? "").slice("1.".length));
  const later = KUBERNETES_VERSIONS.filter((version) => isSince(version, STORED_VERSION));
  return later.findLast((version) => Number(version.slice("1.".length)) <= minor) ?? STORED_VERSION;
}

/** The version that new expressions must keep to, since the server may be rolled back by one. */
export const versionOfNewExpressions = (version: KubernetesVersion): KubernetesVersion =>
  KUBERNETES_VERSIONS[KUBERNETES_VERSIONS.indexOf(version) - 1] ?? version;

/**
 * The mistakes that a server finds in a new policy. A mistake that later versions accept names the first such version.
 * @param validate the policy's mistakes, its expressions compiled by some compiler
 */
export function errorsOnServer<Compiler>(
  validate: (compiler: Compiler) => readonly FieldError[],
  { version, compiler }: Server<Compiler>,
): FieldError[] {
  const known = versionOfNewExpressions(version);
  const errors = validate(compiler(known));
  if (errors.length === 0) return [];
  const later = KUBERNETES_VERSIONS.filter((each) => each !== known && isSince(each, known)).map((each) => {
    const places = validate(compiler(each)).map(({ path }) => formatPath(path));
    return { version: each, wrong: new Set(places) };
  });
  return errors.map((error) => {
    const place = formatPath(error.path);
    // A mistake that the newest version has, too, does not depend on the version.
    if (later.at(-1)?.wrong.has(place) !== false) return error;
    const first = later.find(({ wrong }) => !wrong.has(place));
    if (first === undefined) return error;
    const since = takenSince(first.version);
    // A policy that a later version takes has one mistake, the server's age.
    const mistakes = error.mistakes?.slice(0, 1).map((mistake) => {
      return { ...mistake, message: `${plainWords(mistake.message)}; ${since}` };
    });
    return { ...error, text: `${error.text}\n${since}`, mistakes };
  });
}

/** The version that accepts an expression with functions of a version: one later. */
function takenSince(known: KubernetesVersion): string {
  const [major, minor] = known.split(".");
  return `Kubernetes takes this in new policies from ${major}.${Number(minor) + 1} on`;
}

/** The first and the last version that serve an API version. */
export interface Served {
  readonly since: KubernetesVersion;
  readonly until?: KubernetesVersion;
}

/** The API versions of a kind. */
export type ServedVersions = Readonly<Record<string, Served>>;

/** The reason why a server does not have a kind in an API version; `undefined` where it has it. */
export function notServed(
  kind: string,
  apiVersion: string,
  versions: ServedVersions,
  server: KubernetesVersion,
): string | undefined {
  const own = versions[apiVersion.slice(apiVersion.indexOf("/") + 1)];
  const isServed = ({ since, until = server }: Served): boolean => isSince(server, since) && isSince(until, server);
  if (own === undefined || isServed(own)) return undefined;
  const there = Object.keys(versions).filter((name) => isServed(versions[name] ?? own));
  const instead = there.length === 0 ? "no version of it" : there.join(" and ");
  const when = own.until === undefined ? `from ${own.since} on` : `${own.since} to ${own.until}`;
  return `no matches for kind "${kind}" in version "${apiVersion}", which is in Kubernetes ${when}: ${server} has ${instead}`;
}
