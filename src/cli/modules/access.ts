/** Access of commands to registries, with messages for failures. */
import { loadSources } from "../../config/sources.js";
import { errorText } from "../../data/error-text.js";
import { FetchError, openRegistries, type RegistryAccess } from "../../fetch/index.js";
import type { LoaderSettings } from "../../loader/settings.js";

/**
 * Runs work with registries, by these settings, and closes the connections.
 * @param address the work's address for messages, without secrets
 * @throws Error with the failure and its remedy
 */
export async function withRegistries<T>(
  settings: LoaderSettings,
  address: string,
  work: (access: RegistryAccess) => Promise<T>,
): Promise<T> {
  const { sourcesFile, dockerConfigDirectory, environment = {} } = settings;
  const access = openRegistries({
    environment,
    ...(sourcesFile !== undefined && { sources: loadSources(sourcesFile) }),
    ...(dockerConfigDirectory !== undefined && { dockerConfigDirectory }),
  });
  try {
    return await withAdvice(address, () => work(access));
  } finally {
    await access.close();
  }
}

/** Runs work; a failure gets the address and a remedy. */
export async function withAdvice<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof FetchError)) throw cause;
    const advice = adviceOn(cause);
    const reason = errorText(cause);
    const name = address.replace(/^registry:\/\//, "");
    throw new Error(`${reason.includes(name) ? "" : `${name}: `}${reason}${advice === "" ? "" : `\n  ${advice}`}`, {
      cause,
    });
  }
}

function adviceOn({ status, message }: FetchError): string {
  if (status === 401 || status === 403) {
    return message.includes("anonymously")
      ? "log in (docker login <registry>), or name the folder of a config.json with --docker-config-json-path"
      : "these credentials may not do that: ask the owner of the repository, or log in as another user";
  }
  if (status === 404)
    return "is the name right, and the tag? Some registries answer so to those who may not know, too: docker login <registry>";
  if (message.includes("sources.yml")) return "name that file with --sources-path; docs/modules.md shows one";
  return "";
}
