/** What the API port has behind the hot routes, and what it is called. */
import type { Evaluator } from "../policy/served/evaluator.js";
import type { ShadowRows } from "../policy/served/shadow/tally.js";
import type { Webhook } from "../policy/webhook.js";
import type { MetricsText } from "../telemetry/metrics.js";
import type { AddedRoutes } from "./added-routes.js";
import { apiRoutes, appPaths, type LoadedRoutes, type PortRoutes } from "./plain-routes.js";
import { isReviewPath } from "./routes.js";
import { suggestions } from "./suggestions.js";

/** What is answered, as a document. */
export const OPENAPI_PATH = "/openapi.json";

/** What the routes need. */
export interface ApiPortOptions {
  readonly evaluator: Evaluator;
  readonly profiles: boolean;
  readonly webhooks: readonly Webhook[];
  readonly shadows: () => Promise<ShadowRows>;
  readonly metricsText: () => Promise<MetricsText>;
  /** Routes of other rooms; default none. */
  readonly added?: readonly AddedRoutes[];
}

/** All that is answered behind the hot routes. */
export function apiPort(options: ApiPortOptions): PortRoutes {
  const { evaluator, profiles, webhooks, shadows, metricsText, added = [] } = options;
  const plain = apiRoutes(metricsText);
  const app: LoadedRoutes = {
    paths: appPaths(profiles),
    load: async () => (await import("./app.js")).createApp({ evaluator, profiles, shadows }),
  };
  const openApi: LoadedRoutes = {
    paths: [OPENAPI_PATH],
    load: async () => (await import("./openapi.js")).openApiRoute({ paths: paths.slice(), webhooks }),
  };
  const loaded: readonly LoadedRoutes[] = [app, openApi, ...added];
  const paths = [...plain.keys(), ...loaded.flatMap((routes) => [...routes.paths, ...(routes.posted ?? [])])];
  return {
    plain,
    loaded,
    isPosted: (path) => isReviewPath(path) || webhooks.some((webhook) => webhook.path === path),
    suggest: suggestions({ ids: () => evaluator.policies.entries.keys(), paths }),
  };
}
