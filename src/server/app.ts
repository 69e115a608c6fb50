/** The routes that are on Express, which only GET and HEAD of their paths load: what is served, and profiles. */
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import type { Evaluator } from "../evaluation/evaluator.js";
import { addProfiles } from "./profiles.js";
import { sendEmpty } from "./respond.js";

/** What the API port's app shows. */
export interface AppOptions {
  readonly evaluator: Evaluator;
  /** Whether profiles may be taken. */
  readonly profiles: boolean;
}

/** The app behind the hot and the plain routes on the API port. */
export function createApp({ evaluator, profiles }: AppOptions): Express {
  const app = bareApp();
  app.get("/policies", (_request, response) => {
    response.json(listPolicies(evaluator));
  });
  if (profiles) addProfiles(app);
  return withFallbacks(app);
}

/** The answer to `GET /policies`; `error` says why a policy is unavailable. */
function listPolicies({ policies }: Evaluator): object {
  const rows = Array.from(policies.entries.values(), (entry) => {
    const { id, policy, mode, allowedToMutate, unavailable, outdated } = entry;
    const { kind, implementation, start } = policy;
    const available = unavailable === undefined;
    const started = start && { start: start.start, ...(start.because !== undefined && { startReason: start.because }) };
    const problem = !available && { error: unavailable };
    const older = outdated !== undefined && { outdated };
    return { id, kind, implementation, mode, allowedToMutate, available, ...started, ...problem, ...older };
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

function withFallbacks(app: Express): Express {
  app.use((_request: Request, response: Response) => sendEmpty(response, 404));
  app.use((error: { status?: number }, _request: Request, response: Response, next: NextFunction) => {
    // What is already under way can only be cut.
    if (response.headersSent) next(error);
    else sendEmpty(response, error.status ?? 500);
  });
  return app;
}
