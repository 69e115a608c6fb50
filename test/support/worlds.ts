/** Worlds for tests. */
import { NO_OPINION } from "../../src/world/authorizer/authorizer.js";
import { RequestWorld } from "../../src/world/request-world.js";
import type { ResourceSource } from "../../src/world/resources/resource-source.js";

/** What one request sees of these resources. */
export const requestWorldOver = (resources: ResourceSource): RequestWorld =>
  new RequestWorld({ resources, authorizer: NO_OPINION, now: () => performance.now() });
