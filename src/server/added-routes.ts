/** Routes that another room adds to the API port: the page in the browser. This room knows only this interface of them. */
import type { LoadedRoutes } from "./plain-routes.js";

/** The export of that room, in a file that is light to import: the rest is loaded by `load`, at the first request. */
export type AddedRoutes = LoadedRoutes & {
  /** Paths that are answered by POST. */
  readonly posted: readonly string[];
};
