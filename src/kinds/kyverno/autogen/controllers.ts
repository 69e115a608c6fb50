/** The resources with pod templates, by the names that `autogen.podControllers.controllers` gives them (spec kyverno.md 3.2). */
import { compareNames } from "../../../kubernetes/names.js";
import type { Target, VariantName } from "../compiled-policy.js";

/** The name of a variant by the place of its pods. */
export type ControllerVariant = Exclude<VariantName, "">;

/** A controller and its variant. */
interface Controller {
  readonly variant: ControllerVariant;
  readonly target: Target;
}

const builtin = (
  variant: ControllerVariant,
  group: string,
  resource: string,
  kind: string,
): readonly [string, Controller] => [resource, { variant, target: { group, version: "v1", resource, kind } }];

const BUILTIN: ReadonlyMap<string, Controller> = new Map([
  builtin("defaults", "apps", "daemonsets", "DaemonSet"),
  builtin("defaults", "apps", "deployments", "Deployment"),
  builtin("defaults", "apps", "replicasets", "ReplicaSet"),
  builtin("defaults", "apps", "statefulsets", "StatefulSet"),
  builtin("defaults", "batch", "jobs", "Job"),
  builtin("cronjobs", "batch", "cronjobs", "CronJob"),
]);

/** The targets of each variant, sorted. Unknown names are ignored; without names all built-in controllers are meant. */
export function targetsByVariant(
  names: readonly string[] | undefined,
): ReadonlyMap<ControllerVariant, readonly Target[]> {
  const targets = new Map<ControllerVariant, Target[]>();
  for (const name of new Set(names ?? BUILTIN.keys())) {
    const controller = BUILTIN.get(name) ?? customController(name);
    if (controller === undefined) continue;
    const own = targets.get(controller.variant) ?? [];
    own.push(controller.target);
    targets.set(controller.variant, own);
  }
  for (const own of targets.values()) own.sort(compareTargets);
  return targets;
}

/** Unknown names in a list of controllers: typing errors, mostly. */
export const unknownControllers = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !BUILTIN.has(name) && customController(name) === undefined);

/** `RESOURCE.VERSION.GROUP`; the group is all behind the second dot. */
function customController(name: string): Controller | undefined {
  const [, resource, version, group] = /^([^.]+)\.([^.]+)\.(.+)$/s.exec(name) ?? [];
  if (resource === undefined || version === undefined || group === undefined) return undefined;
  return { variant: "extract", target: { group, version, resource, kind: guessedKind(resource) } };
}

/** The guessed kind of a resource: without a cluster, `jobsets` are taken for objects of the kind `Jobset`. */
function guessedKind(resource: string): string {
  const singular = resource.replace(/s$/, "");
  return singular.slice(0, 1).toUpperCase() + singular.slice(1);
}

const compareTargets = (a: Target, b: Target): number =>
  compareNames(a.group, b.group) || compareNames(a.version, b.version) || compareNames(a.resource, b.resource);
