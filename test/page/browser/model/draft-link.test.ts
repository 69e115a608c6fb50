import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deflateSync } from "node:zlib";
import { LONGEST_LINK, linkOf, readLink, type Written } from "../../../../src/page/browser/model/draft-link.js";

const WRITTEN: Written = {
  draft: "p: # <img src=x onerror=1> 😀 \u202e\n  cel: \"'a'.startsWith('a')\"\n",
  payload: "kind: Pod\r\n\t\u0000\ud83d\n",
  operation: "UPDATE",
  raw: true,
};
/** A link of any content, as ours are written. */
const packed = (content: string): string => `1.${deflateSync(content).toString("base64url")}`;

describe("a link that holds a draft", () => {
  test("gives back what was put into it, in letters that an address may have", async () => {
    for (const written of [WRITTEN, { draft: "", payload: "", operation: "", raw: false }]) {
      const link = await linkOf(written);
      assert.match(link, /^1\.[\w-]+$/);
      assert.deepEqual(await readLink(link), written);
    }
  });

  test("is short: what is repeated in it takes no room", async () => {
    const link = await linkOf({ ...WRITTEN, draft: WRITTEN.draft.repeat(1000) });
    assert.ok(link.length < 1000, String(link.length));
  });

  test("that is cut off or changed anywhere is none, or says the same", async () => {
    const link = await linkOf(WRITTEN);
    for (let at = 0; at < link.length; at += 1) {
      assert.equal(await readLink(link.slice(0, at)), undefined, `cut off at ${at}`);
      const changed = await readLink(link.slice(0, at) + (link[at] === "A" ? "B" : "A") + link.slice(at + 1));
      // Some bits mean nothing, or the same in another way.
      if (changed !== undefined) assert.deepEqual(changed, WRITTEN, `changed at ${at}`);
    }
    for (const more of ["%20", "<b>", "#/draft/"]) assert.equal(await readLink(link + more), undefined, more);
  });

  test("of another version, or with other contents, is none", async () => {
    const link = await linkOf(WRITTEN);
    const broken = [
      "",
      "1.",
      link.replace("1.", "2."),
      link.slice(2),
      packed("[]"),
      packed("not JSON"),
      packed("null"),
      ...Object.keys(WRITTEN).flatMap((name) => [
        packed(JSON.stringify({ ...WRITTEN, [name]: undefined })),
        packed(JSON.stringify({ ...WRITTEN, [name]: {} })),
      ]),
      `1.${Buffer.from(JSON.stringify(WRITTEN)).toString("base64url")}`,
    ];
    for (const text of broken) assert.equal(await readLink(text), undefined, text);
    assert.deepEqual(await readLink(packed(JSON.stringify(WRITTEN))), WRITTEN);
  });

  test("that is too long, or stands for more than a question may have, is none", async () => {
    assert.equal(await readLink(`1.${"A".repeat(LONGEST_LINK)}`), undefined);
    const bomb = packed(JSON.stringify({ ...WRITTEN, draft: "a".repeat(20 * 1024 * 1024) }));
    assert.ok(bomb.length < LONGEST_LINK);
    assert.equal(await readLink(bomb), undefined);
    const most = packed(JSON.stringify({ ...WRITTEN, draft: "a".repeat(1000 * 1024) }));
    assert.equal((await readLink(most))?.draft.length, 1000 * 1024);
  });
});
