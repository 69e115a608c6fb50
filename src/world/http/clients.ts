/** Connections to servers, by the certificates that are trusted. */
import { createSecureContext } from "node:tls";
import { LRUCache } from "lru-cache";
import type { Agent, Dispatcher } from "undici";
import { guardedLookup, type Resolve } from "./connector.js";
import type { EgressRules } from "./egress-rules.js";
import { ANSWER_MS, CONNECT_MS, MAX_CLIENTS, MAX_CONNECTIONS, MAX_ORIGINS } from "./limits.js";

/** Loads the HTTP client at the first question: processes without questions start without it. */
const loadUndici = () => import("undici");
type Undici = Awaited<ReturnType<typeof loadUndici>>;

interface Client {
  readonly agent: Agent;
  readonly origins: Set<string>;
}

/** Keeps connections; must be closed at the end. */
export class Clients {
  readonly #rules: EgressRules;
  readonly #resolve: Resolve;
  readonly #clients: LRUCache<string, Client>;

  constructor(rules: EgressRules, resolve: Resolve) {
    this.#rules = rules;
    this.#resolve = resolve;
    this.#clients = new LRUCache({
      max: MAX_CLIENTS,
      // Requests under way may finish; an agent that was ended before cannot be closed.
      dispose: ({ agent }) => void agent.close().catch(() => {}),
    });
  }

  /**
   * Sends a request. The connections are looked up and used in one step: in between others could have them closed.
   * @param ca certificates (PEM, as {@link import("./pem.js").trusted} gives them) that alone are trusted; `""`: Node's own
   */
  async request(options: Dispatcher.RequestOptions, ca: string): Promise<Dispatcher.ResponseData> {
    const undici = await loadUndici();
    return this.#agent(undici, String(options.origin), ca).request(options);
  }

  #agent(undici: Undici, origin: string, ca: string): Agent {
    let client = this.#clients.get(ca);
    if (client === undefined || (client.origins.size >= MAX_ORIGINS && !client.origins.has(origin))) {
      client = { agent: this.#open(undici, ca), origins: new Set() };
      this.#clients.set(ca, client);
    }
    client.origins.add(origin);
    return client.agent;
  }

  #open({ Agent }: Undici, ca: string): Agent {
    return new Agent({
      connections: MAX_CONNECTIONS,
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      connect: {
        timeout: CONNECT_MS,
        lookup: guardedLookup(this.#resolve, this.#rules),
        // Once for all connections: reading a hundred certificates takes 20 ms.
        secureContext: createSecureContext({ minVersion: "TLSv1.2", ...(ca !== "" && { ca }) }),
      },
    });
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const agents = [...this.#clients.values()].map(({ agent }) => agent);
    await Promise.all(agents.map((agent) => agent.destroy()));
    this.#clients.clear();
  }
}
