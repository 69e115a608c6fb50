/**
 * The routes behind the hot ones: probes and metrics, which machines request again and again, and the 404 and 405 of spec kubewarden.md 3.1, all on
 * node:http. Express is loaded by the first request for one of its routes: its 65 packages take a tenth of a second of the main thread and 6 MiB.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Registry } from "prom-client";
import { loadedOnce } from "../data/loaded-once.js";
import { VERSION } from "../data/version.js";
import type { MetricsText } from "../telemetry/metrics.js";
import { sendEmpty, sendJson, sendText } from "./respond.js";
import { pathOf } from "./routes.js";
import type { Suggest } from "./suggestions.js";

const PROMETHEUS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Answers GET and HEAD of one path. */
export type PlainRoute = (response: ServerResponse) => void | Promise<void>;

/** Routes by path. */
export type PlainRoutes = ReadonlyMap<string, PlainRoute>;

/** The routes of an app, whose code is loaded at the first request. */
export interface LoadedRoutes {
  /** Paths that it answers by GET and HEAD. */
  readonly paths: readonly string[];
  /** Paths that it answers by POST; default none. */
  readonly posted?: readonly string[];
  /** Imports and makes the app; called again when it has failed. */
  readonly load: () => Promise<RequestListener>;
}

/** The routes of a port behind the hot ones. */
export interface PortRoutes {
  readonly plain: PlainRoutes;
  /** Apps with their paths; no path has two. */
  readonly loaded?: readonly LoadedRoutes[];
  /** Whether a path is answered by POST elsewhere; default no. */
  readonly isPosted?: (path: string) => boolean;
  /** The texts of 404 and 405 for people; default none. */
  readonly suggest?: Suggest;
}

/** The sources of the probes. */
export interface ProbeOptions {
  /** True from the moment requests are answered well until the server begins to stop. */
  readonly ready: () => boolean;
  /** Why this server should not get requests yet although it answers; undefined: there is no reason. The default. */
  readonly unready?: () => string | undefined;
  /** Metrics in Prometheus' text format. */
  readonly metricsText: () => Promise<MetricsText>;
}

/** The plain routes on the API port. */
export const apiRoutes = (metricsText: ProbeOptions["metricsText"]): PlainRoutes =>
  new Map<string, PlainRoute>([
    ...metricsRoute(metricsText),
    [
      "/version",
      (response) => sendJson(response, 200, JSON.stringify({ version: VERSION, node: process.versions.node })),
    ],
  ]);

const metricsRoute = (metricsText: ProbeOptions["metricsText"]): readonly [string, PlainRoute][] => [
  ["/metrics", (response) => sendMetrics(metricsText, response)],
];

/** The paths of Express on the API port. */
export const appPaths = (profiles: boolean): readonly string[] =>
  profiles ? ["/policies", "/debug/pprof/cpu", "/debug/pprof/heap"] : ["/policies"];

/** The plain routes on the readiness port: always plain HTTP (spec kubewarden.md 3.1), so metrics are here too for scrapers without a client certificate. */
export const probeRoutes = ({ ready, unready, metricsText }: ProbeOptions): PlainRoutes =>
  new Map<string, PlainRoute>([
    ["/readiness", (response) => sendReadiness(response, ready(), unready?.())],
    ["/liveness", (response) => sendEmpty(response, 200)],
    ...metricsRoute(metricsText),
  ]);

/** Answers the plain routes, passes those of apps to them, and refuses all others. */
export function plainOr({ plain, loaded = [], isPosted, suggest }: PortRoutes): RequestListener {
  const apps = loaded.map(({ paths, posted = [], load }) => ({ paths, posted, app: loadedOnce(load) }));
  const read = new Map(apps.flatMap(({ paths, app }) => paths.map((path) => [path, app])));
  const posted = new Map(apps.flatMap((each) => each.posted.map((path) => [path, each.app])));
  const refuse = (request: IncomingMessage, response: ServerResponse, path: string, allowed?: string): void => {
    if (allowed !== undefined) response.setHeader("Allow", allowed);
    const status = allowed === undefined ? 404 : 405;
    const text = suggest?.(request.method ?? "", path, allowed) ?? "";
    if (text !== "") response.setHeader("X-Content-Type-Options", "nosniff");
    if (text === "") sendEmpty(response, status);
    else sendText(response, status, text);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = "" } = request;
    const reads = method === "GET" || method === "HEAD";
    const route = reads ? plain.get(pathOf(url)) : undefined;
    if (route !== undefined) return route(response);
    // Clients do not send a fragment, but if one does it is not part of the path.
    const [path = ""] = pathOf(url).split("#", 1);
    const app = reads ? read.get(path) : method === "POST" ? posted.get(path) : undefined;
    if (app !== undefined) (await app())(request, response);
    else if (plain.has(path) || read.has(path)) refuse(request, response, path, "GET, HEAD");
    else if (posted.has(path)) refuse(request, response, path, "POST");
    else if (!isPosted?.(path)) refuse(request, response, path);
    else if (isEncoded(path)) refuse(request, response, path, "POST");
    else sendEmpty(response, 400);
  };
  return (request, response) => {
    answer(request, response).catch(() => {
      // Code that can't be loaded, for lack of file descriptors perhaps: a request without an answer would be worse than an empty one.
      if (response.headersSent) response.destroy();
      else sendEmpty(response, 500);
    });
  };
}

/** The handler of the readiness port. */
export const probeHandler = (options: ProbeOptions): RequestListener => plainOr({ plain: probeRoutes(options) });

/** Whether the escapes in a path are valid UTF-8. */
function isEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function sendReadiness(response: ServerResponse, ready: boolean, unready: string | undefined): void {
  if (ready && unready !== undefined) sendText(response, 503, `${unready}\n`);
  else sendEmpty(response, ready ? 200 : 503);
}

/** Sends all metrics or a 503: a reader of a part could not know that it is incomplete. */
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
  // Part after part as the client takes them. A client that goes away needs no answer.
  await pipeline(Readable.from(bodies), response).catch(() => {});
}
