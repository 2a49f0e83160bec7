// The npm package `tus-js-client`, which browsers and scripts upload with. Says `fine` when all of it went as it should.
//   node npm_tus.mjs ORIGIN TOKEN
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Upload } from "tus-js-client";

const [origin, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };

/** Uploads to the end. @returns the address that the last answer gives the file */
function upload(bytes, filename, more = {}) {
  return new Promise((done, failed) => {
    let location = null;
    new Upload(Buffer.from(bytes), {
      endpoint: `${origin}/api/uploads/tus`,
      headers,
      metadata: { filename, filetype: "application/x-test" },
      retryDelays: [0, 100],
      onAfterResponse: (_request, response) => { location = response.getHeader("content-location") ?? location; },
      onError: failed,
      onSuccess: () => done(location),
      ...more,
    }).start();
  });
}

async function read(location) {
  const answer = await fetch(origin + location, { headers });
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

const large = randomBytes(5 << 20);
assert.deepEqual(await read(await upload(large, "whole é.bin")), large);
assert.deepEqual(await read(await upload(large, "pieces.bin", { chunkSize: 1 << 20 })), large);
assert.deepEqual(await read(await upload("small", "small.txt", { uploadDataDuringCreation: true })), Buffer.from("small"));
assert.deepEqual(await read(await upload("", "empty.txt")), Buffer.from(""));
assert.deepEqual(await read(await upload(large, "parallel.bin", { parallelUploads: 3 })), large);

// Stopped after the first pieces, and gone on with from another object, as after a reload.
const first = await new Promise((done, failed) => {
  const stopped = new Upload(large, {
    endpoint: `${origin}/api/uploads/tus`, headers, chunkSize: 1 << 20, metadata: { filename: "resumed.bin" },
    onError: failed,
    onChunkComplete: (_size, accepted) => {
      if (accepted < 2 << 20) return;
      stopped.abort().then(() => done(stopped.url));
    },
  });
  stopped.start();
});
let sent = 0;
const location = await upload(large, "unused", {
  uploadUrl: first, chunkSize: 1 << 20, onChunkComplete: (size) => { sent += size; },
});
assert.deepEqual(await read(location), large);
assert.ok(sent <= 3 << 20, `only what was missing is sent: ${sent}`);

// Given up: nothing of it stays.
const given = await new Promise((done, failed) => {
  const stopped = new Upload(large, {
    endpoint: `${origin}/api/uploads/tus`, headers, chunkSize: 1 << 20, metadata: { filename: "given up.bin" },
    onError: failed,
    onChunkComplete: () => { stopped.abort(true).then(() => done(stopped.url ?? "")); },
  });
  stopped.start();
});
void given;
const names = (await (await fetch(`${origin}/api/files`, { headers })).json()).map((one) => one.name).sort();
assert.deepEqual(names, ["empty.txt", "parallel.bin", "pieces.bin", "resumed.bin", "small.txt", "whole é.bin"]);
await assert.rejects(upload("x", "small.txt", { retryDelays: null }), /409/);
console.log("fine");
