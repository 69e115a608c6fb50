/** The policies of webhooks' paths, as far as this process has known them: also of webhooks that are no longer wanted, and may still stand in the cluster. */
import type { DerivedWebhook } from "./derived-webhook.js";

/** Most former paths that are kept: those of hundreds of changes that no leader has followed yet. */
const MOST_FORMER = 1_000;

/** Policies by path. */
export class KnownPaths {
  readonly #members = new Map<string, readonly string[]>();

  /** Keeps the paths that replicas were asked to answer, newest last: webhooks that are no longer wanted may exist as long as there is no leader. */
  remember(webhooks: readonly Pick<DerivedWebhook, "path" | "members">[]): void {
    for (const { path, members } of webhooks) {
      this.#members.delete(path);
      this.#members.set(path, members);
    }
    const most = webhooks.length + MOST_FORMER;
    for (const path of this.#members.keys()) {
      if (this.#members.size <= most) return;
      this.#members.delete(path);
    }
  }

  has(path: string): boolean {
    return this.#members.has(path);
  }

  /** The policies of a path. The path of a single policy contains its id. */
  membersOf(path: string): readonly string[] | undefined {
    const [, id] = /^\/validate\/([^/]+)$/.exec(path) ?? [];
    return this.#members.get(path) ?? (id === undefined ? undefined : [decodeURIComponent(id)]);
  }

  /** Drops all other paths. */
  keepOnly(webhooks: readonly { readonly path: string }[]): void {
    const paths = new Set(webhooks.map(({ path }) => path));
    for (const path of this.#members.keys()) if (!paths.has(path)) this.#members.delete(path);
  }
}
