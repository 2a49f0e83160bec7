// What people do in the web app, done in a real browser against a running server. Says `fine` when all of it went as it should.
//   node journeys.mjs JOURNEY ORIGIN USER PASSWORD [LINK]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";

// The browser's driver and axe are packages of frontend/.
const require = createRequire(new URL("../../frontend/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [journey, origin, username, password, link] = process.argv.slice(2);
const SCRIPT_BYTES_MAX = 150_000;
const ROUTES = ["files", "search", "search?q=letter", "favourites", "recent", "trash", "settings/profile", "settings/appearance", "settings/sessions", "settings/app-passwords",
                "admin/overview", "admin/people"];

const browser = await chromium.launch({ executablePath: process.env.WELKIN_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const complaints = [];

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && complaints.push(`${m.text()} ${m.location().url}`));
  page.on("pageerror", (e) => complaints.push(e.stack ?? String(e)));
  return page;
}
const row = (page, name) => page.locator(".row").filter({ has: page.getByText(name, { exact: true }) });
const gone = (locator) => locator.waitFor({ state: "detached" });
const said = (page, text) => page.locator(".toast").filter({ hasText: text }).waitFor();

/** With the keyboard alone: the field for the name has the focus when the page opens. */
async function signIn(page, path = "/files") {
  await page.goto(`${origin}/login`);
  await page.getByLabel("User name").waitFor();
  await page.keyboard.type(username);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/files");
  await page.getByRole("button", { name: "New", exact: true }).waitFor();
  if (path !== "/files") await page.goto(origin + path);
}
/** From the page itself, with its cookies. @return the answer's JSON, null without one */
const api = (page, method, path, body) =>
  page.evaluate(async ([base, method, path, body]) => {
    const token = /welkin_csrf=([^;]*)/.exec(document.cookie)[1];
    const answer = await fetch(`${base}/api${path}`, { method, body: body && JSON.stringify(body),
      headers: { "X-CSRF-Token": token, ...(body ? { "Content-Type": "application/json" } : {}) } });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json().catch(() => null);
  }, [new URL(origin).pathname.replace(/\/$/, ""), method, path, body]);
async function homeOf(page) {
  return (await api(page, "GET", "/folders"))[0].id;
}
async function namesIn(page, folder) {
  return (await api(page, "GET", `/folders/${folder}/resources?limit=200`)).items.map((i) => i.resource.name);
}
async function choose(page, ...files) {
  await page.bringToFront();
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.keyboard.press("u")]);
  await chooser.setFiles(files.map(([name, text]) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) })));
}
async function upload(page, ...files) {
  await choose(page, ...files);
  for (const [name] of files) await row(page, name).waitFor();
}

const journeys = {
  async first_start() {
    const page = await open();
    // Whoever comes without the link is led to the set-up too.
    await page.goto(`${origin}/`);
    await page.waitForURL("**/setup");
    await page.getByLabel("Set-up code").waitFor();
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByText("The set-up code came with your link.").waitFor();
    await page.waitForFunction(() => location.hash === "");
    await page.getByLabel("User name").fill(username);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByLabel("Password again").fill(password + "x");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("The two are not the same.").waitFor();
    await page.getByLabel("Password again").fill(password);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.waitForURL("**/files");
    await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Upload", exact: true }).click()]);
    await chooser.setFiles({ name: "first file.txt", mimeType: "text/plain", buffer: Buffer.from("the first bytes") });
    await row(page, "first file.txt").waitFor();
    await page.getByText("stored and checked").waitFor();
    const items = (await api(page, "GET", `/folders/${await homeOf(page)}/resources?limit=10`)).items;
    assert.deepEqual(items.map((i) => [i.resource.name, i.resource.size]), [["first file.txt", 15]]);
    // The set-up is closed from now on.
    await page.goto(`${origin}/setup`);
    await page.getByRole("heading", { name: "This server is set up" }).waitFor();
  },

  async everyday() {
    const page = await open();
    await signIn(page);
    const home = await homeOf(page);
    await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    await upload(page, ["draft.txt", "one"], ["other.txt", "two"]);
    await page.getByRole("button", { name: "New", exact: true }).click();
    await page.getByRole("menuitem", { name: "New folder" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Papers");
    await page.getByRole("button", { name: "Create" }).click();
    await row(page, "Papers").waitFor();

    await row(page, "draft.txt").click();
    assert.equal(await row(page, "draft.txt").getAttribute("aria-selected"), "true");
    await page.getByRole("toolbar").getByRole("button", { name: "Rename" }).click();
    const field = page.getByLabel("New name");
    assert.equal(await field.evaluate((f) => f.value.slice(f.selectionStart, f.selectionEnd)), "draft", "the stem is selected");
    await field.fill("letter.txt");
    await field.press("Enter");
    await row(page, "letter.txt").waitFor();
    await said(page, "Renamed to");
    assert.deepEqual(await namesIn(page, home), ["Papers", "letter.txt", "other.txt"]);

    await row(page, "letter.txt").click();
    await page.getByRole("toolbar").getByRole("button", { name: "Move" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Papers" }).click();
    await page.getByRole("button", { name: "Move here" }).click();
    await gone(row(page, "letter.txt"));
    assert.deepEqual(await namesIn(page, home), ["Papers", "other.txt"]);
    await page.locator(".toast").getByRole("button", { name: "Undo", exact: true }).last().click();
    await row(page, "letter.txt").waitFor();

    // By dragging too.
    await row(page, "letter.txt").dragTo(row(page, "Papers"));
    await gone(row(page, "letter.txt"));
    await row(page, "Papers").dblclick();
    await row(page, "letter.txt").waitFor();
    await page.waitForURL(/\/files\/[0-9a-f-]{36}$/);
    await page.reload();
    await row(page, "letter.txt").waitFor();
    await page.goBack();
    await row(page, "other.txt").waitFor();

    await row(page, "other.txt").click();
    await page.getByRole("toolbar").getByRole("button", { name: "Trash" }).click();
    await gone(row(page, "other.txt"));
    await page.locator(".toast").getByRole("button", { name: "Undo", exact: true }).last().click();
    await row(page, "other.txt").waitFor();
    await row(page, "other.txt").click();
    await page.keyboard.press("Delete");
    await gone(row(page, "other.txt"));
    await page.getByRole("link", { name: "Trash" }).first().click();
    await row(page, "other.txt").click();
    await page.getByRole("toolbar").getByRole("button", { name: "Restore" }).click();
    await page.getByRole("heading", { name: "The trash is empty" }).waitFor();
    assert.deepEqual(await namesIn(page, home), ["Papers", "other.txt"]);
  },

  async finding() {
    const page = await open();
    await signIn(page);
    const home = await homeOf(page);
    const put = (parent, name, body) =>
      page.evaluate(async ([parent, name, body]) => {
        const csrf = document.cookie.match(/welkin_csrf=([^;]*)/)[1];
        const answer = await fetch(`/api/folders/${parent}/children/${name}`, { method: "PUT", body, headers: { "X-CSRF-Token": csrf } });
        if (!answer.ok) throw new Error(`PUT ${answer.status}`);
      }, [parent, name, body]);
    await put(home, "journey-plan.txt", "to the north");
    await put(home, "journey-notes.txt", "what was seen");
    await row(page, "journey-plan.txt").waitFor();
    // A favourite by its menu, then where favourites are, then none again.
    await row(page, "journey-plan.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Add to favourites" }).click();
    await row(page, "journey-plan.txt").getByRole("img", { name: "Favourite" }).waitFor();
    await page.getByRole("link", { name: "Favourites" }).first().click();
    await page.waitForURL(/\/favourites$/);
    await gone(row(page, "journey-notes.txt"));
    await row(page, "journey-plan.txt").waitFor();
    await row(page, "journey-plan.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Remove from favourites" }).click();
    await page.getByRole("heading", { name: "No favourites yet" }).waitFor();

    await page.getByRole("link", { name: "Search" }).first().click();
    await page.getByRole("searchbox").fill("journey not");
    await row(page, "journey-notes.txt").waitFor();
    await gone(row(page, "journey-plan.txt"));
    await page.waitForURL(/search\?q=journey%20not$/);
    await page.getByRole("searchbox").fill("nothing is called so");
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    await page.getByRole("searchbox").fill("journey");
    await row(page, "journey-plan.txt").dblclick();
    await page.getByText("to the north").waitFor();
    await page.keyboard.press("Escape");
    await row(page, "journey-plan.txt").click();
    await page.getByRole("toolbar").getByRole("button", { name: "Show in its folder" }).click();
    await page.waitForURL(/\/files$/);
    await row(page, "journey-plan.txt").waitFor();
    await page.getByRole("link", { name: "Recent" }).first().click();
    await page.waitForURL(/\/recent$/);
    await gone(row(page, "journey-notes.txt"));
    await row(page, "journey-plan.txt").waitFor();
  },

  async keyboard() {
    const page = await open();
    const keys = page.keyboard;
    await signIn(page);
    const home = await homeOf(page);
    await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    for (const name of ["Archive", "Budget", "Camera"]) {
      await keys.press("n");
      await page.getByRole("dialog").waitFor();
      await keys.press("ControlOrMeta+a");
      await keys.type(name);
      await keys.press("Enter");
      await row(page, name).waitFor();
      await page.waitForFunction((n) => document.activeElement?.matches(".row") && document.activeElement.textContent.includes(n), name);
    }
    const selected = () => page.locator('.row[aria-selected="true"]').count();
    await keys.press("Home");
    await keys.press("Shift+End");
    assert.equal(await selected(), 3);
    await keys.press("Escape");
    assert.equal(await selected(), 0);
    await keys.press("ControlOrMeta+a");
    assert.equal(await selected(), 3);
    await keys.type("b"); // to a name
    assert.match(await page.locator(":focus").textContent(), /Budget/);
    await keys.press("F2");
    await keys.press("ControlOrMeta+a");
    await keys.type("Budget 2027");
    await keys.press("Enter");
    await row(page, "Budget 2027").waitFor();
    await said(page, "Renamed");
    await keys.press("ControlOrMeta+z");
    await row(page, "Budget").waitFor();
    await keys.press("ControlOrMeta+Shift+z");
    await row(page, "Budget 2027").waitFor();

    await row(page, "Camera").waitFor();
    await keys.press("End");
    await keys.press("Delete");
    await gone(row(page, "Camera"));
    await keys.press("ControlOrMeta+z");
    await row(page, "Camera").waitFor();

    // Cut and paste into a folder, then up again: the folder one came from has the focus.
    await page.waitForFunction(() => document.activeElement?.matches(".row, body"));
    await keys.press("ArrowDown");
    await keys.press("End");
    await keys.press("ControlOrMeta+x");
    await keys.press("Home");
    await keys.press("Enter");
    await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    await keys.press("ControlOrMeta+v");
    await row(page, "Camera").waitFor();
    await keys.press("Alt+ArrowUp");
    await gone(row(page, "Camera"));
    await page.waitForFunction(() => document.activeElement?.textContent.includes("Archive"));
    assert.deepEqual(await namesIn(page, home), ["Archive", "Budget 2027"]);
    await keys.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await keys.press("Escape");
    await keys.press("Shift+?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await keys.press("Escape");
  },

  /** Everybody sees what others change, without asking. */
  async live() {
    const [one, two] = [await open(), await open()];
    await signIn(one);
    await signIn(two);
    await one.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    await two.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    await upload(one, ["shared.txt", "x"]);
    await row(two, "shared.txt").waitFor();
  },

  /** The same name again: asked about, kept beside, or a version. */
  async conflict() {
    const page = await open();
    await signIn(page);
    const home = await homeOf(page);
    await upload(page, ["plan.txt", "one"]);
    for (const answer of ["Keep both", "Replace"]) {
      await choose(page, ["plan.txt", "two"]);
      await page.getByRole("button", { name: "Choose" }).click();
      await page.getByRole("dialog").getByRole("radio", { name: answer }).check();
      await page.getByRole("dialog").getByRole("button", { name: answer }).click();
      await page.locator(".tray .tick").waitFor();
      assert.deepEqual((await namesIn(page, home)).sort(), ["plan (2).txt", "plan.txt"]);
    }
    const file = (await api(page, "GET", `/folders/${home}/resources?limit=10`)).items.find((i) => i.resource.name === "plan.txt").resource;
    const { items: versions } = await api(page, "GET", `/files/${file.id}/versions`);
    assert.equal(versions.length, 1, "what was replaced is a version now");
    complaints.splice(0, complaints.length, ...complaints.filter((c) => !/status of 412/.test(c))); // the browser's own word on the refusal
  },

  async accessible() {
    const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    for (const colorScheme of ["light", "dark"]) {
      const page = await open({ colorScheme });
      const check = async (what) => {
        await page.evaluate(axe);
        const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, {
          runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] }));
        assert.ok(passes.length > 5, `${what}: axe has looked at nothing`);
        const told = violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html.slice(0, 160)} ${n.failureSummary}`).join("\n  ")}`);
        assert.deepEqual(told, [], `${what} in ${colorScheme}`);
      };
      await page.goto(`${origin}/login`);
      await page.getByLabel("User name").waitFor();
      await check("login");
      await page.goto(`${origin}/setup`);
      await page.getByRole("heading").waitFor();
      await check("setup");
      await signIn(page);
      if (colorScheme === "light") {
        await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
        await check("an empty folder");
        await upload(page, ["one.txt", "1"], ["two.md", "# 2"]);
      }
      for (const route of ROUTES) {
        await page.goto(`${origin}/${route}`);
        await page.locator("#main").waitFor();
        await page.waitForLoadState("networkidle").catch(() => {});
        await page.locator("#main :is(.row, .card, .empty, table)").first().waitFor();
        await check(route);
      }
      await page.goto(`${origin}/files`);
      await row(page, "two.md").click();
      await page.keyboard.press("i");
      await page.getByText("Checksum").waitFor();
      await check("the details");
      await row(page, "two.md").click({ button: "right" });
      await page.getByRole("menuitem").first().waitFor();
      await check("a menu");
      await page.keyboard.press("Escape");
      await row(page, "two.md").click();
      await page.keyboard.press("v");
      await page.getByRole("dialog").waitFor();
      await check("a dialog");
      await page.keyboard.press("Escape");
      await row(page, "two.md").dblclick();
      await page.locator("dialog.viewer article").waitFor();
      await check("the viewer");
      await page.keyboard.press("Escape");
      await page.getByRole("radio", { name: "Grid" }).or(page.getByRole("button", { name: "Grid" })).first().click();
      await page.locator(".cell").first().waitFor();
      await check("the grid");
      await page.context().close();
    }
  },

  /** What the view of files needs before it shows anything. */
  async weight() {
    const page = await open({ serviceWorkers: "block" });
    await signIn(page);
    const scripts = new Map();
    page.on("response", async (r) => {
      if (r.request().resourceType() === "script") scripts.set(r.url(), r);
    });
    await page.reload();
    await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    let bytes = 0;
    for (const answer of scripts.values()) bytes += gzipSync(await answer.body(), { level: 9 }).length;
    assert.ok(scripts.size > 3);
    console.log(`${scripts.size} scripts, ${bytes} bytes with gzip`);
    assert.ok(bytes <= SCRIPT_BYTES_MAX, `${bytes} bytes of script`);
  },

  /** Addresses inside of the app can be opened, below whatever path the server lies. */
  async deep_links() {
    const page = await open();
    await signIn(page);
    const home = await homeOf(page);
    const made = await api(page, "POST", "/folders", { name: "Deep", parent_id: home });
    await page.goto(`${origin}/files/${made.id}`);
    await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).first().click();
    await page.waitForURL(`${origin}/settings`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${origin}/login`);
    await page.goto(`${origin}/files/${made.id}`);
    await page.waitForURL(/\/login\?next=/);
    await page.getByLabel("User name").fill(username);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${origin}/files/${made.id}`);
    await page.getByRole("heading", { name: "Nothing in here yet" }).waitFor();
  },
};

let failed = null;
try {
  await journeys[journey]();
  assert.deepEqual(complaints, [], "the browser has complained");
  console.log("fine");
} catch (e) {
  failed = e;
  for (const context of browser.contexts())
    for (const page of context.pages()) console.error(page.url(), (await page.locator("body").innerText().catch(() => "")).slice(0, 1500), complaints);
}
await browser.close();
if (failed) throw failed;
