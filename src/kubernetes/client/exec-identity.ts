/** Identities from credential plugins that a kubeconfig names (`exec`), as kubectl runs them. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { parseJson } from "../../data/json.js";
import { type JsonObject, member, text } from "../object.js";
import type { Identity } from "./connection.js";
import { ClusterConfigError, reasonOf } from "./errors.js";
import type { FileIdentity } from "./identity-files.js";
import { EXPIRY_MARGIN_MS, PLUGIN_MAX_BYTES, PLUGIN_MS } from "./limits.js";

/** What a plugin said. */
interface Credential {
  readonly identity: Identity;
  /** Wall-clock milliseconds; infinite when it did not say. */
  readonly expires: number;
}

/** Runs the plugin when there is no credential, or it ends, or the server has refused it. */
export class ExecIdentity {
  readonly #exec: JsonObject;
  readonly #folder: string;
  readonly #base: FileIdentity;

  #credential: Promise<Credential> | undefined;

  /**
   * @param exec the `exec` of a kubeconfig's user
   * @param folder against which a relative command is resolved
   * @param base what the plugin's answer is added to
   */
  constructor(exec: JsonObject, folder: string, base: FileIdentity) {
    this.#exec = exec;
    this.#folder = folder;
    this.#base = base;
  }

  async identity(): Promise<Identity> {
    const [base, { identity }] = await Promise.all([this.#base.identity(), this.#current()]);
    return { ...base, ...identity };
  }

  refused(): void {
    this.#credential = undefined;
    this.#base.refused();
  }

  async #current(): Promise<Credential> {
    const kept = this.#credential;
    if (kept !== undefined && (await kept).expires - EXPIRY_MARGIN_MS > Date.now()) return kept;
    // Whoever finds the old one first runs the plugin; the others wait for it.
    if (this.#credential === kept) {
      const running = this.#run();
      this.#credential = running;
      running.catch(() => {
        if (this.#credential === running) this.#credential = undefined;
      });
    }
    return this.#credential ?? this.#current();
  }

  async #run(): Promise<Credential> {
    const { command, args, env, apiVersion } = this.#parts();
    const info = { apiVersion, kind: "ExecCredential", spec: { interactive: false } };
    const output = await new Promise<string>((done, failed) => {
      execFile(
        command,
        args,
        {
          env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
          timeout: PLUGIN_MS,
          maxBuffer: PLUGIN_MAX_BYTES,
        },
        (error, stdout, stderr) => {
          if (error === null) return done(stdout);
          const said = stderr.trim().split("\n").at(-1) ?? "";
          const hint = text(this.#exec, "installHint");
          const details = [reasonOf(error).split("\n")[0], said, hint].filter((part) => part !== "").join("; ");
          failed(new ClusterConfigError(`the credential plugin ${command} failed: ${details}`, { cause: error }));
        },
      );
    });
    return credentialOf(output, command);
  }

  #parts() {
    const written = text(this.#exec, "command");
    const command = written.includes("/") ? resolve(this.#folder, written) : written;
    const args = member(this.#exec, "args");
    const pairs = member(this.#exec, "env");
    return {
      command,
      apiVersion: text(this.#exec, "apiVersion"),
      args: Array.isArray(args) ? args.map(String) : [],
      env: Object.fromEntries(
        (Array.isArray(pairs) ? pairs : []).map((pair) => [text(pair, "name"), text(pair, "value")]),
      ),
    };
  }
}

function credentialOf(output: string, command: string): Credential {
  let status: unknown;
  try {
    status = member(parseJson(output), "status");
  } catch (cause) {
    throw new ClusterConfigError(`the credential plugin ${command} did not print JSON`, { cause });
  }
  const [token, cert, key] = ["token", "clientCertificateData", "clientKeyData"].map((name) => text(status, name));
  if (!token && !(cert && key)) {
    throw new ClusterConfigError(`the credential plugin ${command} printed neither token nor client certificate`);
  }
  const expires = Date.parse(text(status, "expirationTimestamp"));
  return {
    identity: { ...(token && { authorization: `Bearer ${token}` }), ...(cert && key && { cert, key }) },
    expires: Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires,
  };
}
