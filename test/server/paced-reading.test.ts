/** Connections with a pace: sockets that take what a test pushes, a clock that a test moves, and turns of the event loop that it gives. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { PacedReading } from "../../src/server/paced-reading.js";

const FREE = { takes: () => true, whenFree: () => {} };
/** A chunk of one byte, as it is sent. */
const CHUNK = "1\r\nx\r\n";

/** A clock that moves by a millisecond when something is read, and turns that come when they are told to. */
function stage() {
  const time = { now: 0 };
  const due: (() => void)[] = [];
  const reading = new PacedReading(
    () => time.now,
    (run) => due.push(run),
  );
  const turn = async (): Promise<void> => {
    for (const run of due.splice(0)) run();
    await nextTurn();
  };
  /** A connection, and what was read of it, a text for each time. */
  const connect = async (turns: Parameters<PacedReading["add"]>[1] = FREE) => {
    const read: string[] = [];
    const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() }) as Socket;
    socket.on("data", (bytes: Buffer) => {
      read.push(String(bytes));
      time.now += 1;
    });
    reading.add(socket, turns);
    // It flows from then on.
    await nextTurn();
    return { socket, read };
  };
  return { time, reading, due, turn, connect };
}

const chunksIn = (texts: readonly string[]): number => texts.join("").split("x").length - 1;

describe("a connection with a pace", () => {
  test("is read some line ends at a time, for five milliseconds a turn, and whole in the end", async () => {
    const { reading, turn, connect, due } = stage();
    const { socket, read } = await connect();
    reading.pace(socket);
    socket.push(CHUNK.repeat(400));
    await turn();
    for (let turns = 1; turns < 100 && chunksIn(read) < 400; turns++) {
      // 16 line ends are 8 chunks, and a turn has five milliseconds; what comes first has that of the turn in which it comes.
      assert.ok(chunksIn(read) <= 5 * 8 * (turns + 1), `${chunksIn(read)} chunks in ${turns} turns`);
      await turn();
    }
    assert.equal(read.join(""), CHUNK.repeat(400));
    await turn();
    await turn();
    assert.equal(due.length, 0, "nothing goes on when there is nothing to do");
  });

  test("is read as it comes while that is little", async () => {
    const { reading, connect } = stage();
    const { socket, read } = await connect();
    reading.pace(socket);
    socket.push("x".repeat(100_000));
    await nextTurn();
    assert.deepEqual(
      read.map(({ length }) => length),
      [100_000],
    );
  });

  test("leaves time for others: a turn has no more than five milliseconds for all of them", async () => {
    const { reading, turn, connect, time } = stage();
    const many = await Promise.all(Array.from({ length: 40 }, () => connect()));
    reading.paceAll();
    for (const { socket } of many) socket.push(CHUNK.repeat(20));
    await nextTurn();
    const all = (): number => many.reduce((sum, { read }) => sum + chunksIn(read), 0);
    assert.ok(time.now <= 5 && all() <= 40, `${time.now} ms, ${all()} chunks`);
    const late = await connect();
    reading.pace(late.socket);
    late.socket.push(CHUNK);
    let turns = 0;
    while (late.read.length === 0) {
      const before = time.now;
      await turn();
      turns++;
      assert.ok(time.now - before <= 5);
    }
    // Those that are new wait for each other, every other place at least is theirs: not for the ends of what 40 have sent.
    assert.ok(turns <= 20, `${turns} turns`);
    while (all() < 40 * 20) await turn();
    for (const { read } of many) assert.equal(read.join(""), CHUNK.repeat(20));
  });

  test("is not starved by others that bring something new in each turn", async () => {
    const { reading, turn, connect } = stage();
    const slow = await connect();
    const others = await Promise.all(Array.from({ length: 10 }, () => connect()));
    reading.paceAll();
    slow.socket.push(CHUNK.repeat(80));
    for (let turns = 0; turns < 40; turns++) {
      for (const { socket } of others) socket.push(CHUNK);
      await turn();
    }
    assert.equal(slow.read.join(""), CHUNK.repeat(80));
  });

  test("keeps what can't be used yet, also when others resume its socket", async () => {
    const { reading, turn, connect } = stage();
    let isFree = false;
    const waiting: (() => void)[] = [];
    const { socket, read } = await connect({ takes: () => isFree, whenFree: (_, call) => waiting.push(call) });
    reading.pace(socket);
    socket.push("first\n");
    for (let turns = 0; turns < 3; turns++) {
      await turn();
      socket.resume();
    }
    assert.deepEqual([read, waiting.length], [[], 1]);
    isFree = true;
    for (const call of waiting) call();
    await turn();
    await turn();
    assert.deepEqual(read, ["first\n"]);
  });

  test("loses nothing and keeps the order, whenever it is resumed", async () => {
    const { reading, turn, connect } = stage();
    const { socket, read } = await connect();
    reading.pace(socket);
    let sent = "";
    for (let i = 0; i < 200; i++) {
      const text = `${i}\n`.repeat(1 + ((i * 7) % 40));
      sent += text;
      socket.push(text);
      if (i % 3 === 0) socket.resume();
      if (i % 2 === 0) await turn();
    }
    for (let turns = 0; turns < 2000 && read.join("").length < sent.length; turns++) await turn();
    assert.equal(read.join(""), sent);
  });
});

describe("connections without a pace", () => {
  const isPaced = ({ socket, read }: { socket: Socket; read: string[] }): boolean => {
    read.length = 0;
    socket.push(CHUNK.repeat(100));
    return read[0]?.length !== CHUNK.length * 100;
  };

  test("are given one together with new ones when many are in one turn, and new ones none a minute later", async () => {
    const { reading, turn, connect, time } = stage();
    const [quiet, ...suspects] = await Promise.all(Array.from({ length: 6 }, () => connect()));
    for (const { socket } of suspects) {
      reading.pace(socket);
      await turn();
    }
    await nextTurn();
    assert.ok(quiet !== undefined && !isPaced(quiet), "one in a turn is not many");
    const more = await Promise.all(Array.from({ length: 2 }, () => connect()));
    for (const { socket } of more) reading.pace(socket);
    await nextTurn();
    assert.ok(isPaced(quiet));
    await nextTurn();
    assert.ok(isPaced(await connect()));
    time.now += 60_001;
    assert.ok(!isPaced(await connect()));
  });
});
