/** What deploy/ would create: the plain manifests, and what Helm makes of the chart for each file of values. */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseYamlDocuments } from "../../src/data/yaml.js";

/** The root of the repository. */
export const root = new URL("../../../", import.meta.url);

/** Any part of an object. */
export interface Json {
  readonly [key: string]: Json;
}

/** A Kubernetes object. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Json;
  readonly rules?: readonly Rule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly name: string; readonly namespace: string }[];
  readonly data?: Readonly<Record<string, string>>;
  readonly webhooks?: readonly Webhook[];
}

/** What a role allows. */
export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** One webhook of a configuration. */
export interface Webhook {
  readonly name: string;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly service: {
      readonly name: string;
      readonly namespace: string;
      readonly path: string;
      readonly port: number;
    };
  };
  readonly timeoutSeconds: number;
  readonly namespaceSelector: {
    readonly matchExpressions: readonly { key: string; operator: string; values?: string[] }[];
  };
}

/** Objects that are applied together. */
export interface Deployed {
  readonly name: string;
  readonly objects: readonly KubernetesObject[];
}

/** Every set. */
export function everySet(): Deployed[] {
  const plain = files("deploy/manifests/").filter(
    (file) => !file.endsWith("kustomization.yaml") && !file.includes("/from-cluster/"),
  );
  const golden = files("test/vectors/helm/").filter((file) => file.endsWith(".rendered.yaml"));
  return [
    { name: "deploy/manifests", objects: plain.flatMap(objectsOf) },
    { name: "deploy/manifests/from-cluster", objects: objectsOf("test/vectors/kustomize/from-cluster.rendered.yaml") },
    ...golden.map((file) => ({ name: `Helm, ${basename(file, ".rendered.yaml")}`, objects: objectsOf(file) })),
  ];
}

/** The objects of one kind. */
export function ofKind({ objects }: Deployed, kind: string): KubernetesObject[] {
  return objects.filter((object) => object.kind === kind);
}

/** The only object of a kind. */
export function only(deployed: Deployed, kind: string): KubernetesObject {
  const [object, ...others] = ofKind(deployed, kind);
  if (object === undefined || others.length > 0) throw new Error(`${deployed.name} should have one ${kind}`);
  return object;
}

/** YAML files below a folder, from the root of the repository. */
export function files(folder: string): string[] {
  return readdirSync(new URL(folder, root), { recursive: true })
    .map((file) => `${folder}${String(file)}`)
    .filter((file) => file.endsWith(".yaml"))
    .sort();
}

/** The objects of a file, from the root of the repository. */
export function objectsOf(file: string): KubernetesObject[] {
  const documents = parseYamlDocuments(readFileSync(new URL(file, root), "utf8"));
  return documents.filter((document) => document !== null && document !== undefined) as KubernetesObject[];
}
