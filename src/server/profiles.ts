/** Profiles of the running process over HTTP, in the formats that browsers' developer tools open (spec kubewarden.md 3.1). */
import { Session } from "node:inspector/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Express, Request, Response } from "express";
import { sendEmpty } from "./respond.js";

/** The reference server's default. */
const DEFAULT_SECONDS = 30;
/** Nobody waits longer for an answer. */
const MOST_SECONDS = 300;
/** Samples a second of CPU profiles, unless asked otherwise. */
const DEFAULT_FREQUENCY = 99;
const MOST_FREQUENCY = 10_000;

/** Adds `GET /debug/pprof/cpu?frequency=99&interval=30` and `/debug/pprof/heap?interval=30`. One profile at a time; a second asker gets 409. */
export function addProfiles(app: Express): void {
  let busy = false;
  const serve =
    (extension: string, take: (request: Request) => Promise<unknown>) =>
    async (request: Request, response: Response) => {
      if (busy) {
        sendEmpty(response, 409);
        return;
      }
      busy = true;
      try {
        const profile = await take(request);
        response.setHeader("Content-Disposition", `attachment; filename="policy-server.${extension}"`);
        response.type("application/octet-stream").send(Buffer.from(JSON.stringify(profile)));
      } finally {
        busy = false;
      }
    };
  app.get("/debug/pprof/cpu", serve("cpuprofile", cpuProfile));
  app.get("/debug/pprof/heap", serve("heapprofile", heapProfile));
}

async function cpuProfile(request: Request): Promise<unknown> {
  const interval = Math.round(1e6 / numberFrom(request, "frequency", DEFAULT_FREQUENCY, MOST_FREQUENCY));
  return withSession(async (session) => {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval });
    await session.post("Profiler.start");
    await sleep(numberFrom(request, "interval", DEFAULT_SECONDS, MOST_SECONDS) * 1000);
    return (await session.post("Profiler.stop")).profile;
  });
}

async function heapProfile(request: Request): Promise<unknown> {
  return withSession(async (session) => {
    await session.post("HeapProfiler.startSampling");
    await sleep(numberFrom(request, "interval", DEFAULT_SECONDS, MOST_SECONDS) * 1000);
    return (await session.post("HeapProfiler.stopSampling")).profile;
  });
}

async function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    return await work(session);
  } finally {
    session.disconnect();
  }
}

function numberFrom(request: Request, name: string, fallback: number, most: number): number {
  const value = Number(request.query[name]);
  return value > 0 ? Math.min(value, most) : fallback;
}
