import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { rulesPath } from '../rules/support/samples.ts';
import { type RulesServer, startServer } from '../rules/support/server.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { CHROMIUM, fetchRoute, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { checkPage, checkState, checkWidth } from './support/checkPages.ts';
import { Flood } from './support/flood.ts';

const ACCOUNT = 'a';

describe.skipIf(CHROMIUM === undefined || postgresFolder === undefined)(
  `the console of a fleet${CHROMIUM ? '' : ' (Chromium is not installed)'}${WITHOUT_POSTGRES}`,
  () => {
    let folder = '';
    let postgres: Postgres;
    let authority: AuthorityServer;
    let browser: Browser;
    let here: RulesServer;
    let there: RulesServer;
    let flood: Flood | undefined;
    let tab: Tab;

    beforeAll(async () => {
      [postgres, authority, browser] = await Promise.all([
        Postgres.start(),
        serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0),
        launchBrowser(),
      ]);
      folder = mkdtempSync(join(tmpdir(), 'floodgate-places-'));
      const zone = join(folder, ZONE_NAME);
      writeFileSync(zone, ZONE_TEXT);
      const guardAt = (region: string, datacenter: string): Promise<RulesServer> =>
        startServer({
          args: [
            '--rules-store',
            postgres.url(),
            '--console-enabled',
            '--dns-account',
            ACCOUNT,
            '--dns-listen',
            '127.0.0.1:0',
            '--dns-region',
            region,
            '--dns-datacenter',
            datacenter,
            '--dns-servers',
            `${authority.host}:${authority.port}`,
            '--dns-zones',
            `${ZONE_NAME}=${zone}`,
          ],
        });
      here = await guardAt('WEUR', 'AMS');
      there = await guardAt('WNAM', 'SJC');
      tab = await openTab(browser, here.url);
    });
    afterAll(async () => {
      await flood?.stop();
      await browser?.close();
      await Promise.all([here?.stop(), there?.stop()]);
      await authority?.stop();
      await postgres?.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    it('shows the location of an attack, and no graph for an attack that another guard reported', async () => {
      flood = await Flood.start(ZONE_NAME, { host: '127.0.0.1', port: there.dnsPort });
      const { page } = tab;
      await page.goto(`${here.url}/console/attacks`);
      await page.getByLabel('Token', { exact: true }).fill(here.token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const row = page.locator('main tbody tr').filter({ hasText: 'SJC, WNAM' });
      await row.getByText('active').waitFor();
      await page.getByRole('heading', { name: /Attacks in the last 90 days: 1 \(1 active\)/ }).waitFor();
      await expect.poll(() => page.getByRole('columnheader', { name: 'Seen at' }).count()).toBe(1);
      await checkState(tab, 'attacks-fleet');
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await row.getByRole('link').click();
      await page.getByRole('heading', { name: 'at SJC, WNAM' }).waitFor();
      await page.getByText('No graph').waitFor();
      await page.getByRole('button', { name: 'Copy report' }).click();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(
        '\n  seen at       SJC, WNAM\n',
      );
      await checkState(tab, 'attack-elsewhere');
      // The page requests the attack again while it continues, although this guard's live stream does not contain it.
      const times = () => asked.filter((url) => /\/attacks\/[0-9a-f-]{36}$/.test(url)).length;
      const before = times();
      await until('another request for the attack', () => times() > before);
      await page.getByRole('link', { name: '← All attacks' }).click();
      await row.waitFor();
      await page.getByRole('link', { name: 'Now', exact: true }).first().click();
      await page.getByRole('heading', { name: '✓ No attack.' }).waitFor();
      await page.getByText('▲ Attack at another guard:').waitFor();
      await checkState(tab, 'now-elsewhere');
      await page.getByRole('link', { name: `${ZONE_NAME} at SJC, WNAM` }).click();
      await page.waitForURL('**/console/attacks/*');
      await page.getByRole('link', { name: '← All attacks' }).click();
      expect(tab.faults).toEqual([]);
    });

    it('shows the id of a guard without a location', async () => {
      const path = `/client/v4${rulesPath(ACCOUNT).replace(/rules$/, '')}`;
      const { page } = tab;
      await page.route(`**${path}attacks*`, async (route) => {
        const answer = await fetchRoute(route);
        const body = await answer.json();
        for (const attack of body.result) {
          delete attack.region;
          delete attack.datacenter;
        }
        return route.fulfill({ response: answer, body: JSON.stringify(body) });
      });
      await page.getByRole('combobox').selectOption('1');
      await page
        .locator('main tbody')
        .getByText(/guard [0-9a-f]{8}/)
        .waitFor();
      await page.unrouteAll({ behavior: 'wait' });
    });

    it('lists the guards with state, rule in force and version, in an order that the URL contains', async () => {
      const { page } = tab;
      await page.getByRole('link', { name: 'Fleet', exact: true }).first().click();
      await page.getByRole('heading', { name: 'Guards: 2 up.' }).waitFor();
      const rows = page.getByRole('table', { name: 'Guards' }).locator('tbody tr');
      await rows.first().getByText('WEUR, AMS').waitFor();
      await rows.first().getByText('this server').waitFor();
      await rows.first().getByText('none: every query passes unless it is denied').waitFor();
      await page.getByText(/This server has the roles .*guard.* floodgate \d/).waitFor();
      await page.getByRole('button', { name: 'Location', exact: true }).click();
      await rows.first().getByText('WNAM, SJC').waitFor();
      expect(new URL(page.url()).search).toBe('?sort=-location');
      // A guard is silent after 30 s, so the response is that of a later time, with an update in between.
      await page.route('**/fleet', async (route) => {
        const response = await fetchRoute(route);
        const body = await response.json();
        const [first] = body.result;
        Object.assign(first, { is_up: false, version: '0.0.9' });
        return route.fulfill({ response, json: body });
      });
      await page.getByRole('link', { name: 'Now', exact: true }).first().click();
      await page.getByRole('link', { name: 'Fleet', exact: true }).first().click();
      await page.getByRole('heading', { name: 'Guards: 1 up, 1 silent, 1 with an older version.' }).waitFor();
      await page.getByText('▲ silent: no report for 30 s').waitFor();
      await checkPage(tab, 'fleet');
      await checkWidth(tab, 'fleet');
      await page.unrouteAll({ behavior: 'wait' });
    });
  },
);
