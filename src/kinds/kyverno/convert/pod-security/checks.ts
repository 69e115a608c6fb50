/** The checks of the Pod Security Standards, in Kyverno 1.19.1's order. It runs a check in versions that are older than the check, too. */
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { hasWildcard, matchesAny, matchesWildcard } from "../match/wildcard.js";

/**
 * Whether a field is as a check wants it.
 * @param target the spec of a Pod, a container, or an item of the list in the path
 * @param values patterns of values that are exempt, too; none without exemption
 * @param path of the field below the target
 */
type FieldTest = (target: Cel, values: readonly string[], path: string) => Cel;

/** Tests by their fields, as `restrictedField` writes them below the spec or the container: `ports[*].hostPort`. */
export type Fields = Readonly<Record<string, FieldTest>>;

/** One check. */
export interface Check {
  /** Its name in `exclude`; without one nothing is exempt. */
  readonly control?: string;
  readonly reason: string;
  readonly isRestricted?: true;
  /** Whether Pods of Windows pass, from 1.25 on. */
  readonly sparesWindows?: true;
  readonly spec?: Fields;
  readonly container?: Fields;
  /** Fields that the Pod's spec and containers have alike. */
  readonly both?: Fields;
  readonly annotations?: (pod: Cel) => Cel;
  readonly inherited?: Inherited;
  /** Types of volumes that are allowed. */
  readonly volumes?: readonly string[];
}

/** A field that containers have from their Pod where they don't say. */
export interface Inherited {
  readonly field: string;
  /** The optional value of a spec or a container. */
  readonly value: (target: Cel) => Cel;
  readonly isGood: (value: Cel, values: readonly string[]) => Cel;
  /** Values that are good and bad, for the place of a missing one. */
  readonly good: Cel;
  readonly bad: Cel;
  /** Whether containers that don't say are only told of where no value is bad. */
  readonly badHidesMissing: boolean;
}

/** Asks a test, of each item where the field is one of a list. */
export function fieldTest(test: FieldTest, target: Cel, values: readonly string[], path: string): Cel {
  const [list = "", rest] = path.split("[*].");
  if (rest === undefined) return test(target, values, path);
  return allItems(items(target, list), test(ITEM, values, rest));
}

/** Members behind one another, each optional. */
export const chain = (target: Cel, path: string): Cel => path.split(".").reduce(cel.optionalMember, target);

const valueAt = (target: Cel, path: string, otherwise: unknown): Cel =>
  cel.orValue(chain(target, path), cel.literal(otherwise));
const ITEM = cel.primary("item");
const items = (target: Cel, path: string): Cel => cel.orValue(chain(target, path), cel.list([]));
const allItems = (list: Cel, body: Cel): Cel => (body.text === "true" ? body : cel.loop(list, "all", "item", body));

const isExempt = (value: string, values: readonly string[]): boolean =>
  values.some((pattern) => matchesWildcard(pattern, value));

/** Whether a text is one of the allowed ones, or matches one of the patterns. */
function among(value: Cel, allowed: readonly string[], patterns: readonly string[]): Cel {
  const texts = [...new Set([...allowed, ...patterns.filter((pattern) => !hasWildcard(pattern))])];
  const lists = [texts, patterns.filter(hasWildcard)].filter((list) => list.length > 0);
  const tests = lists.map((list) => matchesAny(value, list));
  return tests.some(({ text }) => text === "true") ? cel.TRUE : cel.or(...tests);
}

const isFalse: FieldTest = (target, values, path) =>
  isExempt("true", values) ? cel.TRUE : cel.not(valueAt(target, path, false));

const oneOf =
  (allowed: readonly string[], otherwise = ""): FieldTest =>
  (target, values, path) =>
    among(valueAt(target, path, otherwise), allowed, values);

/** The type of a profile: one that is there must have a good one. A type that is missing is exempt with any values. */
const isProfile: Inherited["isGood"] = (value, values) =>
  among(valueAt(value, "type", ""), ["RuntimeDefault", "Localhost"], values.length > 0 ? [...values, ""] : []);

const PROFILE = { type: "RuntimeDefault" };
const profileType: FieldTest = (target, values, path) =>
  isProfile(valueAt(target, path.replace(/\.type$/, ""), PROFILE), values);

const CAPABILITIES =
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT";

const added =
  (allowed: string): FieldTest =>
  (target, values, path) =>
    allItems(items(target, path), among(ITEM, allowed.split(" "), values));

/** All capabilities must be dropped: what is dropped instead counts as the bad value, and nothing at all is exempt with any. */
const dropsAll: FieldTest = (target, values, path) => {
  const dropped = items(target, path);
  const others = values.length === 0 ? cel.FALSE : allItems(dropped, among(ITEM, [], values));
  return others.text === "true" ? others : cel.or(cel.relation("in", cel.literal("ALL"), dropped), others);
};

const hostPath: FieldTest = (volume, values, path) => {
  const isMissing = cel.not(cel.has(volume, path));
  if (values.length === 0) return isMissing;
  return cel.or(isMissing, among(cel.member(cel.member(volume, path), "path"), [], values));
};

const hostPort: FieldTest = (port, values, path) => {
  const number = valueAt(port, path, 0);
  const others = values.length === 0 ? cel.FALSE : among(cel.call("string", number), [], values);
  return cel.or(cel.equal(number, cel.literal(0)), others);
};

/** A missing value counts as `nil`; a container without any securityContext is exempt whatever the values. */
const escalation: FieldTest = (target, values, path) => {
  const [isFine, isNilFine] = [isExempt("true", values), isExempt("nil", values)];
  if (isFine && isNilFine) return cel.TRUE;
  const good = isFine ? cel.method(chain(target, path), "hasValue") : cel.not(valueAt(target, path, !isNilFine));
  return values.length === 0 ? good : cel.or(cel.not(cel.has(target, "securityContext")), good);
};

const appArmorAnnotations = (pod: Cel): Cel => {
  const body =
    '!key.startsWith("container.apparmor.security.beta.kubernetes.io/") || value in ["", "runtime/default"] || value.startsWith("localhost/")';
  return cel.loop(
    cel.orValue(chain(pod, "metadata.annotations"), cel.primary("{}")),
    "all",
    "key, value",
    cel.primary(body),
  );
};

const noHosts: FieldTest = (container) => {
  const fields = ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"];
  const noHost = (path: string) => cel.equal(valueAt(ITEM, path, ""), cel.literal(""));
  const handlers = cel.list(fields.map((field) => chain(container, field)));
  return allItems(handlers, cel.and(noHost("httpGet.host"), noHost("tcpSocket.host")));
};

/** Whether each volume is of one of these types. */
export const volumesAre = (spec: Cel, types: readonly string[]): Cel =>
  allItems(items(spec, "volumes"), cel.loop(cel.literal(types), "exists", "type", cel.primary("type in item")));

const SYSCTLS: readonly (readonly [since: number, names: string])[] = [
  [0, "kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies net.ipv4.ping_group_range"],
  [0, "net.ipv4.ip_unprivileged_port_start"],
  [27, "net.ipv4.ip_local_reserved_ports"],
  [29, "net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout"],
  [29, "net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes"],
  [32, "net.ipv4.tcp_rmem net.ipv4.tcp_wmem"],
];
const sysctlsOf = (minor: number) => SYSCTLS.flatMap(([since, names]) => (minor >= since ? names.split(" ") : []));

const seLinuxTypes = (minor: number): readonly string[] =>
  ["", "container_t", "container_init_t", "container_kvm_t"].concat(minor >= 31 ? "container_engine_t" : []);

const UNLESS_WINDOWS = { isRestricted: true, sparesWindows: true } as const;
const [ADDED, DROPPED] = ["securityContext.capabilities.add", "securityContext.capabilities.drop"];
const NON_ROOT: Inherited = {
  field: "securityContext.runAsNonRoot",
  value: (target) => chain(target, "securityContext.runAsNonRoot"),
  isGood: (value, values) => (isExempt("false", values) ? cel.TRUE : value),
  good: cel.TRUE,
  bad: cel.FALSE,
  badHidesMissing: false,
};
const SECCOMP: Inherited = {
  field: "securityContext.seccompProfile.type",
  value: (target) => chain(target, "securityContext.seccompProfile"),
  isGood: isProfile,
  good: cel.literal(PROFILE),
  bad: cel.primary("{}"),
  badHidesMissing: true,
};
const notRoot: FieldTest = (target, values, path) =>
  isExempt("0", values) ? cel.TRUE : cel.relation("!=", valueAt(target, path, 1), cel.literal(0));

const check = (control: string, reason: string, more: Omit<Check, "control" | "reason">): Check => ({
  control,
  reason,
  ...more,
});

/** The checks of a version of Kubernetes. @param minor `Infinity` for the latest one */
export function checksOf(minor: number): readonly Check[] {
  const container = (path: string, test: FieldTest) => ({ container: { [path]: test } });
  const both = (path: string, test: FieldTest) => ({ both: { [`securityContext.${path}`]: test } });
  const seLinux: Fields = {
    "securityContext.seLinuxOptions.type": oneOf(seLinuxTypes(minor)),
    "securityContext.seLinuxOptions.user": oneOf([""]),
    "securityContext.seLinuxOptions.role": oneOf([""]),
  };
  const volumes = "configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret".split(
    " ",
  );
  const restrictedCapabilities = { [DROPPED]: dropsAll, [ADDED]: added("NET_BIND_SERVICE") };
  return [
    check("Privilege Escalation", "allowPrivilegeEscalation != false", {
      ...UNLESS_WINDOWS,
      ...container("securityContext.allowPrivilegeEscalation", escalation),
    }),
    check("AppArmor", "forbidden AppArmor profile", {
      annotations: appArmorAnnotations,
      ...both("appArmorProfile.type", profileType),
    }),
    check("Capabilities", "non-default capabilities", container(ADDED, added(CAPABILITIES))),
    check("Capabilities", "unrestricted capabilities", { ...UNLESS_WINDOWS, container: restrictedCapabilities }),
    check("Host Namespaces", "host namespaces", { spec: { hostNetwork: isFalse, hostPID: isFalse, hostIPC: isFalse } }),
    check("HostPath Volumes", "hostPath volumes", { spec: { "volumes[*].hostPath": hostPath } }),
    check("Host Ports", "hostPort", container("ports[*].hostPort", hostPort)),
    { reason: "probe or lifecycle host", ...container("livenessProbe.host", noHosts) },
    check("Privileged Containers", "privileged", container("securityContext.privileged", isFalse)),
    check("/proc Mount Type", "procMount", container("securityContext.procMount", oneOf(["Default"], "Default"))),
    check("Volume Types", "restricted volume types", { isRestricted: true, volumes }),
    check("Running as Non-root", "runAsNonRoot != true", { isRestricted: true, inherited: NON_ROOT }),
    check("Running as Non-root user", "runAsUser=0", { isRestricted: true, ...both("runAsUser", notRoot) }),
    check("SELinux", "seLinuxOptions", { both: seLinux }),
    check("Seccomp", "seccompProfile", both("seccompProfile.type", profileType)),
    check("Seccomp", "seccompProfile", { ...UNLESS_WINDOWS, inherited: SECCOMP }),
    check("Sysctls", "forbidden sysctls", { spec: { "securityContext.sysctls[*].name": oneOf(sysctlsOf(minor)) } }),
    check("HostProcess", "hostProcess", both("windowsOptions.hostProcess", isFalse)),
  ];
}
