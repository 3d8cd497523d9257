import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type AlertReceiver, startAlertReceiver } from '../support/alertReceiver.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { CHROMIUM, inPage, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { checkNarrow, DRAWN } from './support/checkPages.ts';

const ACCOUNT = 'a';
const CONFIGS = rulesPath(ACCOUNT).replace(/\/dns_protection\/rules$/, '');
const READ = ['dns_protection:read', 'dns_protection:audit'];
const READ_ALL = [...READ, 'tokens:read', 'health:read', 'nodes:read', 'keys:read'];

/** Each page with a text of its normal state, and with the controls that a token needs a write permission for. */
const PAGES: readonly (readonly [path: string, settled: string, controls: readonly string[]])[] = [
  ['', 'No attack.', ['disabled', 'enabled', 'monitoring']],
  ['attacks', 'No attacks in this period', []],
  ['rules', '1 h', ['Mode of the rule for everywhere', 'New rule']],
  ['rules/RULE', 'Rule for everywhere', ['Delete …', 'Discard changes', 'Enable it …', 'Save']],
  ['zones', 'Policy', ['New policy']],
  ['zones/POLICY', `Policy for ${ZONE_NAME}`, ['Delete …', 'Forget what was learned …']],
  ['lists', 'Denied: 1 network', ['Add the entry', 'Delete 192.0.2.0/24']],
  ['lists/denylist/ENTRY', 'Entry for 192.0.2.0/24', ['Delete …', 'Save']],
  ['activity', 'Newest change', []],
  ['alerts', 'Webhooks', ['Send a test alert …']],
  ['fleet', 'this server', []],
  ['nodes', 'Answered from the cache', ['Drain']],
  ['access', 'Browsers that are signed in', ['New key', 'New token', 'Revoke']],
  ['traces', 'Latest blocks', []],
  ['try', 'operations to try', []],
];
/** Controls that also exist without a write permission. */
const FOR_ALL =
  /^(Copy|Save as CSV|Show|Hide|CSV|Switch|Explain|Search|No new changes|Unfold|Fold|Newest|Older|Dismiss|Close|↑)|↕$|↑$|↓$|^(Back to live|Try again|End session)$/;

describe.skipIf(CHROMIUM === undefined)(
  `the states of each page${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let chain: SharedChain;
    let authority: AuthorityServer;
    let receiver: AlertReceiver;
    let server: Floodgate;
    let browser: Browser;
    let operator: Tab;
    let reader: Tab;
    const ids: Record<string, string> = {};
    /** How requests of the operator's tab to the APIs are answered. */
    let answers: 'held' | 'failed' | 'sent' = 'sent';
    let release = () => {};

    beforeAll(async () => {
      [chain, receiver, authority, browser] = await Promise.all([
        startSharedChain(),
        startAlertReceiver(),
        serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0),
        launchBrowser(),
      ]);
      server = await startFloodgate({
        upstream: [chain.anvil.url],
        config: { index: { finality: 'none' }, console: { enabled: true } },
        env: { FLOODGATE_ALERTS_WEBHOOKS: receiver.url, FLOODGATE_ALERTS_ALLOW_PRIVATE: 'true' },
        args: [
          '--dns-account',
          ACCOUNT,
          '--dns-listen',
          '127.0.0.1:0',
          '--dns-servers',
          `${authority.host}:${authority.port}`,
        ],
      });
      ids['RULE'] = (await create(rulesPath(ACCOUNT), { ...newRule, mode: 'monitoring' })).id;
      ids['ENTRY'] = (await create(`${CONFIGS}/denylist`, { prefix: '192.0.2.0/24' })).id;
      ids['POLICY'] = (await create(`${CONFIGS}/dns_protection/zones`, { zone: ZONE_NAME })).id;
      operator = await signedIn(server.token);
      await operator.page.route(/\/client\/v4\/|\/console\/(v1|sessions)/, answer);
      reader = await signedIn(await tokenWith(READ_ALL));
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
      await authority?.stop();
      await receiver?.stop();
      await chain?.anvil.stop();
    });

    const create = async (path: string, body: object) => {
      const answer = await fetch(`${server.url}/client/v4${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${server.token}` },
      });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
      const { result, errors } = (await answer.json()) as any;
      expect(errors).toEqual([]);
      return result;
    };
    const tokenWith = async (permissions: readonly string[]): Promise<string> =>
      (await create('/user/tokens', { all_accounts: true, permissions })).value;
    const signedIn = async (token: string): Promise<Tab> => {
      const tab = await openTab(browser, server.url);
      await tab.page.goto(`${server.url}/console/try`);
      await tab.page.getByLabel('Token', { exact: true }).fill(token);
      await tab.page.getByRole('button', { name: 'Sign in' }).click();
      await tab.page.getByText('operations to try').waitFor();
      return tab;
    };
    async function answer(route: Route): Promise<void> {
      const isOfFrame = /\/(current|live)$/.test(route.request().url());
      if (answers === 'sent' || isOfFrame) return route.continue();
      if (answers === 'failed')
        return route.fulfill({
          status: 500,
          contentType: 'application/json',
          body: '{"result":null,"success":false,"errors":[{"code":1000,"message":"Internal error, request 7"}]}',
        });
      await new Promise<void>((resolve) => {
        const others = release;
        release = () => {
          others();
          resolve();
        };
      });
      // The page may have been left in the meantime.
      return answer(route).catch(() => undefined);
    }
    const urlOf = (path: string): string =>
      `${server.url}/console/${path.replace(/[A-Z]+$/, (name) => ids[name] ?? name)}`;
    const main = ({ page }: Tab) => page.locator('main');
    /** Returns the accessible names of the controls that change something. */
    const controls = async ({ page }: Tab): Promise<string[]> => {
      const names = page
        .locator('main')
        .locator('button, a.button, td select, .in-force a[href$=new]')
        .evaluateAll((all: { ariaLabel: string | null; textContent: string | null }[]) =>
          all.map((one) => one.ariaLabel ?? one.textContent ?? ''),
        );
      return [...new Set((await names).map((name) => name.trim()))]
        .filter((name) => !FOR_ALL.test(name))
        .sort();
    };

    it.for(PAGES)('/%s', async ([path, settled, expected]) => {
      const { page } = operator;
      const text = () => main(operator).textContent();
      answers = 'held';
      await page.goto(urlOf(path));
      await main(operator)
        .getByText(/Reading|No attack/)
        .first()
        .waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      answers = 'failed';
      release();
      release = () => {};
      await main(operator)
        .getByText(/could not|not up to date/)
        .first()
        .waitFor();
      // Nothing was changed by a request that only reads, and no page shows a route or a value of JavaScript.
      expect(await text()).not.toMatch(/not known whether|\/client\/|undefined|NaN|\[object|Reading /);
      await checkNarrow(operator, `${path.replaceAll('/', '-')}-failed`);
      answers = 'sent';
      await page.getByRole('button', { name: 'Try again' }).evaluateAll((all: { click(): void }[]) => {
        for (const retry of all) retry.click();
      });
      await main(operator).getByText(settled).first().waitFor();
      await expect.poll(() => page.getByRole('alert').count()).toBe(0);
      for (const control of expected) await expect.poll(() => controls(operator)).toContain(control);

      await reader.page.goto(urlOf(path));
      await main(reader).getByText(settled).first().waitFor();
      expect(await controls(reader)).toEqual([]);
      // The browser logs the failed requests itself.
      const faults = [...operator.faults, ...reader.faults];
      expect(faults.filter((fault) => !fault.includes('status of 500'))).toEqual([]);
    });

    it('/rules calls no rule "not in force" if the guards could not be read', async () => {
      const { page } = reader;
      const failed = page.waitForResponse((response) => response.url().endsWith('/fleet'));
      await page.route('**/fleet', (route) => route.fulfill({ status: 500, json: {} }));
      await page.goto(urlOf('rules'));
      await failed;
      await page.locator('main tbody').getByText('…').waitFor();
      await inPage(page, DRAWN);
      expect(await page.locator('main tbody').getByText('not in force').count()).toBe(0);
      await page.unrouteAll({ behavior: 'wait' });
      // The browser logs the failed request itself.
      reader.faults.length = 0;
    });

    it.each([
      ['nowhere', 'Page not found'],
      ['?account=other', 'No guard runs here for account other'],
      ['rules/%25', 'Rule'],
      ['attacks/%25', 'Attack'],
      ['lists/denylist/%25', 'Entry'],
      ['traces/block/%25', 'Traces'],
      ['attacks?days=soon', 'Attacks in the last 90 days: none.'],
      ['activity?days=1e12&kind=none', 'Newest change'],
    ])('a wrong link, /%s, shows a page with a heading', async (path, title) => {
      const { page } = reader;
      await page.goto(urlOf(path));
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
    });

    it.each([
      ['nodes', 'Server'],
      ['zones', 'Assessments'],
    ])('/%s moves nothing when a later read fails and the next one succeeds', async (path, title) => {
      const { page } = operator;
      const heading = main(operator).getByRole('heading', { name: title });
      answers = 'sent';
      await page.goto(urlOf(path));
      await heading.waitFor();
      const place = await heading.boundingBox();
      answers = 'failed';
      const alert = page.getByRole('alert').first();
      await alert.waitFor();
      expect(await heading.boundingBox()).toEqual(place);
      answers = 'sent';
      await alert.waitFor({ state: 'detached' });
      expect(await heading.boundingBox()).toEqual(place);
    });

    it('/attacks states that there is no guard, if the server has none', async () => {
      const { page } = operator;
      answers = 'sent';
      await page.route(/\/attacks\?/, (route) => route.fulfill({ status: 404, json: { errors: [] } }));
      await page.goto(urlOf('attacks'));
      await page.getByRole('heading', { level: 1, name: 'No guard runs here' }).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      await page.unroute(/\/attacks\?/);
    });

    it('shows all times in UTC after the switch in the menu, also after a reload', async () => {
      const { page } = reader;
      await page.goto(urlOf('activity'));
      const time = page.locator('main time').first();
      const local = await time.textContent();
      await page.getByRole('button', { name: 'account and menu' }).click();
      await page.getByLabel('Show times in UTC').check();
      await page.reload();
      await expect.poll(() => time.textContent()).not.toBe(local);
      const clock = /T(\d\d:\d\d:\d\d)/.exec((await time.getAttribute('datetime')) ?? '')?.[1];
      expect(await time.textContent()).toMatch(new RegExp(`${clock} UTC$`));
    });

    it('writes dates in English, and the days of UTC at the axis of a graph, in any browser', async () => {
      const context = await browser.newContext({
        locale: 'th-TH',
        timezoneId: 'Asia/Kolkata',
        storageState: await reader.context.storageState(),
      });
      const page = await context.newPage();
      await page.addInitScript(`
        localStorage.setItem('floodgate.utc', '1');
        window.drawn = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
          window.drawn.push(text);
          return fillText.call(this, text, ...rest);
        };`);
      await page.goto(urlOf('activity'));
      const year = new Date().getUTCFullYear();
      await page
        .locator('main time')
        .filter({ hasText: new RegExp(`^\\d+ \\w{3,4} ${year}, .* UTC$`) })
        .first()
        .waitFor();
      await page.goto(urlOf('?range=7d'));
      // Midnight in India is 18:30 UTC.
      await expect
        .poll(() => inPage<string[]>(page, 'window.drawn'))
        .toContainEqual(expect.stringMatching(/^\d+ \w{3,4}$/));
      expect(await inPage<string[]>(page, 'window.drawn')).not.toContain('18:30');
      await context.close();
    });

    it('names the day of an earlier period in a graph, and the time zone of an hour that occurs twice', async () => {
      const { page } = operator;
      await page.route('**/rates/minutes?**', async (route) => {
        const since = new URL(route.request().url()).searchParams.get('since');
        const counts = Array(120).fill(1);
        const members = ['passed', 'truncated', 'dropped', 'would_drop', 'known_asked', 'known_answered'];
        const rates = [...members, 'known_limited', 'bucket_per_second', 'attack', 'mode'];
        const result = Object.assign({ since }, ...rates.map((name) => ({ [name]: counts })));
        await route.fulfill({ json: { result, success: true, errors: [], messages: [] } });
      });
      // In Zurich, summer time ends at 01:00 UTC on this day.
      await page.goto(urlOf('?from=2026-10-25T00:00:00Z&to=2026-10-25T02:00:00Z'));
      await page.locator('.legend-time', { hasText: '25 Oct, 02:59 CET' }).first().waitFor();
      await page.getByRole('button', { name: 'Show as table' }).first().click();
      const times = page.getByRole('table').first().locator('tbody td:first-child');
      await times.getByText('25 Oct, 02:59 CEST').waitFor();
      await page.unroute('**/rates/minutes?**');
    });

    it('breaks the longest zone name in a dialog, and the names of settings at 320 px', async () => {
      const { page } = operator;
      const zone = [...Array(3).fill('y'.repeat(63)), 'z'.repeat(61)].join('.');
      const { id } = await create(`${CONFIGS}/dns_protection/zones`, { zone });
      const excess = (element: string) =>
        inPage<number>(page, `${element}.scrollWidth - ${element}.clientWidth`);
      await page.setViewportSize({ width: 320, height: 256 });
      await page.goto(urlOf(`zones/${id}`));
      await page.getByRole('button', { name: 'Delete …' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await excess("document.querySelector('dialog')")).toBe(0);
      await page.goto(urlOf('activity'));
      await page.getByText('only_when_upstream_unhealthy').first().waitFor();
      expect(await excess('document.documentElement')).toBe(0);
    });

    it('moves nothing if the user prefers reduced motion', async () => {
      const moving = () =>
        inPage<number>(
          reader.page,
          `[...document.querySelectorAll('body *')].map((one) => getComputedStyle(one))
            .filter(({ transitionDuration, animationName }) => transitionDuration !== '0s' || animationName !== 'none').length`,
        );
      expect(await moving()).toBeGreaterThan(0);
      await reader.page.emulateMedia({ reducedMotion: 'reduce' });
      expect(await moving()).toBe(0);
    });

    it('marks the current page and the colours of a graph in high contrast', async () => {
      const { page } = reader;
      await page.goto(urlOf(''));
      await page.emulateMedia({ forcedColors: 'active' });
      await page.locator('.swatch').first().waitFor();
      const differing = (selector: string, property: string) =>
        inPage<number>(
          page,
          `new Set([...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).${property})).size`,
        );
      // The current page has another colour than all others.
      expect(await differing('.place', 'borderBottomColor')).toBe(2);
      expect(await differing('.swatch', 'backgroundColor')).toBeGreaterThan(2);
      await page.emulateMedia({ forcedColors: 'none' });
    });

    it('a token sees only the pages that it may read, and the permission that another page requires', async () => {
      const pages = (page: Page) => page.locator('nav.places a').allTextContents();
      const dns = ['Now', 'Attacks', 'Rules', 'Zones'];
      for (const [permissions, visible] of [
        [['dns_protection:read'], [...dns, 'Traces', 'Lists', 'Fleet', 'Try']],
        [['dns_protection:audit'], ['Traces', 'Activity', 'Try']],
        [
          ['health:read', 'keys:read'],
          ['Traces', 'Alerts', 'Nodes', 'Access', 'Try'],
        ],
      ] as const) {
        const tab = await signedIn(await tokenWith(permissions));
        expect(await pages(tab.page)).toEqual(visible);
        await tab.page.goto(urlOf(''));
        await tab.page.locator('nav.places [aria-current=page]').getByText(visible[0]).waitFor();
        const [hidden = '', needed = ''] = visible.includes('Zones' as never)
          ? ['nodes', 'health:read']
          : ['zones', 'dns_protection:read'];
        await tab.page.goto(urlOf(hidden));
        await tab.page.getByRole('heading', { level: 1, name: 'Your token does not allow' }).waitFor();
        await tab.page.getByText(`This page requires the permission ${needed}.`).waitFor();
        await tab.page.goto(urlOf('access'));
        await tab.page
          .getByText(
            visible.includes('Access' as never) ? '(this browser)' : 'permission tokens:read or keys:read.',
          )
          .waitFor();
        expect(tab.faults).toEqual([]);
        await tab.context.close();
      }
    });
  },
);
