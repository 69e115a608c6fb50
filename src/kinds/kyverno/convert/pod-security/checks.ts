/**
 * The checks of the Pod Security Standards, in the order in which Kyverno 1.19.1 runs them (k8s.io/pod-security-admission). Kyverno runs a check in versions that are
 * older than the check, too.
 */
import {
  type Cel,
  call,
  equal,
  has,
  list,
  literal,
  loop,
  member,
  method,
  not,
  optionalMember,
  or,
  orValue,
  primary,
  relation,
  TRUE,
} from "../cel-text.js";

/**
 * Whether a Pod's spec, or a container, is as a check wants a field.
 * @param values patterns of values that are exempt, too; none without exemption
 */
export type FieldTest = (target: Cel, values: readonly string[]) => Cel;

/** One check. Its fields are written as `restrictedField` writes them: `spec.hostPID`, `securityContext.privileged` of containers. */
export interface Check {
  /** Its name in `exclude`; without one nothing is exempt. */
  readonly control?: string;
  readonly reason: string;
  readonly isRestricted?: true;
  /** Whether Pods of Windows pass, from 1.25 on. */
  readonly sparesWindows?: true;
  /** Fields of the Pod's spec. */
  readonly pod?: Readonly<Record<string, FieldTest>>;
  /** The annotations of the Pod. */
  readonly annotations?: (pod: Cel) => Cel;
  readonly container?: Readonly<Record<string, FieldTest>>;
  /** Fields below `securityContext` that the Pod's spec and containers have alike. */
  readonly both?: Readonly<Record<string, FieldTest>>;
  readonly inherited?: Inherited;
  /** Types of volumes that are allowed. */
  readonly volumes?: readonly string[];
}

/** What containers have from their Pod where they don't say. */
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

/** Members behind one another, each optional. */
export const chain = (target: Cel, path: string): Cel => path.split(".").reduce(optionalMember, target);

const memberOr = (target: Cel, path: string, otherwise: unknown): Cel =>
  orValue(chain(target, path), literal(otherwise));

const hasWildcard = (pattern: string): boolean => /[*?]/.test(pattern);

/** A pattern as a regular expression: `*` stands for any text, `?` for one character. */
const expressionOf = (pattern: string): string =>
  pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");

/** Whether a constant matches one of the patterns. */
export const isAmong = (text: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => new RegExp(`^${expressionOf(pattern)}$`, "su").test(text));

/** Whether a text is one of the allowed ones, or matches one of the patterns. */
export function among(value: Cel, allowed: readonly string[], patterns: readonly string[] = []): Cel {
  if (patterns.includes("*")) return TRUE;
  const texts = [...new Set([...allowed, ...patterns.filter((pattern) => !hasWildcard(pattern))])];
  const [only] = texts;
  const listed =
    texts.length === 1 ? equal(value, literal(only)) : texts.length > 1 && relation("in", value, literal(texts));
  return or(...(listed ? [listed] : []), ...patterns.filter(hasWildcard).map((pattern) => matching(value, pattern)));
}

function matching(value: Cel, pattern: string): Cel {
  const inner = pattern.replace(/^\*/, "").replace(/\*$/, "");
  if (hasWildcard(inner)) return method(value, "matches", literal(`(?s)^${expressionOf(pattern)}$`));
  const [first, last] = [pattern.startsWith("*"), pattern.endsWith("*")];
  return method(value, first && last ? "contains" : first ? "endsWith" : "startsWith", literal(inner));
}

/** A field that must not be true. */
const isFalse =
  (path: string): FieldTest =>
  (target, values) =>
    isAmong("true", values) ? TRUE : not(memberOr(target, path, false));

/** A text of a list of allowed ones; `""` where it is missing. A value that is there, but empty, can't be told by `values`, and is exempt with any. */
const oneOf =
  (path: string, allowed: readonly string[]): FieldTest =>
  (target, values) =>
    among(memberOr(target, path, ""), allowed, values);

const GOOD_PROFILES = ["RuntimeDefault", "Localhost"];

/** The type of a profile: one that is there must have a good one. */
const profile =
  (path: string): FieldTest =>
  (target, values) =>
    isProfile(orValue(chain(target, path), literal({ type: "RuntimeDefault" })), values);

const isProfile = (value: Cel, values: readonly string[]): Cel =>
  among(memberOr(value, "type", ""), GOOD_PROFILES, values.length > 0 ? [...values, ""] : values);

const items = (target: Cel, path: string): Cel => orValue(chain(target, path), list([]));

const CAPABILITIES =
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  );
const [ADDED, DROPPED] = ["securityContext.capabilities.add", "securityContext.capabilities.drop"];
const ITEM = primary("item");

const addedOf =
  (allowed: readonly string[]): FieldTest =>
  (target, values) =>
    values.includes("*") ? TRUE : loop(items(target, ADDED), "all", "item", among(ITEM, allowed, values));

/** All capabilities must be dropped: what is dropped instead counts as the bad value, and nothing at all is exempt with any. */
const dropsAll: FieldTest = (target, values) => {
  const dropped = items(target, DROPPED);
  const all = relation("in", literal("ALL"), dropped);
  if (values.length === 0) return all;
  return values.includes("*") ? TRUE : or(all, loop(dropped, "all", "item", among(ITEM, [], values)));
};

/** Whether each volume is of one of these types. */
export const volumesAre = (spec: Cel, types: readonly string[]): Cel =>
  loop(
    items(spec, "volumes"),
    "all",
    "volume",
    loop(literal(types), "exists", "type", relation("in", primary("type"), primary("volume"))),
  );

const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";

const appArmorAnnotations = (pod: Cel): Cel =>
  loop(
    orValue(chain(pod, "metadata.annotations"), primary("{}")),
    "all",
    "key, value",
    or(
      not(method(primary("key"), "startsWith", literal(APP_ARMOR))),
      relation("in", primary("value"), literal(["", "runtime/default"])),
      method(primary("value"), "startsWith", literal("localhost/")),
    ),
  );

const noHosts: FieldTest = (container) => {
  const fields = ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle.?postStart", "lifecycle.?preStop"];
  const noHost = (action: string) => equal(memberOr(ITEM, `${action}.host`, ""), literal(""));
  const handlers = list(fields.map((field) => primary(`${container.text}.?${field}`)));
  return loop(handlers, "all", "item", primary(`${noHost("httpGet").text} && ${noHost("tcpSocket").text}`));
};

const escalation: FieldTest = (target, values) => {
  const field = "securityContext.allowPrivilegeEscalation";
  if (isAmong("true", values) && isAmong("nil", values)) return TRUE;
  const good = not(memberOr(target, field, !isAmong("nil", values)));
  // A container without any securityContext is exempt whatever the values.
  if (values.length === 0) return good;
  const absent = not(has(target, "securityContext"));
  return isAmong("true", values) ? or(absent, method(chain(target, field), "hasValue")) : or(absent, good);
};

const sysctlsOf = (minor: number): readonly string[] => [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
  ...(minor >= 27 ? ["net.ipv4.ip_local_reserved_ports"] : []),
  ...(minor >= 29
    ? ["time", "intvl", "probes"].map((name) => `net.ipv4.tcp_keepalive_${name}`).concat("net.ipv4.tcp_fin_timeout")
    : []),
  ...(minor >= 32 ? ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"] : []),
];

/** The checks of a version of Kubernetes. @param minor `Infinity` for the latest one */
export const checksOf = (minor: number): readonly Check[] => [
  {
    control: "Privilege Escalation",
    reason: "allowPrivilegeEscalation != false",
    isRestricted: true,
    sparesWindows: true,
    container: { "securityContext.allowPrivilegeEscalation": escalation },
  },
  {
    control: "AppArmor",
    reason: "forbidden AppArmor profile",
    annotations: appArmorAnnotations,
    both: { "appArmorProfile.type": profile("securityContext.appArmorProfile") },
  },
  { control: "Capabilities", reason: "non-default capabilities", container: { [ADDED]: addedOf(CAPABILITIES) } },
  {
    control: "Capabilities",
    reason: "unrestricted capabilities",
    isRestricted: true,
    sparesWindows: true,
    container: { [DROPPED]: dropsAll, [ADDED]: addedOf(["NET_BIND_SERVICE"]) },
  },
  {
    control: "Host Namespaces",
    reason: "host namespaces",
    pod: Object.fromEntries(["hostNetwork", "hostPID", "hostIPC"].map((path) => [path, isFalse(path)])),
  },
  {
    control: "HostPath Volumes",
    reason: "hostPath volumes",
    pod: {
      "volumes[*].hostPath": (spec, values) =>
        loop(
          items(spec, "volumes"),
          "all",
          "item",
          or(
            not(has(ITEM, "hostPath")),
            ...(values.length > 0 ? [among(member(member(ITEM, "hostPath"), "path"), [], values)] : []),
          ),
        ),
    },
  },
  {
    control: "Host Ports",
    reason: "hostPort",
    container: {
      "ports[*].hostPort": (container, values) => {
        const port = memberOr(ITEM, "hostPort", 0);
        const free = equal(port, literal(0));
        const others = values.length === 0 ? [] : [among(call("string", port), [], values)];
        return loop(items(container, "ports"), "all", "item", or(free, ...others));
      },
    },
  },
  { reason: "probe or lifecycle host", container: { "livenessProbe.host": noHosts } },
  {
    control: "Privileged Containers",
    reason: "privileged",
    container: { "securityContext.privileged": isFalse("securityContext.privileged") },
  },
  {
    control: "/proc Mount Type",
    reason: "procMount",
    container: {
      "securityContext.procMount": (target, values) =>
        among(memberOr(target, "securityContext.procMount", "Default"), ["Default"], values),
    },
  },
  {
    control: "Volume Types",
    reason: "restricted volume types",
    isRestricted: true,
    volumes: "configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret".split(" "),
  },
  {
    control: "Running as Non-root",
    reason: "runAsNonRoot != true",
    isRestricted: true,
    inherited: {
      field: "securityContext.runAsNonRoot",
      value: (target) => chain(target, "securityContext.runAsNonRoot"),
      isGood: (value, values) => (isAmong("false", values) ? TRUE : value),
      good: literal(true),
      bad: literal(false),
      badHidesMissing: false,
    },
  },
  {
    control: "Running as Non-root user",
    reason: "runAsUser=0",
    isRestricted: true,
    both: {
      runAsUser: (target, values) =>
        isAmong("0", values) ? TRUE : relation("!=", memberOr(target, "securityContext.runAsUser", 1), literal(0)),
    },
  },
  {
    control: "SELinux",
    reason: "seLinuxOptions",
    both: {
      "seLinuxOptions.type": oneOf("securityContext.seLinuxOptions.type", [
        "",
        "container_t",
        "container_init_t",
        "container_kvm_t",
        ...(minor >= 31 ? ["container_engine_t"] : []),
      ]),
      "seLinuxOptions.user": oneOf("securityContext.seLinuxOptions.user", [""]),
      "seLinuxOptions.role": oneOf("securityContext.seLinuxOptions.role", [""]),
    },
  },
  {
    control: "Seccomp",
    reason: "seccompProfile",
    both: { "seccompProfile.type": profile("securityContext.seccompProfile") },
  },
  {
    control: "Seccomp",
    reason: "seccompProfile",
    isRestricted: true,
    sparesWindows: true,
    inherited: {
      field: "securityContext.seccompProfile.type",
      value: (target) => chain(target, "securityContext.seccompProfile"),
      isGood: isProfile,
      good: literal({ type: "RuntimeDefault" }),
      bad: primary("{}"),
      badHidesMissing: true,
    },
  },
  {
    control: "Sysctls",
    reason: "forbidden sysctls",
    pod: {
      "securityContext.sysctls[*].name": (spec, values) =>
        loop(
          items(spec, "securityContext.sysctls"),
          "all",
          "item",
          among(member(ITEM, "name"), sysctlsOf(minor), values),
        ),
    },
  },
  {
    control: "HostProcess",
    reason: "hostProcess",
    both: { "windowsOptions.hostProcess": isFalse("securityContext.windowsOptions.hostProcess") },
  },
];
