/** The routes that are on Express, which is loaded by GET and HEAD of their paths: the list of policies, and profiles. */

import { Session } from "node:inspector/promises";
import { setTimeout as sleep } from "node:timers/promises";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import type { Evaluator } from "../policy/served/evaluator.js";
import type { ServedPolicy, ShadowVersion } from "../policy/served/policy-set.js";
import { NONE, type ShadowRow, type ShadowRows } from "../policy/served/shadow/tally.js";
import { sendEmpty } from "./respond.js";

// Profiles of the running process over HTTP, in the formats that browsers' developer tools open (spec kubewarden.md 3.1).

/** The reference server's default. */
const DEFAULT_SECONDS = 30;
/** Longest profile. */
const MOST_SECONDS = 300;
/** Samples a second of CPU profiles, unless the request sets another number. */
const DEFAULT_FREQUENCY = 99;
const MOST_FREQUENCY = 10_000;

/** Adds `GET /debug/pprof/cpu?frequency=99&interval=30` and `/debug/pprof/heap?interval=30`. One profile at a time; a second request gets 409. */
function addProfiles(app: Express): void {
  let busy = false;
  const serve =
    (extension: string, take: (request: Request) => Promise<unknown>) =>
    async (request: Request, response: Response) => {
      if (busy) {
        sendEmpty(response, 409);
        return;
      }
      busy = true;
      try {
        const profile = await take(request);
        response.setHeader("Content-Disposition", `attachment; filename="policy-server.${extension}"`);
        response.type("application/octet-stream").send(Buffer.from(JSON.stringify(profile)));
      } finally {
        busy = false;
      }
    };
  app.get("/debug/pprof/cpu", serve("cpuprofile", cpuProfile));
  app.get("/debug/pprof/heap", serve("heapprofile", heapProfile));
}

async function cpuProfile(request: Request): Promise<unknown> {
  const interval = Math.round(1e6 / numberFrom(request, "frequency", DEFAULT_FREQUENCY, MOST_FREQUENCY));
  return withSession(async (session) => {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval });
    await session.post("Profiler.start");
    await sleep(numberFrom(request, "interval", DEFAULT_SECONDS, MOST_SECONDS) * 1000);
    return (await session.post("Profiler.stop")).profile;
  });
}

async function heapProfile(request: Request): Promise<unknown> {
  return withSession(async (session) => {
    await session.post("HeapProfiler.startSampling");
    await sleep(numberFrom(request, "interval", DEFAULT_SECONDS, MOST_SECONDS) * 1000);
    return (await session.post("HeapProfiler.stopSampling")).profile;
  });
}

async function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    return await work(session);
  } finally {
    session.disconnect();
  }
}

function numberFrom(request: Request, name: string, fallback: number, most: number): number {
  const value = Number(request.query[name]);
  return value > 0 ? Math.min(value, most) : fallback;
}

/** One policy; `error` says why it is unavailable. */
function shownPolicy(entry: ServedPolicy, rows: ShadowRows) {
  const { id, policy, mode, allowedToMutate, unavailable, outdated, shadow } = entry;
  const { kind, implementation, start, notConverted = [] } = policy;
  const available = unavailable === undefined;
  const started = start && { start: start.start, ...(start.because !== undefined && { startReason: start.because }) };
  const problem = !available && { error: unavailable };
  const broken = notConverted.length > 0 && { notConverted };
  const older = outdated !== undefined && { outdated };
  const beside = shadow && { shadow: shownShadow(shadow, rows) };
  return {
    id,
    kind,
    implementation,
    mode,
    allowedToMutate,
    available,
    ...started,
    ...problem,
    ...broken,
    ...older,
    ...beside,
  };
}

function shownShadow({ entry, version, enforcedNamespaces, isAlone }: ShadowVersion, rows: ShadowRows) {
  const { policy, mode, allowedToMutate, unavailable } = entry;
  return {
    version,
    kind: policy.kind,
    implementation: policy.implementation,
    mode,
    allowedToMutate,
    available: unavailable === undefined,
    ...(unavailable !== undefined && { error: unavailable }),
    alone: isAlone,
    enforcedNamespaces: [...enforcedNamespaces].sort(),
    ...("unavailable" in rows ? { unknown: rows.unavailable } : counted(entry.id, version, rows)),
  };
}

function counted(id: string, version: string, rows: readonly ShadowRow[]) {
  const row = rows.find((each) => each.id === id && each.version === version);
  const { agreed, wouldDeny, wouldAllow, failed, notEvaluated } = row ?? NONE;
  return {
    ...(row && { since: new Date(row.since).toISOString() }),
    agreed,
    wouldDeny,
    wouldAllow,
    failed,
    notEvaluated,
    examples: (row?.examples ?? []).map(({ at, ...example }) => ({ time: new Date(at).toISOString(), ...example })),
  };
}

/** The options of the API port's app. */
export interface AppOptions {
  readonly evaluator: Evaluator;
  /** Whether profiles may be taken. */
  readonly profiles: boolean;
  /** The counters of all processes for versions in shadow. */
  readonly shadows: () => Promise<ShadowRows>;
}

/** The app behind the hot and the plain routes on the API port. */
export function createApp({ evaluator, profiles, shadows }: AppOptions): Express {
  const app = bareApp();
  app.get("/policies", (_request, response, next) => {
    listPolicies(evaluator, shadows).then((list) => response.json(list), next);
  });
  if (profiles) addProfiles(app);
  return withFallbacks(app);
}

/** The answer to `GET /policies`. Other processes are only asked when something is in shadow. */
async function listPolicies({ policies }: Evaluator, shadows: AppOptions["shadows"]): Promise<object> {
  const served = [...policies.entries.values()];
  const rows = served.some(({ shadow }) => shadow !== undefined) ? await shadows() : [];
  return { generation: policies.generation, policies: served.map((entry) => shownPolicy(entry, rows)) };
}

/** Express without features that machines' clients do not need, and with paths taken literally. */
function bareApp(): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  return app;
}

function withFallbacks(app: Express): Express {
  app.use((_request: Request, response: Response) => sendEmpty(response, 404));
  app.use((error: { status?: number }, _request: Request, response: Response, next: NextFunction) => {
    // An answer that has begun can only be cut.
    if (response.headersSent) next(error);
    else sendEmpty(response, error.status ?? 500);
  });
  return app;
}
