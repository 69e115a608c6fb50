/** Runs over resources: evaluated here or in threads, in order, without duplicates. */

import { once } from "node:events";
import { availableParallelism } from "node:os";
import { type CommandIo, say } from "../../data/command-io.js";
import { mistakenKind } from "../../kubernetes/builtin-kinds.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { NO_COUNTS, sum } from "../../offline/reports/counts.js";
import type { Counts, Place, Scanned } from "../../offline/reports/finding.js";
import { notes } from "../../offline/reports/plain-text.js";
import type { ClusterListing } from "../../offline/scan/cluster-listing.js";
import { Duplicates, identityOf, otherContents } from "../../offline/scan/duplicates.js";
import { inOrder } from "../../offline/scan/in-order.js";
import type { InputFile } from "../../offline/scan/input-files.js";
import type { OpenedScan } from "../../offline/scan/open-scan.js";
import { ScanError } from "../../offline/scan/scan-error.js";
import type { ScanPlan } from "../../offline/scan/scan-plan.js";
import { batchesOf, type Survey } from "../../offline/scan/survey.js";
import type { ThreadData } from "../../offline/scan/thread.js";
import { type ScanBatch, ScanThreads } from "../../offline/scan/threads.js";
import { isTerminal } from "../look/paint.js";
import type { ChangedResources } from "./changed-resources.js";
import type { Output } from "./output.js";
import { Progress } from "./progress.js";

/** Bytes of resources from which threads are worth their start: half a second of a processor each. */
export const THREADS_FROM_BYTES = 48 * 1024 * 1024;
/** Most threads: each compiles all policies for itself. */
const MAX_THREADS = 8;
/** Resources in memory that are evaluated at a time. */
const HELD_AT_A_TIME = 200;

/** Options of a run. */
export interface RunOptions {
  readonly opened: OpenedScan;
  readonly output: Output;
  /** Receives changed resources; absent: they are only shown. */
  readonly changed?: ChangedResources | undefined;
  readonly io: CommandIo;
  readonly plan: ScanPlan;
  readonly settings: LoaderSettings;
  readonly total: number;
  /** Whether progress may be shown on a terminal. */
  readonly progress: boolean;
  /** Bytes of files from which threads are used. */
  readonly threadsFrom: number;
}

/** An input that can't be used, with its place where that is known. */
export interface PlacedMistake {
  readonly text: string;
  readonly place: Place | undefined;
}

/** The place that a message begins with, or the first of the files that it names. */
export function placeIn(message: string, files: readonly string[]): Place | undefined {
  const [, file, line] = /^(.+?):(\d+):\d+: /.exec(message) ?? [];
  if (file !== undefined) return { file, line: Number(line) };
  const named = files.find((name) => message.includes(name));
  return named === undefined ? undefined : { file: named, line: 1 };
}

/** One run of a command. */
export class Run {
  readonly #options: RunOptions;
  readonly #duplicates = new Duplicates();
  readonly #progress: Progress | undefined;
  /** Identities of resources that came again. */
  readonly #repeated = new Set<string>();
  /** Mistakes in kinds, by kind. */
  readonly #kinds = new Map<string, PlacedMistake | undefined>();
  #done = 0;
  #counts: Counts = NO_COUNTS;

  constructor(options: RunOptions) {
    this.#options = options;
    const { stderr } = options.io;
    const shown = options.progress && isTerminal(stderr);
    this.#progress = shown ? new Progress(stderr, options.total, () => performance.now()) : undefined;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** Prints a text at the reader's pace. */
  async print(text: string): Promise<void> {
    if (text === "") return;
    this.#progress?.clear();
    const { stdout } = this.#options.io;
    if (!stdout.write(text)) await once(stdout, "drain");
  }

  /**
   * Evaluates all resources.
   * @throws ScanError when they have changed since the survey: skipped ones must not count as passed
   */
  async resources(files: readonly InputFile[], { held, resources }: Survey): Promise<void> {
    const before = this.#done;
    await this.#judge(files, held);
    const judged = this.#done - before;
    if (judged !== resources) {
      throw new ScanError(`${judged} resources were judged of ${resources} that were counted: a file has changed`);
    }
  }

  async #judge(files: readonly InputFile[], held: Survey["held"]): Promise<void> {
    const { threadsFrom, opened } = this.#options;
    const { scanner, listing } = opened;
    if (held !== undefined) {
      for (let from = 0; from < held.length; from += HELD_AT_A_TIME) {
        await this.take(await scanner.scanAll(held.slice(from, from + HELD_AT_A_TIME)), "files");
      }
      return;
    }
    const bytes = files.reduce((all, file) => all + file.bytes, 0);
    // A cluster is read by one client only.
    if (bytes < threadsFrom || listing !== undefined || availableParallelism() === 1) {
      for await (const batch of batchesOf(files)) await this.take(await scanner.scanBatch(batch), "files");
    } else await this.#inThreads(files);
  }

  /** Evaluates the resources of a cluster. */
  async listed(listing: ClusterListing): Promise<void> {
    const { scanner } = this.#options.opened;
    // The kinds of a cluster exist, also those that are newer than this program.
    for await (const page of listing.pages()) await this.take(await scanner.scanAll(page), "cluster");
  }

  async #inThreads(files: readonly InputFile[]): Promise<void> {
    const { plan, settings, opened } = this.#options;
    const data: ThreadData = { plan, settings };
    // This thread evaluates as well, when the others have enough to do.
    const count = Math.min(availableParallelism() - 1, MAX_THREADS);
    const own: ScanBatch = (batch) => opened.scanner.scanBatch(batch);
    const threads = new ScanThreads(count, new URL("../../offline/scan/thread.js", import.meta.url), data, own);
    try {
      const results = inOrder(batchesOf(files), (batch) => threads.scan(batch) ?? own(batch), threads.ahead);
      for await (const scanned of results) await this.take(scanned, "files");
    } finally {
      await threads.close();
    }
  }

  /**
   * Takes results.
   * @param from where resources are from, of which only the first one of duplicates counts
   */
  async take(scanned: readonly Scanned[], from?: "files" | "cluster"): Promise<void> {
    const { output, opened, changed } = this.#options;
    let text = "";
    for (const each of scanned) {
      if (from !== undefined && this.#duplicates.seen(each.resource)) {
        this.#progress?.clear();
        const { kind, name, namespace } = each.resource;
        say(this.#options.io.stderr, `warning: found duplicated resource ${kind} ${name} ${namespace}`);
        this.#repeated.add(identityOf(each.resource));
        continue;
      }
      if (from === "files") this.#look(each);
      this.#counts = sum(this.#counts, each.counts);
      text += output.add(each, opened.scanner.policies);
      await changed?.add(each);
      // Reports have them as entries.
      for (const line of output.headline ? notes(each, opened.scanner.policies) : []) {
        this.#progress?.clear();
        say(this.#options.io.stderr, line);
      }
    }
    this.#done += scanned.length;
    this.#progress?.at(this.#done);
    await this.print(text);
  }

  #look({ resource: { apiVersion, kind, namespace, name }, place }: Scanned): void {
    const key = `${apiVersion} ${kind}`;
    if (this.#kinds.has(key)) return;
    const mistake = mistakenKind(apiVersion, kind);
    const text = `${kind} ${[namespace, name].filter(Boolean).join("/")}: ${mistake}`;
    this.#kinds.set(key, mistake === undefined ? undefined : { text, place });
  }

  /** Resources that were not judged as they are meant: kinds that no cluster has, and resources that come twice with other contents. */
  async mistakes(files: readonly InputFile[]): Promise<readonly PlacedMistake[]> {
    const kinds = [...this.#kinds.values()].filter((mistake) => mistake !== undefined);
    const twice = await otherContents(batchesOf(files), this.#repeated, this.#options.plan.definitions);
    const names = files.map(({ name }) => name);
    return [...kinds, ...twice.map((text) => ({ text, place: placeIn(text, names) }))];
  }

  /** Prints the end of the output. */
  async end(): Promise<void> {
    this.#progress?.clear();
    await this.print(await this.#options.output.end(this.#counts, this.#options.opened.scanner.policies));
  }
}
