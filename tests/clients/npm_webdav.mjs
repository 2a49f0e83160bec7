// The npm package `webdav`, which note apps and backup tools use. Says `fine` when all of it went as it should.
//   node npm_webdav.mjs URL USER PASSWORD
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { AuthType, createClient } from "webdav";

const [url, username, password] = process.argv.slice(2);
const client = createClient(url, { authType: AuthType.Password, username, password });

await client.createDirectory("/npm/a b/é", { recursive: true });
assert.equal(await client.putFileContents("/npm/a b/é/100% #1?.txt", "one"), true);
assert.equal(await client.putFileContents("/npm/a b/é/100% #1?.txt", "two", { overwrite: false }), false, "it is there already");
assert.equal(await client.getFileContents("/npm/a b/é/100% #1?.txt", { format: "text" }), "one");
const large = randomBytes(2 << 20);
await client.putFileContents("/npm/large.bin", large);
assert.deepEqual(await client.getFileContents("/npm/large.bin"), large);
const listed = await client.getDirectoryContents("/npm", { deep: true });
assert.deepEqual(listed.map((one) => one.filename).sort(),
                 ["/npm/a b", "/npm/a b/é", "/npm/a b/é/100% #1?.txt", "/npm/large.bin"]);
const stat = await client.stat("/npm/large.bin");
assert.equal(stat.size, large.length);
assert.equal(stat.type, "file");
await client.copyFile("/npm/large.bin", "/npm/copy.bin");
await client.moveFile("/npm/copy.bin", "/npm/moved.bin");
assert.equal(await client.exists("/npm/copy.bin"), false);
assert.equal(await client.exists("/npm/moved.bin"), true);
const lock = await client.lock("/npm/moved.bin");
await assert.rejects(client.putFileContents("/npm/moved.bin", "x"), (e) => e.status === 423);
await client.unlock("/npm/moved.bin", lock.token);
const compliance = await client.getDAVCompliance("/npm/large.bin");
assert.ok(compliance.compliance.includes("2"));
// It would send parts with PUT or PATCH to servers that say they take them.
await assert.rejects(client.partialUpdateFileContents("/npm/large.bin", 0, 2, "abc"), /Not supported/);
const found = await client.search("/npm", {
  details: true,
  data: `<d:searchrequest xmlns:d="DAV:"><d:basicsearch><d:select><d:allprop/></d:select><d:from><d:scope>
    <d:href>${new URL(url).pathname}npm/</d:href><d:depth>infinity</d:depth></d:scope></d:from><d:where><d:like><d:prop>
    <d:displayname/></d:prop><d:literal>%.bin</d:literal></d:like></d:where></d:basicsearch></d:searchrequest>`,
});
assert.equal(found.data.results.length, 2);
await client.deleteFile("/npm");
assert.equal(await client.exists("/npm"), false);
console.log("fine");
