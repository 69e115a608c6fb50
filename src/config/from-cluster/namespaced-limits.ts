/** What policies that stand in a namespace may be: set by who runs the server, for those who write policies in their namespaces. */
import type { Problem } from "../../documents/problem.js";
import type { GroupEntry, Member, ModuleEntry, PolicyEntry } from "../entry.js";
import type { NamespacedPolicyKind } from "./policy-ids.js";

/** Limits of namespaced policies. */
export interface NamespacedLimits {
  /** Kinds that are served; absent: all. */
  readonly kinds?: ReadonlySet<NamespacedPolicyKind>;
  /** Most memory of a guest, in MiB; absent: the server's limit. */
  readonly memoryMiB?: number;
  /** What addresses of modules begin with, without `registry://`, such as `ghcr.io/acme`; absent: anything but files. */
  readonly places?: readonly string[];
}

/** What a namespaced policy is held to. */
export interface Confinement {
  readonly namespace: string;
  /** What its guests may ask of the host. */
  readonly hostCapabilities: readonly string[];
  readonly limits: NamespacedLimits;
}

/** The policy, confined, with what it may not be. */
export interface Confined {
  readonly entry: PolicyEntry;
  readonly problems: readonly Problem[];
}

/** Confines a policy and its members: whatever they say of themselves, they get what namespaced policies may have. */
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
  else if (limits.places !== undefined && !limits.places.some((place) => isBelow(place, module.location)))
    problems.push(
      origin.error(
        ["module"],
        `not a place for modules of namespaced policies: expected an address below ${limits.places.join(" or ")}`,
      ),
    );
  if (entry.allowedHosts !== undefined && entry.allowedHosts.length > 0)
    problems.push(origin.error(["allowedHosts"], "namespaced policies can't send HTTP requests"));
  const { memoryMiB } = limits;
  const wanted = entry.memoryLimitMiB;
  const memory = memoryMiB === undefined ? wanted : Math.min(memoryMiB, wanted ?? memoryMiB);
  const confined = { ...entry, namespace, hostCapabilities, ...(memory !== undefined && { memoryLimitMiB: memory }) };
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

/** Whether an address lies below a place: `ghcr.io/acme` is above `ghcr.io/acme/x:v1`, and not above `ghcr.io/acme-too/x`. What counts is where an address leads to, not how it begins. */
function isBelow(place: string, location: string): boolean {
  const [above, below] = [place, location].map(plainAddress);
  if (above === undefined || below?.startsWith(above) !== true) return false;
  return above.endsWith("/") || /^(?:[/:@]|$)/.test(below.slice(above.length));
}

/** An address in the one way in which it can be written; undefined where servers may read it in several. */
function plainAddress(address: string): string | undefined {
  if (!/^https?:/i.test(address)) return address.replace(/^registry:\/\//, "");
  if (!URL.canParse(address)) return undefined;
  const { origin, pathname, username, password } = new URL(address);
  // Nobody but a server itself knows whether it takes these for slashes and dots.
  if (username !== "" || password !== "" || /%(?:2e|2f|5c)/i.test(pathname)) return undefined;
  return pathname === "/" && !address.endsWith("/") ? origin : `${origin}${pathname}`;
}
