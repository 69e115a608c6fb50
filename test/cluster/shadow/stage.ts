/** A replica at a fake cluster with one policy that is rolled out. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { ReplicaInfo, Replicas } from "../../../src/cluster/replicas.js";
import { ShadowPart } from "../../../src/cluster/shadow/shadow-part.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { parseJson } from "../../../src/data/json.js";
import { kubectlText } from "../../../src/data/kubectl-text.js";
import { NONE, type ShadowCounts, type ShadowRow } from "../../../src/policy/served/shadow/tally.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { until } from "../../support/until.js";
import { keptLog } from "../approver/support.js";

/** The prefix of annotations of ours. */
export const PREFIX = "policy-server.admission/";
/** The policy. */
export const KEY = "policies.kubewarden.io/ClusterAdmissionPolicy//p";
const UID = "0123456789abcdef";

/** Values by names without the prefix. */
export type Named = Readonly<Record<string, string | undefined>>;

/** One replica with the policy `p` of a cluster. */
export class Stage {
  readonly clock = new TestClock();
  readonly server: FakeApiServer;
  readonly part: ShadowPart;
  readonly lines: ReturnType<typeof keptLog>["lines"];
  readonly shown: (string | undefined)[] = [];
  readonly announced: string[] = [];
  rows: ShadowRow[] = [];
  isUnavailable = false;
  live: ReplicaInfo[] = [];
  readonly #leading = new AbortController();

  constructor(context: TestContext, server: FakeApiServer) {
    this.server = server;
    const { logger, lines } = keptLog();
    this.lines = lines;
    const calls: (() => void)[] = [];
    const stage = this;
    const replicas: Replicas = {
      get live() {
        return stage.live;
      },
      changed: (call) => {
        calls.push(call);
        return () => {};
      },
      serverWall: () => 0,
      announce: (key, value) => {
        this.announced.push(value);
        this.live = [{ name: "me", routes: new Set(), facts: { [key]: value } }, ...this.live.slice(1)];
        for (const call of calls) call();
      },
    };
    this.part = new ShadowPart({
      cluster: connect(context, server).cluster,
      clock: this.clock,
      log: logger,
      replicas,
      facts: { setShadow: (_, fact) => this.shown.push(fact?.message) },
      source: { rows: async () => (this.isUnavailable ? { unavailable: "a process is busy" } : this.rows), lost: 0 },
      instance: "me-1",
    });
  }

  static async start(context: TestContext): Promise<Stage> {
    return new Stage(context, await FakeApiServer.start(context));
  }

  /** Somebody writes the policy. */
  write(generation: number, word: string, annotations: Named, metadata: object = {}): void {
    this.server.put("clusteradmissionpolicies", {
      apiVersion: "policies.kubewarden.io/v1",
      kind: "ClusterAdmissionPolicy",
      metadata: { name: "p", uid: UID, generation, ...metadata, annotations: ours(annotations) },
      spec: { word },
    });
  }

  /** What the policy is, told to the part as all processes serve it. */
  serve(): void {
    const { managedFields: _, ...metadata } = this.policy().metadata;
    const { resourceVersion = "", generation } = metadata;
    const text = kubectlText({ ...this.policy(), metadata });
    const document: ClusterDocument = { key: KEY, uid: UID, resourceVersion, generation, text };
    this.part.served({ version: 1, documents: new Map([[KEY, document]]), sets: [], unread: [] });
  }

  lead(): void {
    this.part.lead(this.#leading.signal);
  }

  policy() {
    const object = this.server.object("clusteradmissionpolicies", "p");
    assert.ok(object !== undefined, "the policy is gone");
    return object as unknown as {
      readonly metadata: {
        readonly annotations: Readonly<Record<string, string>>;
        readonly resourceVersion?: string;
        readonly generation: number;
        readonly managedFields?: unknown;
      };
    };
  }

  /** What the leader notes: of the version in force, and of the one in shadow. */
  notes(): readonly [active: unknown, record: unknown] {
    const { annotations } = this.policy().metadata;
    const [active, record] = ["active-spec", "shadow-record"].map((name) => annotations[`${PREFIX}${name}`]);
    return [active && parseJson(active), record && parseJson(record)];
  }

  /** Until so many patches have been sent, each told to the part as it comes back. */
  async patched(count: number): Promise<void> {
    await eventually(() => this.server.patches.length >= count, `there are not ${count} patches`);
    await settle();
    this.serve();
    await settle();
  }

  counts(version: string, counts: Partial<ShadowCounts>, more: Partial<ShadowRow> = {}): void {
    this.rows = [{ id: "p", version, since: 0, examples: [], isBroken: false, ...NONE, ...counts, ...more }];
  }
}

/** Waits for something that comes about. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  await until(what, holds);
}

/** Lets requests to the fake server end. */
export const settle = () => new Promise((resolve) => setTimeout(resolve, 15));

const ours = (annotations: Named) =>
  Object.fromEntries(
    Object.entries(annotations).flatMap(([name, value]) => (value === undefined ? [] : [[`${PREFIX}${name}`, value]])),
  );

/** Annotations of a policy without their prefix. */
export const stripped = (annotations: Readonly<Record<string, string>>): Named =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [name.slice(PREFIX.length), value]));
