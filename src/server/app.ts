/** Every route but the hot ones, on Express: what is served, metrics, probes, and the empty 404 and 405 of spec kubewarden.md 3.1. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { Registry } from "prom-client";
import type { Evaluator } from "../evaluation/evaluator.js";
import type { MetricsText } from "../telemetry/metrics.js";
import { addProfiles } from "./profiles.js";
import { sendEmpty } from "./respond.js";

const PROMETHEUS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** What the API port's app shows. */
export interface AppOptions {
  readonly evaluator: Evaluator;
  /** Metrics in Prometheus' text format. */
  readonly metricsText: () => Promise<MetricsText>;
  /** Whether profiles may be taken. */
  readonly profiles: boolean;
  /** Paths of webhooks, which are answered before Express. */
  readonly webhookPaths: readonly string[];
}

/** The app behind the hot routes on the API port. */
export function createApp({ evaluator, metricsText, profiles, webhookPaths }: AppOptions): Express {
  const app = bareApp();
  get(app, "/policies", (_request, response) => {
    response.json(listPolicies(evaluator));
  });
  get(app, "/metrics", (_request, response) => sendMetrics(metricsText, response));
  if (profiles) addProfiles(app);
  for (const path of ["/validate/:id", "/audit/:id", "/validate_raw/:id"]) {
    // POST is answered before Express; here are the others, and the form with the member in a segment of its own.
    app.all([path, `${path}/:member`], (_request, response) => refuseMethod(response, "POST"));
  }
  for (const path of webhookPaths) app.all(path, (_request, response) => refuseMethod(response, "POST"));
  return withFallbacks(app);
}

/** What the probes ask about. */
export interface ProbeOptions {
  /** True from the moment requests are answered well until the server begins to stop. */
  readonly ready: () => boolean;
  readonly metricsText: () => Promise<MetricsText>;
}

/** The app on the readiness port: always plain HTTP (spec kubewarden.md 3.1), so metrics are here too for scrapers without a client certificate. */
export function createProbeApp({ ready, metricsText }: ProbeOptions): Express {
  const app = bareApp();
  get(app, "/readiness", (_request, response) => sendEmpty(response, ready() ? 200 : 503));
  get(app, "/liveness", (_request, response) => sendEmpty(response, 200));
  get(app, "/metrics", (_request, response) => sendMetrics(metricsText, response));
  return withFallbacks(app);
}

/** The answer to `GET /policies`; `error` says why a policy is unavailable. */
function listPolicies({ policies }: Evaluator): object {
  const rows = Array.from(policies.entries.values(), ({ id, policy, mode, allowedToMutate, unavailable }) => {
    const { kind, implementation } = policy;
    const available = unavailable === undefined;
    return { id, kind, implementation, mode, allowedToMutate, available, ...(!available && { error: unavailable }) };
  });
  return { generation: policies.generation, policies: rows };
}

/** All of them or a 503: whoever reads a part can't know that it is one. */
async function sendMetrics(metricsText: () => Promise<MetricsText>, response: Response): Promise<void> {
  const text = await metricsText();
  if ("unavailable" in text) {
    response.status(503).type("text/plain").send(`${text.unavailable}\n`);
    return;
  }
  const bodies = text.parts.map((part) => Buffer.from(part));
  const length = bodies.reduce((sum, body) => sum + body.length, 0);
  response.writeHead(200, { "Content-Type": PROMETHEUS_TYPE, "Content-Length": length });
  // Part after part as the client takes them. One that goes away needs no answer.
  await pipeline(Readable.from(bodies), response).catch(() => {});
}

/** Express without the things that a machine's client has no use for, and with paths taken literally. */
function bareApp(): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  return app;
}

function get(
  app: Express,
  path: string,
  handler: (request: Request, response: Response) => void | Promise<void>,
): void {
  app.get(path, handler);
  app.all(path, (_request, response) => refuseMethod(response, "GET, HEAD"));
}

function refuseMethod(response: Response, allowed: string): void {
  response.setHeader("Allow", allowed);
  sendEmpty(response, 405);
}

function withFallbacks(app: Express): Express {
  app.use((_request: Request, response: Response) => sendEmpty(response, 404));
  app.use((error: { status?: number }, _request: Request, response: Response, next: NextFunction) => {
    // A path that can't be decoded, mostly; what is already under way can only be cut.
    if (response.headersSent) next(error);
    else sendEmpty(response, error.status ?? 500);
  });
  return app;
}
