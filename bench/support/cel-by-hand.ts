/**
 * The expressions of test/vectors/cel/bench.jsonl as one would write them in JavaScript, for data of that very shape; in the order of the file. Those that
 * need quantities, time or regular expressions of RE2 have no counterpart.
 */

interface Container {
  readonly name: string;
  readonly image: string;
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly securityContext?: { readonly privileged?: boolean; readonly runAsUser?: number };
}

/** The object of the vectors, as far as expressions name it. */
export interface Deployment {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly replicas: number;
    readonly containers: readonly Container[];
    readonly volumes?: readonly { readonly hostPath?: unknown }[];
    readonly tolerations: readonly { readonly key: string; readonly operator?: string; readonly value?: string }[];
  };
}

/** What the functions get: the object, and the parameters. */
export interface Data {
  readonly object: unknown;
  readonly params: { readonly data: { readonly max: string } };
}

/** An expression by hand; `undefined` where there is no such thing. */
export type ByHand = ((data: Data) => unknown) | undefined;

/** A function over the object. */
export const on =
  (run: (object: Deployment, data: Data) => unknown): ByHand =>
  (data) =>
    run(data.object as Deployment, data);

/** By index of the expression. */
export const BY_HAND: readonly ByHand[] = [
  on((object) => object.spec.replicas <= 5),
  on(({ metadata }) => metadata.namespace === "prod" && metadata.name.startsWith("web")),
  on(({ metadata: { labels } }) => labels !== undefined && ["app", "tier"].every((key) => Object.hasOwn(labels, key))),
  on(({ spec }) =>
    spec.containers.every(
      ({ image, name }) => image.startsWith("registry.example/") || image.includes("@sha256:") || name === "init",
    ),
  ),
  on(({ spec }) =>
    spec.containers.every(
      ({ securityContext, name }) =>
        securityContext?.privileged === undefined || securityContext.privileged === false || name === "init",
    ),
  ),
  on(({ spec }) => spec.containers.some(({ securityContext }) => (securityContext?.runAsUser ?? 0) >= 1000)),
  on(({ spec }) => spec.containers.map(({ name }) => name).filter((name) => name !== "side").length === 2),
  undefined,
  on(({ spec }) => !spec.containers.some(({ image, name }) => image.endsWith(":latest") && name !== "init")),
  undefined,
  on(
    ({ metadata, spec }, { params }) =>
      `Deployment ${metadata.name} has ${spec.replicas} replicas, at most ${params.data.max} are allowed`,
  ),
  undefined,
  on(({ spec }) =>
    spec.tolerations.every(
      ({ key, operator, value }) =>
        (key === "k" || key === "k2") && ((operator ?? "Equal") === "Exists" || value !== undefined),
    ),
  ),
  on(({ spec }) =>
    spec.containers.every(({ ports }) =>
      (ports ?? []).every(({ containerPort }) => containerPort > 1024 && containerPort !== 8443),
    ),
  ),
  on(({ spec }) => {
    const names = new Set(["web", "side", "init", "x"]);
    const tag = spec.containers[0]?.image.split(":")[1] ?? "";
    return spec.containers.every(({ name }) => names.has(name)) && tag.length > 2;
  }),
  on(
    ({ metadata: { labels = {} }, spec }, { params }) =>
      spec.replicas <= Number(params.data.max) &&
      labels.app === "web" &&
      (spec.volumes ?? []).every(({ hostPath }) => hostPath === undefined),
  ),
];
