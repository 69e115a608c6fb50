/** The Helm chart, rendered without Helm. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { GoTemplates } from "./go-template.js";

const chart = new URL("../../../deploy/helm/policy-server/", import.meta.url);

/** As much of a manifest as tests look at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly webhooks?: readonly {
    readonly clientConfig: { readonly service: Values };
    readonly namespaceSelector: { readonly matchExpressions: readonly { readonly values: readonly string[] }[] };
  }[];
}

/** Values of a chart. */
export type Values = Record<string, unknown>;

/** The chart with its default values and some changes, released as `ps` into the namespace `policies`. */
export function renderChart(changes: Values = {}): Manifest[] {
  const values = merge(parse(readFileSync(new URL("values.yaml", chart), "utf8")) as Values, changes);
  const { appVersion } = parse(readFileSync(new URL("Chart.yaml", chart), "utf8")) as { appVersion: string };
  const context = {
    Values: values,
    Release: { Name: "ps", Namespace: "policies", Service: "Helm" },
    Chart: { AppVersion: appVersion },
  };
  const templates = new GoTemplates();
  const folder = new URL("templates/", chart);
  const text = readdirSync(folder)
    .sort()
    .map((name) => templates.render(readFileSync(new URL(name, folder), "utf8"), context));
  return manifestsOf(text.join("\n---\n"));
}

/** The manifests of a YAML text. */
export function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}

function merge(base: Values, changes: Values): Values {
  const merged = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const before = merged[key];
    const both = isMap(before) && isMap(value) && Object.keys(value).length > 0;
    merged[key] = both ? merge(before, value) : value;
  }
  return merged;
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
