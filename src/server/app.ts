/** Every route but the hot and the plain ones, on Express: what is served, profiles, and the empty 404 and 405 of spec kubewarden.md 3.1. */
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import type { Evaluator } from "../evaluation/evaluator.js";
import { addProfiles } from "./profiles.js";
import { sendEmpty } from "./respond.js";

/** What the API port's app shows. */
export interface AppOptions {
  readonly evaluator: Evaluator;
  /** Paths that are answered before Express when asked by GET. */
  readonly plainPaths: readonly string[];
  /** Whether profiles may be taken. */
  readonly profiles: boolean;
  /** Paths of webhooks, which are answered before Express. */
  readonly webhookPaths: readonly string[];
}

/** The app behind the hot routes on the API port. */
export function createApp({ evaluator, plainPaths, profiles, webhookPaths }: AppOptions): Express {
  const app = bareApp();
  app.get("/policies", (_request, response) => {
    response.json(listPolicies(evaluator));
  });
  refuseOthers(app, ["/policies", ...plainPaths]);
  if (profiles) addProfiles(app);
  for (const path of ["/validate/:id", "/audit/:id", "/validate_raw/:id"]) {
    // POST is answered before Express; here are the others, and the form with the member in a segment of its own.
    app.all([path, `${path}/:member`], (_request, response) => refuseMethod(response, "POST"));
  }
  for (const path of webhookPaths) app.all(path, (_request, response) => refuseMethod(response, "POST"));
  return withFallbacks(app);
}

/** The app behind the plain routes on the readiness port. */
export function createProbeApp(plainPaths: readonly string[]): Express {
  const app = bareApp();
  refuseOthers(app, plainPaths);
  return withFallbacks(app);
}

/** The answer to `GET /policies`; `error` says why a policy is unavailable. */
function listPolicies({ policies }: Evaluator): object {
  const rows = Array.from(policies.entries.values(), ({ id, policy, mode, allowedToMutate, unavailable }) => {
    const { kind, implementation, start } = policy;
    const available = unavailable === undefined;
    const started = start && { start: start.start, ...(start.because !== undefined && { startReason: start.because }) };
    const problem = !available && { error: unavailable };
    return { id, kind, implementation, mode, allowedToMutate, available, ...started, ...problem };
  });
  return { generation: policies.generation, policies: rows };
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

/** 405 for whatever is not GET or HEAD. */
function refuseOthers(app: Express, paths: readonly string[]): void {
  for (const path of paths) app.all(path, (_request, response) => refuseMethod(response, "GET, HEAD"));
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
