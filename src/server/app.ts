/** The routes that are on Express, which only GET and HEAD of their paths load: what is served, and profiles. */
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import type { Evaluator } from "../policy/served/evaluator.js";
import type { ShadowRows } from "../policy/served/shadow/tally.js";
import { addProfiles } from "./profiles.js";
import { sendEmpty } from "./respond.js";
import { shownPolicy } from "./shown-policies.js";

/** What the API port's app shows. */
export interface AppOptions {
  readonly evaluator: Evaluator;
  /** Whether profiles may be taken. */
  readonly profiles: boolean;
  /** What all processes have counted of versions in shadow. */
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
