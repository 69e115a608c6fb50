/** An approver at the test's own cluster, with clocks of its own. */
import type { TestContext } from "node:test";
import { Approver, type ApproverOptions } from "../../../src/cluster/approver/approver.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { Ruling } from "../../../src/policy/approving.js";
import type { Logger } from "../../../src/telemetry/logger.js";
import type { FakeApiServer, TestObject } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";

export { TestClock, WALL } from "../../support/test-clock.js";
export const REQUESTS = "certificaterequests";

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that is kept. */
export function keptLog(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const log: Logger["log"] = (level, message, fields = {}) => lines.push({ level, message, fields });
  const logger: Logger = {
    enabled: () => true,
    log,
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
    named: () => logger,
  };
  return { logger, lines };
}

type Decide = (request: JsonObject, signal: AbortSignal) => Ruling | undefined | Promise<Ruling | undefined>;

/** An approver that has read the first list, and what it did. */
export interface TestApprover {
  readonly approver: Approver;
  readonly clock: TestClock;
  readonly lines: LogLine[];
  /** Names of the requests that were reviewed, in order. */
  readonly reviewed: string[];
  decide: Decide;
}

/** Starts one; it is stopped after the test. */
export async function startApprover(
  context: TestContext,
  server: FakeApiServer,
  decide: Decide,
  { watches = 6, ...options }: Partial<Pick<ApproverOptions, "maxHeldBytes">> & { readonly watches?: number } = {},
): Promise<TestApprover> {
  const { cluster } = connect(context, server);
  const clock = new TestClock();
  const { logger, lines } = keptLog();
  const reviewed: string[] = [];
  const test: { decide: Decide } = { decide };
  const approver = new Approver({
    cluster,
    clock,
    log: logger,
    random: () => 0,
    instance: "test",
    ...options,
    decide: async (request, signal) => {
      reviewed.push((request.metadata as { name: string }).name);
      return test.decide(request, signal);
    },
  });
  context.after(() => approver.stop());
  await until("the watches", () => server.watching === watches);
  return Object.assign(test, { approver, clock, lines, reviewed });
}

/** A request for a certificate. */
export const certificateRequest = (name: string, more: object = {}, namespace = "team"): TestObject => ({
  apiVersion: "cert-manager.io/v1",
  kind: "CertificateRequest",
  metadata: { name, namespace, uid: `uid-${name}` },
  spec: { request: "", issuerRef: { name: "issuer" } },
  ...more,
});

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly [key: string]: string;
}

/** The conditions of a request. */
export function conditionsOf(server: FakeApiServer, name: string, namespace = "team"): readonly Condition[] {
  const { conditions = [] } = (server.object(REQUESTS, name, namespace)?.status ?? {}) as { conditions?: Condition[] };
  return conditions;
}

/** Events that were written, as `reason name type: note`. */
export const eventsOf = (server: FakeApiServer): string[] =>
  server
    .objects("events")
    .map(({ reason, regarding, type, note }) => `${reason} ${(regarding as { name: string }).name} ${type}: ${note}`);
