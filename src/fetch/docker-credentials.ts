/** Registry credentials from Docker's config.json (spec kubewarden.md 1.9). */
import { type ExecFileException, execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { parsePlainJson } from "../data/json.js";
import { FetchError, reasonOf, shownOf } from "./fetch-error.js";
import { isDockerHub } from "./image-reference.js";
import { HELPER_TIMEOUT_MS, MAX_ANSWER_BYTES } from "./limits.js";
import type { Environment } from "./proxies.js";

const UNREADABLE = "cannot read registry credentials";

/** A user of a registry. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** A log-in to a registry. */
export interface Login {
  /** Absent: anonymous. */
  readonly credentials?: Credentials;
  /** Its description for the error of a refusing registry; follows the word `asked`. */
  readonly as: string;
}

/** Finds the log-in of a registry by its host; some depend on the repository. */
export type CredentialStore = (host: string, repository: string) => Promise<Login>;

/** Reads a Secret of the server's namespace. Its errors may have words for answers (`Shown`). */
export type ReadSecret = (name: string) => Promise<Readonly<Record<string, unknown>>>;

/** The used members of config.json; others are ignored. */
interface DockerConfig {
  readonly auths: Readonly<Record<string, unknown>>;
  readonly credHelpers: Readonly<Record<string, unknown>>;
  readonly credsStore: unknown;
}

/**
 * A store that reads config.json at every look-up, so that rotated pull secrets count. A missing file means anonymous, unless the folder was named;
 * an invalid file is an error.
 * @param named a folder that contains config.json; absent: `$DOCKER_CONFIG`, then `$HOME/.docker`
 */
export function dockerCredentials(environment: Environment, named?: string): CredentialStore {
  const folder = named ?? environment.DOCKER_CONFIG ?? join(environment.HOME ?? homedir(), ".docker");
  return async (host) => {
    const config = await readConfig(join(folder, "config.json"), named !== undefined);
    if (config === undefined) return anonymous("there is no config.json");
    const helper = valueFor(config.credHelpers, host);
    if (typeof helper === "string") return askHelper(helper, host, environment);
    const entry = valueFor(config.auths, host);
    if (typeof entry === "object" && entry !== null && Object.keys(entry).length > 0)
      return fromEntry(entry, host, "config.json");
    if (typeof config.credsStore === "string") return askHelper(config.credsStore, host, environment);
    return anonymous(`config.json has no entry for ${host}`);
  };
}

/**
 * A store that looks into pull Secrets, one after another, and asks `others` about hosts that none of them names.
 * @throws FetchError that names a Secret which cannot be read: what a registry does not show may be a signature
 */
export function secretCredentials(
  names: readonly string[],
  read: ReadSecret,
  others: CredentialStore,
): CredentialStore {
  return async (host, repository) => {
    for (const name of names) {
      const text = `${UNREADABLE} of Secret ${name}`;
      const failed = (reason: string, shown = reason, cause?: unknown) =>
        new FetchError(`${text}: ${reason}`, { cause, unanswered: true, shown: `${text}: ${shown}` });
      const secret = await read(name).catch((cause: unknown) => {
        throw failed(reasonOf(cause), shownOf(cause) ?? "it cannot be read", cause);
      });
      const entry = mostSpecific(authsIn(secret, failed), host, repository);
      if (entry !== undefined) return fromEntry(entry, host, `Secret ${name}`);
    }
    return others(host, repository);
  };
}

/** The entries of a pull Secret in either of its forms. */
function authsIn(
  { type, data }: Readonly<Record<string, unknown>>,
  failed: (reason: string) => FetchError,
): Readonly<Record<string, unknown>> {
  const isOld = type === "kubernetes.io/dockercfg";
  if (!isOld && type !== "kubernetes.io/dockerconfigjson")
    throw failed("it is neither of type kubernetes.io/dockerconfigjson nor kubernetes.io/dockercfg");
  const encoded = mapOrEmpty(data)[isOld ? ".dockercfg" : ".dockerconfigjson"];
  try {
    const content = parsePlainJson(Buffer.from(String(encoded), "base64").toString("utf8"));
    return mapOrEmpty(isOld ? content : mapOrEmpty(content).auths);
  } catch {
    // The parser's message may quote the Secret.
    throw failed("it is not JSON");
  }
}

/** The entry with the longest fitting key, as the kubelet chooses: keys may have a path, and `*` and `?` within a part of the host. */
function mostSpecific(auths: Readonly<Record<string, unknown>>, host: string, repository: string): object | undefined {
  const fitting = Object.keys(auths).flatMap((key) => {
    const bare = key
      .replace(/^https?:\/\//, "")
      .replace(/^([^/]*)\/v[12](?=\/|$)/, "$1")
      .replace(/\/+$/, "");
    const [keyHost = "", ...path] = bare.split("/");
    const pattern = keyHost.replace(/[^\w-]/g, (sign) => ({ "*": "[^.:]*", "?": "[^.:]" })[sign] ?? `\\${sign}`);
    const fits = new RegExp(`^${pattern}$`).test(host) || (isDockerHub(host) && isDockerHub(keyHost));
    return fits && repository.startsWith(path.join("/")) ? [{ bare, entry: auths[key] }] : [];
  });
  const [first] = fitting.sort((a, b) => b.bare.length - a.bare.length);
  return typeof first?.entry === "object" && first.entry !== null ? first.entry : undefined;
}

function anonymous(because: string): Login {
  return { as: `anonymously: ${because}` };
}

async function readConfig(path: string, mustExist: boolean): Promise<DockerConfig | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (!mustExist && code === "ENOENT") return undefined;
    const hint = code === "ENOTDIR" ? " (name the folder that contains config.json)" : "";
    throw new FetchError(`${UNREADABLE}: ${reasonOf(cause)}${hint}`, { cause, shown: UNREADABLE });
  }
  try {
    const { auths, credHelpers, credsStore } = parsePlainJson(text) as Record<string, unknown>;
    return { auths: mapOrEmpty(auths), credHelpers: mapOrEmpty(credHelpers), credsStore };
  } catch {
    // The parser's message may quote the file.
    throw new FetchError(`${UNREADABLE}: ${path} is not JSON`, { shown: UNREADABLE });
  }
}

function mapOrEmpty(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The value of a host. Keys may be URLs with a path: only the host counts, and Docker Hub's names count as one. */
function valueFor(map: Readonly<Record<string, unknown>>, host: string): unknown {
  const hub = isDockerHub(host);
  for (const [key, value] of Object.entries(map)) {
    const keyHost = key.replace(/^https?:\/\//, "").split("/")[0]!;
    if (keyHost === host || (hub && isDockerHub(keyHost))) return value;
  }
  return undefined;
}

/** `auth` is base64 of `user:password`. Identity tokens are not supported: such an entry is anonymous. */
function fromEntry(entry: object, host: string, place: string): Login {
  if ("identitytoken" in entry && entry.identitytoken)
    return anonymous(`the entry for ${host} in ${place} is an identity token, which is not supported`);
  const as = `with the credentials of ${place}`;
  if ("auth" in entry && typeof entry.auth === "string" && entry.auth !== "") {
    const text = Buffer.from(entry.auth, "base64").toString("utf8").replace(/\0+$/, "");
    const colon = text.indexOf(":");
    if (colon === -1) throw new FetchError(`registry credentials of ${host}: auth is not base64 of user:password`);
    return { credentials: { username: text.slice(0, colon), password: text.slice(colon + 1) }, as };
  }
  if ("username" in entry && "password" in entry) {
    return { credentials: { username: String(entry.username), password: String(entry.password) }, as };
  }
  return anonymous(`the entry for ${host} in ${place} has neither auth nor username and password`);
}

/** Runs `docker-credential-<name>` by Docker's protocol: the host on standard input, JSON on standard output. */
async function askHelper(name: string, host: string, environment: Environment): Promise<Login> {
  if (!/^[\w.-]+$/.test(name)) throw new FetchError(`bad name of a credential helper: ${JSON.stringify(name)}`);
  const server = isDockerHub(host) ? "https://index.docker.io/v1/" : host;
  const { error, stdout } = await runHelper(name, server, environment);
  if (error !== null) {
    // Docker's protocol has no code for it: every helper prints these words, and `docker` itself looks for them.
    if (stdout.includes("credentials not found")) return anonymous(`credential helper ${name} has none for ${host}`);
    const missing = `config.json names credential helper ${name} for ${host}, and no docker-credential-${name} is on the PATH`;
    // Its output may contain the credentials.
    throw new FetchError(
      error.code === "ENOENT" ? missing : `credential helper ${name} failed for ${host}${howEnded(error)}`,
    );
  }
  try {
    const { Username, Secret } = parsePlainJson(stdout) as Record<string, unknown>;
    if (Username === "<token>")
      return anonymous(`credential helper ${name} gives an identity token, which is not supported`);
    const credentials = { username: String(Username), password: String(Secret) };
    return { credentials, as: `with the credentials of helper ${name}` };
  } catch {
    throw new FetchError(`credential helper ${name} gave no JSON for ${host}`);
  }
}

function runHelper(name: string, input: string, environment: Environment) {
  const limits = { timeout: HELPER_TIMEOUT_MS, maxBuffer: MAX_ANSWER_BYTES, env: { ...environment } };
  return new Promise<{ readonly error: ExecFileException | null; readonly stdout: string }>((resolve) => {
    const ended = (error: ExecFileException | null, stdout: string): void => resolve({ error, stdout });
    const child = execFile(`docker-credential-${name}`, ["get"], limits, ended);
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/** The end of a program, without its output. */
function howEnded({ code, signal, killed }: ExecFileException): string {
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return `: it printed more than ${MAX_ANSWER_BYTES} bytes`;
  if (killed === true) return `: it took longer than ${HELPER_TIMEOUT_MS} ms`;
  return `: ${signal ?? (typeof code === "number" ? `exit code ${code}` : code)}`;
}
