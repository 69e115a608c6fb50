/** Identities from credential plugins that a kubeconfig names (`exec`), as kubectl runs them. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { parseJson } from "../../data/json.js";
import { type JsonObject, member, text } from "../object.js";
import type { Identity, IdentitySource } from "./connection.js";
import { ClusterConfigError, reasonOf } from "./errors.js";
import { EXPIRY_MARGIN_MS, PLUGIN_MAX_BYTES, PLUGIN_MS } from "./limits.js";

/** A plugin's answer. */
interface Credential {
  readonly identity: Identity;
  /** Wall-clock milliseconds; infinite when the plugin gives none. */
  readonly expires: number;
}

/**
 * Runs the plugin when there is no credential, or it expires, or the server has refused it.
 * @param exec the `exec` of a kubeconfig's user
 * @param folder the folder of relative commands
 * @param base the identity to which the plugin's answer is added
 */
export function execIdentity(exec: JsonObject, folder: string, base: IdentitySource): IdentitySource {
  let credential: Promise<Credential> | undefined;
  const current = async (): Promise<Credential> => {
    const kept = credential;
    if (kept !== undefined && (await kept).expires - EXPIRY_MARGIN_MS > Date.now()) return kept;
    // The first caller that finds the old one runs the plugin; the others wait for it.
    if (credential === kept) {
      const running = run(exec, folder);
      credential = running;
      running.catch(() => {
        if (credential === running) credential = undefined;
      });
    }
    return credential ?? current();
  };
  return {
    async identity() {
      const [always, { identity }] = await Promise.all([base.identity(), current()]);
      return { ...always, ...identity };
    },
    refused() {
      credential = undefined;
      base.refused();
    },
  };
}

async function run(exec: JsonObject, folder: string): Promise<Credential> {
  const written = text(exec, "command");
  const command = written.includes("/") ? resolve(folder, written) : written;
  const [args, pairs] = [member(exec, "args"), member(exec, "env")];
  const apiVersion = text(exec, "apiVersion");
  const info = { apiVersion, kind: "ExecCredential", spec: { interactive: false } };
  const env = {
    ...process.env,
    ...Object.fromEntries((Array.isArray(pairs) ? pairs : []).map((pair) => [text(pair, "name"), text(pair, "value")])),
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  };
  const limits = { env, timeout: PLUGIN_MS, maxBuffer: PLUGIN_MAX_BYTES };
  const output = await new Promise<string>((done, failed) => {
    execFile(command, Array.isArray(args) ? args.map(String) : [], limits, (error, stdout, stderr) => {
      if (error === null) return done(stdout);
      const said = stderr.trim().split("\n").at(-1) ?? "";
      const hint = text(exec, "installHint");
      const details = [reasonOf(error).split("\n")[0], said, hint].filter((part) => part !== "").join("; ");
      failed(new ClusterConfigError(`the credential plugin ${command} failed: ${details}`, { cause: error }));
    });
  });
  return credentialOf(output, command);
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
