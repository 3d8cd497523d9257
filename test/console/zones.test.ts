import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query, UdpClient } from '../dns/support/dnsClient.ts';
import { floodgate } from '../rules/support/command.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';
import { CHROMIUM, holdRequests, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { checkPage, checkState, checkWidth } from './support/checkPages.ts';
import { type DevServer, startDevServer } from './support/devServer.ts';

const ZONE = 'example.test';
const QUERIES = 20;

describe.skipIf(CHROMIUM === undefined)(
  `the page of zones${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let dataDir: string;
    let server: DevServer;
    let browser: Browser;
    let tab: Tab;
    let page: Page;

    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'floodgate-zones-'));
      const port = await freePort();
      [server, browser] = await Promise.all([startDevServer(dataDir, port), launchBrowser()]);
      tab = await openTab(browser, server.url);
      page = tab.page;
      await page.goto(`${server.url}/console/zones`);
      await page.getByLabel('Token', { exact: true }).fill(server.token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
      await rm(dataDir, { recursive: true, force: true });
    });

    const api = async (path: string, method = 'GET', body?: object) => {
      const base = `${server.url}/client/v4/accounts/${server.account}/network/advanced_dns_protection/configs/dns_protection`;
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${server.token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
      return ((await answer.json()) as any).result;
    };
    const policyOf = async (zone: string) =>
      (await api('/zones')).find((policy: { zone: string }) => policy.zone === zone);
    const heading = () => page.locator('main h1').first();
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const field = (name: string) => page.locator(`[name="${name}"]`);
    const dialog = () => page.getByRole('dialog');
    const goToList = () => page.getByRole('link', { name: 'Zones', exact: true }).first().click();
    const openPolicy = async (zone: string) => {
      await goToList();
      await page.getByRole('table', { name: 'Policies' }).getByRole('link', { name: zone }).click();
      await heading().getByText(`Policy for ${zone}`).waitFor();
    };
    /** Ignores errors that the browser itself logs for a rejected request. */
    const ignoreStatus = (status: number) => {
      tab.faults.splice(
        0,
        tab.faults.length,
        ...tab.faults.filter((fault) => !fault.includes(`status of ${status}`)),
      );
    };

    it('shows how to create a policy, and the error of the server at the field of a bad zone name', async () => {
      await page.getByText('No policies: the rule in force applies to all zones').waitFor();
      await page.getByText('The guard has received no queries yet.').waitFor();
      await checkState(tab, 'zones-empty');
      await page.getByRole('link', { name: 'New policy' }).click();
      await heading().getByText('New policy for a zone').waitFor();
      await field('zone').fill('bad..example');
      await field('comment').fill('a blocklist');
      await button('Create the policy').click();
      const error = page.locator('#error-zone');
      await error.waitFor();
      expect(await error.textContent()).toMatch(/empty label|bad\.\.example/);
      expect(await field('zone').getAttribute('aria-invalid')).toBe('true');
      expect(await field('zone').getAttribute('aria-describedby')).toMatch(/ error-zone$/);
      expect(await field('comment').inputValue()).toBe('a blocklist');
      ignoreStatus(400);
      await checkPage(tab, 'zone-bad-name');
    });

    it('creates a policy with all settings', async () => {
      await field('zone').fill('BL.example.');
      await field('judge_by').selectOption('rate');
      await field('rate').fill('2000');
      await field('profile_sensitivity').selectOption('very_high');
      await page.getByLabel('Limit only while the servers are overloaded').check();
      await button('Create the policy').click();
      await heading().getByText('Policy for bl.example').waitFor();
      expect(await policyOf('bl.example')).toMatchObject({
        mode: 'inherit',
        judge_by: 'rate',
        rate: 2000,
        burst: null,
        unknown_per_second: null,
        profile_sensitivity: 'very_high',
        rate_sensitivity: null,
        burst_sensitivity: null,
        only_when_upstream_unhealthy: true,
        comment: 'a blocklist',
      });
      await checkState(tab, 'zone-policy');
      await goToList();
      const row = page.getByRole('row', { name: 'bl.example' });
      await row.getByText('rate, only while the servers are overloaded').waitFor();
      await row.getByText('2,000 queries/s').waitFor();
    });

    it('shows policies that another client creates, changes and deletes', async () => {
      let reads = 0;
      const count = (request: Request) => {
        if (request.url().endsWith('/zones')) reads++;
      };
      page.on('request', count);
      const { id } = await api('/zones', 'POST', { zone: 'dyn.example', mode: 'monitoring' });
      await heading().getByText('2 policies.').waitFor();
      const row = page.getByRole('row', { name: 'dyn.example' });
      await row.getByText('monitoring').waitFor();
      await api(`/zones/${id}`, 'PATCH', { mode: 'disabled', rate_sensitivity: 'high' });
      await row.getByText('disabled').waitFor();
      await row.getByText('rate high').waitFor();
      await page.getByRole('searchbox').fill('BL.');
      await row.waitFor({ state: 'hidden' });
      await page.getByRole('row', { name: 'bl.example' }).waitFor();
      await page.getByRole('searchbox').fill('');
      await checkPage(tab, 'zones');
      await checkWidth(tab, 'zones');
      await api(`/zones/${id}`, 'DELETE');
      await row.waitFor({ state: 'detached' });
      await heading().getByText('1 policy.').waitFor();
      page.off('request', count);
      // One or two reads for each of the three changes: by the live stream, and by its next message.
      expect(reads).toBeLessThanOrEqual(6);
    });

    it('keeps the input if another client changes the policy first (412), and saves it over the change', async () => {
      const { id } = await policyOf('bl.example');
      await openPolicy('bl.example');
      await field('rate').fill('3000');
      await field('comment').fill('changed <b>here</b>');
      // The other change arrives just before this one, so that the page still sends the old ETag.
      await page.route('**/zones/*', async (route) => {
        if (route.request().method() === 'PATCH') await api(`/zones/${id}`, 'PATCH', { rate: 2500 });
        return route.fallback();
      });
      await button('Save').click();
      await page.getByText('Another client changed this policy in the meantime (412)').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      expect(await page.locator('.conflict tbody tr').first().locator('td').allTextContents()).toEqual([
        'Rate (queries/s)',
        '2000',
        '2500',
        '3000',
      ]);
      expect(await field('rate').inputValue()).toBe('3000');
      expect(await field('comment').inputValue()).toBe('changed <b>here</b>');
      ignoreStatus(412);
      await checkState(tab, 'zone-conflict');
      await button('Save mine over theirs').click();
      await page.getByText('Saved for bl.example: rate (queries/s) 2500 → 3000').waitFor();
      expect(await policyOf('bl.example')).toMatchObject({ rate: 3000, comment: 'changed <b>here</b>' });
    });

    it('clears a number with an empty field right after a save, and undoes the change', async () => {
      // The page has not read the saved version yet. This is no conflict.
      const letThrough = await holdRequests(page, '**/zones/*');
      await field('rate').fill('');
      await field('judge_by').selectOption('auto');
      expect(await page.locator('.conflict').count()).toBe(0);
      letThrough();
      await button('Save').click();
      await page.getByText('judge by rate → auto, rate (queries/s) 3000 → not set').waitFor();
      expect(await policyOf('bl.example')).toMatchObject({ judge_by: 'auto', rate: null });
      await page.unrouteAll({ behavior: 'wait' });
      await button('Undo').click();
      await page.getByText('Undone: the policy for bl.example has its previous settings.').waitFor();
      expect(await policyOf('bl.example')).toMatchObject({ judge_by: 'rate', rate: 3000 });
      await expect.poll(() => field('rate').inputValue()).toBe('3000');
    });

    it('shows the assessment of a zone with queries, and lets the guard forget it', async () => {
      const client = await new UdpClient().open();
      for (let i = 0; i < QUERIES; i++) await client.ask(query(`www.${ZONE}`, 1, 1 + i), server.dns);
      client.close();
      const isCounted = async () => (await api(`/zone_assessments?zone=${ZONE}`))[0]?.day.queries > 0;
      await until('the queries to be counted', isCounted);
      const { id } = await api('/zones', 'POST', { zone: ZONE });
      await goToList();
      const row = page.getByRole('table', { name: 'Assessments' }).getByRole('row', { name: ZONE });
      await row.getByText('… still learning').waitFor();
      await row.getByText('names; profile medium, rate medium').waitFor();
      await row.getByText('0 %').nth(2).waitFor();
      await heading().getByText('1 zone: still learning (1). 2 policies.').waitFor();
      await row.getByRole('link', { name: `policy for ${ZONE}` }).click();
      await button('Forget what was learned …').click();
      await dialog().getByText('Names from zone files and transfers remain').waitFor();
      expect(await dialog().getByRole('button', { name: 'Forget' }).isDisabled()).toBe(true);
      await dialog().getByRole('textbox').fill(ZONE);
      await checkState(tab, 'zone-forget');
      await dialog().getByRole('button', { name: 'Forget' }).click();
      await page.getByText(`The guards forget ${ZONE} within two seconds.`).waitFor();
      await until('the zone to be forgotten', async () => !(await isCounted()));
      expect((await api('/audit'))[0]).toMatchObject({ action: 'zone.forget', zone: ZONE, policy: id });
    });

    it('deletes a policy after its zone was typed, and creates it again with Undo', async () => {
      await openPolicy('bl.example');
      await button('Delete …').click();
      expect(await dialog().getByRole('button', { name: 'Delete the policy' }).isDisabled()).toBe(true);
      await dialog().getByRole('textbox').fill('bl.example');
      await dialog().getByRole('button', { name: 'Delete the policy' }).click();
      await page.getByText('The policy for bl.example was deleted.').waitFor();
      expect(await policyOf('bl.example')).toBeUndefined();
      await button('Undo').click();
      await page.getByText('is restored, with a new id').waitFor();
      expect(await policyOf('bl.example')).toMatchObject({ rate: 3000, comment: 'changed <b>here</b>' });
    });

    it('fills in the proposed rate for a zone that needs one, in a new policy or in its own', async () => {
      // A zone needs an hour of traffic for an assessment, so the responses are those of a guard after a week.
      const levels = { low: 0, medium: 0.0213, high: 0.5 };
      const span = {
        queries: 1_720_000,
        limited_share: { low: levels, medium: levels, high: levels, very_high: levels },
      };
      const spans = { hour: span, day: { ...span, queries: 86_400 }, week: span };
      const zone = (name: string, assessment: string, more: object = {}) => ({
        zone: name,
        assessment,
        judged_by: 'names',
        known_names: 3,
        names: [],
        networks: [],
        ...spans,
        profile_sensitivity: 'high',
        rate_sensitivity: 'medium',
        ...more,
      });
      const { id } = await policyOf('bl.example');
      const needs = { proposed: { judge_by: 'rate', rate: 600, burst: 4000 } };
      const result = [
        zone('new.example', 'needs_rate', needs),
        zone('bl.example', 'needs_rate', { ...needs, policy: id }),
        zone('attacked.example', 'under_attack'),
        zone('.', 'safe_to_enable'),
      ];
      await page.route('**/zone_assessments', (route) =>
        route.fulfill({ json: { result, success: true, errors: [], messages: [] } }),
      );
      await page.reload();
      await heading()
        .getByText('4 zones: under attack (1), needs a rate (2), safe to enable (1). 2 policies.')
        .waitFor();
      const table = page.getByRole('table', { name: 'Assessments' });
      const row = table.getByRole('row', { name: 'new.example' });
      await row.getByText('! needs a rate').waitFor();
      await row.getByText(': 600 queries/s, burst 4,000').waitFor();
      await row.getByText('2.1 %').nth(2).waitFor();
      await table.getByText('▲ under attack').waitFor();
      await table.getByText('✓ safe to enable').waitFor();
      await checkPage(tab, 'zones-assessed');
      await checkWidth(tab, 'zones-assessed');

      await page.getByRole('link', { name: 'Set this rate for bl.example' }).click();
      await heading().getByText('Policy for bl.example').waitFor();
      expect(await field('rate').inputValue()).toBe('600');
      expect(await field('burst').inputValue()).toBe('4000');

      await goToList();
      await page.getByRole('link', { name: 'Set this rate for new.example' }).click();
      await heading().getByText('New policy for a zone').waitFor();
      await checkState(tab, 'zone-proposed');
      await button('Create the policy').click();
      await heading().getByText('Policy for new.example').waitFor();
      expect(await policyOf('new.example')).toMatchObject({ judge_by: 'rate', rate: 600, burst: 4000 });
      await page.unrouteAll({ behavior: 'wait' });
    });

    it('shows the error of a second policy for a zone, and no buttons for changes to a read-only token', async () => {
      await goToList();
      await page.getByRole('link', { name: 'New policy' }).click();
      await field('zone').fill('bl.example');
      await button('Create the policy').click();
      await page.getByText('The server cannot create another entry.').waitFor();
      ignoreStatus(409);
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
          'reader',
        ],
        { env: { FLOODGATE_DATA_DIR: dataDir } },
      );
      const reader = await openTab(browser, server.url);
      await reader.page.goto(`${server.url}/console/zones`);
      await reader.page.getByLabel('Token', { exact: true }).fill(JSON.parse(stdout).token);
      await reader.page.getByRole('button', { name: 'Sign in' }).click();
      await reader.page.getByRole('link', { name: 'bl.example' }).first().click();
      await reader.page.getByText('Judge by').waitFor();
      const names = await reader.page.locator('main').getByRole('button').allTextContents();
      expect(names.filter((name) => !name.startsWith('Copy'))).toEqual([]);
      await checkState(reader, 'zone-reader');
      await reader.context.close();
      expect(tab.faults).toEqual([]);
    });
  },
);
