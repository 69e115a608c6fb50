/** An audit of a fake API server. */
import type { TestContext } from "node:test";
import type { AuditCluster } from "../../../src/cluster/audit/audit-kinds.js";
import { AuditRunner, type FinishedAudit, type RunOptions } from "../../../src/cluster/audit/audit-runner.js";
import { type ObjectReport, REPORT_APIS } from "../../../src/cluster/audit/object-report.js";
import { FullPace } from "../../../src/cluster/audit/pace.js";
import { AuditPolicySource } from "../../../src/cluster/audit/policy-source.js";
import { parseConfig } from "../../../src/config/index.js";
import { createLoader } from "../../../src/loader/index.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, PATIENT } from "../../kubernetes/client/support.js";

/** What a test needs of it. */
export interface TestAudit {
  readonly server: FakeApiServer;
  readonly cluster: AuditCluster;
  readonly runner: AuditRunner;
  /** Takes these policies, as in policies.yaml. */
  use(policies: string): Promise<void>;
  /** Takes what the cluster holds of policies. */
  readonly source: AuditPolicySource;
  run(options?: Partial<RunOptions>): Promise<FinishedAudit>;
  /** What was told of objects in the last round: name, and results by policy. */
  readonly found: Map<string, Record<string, string>>;
  /** Names of objects that have a report, with what it says of each policy. */
  reports(plural?: string): Record<string, Record<string, string>>;
}

/** Begins; beside another audit of the same server, when one is given. */
export async function audit(
  context: TestContext,
  {
    excluded = [] as readonly string[],
    api = REPORT_APIS.openreports,
    namespace = "",
    author = "default",
    beside = undefined as TestAudit | undefined,
  } = {},
): Promise<TestAudit> {
  const server = beside?.server ?? (await FakeApiServer.start(context));
  const { cluster, now } = connect(context, server);
  const loader = createLoader({ kubeconfig: server.kubeconfig(), kubernetes: true, workers: 1 });
  context.after(() => loader.close());
  const source = new AuditPolicySource(loader, now, {
    policyServer: "default",
    namespaced: {},
    exceptionNamespaces: new Set(["*"]),
  });
  const runner = new AuditRunner({
    cluster,
    policyTimeout: loader.policyTimeout,
    now,
    wall: () => 1_700_000_000_000,
    onDefect: (policy, error) => {
      throw new Error(policy, { cause: error });
    },
    api,
    author,
    writes: true,
    namespace,
    excluded: new Set(excluded),
  });
  const found = new Map<string, Record<string, string>>();
  server.put("namespaces", { metadata: { name: "shop", uid: "uid-shop", labels: { team: "shop" } } });
  return {
    server,
    cluster,
    runner,
    source,
    found,
    async use(policies) {
      const read = parseConfig(policies, "policies.yaml");
      if (!read.ok) throw new Error(read.message);
      source.useFile(read.config);
      runner.use(await source.load());
    },
    async run(options = {}) {
      found.clear();
      return runner.run({
        pace: new FullPace(now),
        signal: PATIENT,
        found: ({ resource, entries }: ObjectReport) => {
          found.set(resource.name, Object.fromEntries(entries.map(({ entry }) => [entry.policy, entry.result])));
          return undefined;
        },
        ...options,
      });
    },
    reports: (plural = api.namespaced.plural) =>
      Object.fromEntries(
        server
          .objects(plural)
          .map(({ scope, results }) => [
            (scope as { name: string }).name,
            Object.fromEntries(
              (results as { policy: string; result: string }[]).map((each) => [each.policy, each.result]),
            ),
          ]),
      ),
  };
}

/** A ConfigMap with data. */
export const configMap = (name: string, data: Readonly<Record<string, string>>, namespace = "shop") => ({
  metadata: { name, namespace, uid: `uid-${namespace}-${name}`, labels: { app: name } },
  data,
});

/** An inline policy for ConfigMaps that must not have a key. */
export const without = (id: string, key: string, more = ""): string => `${id}:
  cel:
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    validations: [{expression: "!('${key}' in object.data)", message: "no ${key}"}]
${more}`;
