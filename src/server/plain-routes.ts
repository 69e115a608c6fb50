/**
 * Routes that machines ask again and again, probes and metrics, on node:http; all others are Express', which is loaded by the first request for one of them:
 * its 65 packages take a tenth of a second and 6 MiB.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Registry } from "prom-client";
import type { MetricsText } from "../telemetry/metrics.js";
import { sendEmpty } from "./respond.js";
import { pathOf } from "./routes.js";

const PROMETHEUS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Answers GET and HEAD of one path; other methods are Express' business. */
export type PlainRoute = (response: ServerResponse) => void | Promise<void>;

/** Routes by path. */
export type PlainRoutes = ReadonlyMap<string, PlainRoute>;

/** What the probes ask about. */
export interface ProbeOptions {
  /** True from the moment requests are answered well until the server begins to stop. */
  readonly ready: () => boolean;
  /** Metrics in Prometheus' text format. */
  readonly metricsText: () => Promise<MetricsText>;
}

/** What is plain on the API port. */
export const apiRoutes = (metricsText: ProbeOptions["metricsText"]): PlainRoutes =>
  new Map([["/metrics", (response: ServerResponse) => sendMetrics(metricsText, response)]]);

/** What is plain on the readiness port: always plain HTTP (spec kubewarden.md 3.1), so metrics are here too for scrapers without a client certificate. */
export const probeRoutes = ({ ready, metricsText }: ProbeOptions): PlainRoutes =>
  new Map<string, PlainRoute>([
    ["/readiness", (response) => sendEmpty(response, ready() ? 200 : 503)],
    ["/liveness", (response) => sendEmpty(response, 200)],
    ...apiRoutes(metricsText),
  ]);

/**
 * Answers the plain routes, and has all other requests answered by an app.
 * @param load imports and makes the app; called for the first request that needs it
 */
export function plainOr(routes: PlainRoutes, load: () => Promise<RequestListener>): RequestListener {
  let app: Promise<RequestListener> | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = "" } = request;
    const route = method === "GET" || method === "HEAD" ? routes.get(pathOf(url)) : undefined;
    if (route !== undefined) return route(response);
    app ??= load();
    (await app)(request, response);
  };
  return (request, response) => {
    answer(request, response).catch(() => {
      // Neither by contract nor likely: but a request without an answer would be worse than an empty one.
      if (response.headersSent) response.destroy();
      else sendEmpty(response, 500);
    });
  };
}

/** The handler of the readiness port. */
export function probeHandler(options: ProbeOptions): RequestListener {
  const routes = probeRoutes(options);
  return plainOr(routes, async () => (await import("./app.js")).createProbeApp([...routes.keys()]));
}

/** All of them or a 503: whoever reads a part can't know that it is one. */
async function sendMetrics(metricsText: ProbeOptions["metricsText"], response: ServerResponse): Promise<void> {
  const text = await metricsText();
  if ("unavailable" in text) {
    const body = Buffer.from(`${text.unavailable}\n`);
    response.writeHead(503, { "Content-Type": "text/plain; charset=utf-8", "Content-Length": body.length });
    response.end(body);
    return;
  }
  const bodies = text.parts.map((part) => Buffer.from(part));
  const length = bodies.reduce((sum, body) => sum + body.length, 0);
  response.writeHead(200, { "Content-Type": PROMETHEUS_TYPE, "Content-Length": length });
  // Part after part as the client takes them. One that goes away needs no answer.
  await pipeline(Readable.from(bodies), response).catch(() => {});
}
