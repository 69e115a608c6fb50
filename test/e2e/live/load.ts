/** Requests at a steady rate, each with an answer that is known: who loses one or answers it wrongly is caught. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.js";
import { configMap } from "./policies.js";

const RATE = 20;

/** A request without a decision: no answer came, or not in time. */
export interface Lost {
  readonly said: string;
  /** When it was under way, in milliseconds of the clock. */
  readonly began: number;
  readonly ended: number;
}

/** What came of it. */
export interface LoadResult {
  readonly sent: number;
  readonly lost: readonly Lost[];
  /** Allowed what is denied, or the reverse. */
  readonly wrong: readonly string[];
  readonly slowestMs: number;
}

/**
 * Creates ConfigMaps (dry run) until it is stopped, every second one with a key that the policy denies.
 * @returns stops, and tells
 */
export function loadOn(api: Api, namespace: string, key: string): () => Promise<LoadResult> {
  const [lost, wrong]: [Lost[], string[]] = [[], []];
  const underWay = new Set<Promise<void>>();
  let sent = 0;
  let slowestMs = 0;
  let stopped = false;
  const one = async (index: number): Promise<void> => {
    const denied = index % 2 === 1;
    const begin = Date.now();
    const body = configMap(`load-${index}`, denied ? key : "harmless");
    const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
    try {
      const { code, message } = await api.ask({ method: "POST", path, body });
      if (message.includes("failed calling webhook") || code >= 500)
        lost.push(without(`${index}: ${code} ${message}`, begin));
      else if ((code !== 201) !== denied) wrong.push(`${index}: ${code} ${message}`);
    } catch (error) {
      lost.push(without(`${index}: ${String(error)}`, begin));
    }
    slowestMs = Math.max(slowestMs, Date.now() - begin);
  };
  const begin = Date.now();
  const running = (async () => {
    while (!stopped) {
      for (; sent < ((Date.now() - begin) / 1_000) * RATE; sent++) {
        const asked = one(sent).finally(() => underWay.delete(asked));
        underWay.add(asked);
      }
      await sleep(1_000 / RATE);
    }
    await Promise.all(underWay);
  })();
  return async () => {
    stopped = true;
    await running;
    return { sent, lost, wrong, slowestMs };
  };
}

const without = (said: string, began: number): Lost => ({ said, began, ended: Date.now() });
