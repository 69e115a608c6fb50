/** `scaffold review`: the AdmissionReview that an API server would send about an object, for whoever asks a server by hand. */
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { buildRequest } from "../../admission/build-request.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { stringifyJson } from "../../data/json.js";
import { doubtText, parseDoubtfulYaml, YamlError, yamlText } from "../../data/yaml.js";

/** What there is to say beside the object. */
export interface ReviewOptions {
  readonly operation?: string;
  /** A file with the object's former state. */
  readonly old?: string;
  /** Default: the object's own. */
  readonly namespace?: string;
}

/**
 * Prints it, as one line of JSON.
 * @param file with the object, `-` for standard input
 * @throws UsageError for what is no single object
 */
export async function reviewCommand(
  file: string,
  { old, operation, namespace }: ReviewOptions,
  io: CommandIo,
): Promise<number> {
  const object = await objectIn(file, io);
  const before = old === undefined ? {} : { oldObject: await objectIn(old, io) };
  const request = buildRequest({ object, ...before, operation, namespace });
  io.stdout.write(`${stringifyJson({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request })}\n`);
  return 0;
}

async function objectIn(file: string, io: CommandIo): Promise<unknown> {
  const content = file === "-" ? await buffer(io.stdin) : await readFile(file).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${file}`);
  try {
    const documents = parseDoubtfulYaml(yamlText(content), (doubt) =>
      say(io.stderr, `warning: ${doubtText(doubt, file)}`),
    );
    if (documents.length !== 1)
      throw new UsageError(`${file} holds ${documents.length} documents, expected one object`);
    return documents[0];
  } catch (error) {
    if (error instanceof YamlError) throw new UsageError(doubtText(error, file), { cause: error });
    throw error;
  }
}
