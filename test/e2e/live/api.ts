/** Requests to the API server without kubectl: twenty a second of it would take more than this machine has. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

/** One request. */
export interface Asked {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  /** As JSON, or as it is sent. */
  readonly body?: object | string;
  /** Of PATCH: what kind of patch. */
  readonly type?: string;
  /** Who asks, in the administrator's place. */
  readonly as?: string;
  /** The groups of the one who asks. */
  readonly groups?: readonly string[];
}

/** Its answer. */
export interface Answered {
  readonly code: number;
  /** The Status' message, where it is one. */
  readonly message: string;
  readonly body: unknown;
  readonly warnings: readonly string[];
  /** By which the audit log knows the request. */
  readonly auditId: string;
}

/** Bytes to Status and warnings; keeps connections. */
export class Api {
  readonly #base: URL;
  readonly #token: string;
  readonly #agent: Agent;

  /** @param kubeconfig the administrator's, as up.sh writes it */
  constructor(kubeconfig: string) {
    const text = readFileSync(kubeconfig, "utf8");
    const found = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
    this.#base = new URL(found(/server: "([^"]+)"/));
    this.#token = found(/token: ([^}\s]+)/);
    this.#agent = new Agent({ keepAlive: true, ca: readFileSync(found(/certificate-authority: "([^"]+)"/)) });
  }

  /** Asks. Rejects when no answer comes. */
  ask({ method, path, body, type = "application/json", as, groups }: Asked): Promise<Answered> {
    const headers: Record<string, string | string[]> = { authorization: `Bearer ${this.#token}`, "content-type": type };
    if (as !== undefined) headers["impersonate-user"] = as;
    if (groups !== undefined) headers["impersonate-group"] = [...groups];
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.#base), { method, headers, agent: this.#agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => {
          const parsed = read(text);
          const message = typeof parsed === "object" && parsed !== null && "message" in parsed ? parsed.message : "";
          const { warning: warnings = [], "audit-id": [auditId = ""] = [] } = response.headersDistinct;
          resolve({ code: response.statusCode ?? 0, message: String(message), body: parsed, warnings, auditId });
        });
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(typeof body === "object" ? JSON.stringify(body) : body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
