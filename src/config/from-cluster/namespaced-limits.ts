/** Limits of policies in namespaces: set by the server's operator, for authors of policies in their namespaces. */
import type { Problem } from "../documents/problem.js";
import type { GroupEntry, Member, ModuleEntry, PolicyEntry } from "../entry.js";
import { Places } from "../places.js";
import type { NamespacedPolicyKind } from "./policy-ids.js";

/**
 * Default limit of a namespaced policy's modules in MiB. The largest published Kubewarden policy has 22 MB; preparing a module takes several times its
 * size in each process.
 */
export const NAMESPACED_MODULE_MIB = 32;
const MIB = 1024 * 1024;

/** Limits of namespaced policies. */
export interface NamespacedLimits {
  /** Kinds that are served; absent: all. */
  readonly kinds?: ReadonlySet<NamespacedPolicyKind>;
  /** Most memory of a guest, in MiB; absent: the server's limit. */
  readonly memoryMiB?: number;
  /** Most MiB of a policy's modules; absent: {@link NAMESPACED_MODULE_MIB}. */
  readonly moduleMiB?: number;
  /** Allowed beginnings of modules' addresses, without `registry://`, such as `ghcr.io/acme`; absent: any except files. */
  readonly places?: readonly string[];
}

/** The terms of a namespaced policy. */
export interface Confinement {
  readonly namespace: string;
  /** The host capabilities of its guests. */
  readonly hostCapabilities: readonly string[];
  readonly limits: NamespacedLimits;
}

/** The confined policy, and its violations of the terms. */
export interface Confined {
  readonly entry: PolicyEntry;
  readonly problems: readonly Problem[];
}

/** Confines a policy and its members: whatever their own settings, they get what namespaced policies may have. */
export function confine(entry: PolicyEntry, terms: Confinement): Confined {
  switch (entry.kind) {
    case "module":
      return confineModule(entry, terms);
    case "group":
      return confineGroup(entry, terms);
    case "resource":
      return { entry: Object.freeze({ ...entry, namespace: terms.namespace }), problems: [] };
    case "cel":
      return {
        entry,
        problems: [
          entry.origin.error(
            ["cel"],
            "namespaced policies are modules: CEL members could ask about all of the cluster",
          ),
        ],
      };
  }
}

function confineModule(entry: ModuleEntry, { namespace, hostCapabilities, limits }: Confinement): Confined {
  const { module, origin } = entry;
  const problems: Problem[] = [];
  if (module.kind === "file")
    problems.push(origin.error(["module"], "namespaced policies can't have modules that are files of the server"));
  else if (limits.places !== undefined && !new Places(limits.places).has(module.location))
    problems.push(
      origin.error(
        ["module"],
        `not a place for modules of namespaced policies: expected an address below ${limits.places.join(" or ")}`,
      ),
    );
  if (entry.allowedHosts !== undefined && entry.allowedHosts.length > 0)
    problems.push(origin.error(["allowedHosts"], "namespaced policies can't send HTTP requests"));
  const { memoryMiB, places, moduleMiB = NAMESPACED_MODULE_MIB } = limits;
  const wanted = entry.memoryLimitMiB;
  const memory = memoryMiB === undefined ? wanted : Math.min(memoryMiB, wanted ?? memoryMiB);
  const confined = {
    ...{ ...entry, namespace, hostCapabilities },
    ...(memory !== undefined && { memoryLimitMiB: memory }),
    moduleLimits: { maxBytes: moduleMiB * MIB, ...(places && { places }) },
  };
  return { entry: Object.freeze(confined), problems };
}

function confineGroup(entry: GroupEntry, terms: Confinement): Confined {
  const problems: Problem[] = [];
  const members = entry.members.map((member): Member => {
    if (member.policy.kind === "reference") return member;
    const confined = confine(member.policy, terms);
    problems.push(...confined.problems);
    return Object.freeze({ ...member, policy: confined.entry });
  });
  const { namespace } = terms;
  return { entry: Object.freeze({ ...entry, namespace, members: Object.freeze(members) }), problems };
}
