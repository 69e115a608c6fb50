/** What the benchmark fills a cluster with. */
import type { Api } from "../../test/e2e/live/api.js";
import { clusterAdmissionPolicy, validatingPolicy } from "../../test/e2e/live/policies.js";

/** Requests under way at a time: what one API server takes on this machine. */
const AT_A_TIME = 16;
/** Every fifth policy is one of Kubewarden's. */
const KUBEWARDEN_EVERY = 5;
/** Every hundredth object is one that a policy denies. */
const DENIED_EVERY = 100;

/** Where the objects are. */
export const NAMESPACES: readonly string[] = Array.from({ length: 20 }, (_, index) => `bench-${index}`);

/** An object, and the path of its collection. */
export type Made = readonly [path: string, body: object];

const namespaceOf = (index: number): string => NAMESPACES[index % NAMESPACES.length] ?? "";

/** Policies: each looks at the ConfigMaps of one namespace and denies a key of its own. */
export function* policiesOf(count: number): Generator<Made> {
  for (let index = 0; index < count; index++) {
    const key = `two-${index}`;
    const [name, namespace] = [`policy-${index}`, namespaceOf(index)];
    yield index % KUBEWARDEN_EVERY === 1
      ? ["/apis/policies.kubewarden.io/v1/clusteradmissionpolicies", clusterAdmissionPolicy(name, namespace, key)]
      : ["/apis/policies.kyverno.io/v1/validatingpolicies", validatingPolicy(name, namespace, key)];
  }
}

/** A policy changed, and its path. */
export function policyOf(index: number, key: string): Made {
  const name = `policy-${index}`;
  return [
    `/apis/policies.kyverno.io/v1/validatingpolicies/${name}`,
    validatingPolicy(name, namespaceOf(index), `${key}-${index}`),
  ];
}

/** ConfigMaps. */
export function* objectsOf(count: number): Generator<Made> {
  for (let index = 0; index < count; index++) {
    const namespace = namespaceOf(index);
    const denied = index % DENIED_EVERY === 0 ? { [`two-${index % NAMESPACES.length}`]: "x" } : {};
    yield [
      `/api/v1/namespaces/${namespace}/configmaps`,
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: `object-${index}`, labels: { app: `app-${index % 100}` } },
        data: { setting: "x".repeat(200), ...denied },
      },
    ];
  }
}

/** Creates them all. Throws for the first that is refused. */
export async function makeAll(api: Api, all: Iterable<Made>): Promise<void> {
  const rest = all[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      const [path, body] = next.value;
      const { code, message } = await api.ask({ method: "POST", path, body });
      if (code !== 201) throw new Error(`${path}: ${code} ${message}`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}
