/** The connection to a cluster from kubeconfig files, as kubectl reads them. */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseJson } from "../../data/json.js";
import { readYamlDocument, yamlText } from "../../data/yaml.js";
import { isObject, type JsonObject, member, text } from "../object.js";
import type { Connection, Identity, IdentitySource } from "./connection.js";
import { ClusterConfigError, reasonOf } from "./errors.js";
import { fileIdentity, type IdentityFiles } from "./identity-files.js";
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
function execIdentity(exec: JsonObject, folder: string, base: IdentitySource): IdentitySource {
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

/** An entry with the folder against which its relative paths are resolved. */
interface Entry {
  readonly value: JsonObject;
  readonly folder: string;
}

/**
 * The connection of the current context. Of several files the first that names a thing defines it.
 * @param now monotonic milliseconds
 * @throws ClusterConfigError
 */
export function fromKubeconfig(files: readonly string[], now: () => number): Connection {
  const configs = files.map((file) => ({ value: readConfig(file), folder: dirname(resolve(file)) }));
  const origin = files.join(", ");
  const fail = (what: string): never => {
    throw new ClusterConfigError(`${origin}: ${what}`);
  };
  const current = configs.map(({ value }) => text(value, "current-context")).find((name) => name !== "");
  if (current === undefined) return fail("there is no current-context");
  const find = (list: string, key: string, name: string): Entry => {
    for (const { value, folder } of configs) {
      const found = items(value, list).find((item) => text(item, "name") === name);
      const entry = member(found, key);
      if (found !== undefined) return { value: isObject(entry) ? entry : {}, folder };
    }
    return fail(`there is no ${key} "${name}" in ${list}`);
  };
  const context = find("contexts", "context", current).value;
  const cluster = find("clusters", "cluster", text(context, "cluster"));
  const userName = text(context, "user");
  const user = userName === "" ? { value: {}, folder: cluster.folder } : find("users", "user", userName);

  const address = text(cluster.value, "server");
  if (!URL.canParse(address) || !/^https?:/.test(address))
    return fail(`the server "${address}" is not an HTTP address`);
  if (member(user.value, "auth-provider") !== undefined) {
    return fail(`user "${userName}" has an auth-provider, which kubectl has given up too: use exec`);
  }
  const [serverName, proxy] = [text(cluster.value, "tls-server-name"), text(cluster.value, "proxy-url")];
  return {
    server: new URL(address),
    insecure: member(cluster.value, "insecure-skip-tls-verify") === true,
    headers: impersonation(user.value),
    origin,
    ...(serverName !== "" && { serverName }),
    ...(proxy !== "" && { proxy }),
    ...identityOf(cluster, user, now),
  };
}

function readConfig(file: string): JsonObject {
  try {
    const value = readYamlDocument(yamlText(readFileSync(file)))?.value;
    if (isObject(value)) return value;
  } catch (cause) {
    throw new ClusterConfigError(`cannot use ${file}: ${reasonOf(cause)}`, { cause });
  }
  throw new ClusterConfigError(`${file} is not a kubeconfig`);
}

function items(config: JsonObject, list: string): readonly unknown[] {
  const value = config[list];
  return Array.isArray(value) ? value : [];
}

function identityOf(cluster: Entry, user: Entry, now: () => number): IdentitySource {
  const file = ({ value, folder }: Entry, key: string): string | undefined => {
    const path = text(value, key);
    return path === "" ? undefined : resolve(folder, path);
  };
  const data = ({ value }: Entry, key: string): string | undefined => {
    const encoded = text(value, key);
    return encoded === "" ? undefined : Buffer.from(encoded, "base64").toString("utf8");
  };
  // Data takes precedence over files, and a token file over a token, as in kubectl.
  const [ca, cert, key] = [
    data(cluster, "certificate-authority-data"),
    data(user, "client-certificate-data"),
    data(user, "client-key-data"),
  ];
  const authorization = authorizationOf(user.value);
  const fixed: Identity = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(authorization !== undefined && { authorization }),
  };
  const files: { -readonly [part in keyof IdentityFiles]: IdentityFiles[part] } = {};
  const add = (part: keyof IdentityFiles, given: string | undefined, path: string | undefined): void => {
    if (given === undefined && path !== undefined) files[part] = path;
  };
  add("ca", ca, file(cluster, "certificate-authority"));
  add("cert", cert, file(user, "client-certificate"));
  add("key", key, file(user, "client-key"));
  add("token", undefined, file(user, "tokenFile"));
  const base = fileIdentity(files, fixed, now);
  const exec = member(user.value, "exec");
  return isObject(exec) ? execIdentity(exec, user.folder, base) : base;
}

function authorizationOf(user: JsonObject): string | undefined {
  const token = text(user, "token");
  if (token !== "") return `Bearer ${token}`;
  const name = text(user, "username");
  if (name === "") return undefined;
  return `Basic ${Buffer.from(`${name}:${text(user, "password")}`).toString("base64")}`;
}

function impersonation(user: JsonObject): Record<string, string | readonly string[]> {
  const as = text(user, "as");
  if (as === "") return {};
  const [groups, uid, extra] = [member(user, "as-groups"), text(user, "as-uid"), member(user, "as-user-extra")];
  const headers: Record<string, string | readonly string[]> = { "Impersonate-User": as };
  if (Array.isArray(groups)) headers["Impersonate-Group"] = groups.map(String);
  if (uid !== "") headers["Impersonate-Uid"] = uid;
  for (const [key, values] of Object.entries(isObject(extra) ? extra : {})) {
    if (Array.isArray(values)) headers[`Impersonate-Extra-${encodeURIComponent(key)}`] = values.map(String);
  }
  return headers;
}
