/** The page's routes, light to import: their handler is loaded at the first request. */
import type { AddedRoutes } from "../server/added-routes.js";
import type { PageOptions } from "./options.js";
import { CHECK_PATH, EVALUATE_PATH, PAGE_FILES, STATE_PATH } from "./paths.js";

/** The page for a server. */
export function pageRoutes(options: PageOptions): AddedRoutes {
  return {
    paths: [...PAGE_FILES.keys(), STATE_PATH],
    posted: [CHECK_PATH, EVALUATE_PATH],
    load: async () => (await import("./handler.js")).pageHandler(options),
  };
}
