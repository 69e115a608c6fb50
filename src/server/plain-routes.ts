/**
 * What is answered behind the hot routes: probes and metrics, which machines ask again and again, and the empty 404 and 405 of spec kubewarden.md 3.1, all on
 * node:http. Express is loaded by the first request that it really answers: its 65 packages take a tenth of a second of the main thread and 6 MiB.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Registry } from "prom-client";
import { loadedOnce } from "../data/loaded-once.js";
import type { MetricsText } from "../telemetry/metrics.js";
import { sendEmpty, sendText } from "./respond.js";
import { pathOf } from "./routes.js";

const PROMETHEUS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Answers GET and HEAD of one path. */
export type PlainRoute = (response: ServerResponse) => void | Promise<void>;

/** Routes by path. */
export type PlainRoutes = ReadonlyMap<string, PlainRoute>;

/** What an app answers, whose code is loaded when it is asked. */
export interface LoadedRoutes {
  /** What it answers by GET and HEAD. */
  readonly paths: readonly string[];
  /** Imports and makes the app; called again when it has failed. */
  readonly load: () => Promise<RequestListener>;
}

/** What a port has behind the hot routes. */
export interface PortRoutes {
  readonly plain: PlainRoutes;
  readonly loaded?: LoadedRoutes;
  /** Whether a path is asked by POST, which is answered before; default none is. */
  readonly isPosted?: (path: string) => boolean;
}

/** What the probes ask about. */
export interface ProbeOptions {
  /** True from the moment requests are answered well until the server begins to stop. */
  readonly ready: () => boolean;
  /** Why nobody should be sent here yet although requests are answered; undefined: nothing is in the way. Default that. */
  readonly unready?: () => string | undefined;
  /** Metrics in Prometheus' text format. */
  readonly metricsText: () => Promise<MetricsText>;
}

/** What is plain on the API port. */
export const apiRoutes = (metricsText: ProbeOptions["metricsText"]): PlainRoutes =>
  new Map([["/metrics", (response: ServerResponse) => sendMetrics(metricsText, response)]]);

/** What Express answers on the API port. */
export const appPaths = (profiles: boolean): readonly string[] =>
  profiles ? ["/policies", "/debug/pprof/cpu", "/debug/pprof/heap"] : ["/policies"];

/** What is plain on the readiness port: always plain HTTP (spec kubewarden.md 3.1), so metrics are here too for scrapers without a client certificate. */
export const probeRoutes = ({ ready, unready, metricsText }: ProbeOptions): PlainRoutes =>
  new Map<string, PlainRoute>([
    ["/readiness", (response) => sendReadiness(response, ready(), unready?.())],
    ["/liveness", (response) => sendEmpty(response, 200)],
    ...apiRoutes(metricsText),
  ]);

/** Answers the plain routes, has an app answer its own, and refuses all others. */
export function plainOr({ plain, loaded, isPosted }: PortRoutes): RequestListener {
  const asked = new Set([...plain.keys(), ...(loaded?.paths ?? [])]);
  const app = loaded && loadedOnce(loaded.load);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = "" } = request;
    const read = method === "GET" || method === "HEAD";
    const route = read ? plain.get(pathOf(url)) : undefined;
    if (route !== undefined) return route(response);
    // No client sends a fragment, but where one does it is not part of the path.
    const [path = ""] = pathOf(url).split("#", 1);
    if (app && read && loaded.paths.includes(path)) (await app())(request, response);
    else if (asked.has(path)) refuseMethod(response, "GET, HEAD");
    else if (!isPosted?.(path)) sendEmpty(response, 404);
    else if (isEncoded(path)) refuseMethod(response, "POST");
    else sendEmpty(response, 400);
  };
  return (request, response) => {
    answer(request, response).catch(() => {
      // Code that can't be loaded, for want of file descriptors perhaps: a request without an answer would be worse than an empty one.
      if (response.headersSent) response.destroy();
      else sendEmpty(response, 500);
    });
  };
}

/** The handler of the readiness port. */
export const probeHandler = (options: ProbeOptions): RequestListener => plainOr({ plain: probeRoutes(options) });

function refuseMethod(response: ServerResponse, allowed: string): void {
  response.setHeader("Allow", allowed);
  sendEmpty(response, 405);
}

/** Whether the escapes in a path make UTF-8. */
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
