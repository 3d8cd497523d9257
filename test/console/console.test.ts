import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floodgate } from '../rules/support/command.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';
import {
  CHROMIUM,
  fetchRoute,
  holdRequests,
  inPage,
  launchBrowser,
  openTab,
  type Tab,
} from './support/browser.ts';
import { checkPage, checkState, DRAWN } from './support/checkPages.ts';
import { type DevServer, startDevServer } from './support/devServer.ts';
import { Flood } from './support/flood.ts';

const ZONE = 'example.test';
/** Records notifications. After `beginAttack` is set, the active attack has another id, as if it were a new one. */
const RECORD_NOTIFICATIONS = `
  window.notified = [];
  window.Notification = class {
    static permission = 'default';
    static requestPermission = async () => (this.permission = 'granted');
    constructor(title) { window.notified.push(title); }
  };
  const parse = JSON.parse;
  JSON.parse = (text, ...more) => {
    const value = parse(text, ...more);
    if (window.beginAttack) for (const attack of value?.guard?.attacks ?? []) attack.id = attack.id.replace(/^./, 'x');
    return value;
  };
`;
const LOW = { profile_sensitivity: 'low', rate_sensitivity: 'low', burst_sensitivity: 'low' };

describe.skipIf(CHROMIUM === undefined)(
  `the console${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let dataDir: string;
    let port: number;
    let server: DevServer;
    let browser: Browser;
    let tab: Tab;
    let page: Page;
    let flood: Flood | undefined;

    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'floodgate-console-'));
      port = await freePort();
      [server, browser] = await Promise.all([startDevServer(dataDir, port), launchBrowser()]);
      tab = await openTab(browser, server.url);
      page = tab.page;
    });
    afterAll(async () => {
      await flood?.stop();
      await browser?.close();
      await server?.stop();
      await rm(dataDir, { recursive: true, force: true });
    });

    const rulesUrl = () =>
      `${server.url}/client/v4/accounts/${server.account}/network/advanced_dns_protection/configs/dns_protection/rules`;
    const api = async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(`${rulesUrl()}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${server.token}` },
      });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
      return (await answer.json()) as any;
    };
    const theRule = async () => (await api('')).result[0];
    const heading = (of = page) => of.locator('main h1').first();
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const go = async (title: string) => page.getByRole('link', { name: title, exact: true }).first().click();
    /**
     * Waits for three messages of a second live stream: by then, the page's own stream has delivered all earlier
     * changes.
     */
    const threeMessages = async () => {
      const headers = { authorization: `Bearer ${server.token}` };
      const { body } = await fetch(rulesUrl().replace(/rules$/, 'live'), { headers });
      let text = '';
      for await (const chunk of body ?? []) {
        text += new TextDecoder().decode(chunk);
        if (text.split('\n\n').length > 3) break;
      }
    };
    /** Opens a tab that is signed in. */
    const signedInTab = async (path: string): Promise<Tab> => {
      const opened = await openTab(browser, server.url);
      await opened.page.goto(`${server.url}/console/${path}`);
      await opened.page.getByLabel('Token', { exact: true }).fill(server.token);
      await opened.page.getByRole('button', { name: 'Sign in' }).click();
      return opened;
    };
    /** Returns a function that counts the API requests for `path` since the page was last loaded. */
    const readsOf = (of: Page, path: string) => {
      let count = 0;
      of.on('framenavigated', () => {
        count = 0;
      });
      of.on('request', (request) => {
        if (request.url().startsWith(`${server.url}/client/`) && request.url().endsWith(path)) count++;
      });
      return () => count;
    };
    /** Waits until the list of rules has read the queries of each rule. Those of a deleted rule are not found. */
    const hitsRead = async () => {
      await page.locator('main tbody a[href*="/rules/"]').first().waitFor();
      await expect.poll(() => page.locator('main tbody td', { hasText: '…' }).count()).toBe(0);
    };
    const counted = async () => (await api('/../status')).result.since_start;
    /** Returns the number of pixels of the last graph that have the colour of a series. */
    const painted = (colour: string) =>
      inPage<number>(
        page,
        `(() => {
          const place = [...document.querySelectorAll('.graph-place')].at(-1);
          const canvas = place?.querySelector('canvas');
          if (!canvas) return 0;
          const { width, height } = canvas;
          const copy = Object.assign(document.createElement('canvas'), { width, height: height + 1 });
          const drawn = copy.getContext('2d', { willReadFrequently: true });
          const probe = document.body.appendChild(document.createElement('span'));
          probe.style.color = 'var(--${colour})';
          drawn.fillStyle = getComputedStyle(probe).color;
          probe.remove();
          drawn.fillRect(0, height, 1, 1);
          drawn.drawImage(canvas, 0, 0);
          const [red, green, blue] = drawn.getImageData(0, height, 1, 1).data;
          const { data } = drawn.getImageData(0, 0, width, height);
          let count = 0;
          for (let i = 0; i < data.length; i += 4)
            if (data[i] === red && data[i + 1] === green && data[i + 2] === blue) count++;
          return count;
        })()`,
      );
    /** Returns the texts in the colour of the healthy state. */
    const green = () =>
      inPage<string[]>(
        page,
        `(() => {
          const probe = document.body.appendChild(document.createElement('span'));
          probe.className = 'well';
          const well = getComputedStyle(probe).color;
          probe.remove();
          const all = [...document.querySelectorAll('body *')];
          return all.filter((one) => getComputedStyle(one).color === well).map((one) => one.textContent);
        })()`,
      );
    const texts = async (selector: string) => page.locator(selector).allTextContents();

    it('signs in with the printed link once, and removes its code from the address bar', async () => {
      await page.goto(server.link);
      await heading().getByText('No attack').waitFor();
      expect(page.url()).toBe(`${server.url}/console/`);
      expect(await inPage(page, 'sessionStorage.length + localStorage.length')).toBe(0);
      await page.getByText('● live').waitFor();

      const again = await openTab(browser, server.url);
      await again.page.goto(server.link);
      await again.page.getByRole('alert').getByText('is no longer valid').waitFor();
      // The browser logs the rejected request (403) itself.
      expect(again.faults.filter((fault) => !fault.includes('403'))).toEqual([]);
      await checkPage({ ...again, faults: [] }, 'sign-in');
      await again.context.close();
    });

    it('shows its keyboard shortcuts, opens pages by them, and closes the dialog with Escape', async () => {
      await page.keyboard.press('?');
      const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await keys.getByText('Go to Attacks').waitFor();
      await checkState(tab, 'keys');
      await page.keyboard.press('Escape');
      await keys.waitFor({ state: 'detached' });
      // Each page has a text for its empty state: no gateway, node, token or attack yet.
      for (const [key, path, text] of [
        ['t', 'traces', 'No gateway runs here'],
        ['o', 'nodes', 'No nodes are configured'],
        ['z', 'zones', 'No policies: the rule in force applies to all zones'],
        ['c', 'access', 'No tokens besides the server’s own'],
        ['y', 'try', 'Choose an operation'],
        ['a', 'attacks', 'No attacks in this period'],
      ] as const) {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await page.waitForURL(`**/console/${path}`);
        await page.getByText(text).waitFor();
        await checkState(tab, `${path}-nothing`);
      }
    });

    it('shifts no content when the list of operations arrives late', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      const letThrough = await holdRequests(page, '**/openapi.json');
      await go('Now');
      await page.keyboard.press('g');
      await page.keyboard.press('y');
      await page.getByText('Choose an operation').waitFor();
      // Browsers do not count layout shifts within 500 ms after a key press.
      await inPage(page, 'new Promise((resolve) => setTimeout(resolve, 600))');
      letThrough();
      await heading()
        .getByText(/^\d+ operations to try$/)
        .waitFor();
      await checkState(tab, 'try-late');
      await page.unroute('**/openapi.json');
    });

    it('shows the create command if there is no rule, and creates a rule', async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('r');
      await page.getByText('No rule yet').waitFor();
      expect(await texts('.empty pre')).toEqual([expect.stringContaining(rulesUrl())]);
      await checkState(tab, 'rules-empty');
      await page.getByRole('link', { name: 'New rule' }).click();
      await checkState(tab, 'rule-new');
      await button('Create the rule').click();
      await heading().getByText('Rule for everywhere').waitFor();
      expect(await theRule()).toMatchObject({ scope: 'global', name: 'global', mode: 'monitoring' });
      await page.getByText('in force here').waitFor();
    });

    it('lists the first steps, and hides the list after it was dismissed', async () => {
      const fresh = await openTab(browser, server.url);
      await fresh.page.goto(`${server.url}/console/`);
      await fresh.page.getByLabel('Token', { exact: true }).fill(server.token);
      await fresh.page.getByRole('button', { name: 'Sign in' }).click();
      const steps = fresh.page.locator('.onboarding li');
      await fresh.page.getByText(/^The guard knows \d+ names\.$/).waitFor();
      expect((await steps.allTextContents()).map((text) => text.slice(0, 8))).toEqual([
        ...['✓Done: ', '✓Done: ', '○To do: ', '○To do: '].map((text) => expect.stringContaining(text)),
      ]);
      await checkState(fresh, 'now-first-steps');
      await fresh.page.getByRole('button', { name: 'Dismiss' }).click();
      await steps.first().waitFor({ state: 'detached' });
      await fresh.context.close();
    });

    it('shows a new attack live, and hostile names as text', async () => {
      await go('Now');
      await heading().getByText('No attack').waitFor();
      await checkState(tab, 'now-quiet');
      flood = await Flood.start(ZONE, server.dns);
      await heading().getByText(`Attack on ${ZONE} since`).waitFor();
      await page.getByRole('status').getByText('Attack in progress').waitFor({ state: 'attached' });
      await page.getByText('would be dropped if the rule were enabled').waitFor();
      await until('the graph to show would-be drops', async () => (await painted('would-drop')) > 0);
      expect(await painted('dropped')).toBe(0);
      await page.locator('.top li').first().waitFor();
      await page.getByText('Queries that an enabled rule with each combination would limit').waitFor();
      await page.getByText(/^From [\d,]+ of [\d,]+ queries of the last \d+ s\.$/).waitFor();
      const cells = page.locator('.matrix td.number');
      await cells
        .getByText(/^[1-9]\d %/)
        .first()
        .waitFor();
      expect(await cells.count()).toBe(12);
      await checkPage(tab, 'now-attack');
      await page.getByRole('link', { name: 'Attack details' }).click();
      await page
        .getByText(/^Since .* 0 % of [\d,]+ queries limited, \d+ % would have been dropped\./)
        .waitFor();
      await page.getByText('Sample names').click();
      await until('hostile names among the samples', async () =>
        /\\\d{3}/.test((await texts('.samples')).join()),
      );
      await checkPage(tab, 'attack');
      await button('Copy report').click();
      await page.getByText('✓ Copied').waitFor();
      expect(await inPage(page, 'navigator.clipboard.readText()')).toMatch(
        /^Attack on example\.test\n {2}id +[0-9a-f-]{36}\n[\s\S]*Names: would be dropped most:\n/,
      );
      await go('Attacks');
      await page.getByText('Attacks in the last 90 days: 1 (1 active).').waitFor();
      // Each page has a bar, and the tab another title and icon.
      await page
        .getByRole('complementary', { name: 'Attack' })
        .getByText(`▲ Attack on ${ZONE} since`)
        .waitFor();
      await expect.poll(() => page.title()).toBe('▲ Attack · Attacks · Floodgate');
      await expect
        .poll(() => inPage(page, 'document.querySelector("link[rel=icon]").href'))
        .toContain('markAttack');
      // The page shows local time, and UTC in the tooltip.
      const began = page.locator('main tbody time').first();
      const utc = (await began.getAttribute('title')) ?? '';
      expect(utc).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \(UTC\)$/);
      const [, clock] = /(\d\d:\d\d:\d\d)$/.exec((await began.textContent()) ?? '') ?? [];
      expect(clock).toBe(
        new Date(utc.replace(' (UTC)', '')).toLocaleTimeString('en-GB', { timeZone: 'Europe/Zurich' }),
      );
      await checkPage(tab, 'attacks');
    });

    it('notifies about a new attack after the user switched that on, and not about attacks before', async () => {
      const notified = await openTab(browser, server.url);
      await notified.page.addInitScript({ content: RECORD_NOTIFICATIONS });
      await notified.page.goto(`${server.url}/console/attacks`);
      await notified.page.getByLabel('Token', { exact: true }).fill(server.token);
      await notified.page.getByRole('button', { name: 'Sign in' }).click();
      await notified.page.getByRole('button', { name: 'Switch on' }).click();
      await notified.page.getByRole('button', { name: 'Switch off' }).waitFor();
      await notified.page.getByText('▲ Attack on').waitFor();
      expect(await inPage(notified.page, 'window.notified')).toEqual([]);
      await inPage(notified.page, 'window.beginAttack = true');
      await until(
        'a notification',
        async () => (await inPage<string[]>(notified.page, 'window.notified')).length > 0,
      );
      expect(await inPage(notified.page, 'window.notified')).toEqual([`Attack on ${ZONE}`]);
      expect(notified.faults).toEqual([]);
      await notified.context.close();
    });

    it('requests an attack once if the live stream connects late', async () => {
      const late = await signedInTab('attacks');
      const { id } = (await api('/../attacks')).result[0];
      await late.page.getByText('● live').waitFor();
      await holdRequests(late.page, '**/live');
      const reads = readsOf(late.page, `/attacks/${id}`);
      await late.page.goto(`${server.url}/console/attacks/${id}`);
      // After 3 s without a message, the page does not know whether the attack continues.
      await heading(late.page).getByText(`Attack on ${ZONE}`).waitFor();
      await inPage(late.page, DRAWN);
      expect(reads()).toBe(1);
      await late.context.close();
    });

    it('shifts no content and requests analytics once if the guard status and the counts arrive late', async () => {
      const late = await signedInTab(`rules/${(await theRule()).id}`);
      const settings = late.page.getByRole('heading', { name: 'Settings' });
      await late.page.getByText('● live').waitFor();
      for (const width of [360, 700, 1280]) {
        await late.page.setViewportSize({ width, height: 800 });
        const letLive = await holdRequests(late.page, '**/live');
        const letCounts = await holdRequests(late.page, '**/analytics');
        const reads = readsOf(late.page, '/analytics');
        await late.page.reload();
        const place = await settings.boundingBox();
        letCounts();
        await late.page.getByText(/would have dropped [1-9]/).waitFor();
        await inPage(late.page, DRAWN);
        expect(reads()).toBe(1);
        expect(await settings.boundingBox(), `${width}, counts`).toEqual(place);
        letLive();
        await late.page.getByText('in force here').waitFor();
        expect(await settings.boundingBox(), `${width}, guard`).toEqual(place);
      }
      await checkState(late, 'rule-late');
      await late.context.close();
    });

    it('asks for confirmation of a mode that was clicked before the rule in force was loaded', async () => {
      await go('Rules');
      const letThrough = await holdRequests(page, '**/rules/*');
      await go('Now');
      await button('enabled').click();
      letThrough();
      const dialog = page.getByRole('dialog', { name: 'Set the rule for everywhere to enabled?' });
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.unrouteAll({ behavior: 'wait' });
      expect((await theRule()).mode).toBe('monitoring');
    });

    it('changes the rule that is in force now, not the one that was in force before', async () => {
      const before = await theRule();
      const letThrough = await holdRequests(page, '**/rules/*');
      const { result } = await api('', {
        method: 'POST',
        body: JSON.stringify({ ...LOW, scope: 'global', name: 'newer', mode: 'monitoring' }),
      });
      await page.locator(`.in-force a[href$="${result.id}"]`).waitFor();
      await button('disabled').click();
      letThrough();
      await page.getByRole('button', { name: 'Set to disabled' }).click();
      await page.getByText('is now disabled').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      expect(await api(`/${before.id}`)).toMatchObject({ result: { mode: 'monitoring' } });
      await go('Rules');
      await hitsRead();
      await api(`/${result.id}`, { method: 'DELETE' });
      await heading().getByText('1 rule. In force here: the rule for everywhere, monitoring.').waitFor();
    });

    it('shows what monitoring would have dropped, enables the rule, shows the drops, and undoes a change of mode', async () => {
      if (flood === undefined) throw new Error('the flood was not started');
      await go('Rules');
      await page.getByRole('link', { name: 'everywhere' }).click();
      await page.getByText(/would have dropped [1-9]/).waitFor();
      await page.getByText('✓ No user would have been affected').waitFor();
      await checkState(tab, 'rule-monitoring');
      expect((await counted()).dropped).toBe(0);
      await go('Now');
      await button('enabled').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Set the rule for everywhere to enabled?').waitFor();
      await checkState(tab, 'confirm');
      await dialog.getByRole('button', { name: 'Set to enabled' }).click();
      await page.getByText('The rule for everywhere is now enabled (was monitoring).').waitFor();
      expect((await theRule()).mode).toBe('enabled');
      await until('more than 1,000 drops in the status', async () => (await counted()).dropped > 1000);
      await until('fewer than half of the flood queries to be answered', async () => {
        const { sent, answered } = flood as Flood;
        await until('2,000 more queries to be sent', () => (flood as Flood).sent > sent + 2000);
        return (flood as Flood).answered - answered < ((flood as Flood).sent - sent) / 2;
      });
      await page
        .locator('.banner')
        .getByText(/[1-9][\d.]* % of them limited/)
        .waitFor();
      // A graph that spans the change of mode shows both series, here and on the page of the attack.
      const bothSeries = async () => (await painted('dropped')) > 0 && (await painted('would-drop')) > 0;
      await until('drops and would-be drops in the graph', bothSeries);
      expect((await texts('.legend-title')).map((text) => text.trim())).toEqual([
        'answered',
        'limited by the guard',
        'not answered by the servers',
        'passed',
        'would drop',
        'truncated',
        'dropped',
        'rate limit',
      ]);
      await checkState(tab, 'now-enabled');
      await page.getByRole('link', { name: 'Attack details' }).click();
      await page
        .getByText(/^Since .* [\d.]+ % of [\d,]+ queries limited, [\d.]+ % would have been dropped\./)
        .waitFor();
      await page.getByRole('heading', { name: 'Limited most, or would be dropped' }).waitFor();
      await until('drops and would-be drops in the graph of the attack', bothSeries);
      await go('Now');

      await button('disabled').click();
      await dialog.getByRole('button', { name: 'Set to disabled' }).click();
      await page.getByText('is now disabled').waitFor();
      await button('Undo').click();
      await page.getByText('Undone:').waitFor();
      expect((await theRule()).mode).toBe('enabled');
    });

    it('shows the values and sample queries of a second, a table and a CSV file, and zooms by dragging', async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      const graph = page.getByRole('slider', { name: 'All queries per second' });
      await graph.focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Shift+ArrowLeft');
      await expect.poll(() => graph.getAttribute('aria-valuetext')).toMatch(/^\d\d:\d\d:\d\d: passed \d/);
      // In the last seconds, the rule was disabled for a moment.
      await until('a second with drops or would-be drops', async () => {
        if (/drop(ped)? [1-9]/.test((await graph.getAttribute('aria-valuetext')) ?? '')) return true;
        await page.keyboard.press('ArrowLeft');
        return false;
      });
      await page.keyboard.press('Enter');
      await page.getByText(/\d+ of [\d,]+ queries that the guard limited, or would have:/).waitFor();
      await until('names of the zone among the samples', async () =>
        (await texts('.samples')).join().includes(ZONE),
      );
      await page.locator('.samples').getByRole('button', { name: 'Allow' }).first().waitFor();
      const frame = page.locator('figure.graph').nth(1);
      await frame.getByRole('button', { name: 'Show as table' }).click();
      expect(await frame.locator('tbody tr').count()).toBeGreaterThan(5);
      await checkState(tab, 'now-table');
      await page.setViewportSize({ width: 1280, height: 800 });
      const saved = page.waitForEvent('download');
      await frame.getByRole('button', { name: 'Save as CSV' }).click();
      const csv = await readFile(await (await saved).path(), 'utf8');
      expect(csv).toMatch(/^time \(UTC\),passed,would drop,truncated,dropped,rate limit\r\n\d{4}-.*Z,\d/);
      const { x, y, width } = (await graph.boundingBox()) ?? { x: 0, y: 0, width: 0 };
      await page.mouse.move(x + width / 2, y + 50);
      await page.mouse.down();
      await page.mouse.move(x + width * 0.9, y + 50, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/from=\d{4}-.*&to=\d{4}-/);
      await frame.locator('tbody').waitFor({ state: 'detached' });
      await page.getByLabel('Time range').selectOption('1h');
      await page.waitForURL(/range=1h/);
      await page.getByText('queries/s, mean of each minute').waitFor();
      await page.getByText('Sample queries exist for each second of the last 10 minutes.').waitFor();
      await until('drops in the graph', async () => (await painted('dropped')) > 0);
      await checkState(tab, 'now-hour');
      await page.getByLabel('Time range').selectOption('10m');
    });

    it('explains a known name, and shows a hostile one as text', async () => {
      await page.keyboard.press('/');
      await page.keyboard.type(`www.${ZONE}`);
      await page.keyboard.press('Enter');
      await page.getByText(/passes: it does not have to pay. It is known, with A, AAAA/).waitFor();
      expect(page.url()).toContain(`/console/?name=www.${ZONE}&type=A`);
      await page.getByRole('textbox', { name: 'Name' }).fill('<img src=x onerror=alert(1)>\u202e.test');
      await button('Explain').click();
      await page
        .locator('.explained')
        .getByText(/onerror/)
        .waitFor();
      expect(await page.locator('main img').count()).toBe(0);
    });

    it('keeps unsaved input if another client changes the rule first', async () => {
      const { id } = await theRule();
      await page.goto(`${server.url}/console/rules/${id}`);
      await page.getByLabel('Rate sensitivity').selectOption('low');
      await api(`/${id}`, { method: 'PATCH', body: JSON.stringify({ burst_sensitivity: 'high' }) });
      await page.getByText('Another client changed this rule in the meantime').waitFor();
      await expect.poll(() => page.getByLabel('Rate sensitivity').inputValue()).toBe('low');
      await button('Discard mine').click();
      await page.getByLabel('Rate sensitivity').selectOption('low');
      // The other change arrives just before this one, so that the page still sends the old ETag.
      await page.route('**/rules/*', async (route) => {
        if (route.request().method() === 'PATCH')
          await api(`/${id}`, { method: 'PATCH', body: JSON.stringify({ burst_sensitivity: 'low' }) });
        return route.fallback();
      });
      await button('Save').first().click();
      await page.getByText('Another client changed this rule in the meantime').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await checkPage(
        { ...tab, faults: tab.faults.filter((fault) => !fault.includes('412')) },
        'rule-conflict',
      );
      tab.faults.length = 0;
      await expect.poll(() => page.getByLabel('Rate sensitivity').inputValue()).toBe('low');
      await button('Save mine over theirs').click();
      await page.getByText('Saved for everywhere: rate sensitivity medium → low.').waitFor();
      expect(await theRule()).toMatchObject({
        rate_sensitivity: 'low',
        burst_sensitivity: 'low',
        mode: 'enabled',
      });
      await page.locator('.history li').nth(4).waitFor();
      // The newest entry is first and shows the changed field.
      const newest = page.locator('.history li').first();
      await expect.poll(() => newest.textContent()).toMatch(/changed by.*rate.sensitivity.*medium.*low/is);
      await checkPage(tab, 'rule');
      // A copied link works in a new tab, and the page never knew a secret that it could keep.
      const copy = await openTab(browser, server.url, await tab.context.storageState());
      await copy.page.goto(page.url());
      await heading(copy.page).getByText('Rule for everywhere').waitFor();
      expect(
        await inPage(copy.page, 'sessionStorage.length + localStorage.length + document.cookie.length'),
      ).toBe(0);
      await copy.context.close();
    });

    it('shows an unknown status and no green text while the server hangs', async () => {
      await go('Now');
      await page.getByText('● live').waitFor();
      expect(await green()).not.toEqual([]);
      server.freeze();
      await heading()
        .getByText(/^\? Unknown since \d\d:\d\d:\d\d\.$/)
        .waitFor();
      expect(await green()).toEqual([]);
      await page.locator('.banner').getByText('shows the last known state: there was an attack.').waitFor();
      await checkState(tab, 'now-unknown');
      await go('Attacks');
      await heading()
        .getByText(/^\? Unknown since/)
        .waitFor();
      await go('Now');
      server.thaw();
      await heading().getByText(`Attack on ${ZONE} since`).waitFor();
      await page.getByText('● live').waitFor();
    });

    it('reconnects after the server restarts, and shows "reconnecting" until then', async () => {
      await go('Now');
      await page.getByText('● live').waitFor();
      await server.stop();
      await page.getByText(/reconnecting, last update \d+ s ago/).waitFor();
      await heading()
        .getByText(/^\? Unknown since/)
        .waitFor();
      expect(await green()).toEqual([]);
      server = await startDevServer(dataDir, port);
      if (flood) flood.target = server.dns;
      await page.getByText('● live').waitFor();
      await heading()
        .getByText(/attack/i)
        .waitFor();
      // Messages that the browser logs for requests without a response, or rejected by a stopping server.
      tab.faults.splice(
        0,
        tab.faults.length,
        ...tab.faults.filter((fault) => !/ERR_|Failed to fetch|network error|status of 503/.test(fault)),
      );
      expect(tab.faults).toEqual([]);
    });

    it('shows a read-only token no buttons for changes, and reconnects after the limit of live streams', async () => {
      const { stdout } = await floodgate(
        [
          'token',
          'create',
          '--json',
          '--account',
          server.account,
          '--permission',
          'read',
          '--label',
          '<b>reader</b>',
        ],
        { env: { FLOODGATE_DATA_DIR: dataDir } },
      );
      const { token } = JSON.parse(stdout);
      const reader = await openTab(browser, server.url);
      await reader.page.goto(`${server.url}/console/rules`);
      await reader.page.getByLabel('Token', { exact: true }).fill(token);
      await reader.page.getByRole('button', { name: 'Sign in' }).click();
      await reader.page.getByRole('link', { name: 'everywhere' }).click();
      await reader.page.getByText('shown to tokens with dns_protection:audit').waitFor();
      const names = await reader.page.locator('main').getByRole('button').allTextContents();
      expect(names.filter((name) => !name.startsWith('Copy'))).toEqual([]);
      expect(await reader.page.getByRole('link', { name: 'New rule' }).count()).toBe(0);
      await checkState(reader, 'rule-reader');
      await reader.page.getByRole('button', { name: 'account and menu' }).click();
      await reader.page.getByText('<b>reader</b>').waitFor();
      await checkState(reader, 'menu');

      // At the limit of live streams per token, the page shows a message. It is live again when a stream is free.
      const many = new AbortController();
      const live = rulesUrl().replace(/rules$/, 'live');
      const init = { headers: { authorization: `Bearer ${token}` }, signal: many.signal };
      await Promise.all(Array.from({ length: 7 }, () => fetch(live, init)));
      expect((await fetch(live, init)).status).toBe(429);
      await reader.page.goto('about:blank');
      const more = await until('a free live stream', async () => {
        const answer = await fetch(live, init);
        return answer.status === 200 && answer;
      });
      await reader.page.goto(`${server.url}/console/rules`);
      const dot = reader.page.getByRole('status').filter({ hasText: 'too many streams' });
      await dot.waitFor();
      await expect.poll(() => dot.getAttribute('title')).toBe('Limit of live streams reached: 8 per token');
      await more.body?.cancel();
      await reader.page.getByText('● live').waitFor();
      many.abort();
      await reader.context.close();
    });

    it('filters rules by location and mode, and hides the others', async () => {
      const { id } = await theRule();
      const lax = { scope: 'datacenter', name: 'lax', mode: 'disabled' };
      const made = await api('', { method: 'POST', body: JSON.stringify({ ...LOW, ...lax }) });
      await go('Rules');
      const search = page.getByRole('searchbox');
      const rows = page.locator('main tbody').getByRole('row');
      const hidden = page.locator(`main tbody a[href*="${id}"]`);
      await expect.poll(() => rows.count()).toBe(2);
      for (const text of ['LAX', 'disabled']) {
        await search.fill(text);
        await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining('datacenter lax')]);
        expect(await hidden.isVisible()).toBe(false);
        await heading().getByText('2 rules. In force here: the rule for everywhere').waitFor();
      }
      await checkState(tab, 'rules-found');
      await search.fill('nowhere');
      await page.getByText('No rule has “nowhere” in its scope or mode.').waitFor();
      expect(await page.locator('main table').isVisible()).toBe(false);
      await search.fill('');
      await expect.poll(() => rows.count()).toBe(2);
      expect(await hidden.isVisible()).toBe(true);
      await hitsRead();
      await api(`/${made.result.id}`, { method: 'DELETE' });
      await expect.poll(() => rows.count()).toBe(1);
    });

    it('shows the current rules if one was created and deleted between two messages of the stream', async () => {
      const rows = page.locator('main tbody').getByRole('row');
      await go('Now');
      await threeMessages();
      const rule = { ...LOW, scope: 'datacenter', name: 'ams', mode: 'disabled' };
      const made = await api('', { method: 'POST', body: JSON.stringify(rule) });
      await go('Rules');
      await expect.poll(() => rows.count()).toBe(2);
      await hitsRead();
      await api(`/${made.result.id}`, { method: 'DELETE' });
      await expect.poll(() => rows.count()).toBe(1);
    });

    it('deletes a rule after its name was typed, and creates it again with Undo', async () => {
      await go('Rules');
      await checkPage(tab, 'rules');
      await page.getByRole('link', { name: 'everywhere' }).click();
      await button('Delete …').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('no rule is in force, and every query passes unless it is denied').waitFor();
      expect(await dialog.getByRole('button', { name: 'Delete the rule' }).isDisabled()).toBe(true);
      await dialog.getByRole('textbox').fill('global');
      // The stream reports the deletion before the response arrives.
      await page.route('**/rules/*', async (route) => {
        if (route.request().method() !== 'DELETE') return route.fallback();
        const response = await fetchRoute(route);
        await threeMessages();
        return route.fulfill({ response });
      });
      await dialog.getByRole('button', { name: 'Delete the rule' }).click();
      await page.getByText('No rule yet').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      expect((await api('')).result).toEqual([]);
      await button('Undo').click();
      await page.getByText('is restored, with a new id').waitFor();
      expect(await theRule()).toMatchObject({ rate_sensitivity: 'low', mode: 'enabled' });
      expect(tab.faults).toEqual([]);
    });

    it('is served with a strict policy, immutable assets and no sign-in for a wrong code', async () => {
      const answer = await fetch(`${server.url}/console/any/where?x=1`);
      const html = await answer.text();
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
      for (const word of [
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ])
        expect(policy).toContain(word);
      expect(policy).not.toMatch(/unsafe|\*|http/);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toBe('no-cache');
      let bytes = 0;
      for (const [, path] of html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)) {
        const file = await fetch(server.url + path);
        expect(file.headers.get('cache-control')).toContain('immutable');
        expect(file.headers.get('content-encoding')).toBe('gzip');
        bytes += Number(file.headers.get('content-length'));
      }
      expect(bytes).toBeGreaterThan(10_000);
      expect(bytes).toBeLessThan(150_000);
      expect((await fetch(`${server.url}/console/assets/none-AAAAAAAA.js`)).status).toBe(404);
      const post = (body: string, type: string) =>
        fetch(`${server.url}/console/sign-in`, {
          method: 'POST',
          body,
          headers: { 'content-type': type, 'x-floodgate-console': '1', 'sec-fetch-site': 'same-origin' },
        });
      const { hash } = new URL(server.link);
      // A page of another origin can send text/plain without a CORS preflight.
      expect((await post(JSON.stringify({ code: hash.slice(6) }), 'text/plain')).status).toBe(415);
      for (const body of ['{"code":"wrong"}', '{"code":7}', '[]', 'null', '{}'])
        expect([body, (await post(body, 'application/json')).status]).toEqual([body, 403]);
      const right = await post(JSON.stringify({ code: hash.slice(6) }), 'application/json');
      expect([right.status, right.headers.get('cache-control'), await right.json()]).toEqual([
        200,
        'no-store',
        {},
      ]);
      expect(right.headers.get('set-cookie')).toContain('HttpOnly; SameSite=Strict');
      expect((await post(JSON.stringify({ code: hash.slice(6) }), 'application/json')).status).toBe(403);
    });
  },
);
