// The npm package `tsdav`, which web and Node programs use for calendars and contacts. Says `fine` when all of it went as it
// should.
//   node npm_tsdav.mjs URL USER PASSWORD
import assert from "node:assert/strict";
import { DAVClient } from "tsdav";

const [serverUrl, username, password] = process.argv.slice(2);
const event = (uid, summary) =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20260101T000000Z\r\n` +
  `DTSTART:20260105T100000Z\r\nDTEND:20260105T110000Z\r\nSUMMARY:${summary}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
const card = (uid, name) => `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:${name}\r\nN:${name};;;;\r\nEND:VCARD\r\n`;
const connect = async (defaultAccountType) => {
  const client = new DAVClient({ serverUrl, credentials: { username, password }, authMethod: "Basic", defaultAccountType });
  await client.login();
  return client;
};
const done = (answer, status) => assert.equal(answer.status, status, `${answer.status} ${answer.statusText}`);

const cal = await connect("caldav");
const calendars = await cal.fetchCalendars();
const personal = calendars.find((one) => one.displayName === "Personal");
assert.ok(personal, "the home was found");
assert.ok(personal.components.includes("VEVENT") && personal.components.includes("VJOURNAL"));
assert.deepEqual(calendars.find((one) => one.displayName === "Tasks").components, ["VTODO"]);
done(await cal.createCalendarObject({ calendar: personal, filename: "a.ics", iCalString: event("a", "one") }), 201);
done(await cal.createCalendarObject({ calendar: personal, filename: "a.ics", iCalString: event("a", "again") }), 412);
let objects = await cal.fetchCalendarObjects({ calendar: personal });
assert.equal(objects.length, 1);
assert.match(objects[0].data, /SUMMARY:one/);
assert.ok(objects[0].etag);
const range = (start, end) => cal.fetchCalendarObjects({ calendar: personal, timeRange: { start, end } });
assert.equal((await range("2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z")).length, 1);
assert.equal((await range("2026-02-05T00:00:00Z", "2026-02-06T00:00:00Z")).length, 0);
const before = (await cal.fetchCalendars()).find((one) => one.url === personal.url);
done(await cal.updateCalendarObject({ calendarObject: { ...objects[0], data: event("a", "two") } }), 204);
const stale = await cal.updateCalendarObject({ calendarObject: { ...objects[0], data: event("a", "lost") } });
done(stale, 412);
const changed = await cal.isCollectionDirty({ collection: before });
assert.equal(changed.isDirty, true);
const synced = await cal.smartCollectionSync({ collection: { ...before, objects, objectMultiGet: (asked) => cal.calendarMultiGet(asked) }, method: "webdav" });
assert.match(synced.objects.find((one) => one.url === objects[0].url).data, /SUMMARY:two/);
const made = await cal.makeCalendar({ url: new URL("tsdav-made/", personal.url.replace(/personal\/$/, "")).href, props: { displayname: "Made" } });
assert.ok(made.every((one) => one.ok), JSON.stringify(made));
assert.ok((await cal.fetchCalendars()).some((one) => one.displayName === "Made"));
[objects[0]] = await cal.fetchCalendarObjects({ calendar: personal });
done(await cal.deleteCalendarObject({ calendarObject: objects[0] }), 204);
assert.equal((await cal.fetchCalendarObjects({ calendar: personal })).length, 0);

const contacts = await connect("carddav");
const [book] = await contacts.fetchAddressBooks();
assert.equal(book.displayName, "Contacts");
done(await contacts.createVCard({ addressBook: book, filename: "eva.vcf", vCardString: card("eva", "Eva") }), 201);
const [stored] = await contacts.fetchVCards({ addressBook: book });
assert.match(stored.data, /FN:Eva/);
done(await contacts.updateVCard({ vCard: { ...stored, data: card("eva", "Eva B") } }), 204);
const [again] = await contacts.fetchVCards({ addressBook: book });
assert.match(again.data, /FN:Eva B/);
done(await contacts.deleteVCard({ vCard: again }), 204);
assert.equal((await contacts.fetchVCards({ addressBook: book })).length, 0);
console.log("fine");
