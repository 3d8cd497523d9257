import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { CHROMIUM, fetchRoute, inPage, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { checkPage } from './support/checkPages.ts';

const run = promisify(execFile);
const HOSTILE = '<img src=x onerror=alert(1)>\u202egnp.exe\u0000';
const UUID = '3fa85f64-5717-4562-b3fc-2c963f66afa6';

describe.skipIf(CHROMIUM === undefined)(
  `the page to try an API without the console${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let chain: SharedChain;
    let floodgate: Floodgate;
    let browser: Browser;
    let tab: Tab;
    let page: Page;
    /** Requests of the page that can change data. */
    let sent: string[];

    beforeAll(async () => {
      [chain, browser] = await Promise.all([startSharedChain(), launchBrowser()]);
      floodgate = await startFloodgate({ upstream: chain.anvil.url });
      tab = await openTab(browser, floodgate.url);
      page = tab.page;
      page.on('request', (request) => {
        if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
      });
    });
    beforeEach(() => {
      sent = [];
    });
    afterAll(async () => {
      await browser?.close();
      await floodgate?.stop();
      await chain?.anvil.stop();
    });

    const button = (name: string) => page.getByRole('button', { name });
    const answer = () => page.locator('.answer');
    const api = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${floodgate.token}` };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      // biome-ignore lint/suspicious/noExplicitAny: results of several shapes
      return ((await (await fetch(`${floodgate.url}/client/v4${path}`, init)).json()) as any).result;
    };
    const openDocs = async (account: string) => {
      await page.goto('about:blank');
      await page.goto(`${floodgate.url}/client/v4/docs`);
      await page.getByLabel('API token').fill(floodgate.token);
      await page.getByLabel('Account id').fill(account);
    };
    const choose = async (id: string) => {
      await page.getByRole('searchbox').fill(id);
      await page.getByRole('link', { name: id, exact: true }).first().click();
      // The URL changes before the page is rendered.
      await page.locator(`a[aria-current][href="#${id}"]`).waitFor();
    };

    it('is not served at /console/', async () => {
      expect((await fetch(`${floodgate.url}/console/`)).status).toBe(404);
    });

    it('shows a form for every operation of the rules API', async () => {
      const document = await (await fetch(`${floodgate.url}/client/v4/openapi.json`)).json();
      const { paths, components } = document as {
        readonly paths: Readonly<Record<string, object>>;
        readonly components: { readonly schemas: { readonly RuleCreation: { readonly properties: object } } };
      };
      const count = Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
      await openDocs('docs');
      await page.getByText(`${count} operations to try`).waitFor();
      expect(await page.locator('.operations li').count()).toBe(count);
      await checkPage(tab, 'docs');
      await choose('createRule');
      for (const field of Object.keys(components.schemas.RuleCreation.properties))
        expect(await page.locator(`form [name="${field}"]`).count(), field).toBe(1);
      await button('Send').click();
      await answer().getByText('✓ 200').waitFor();
      await answer().getByText('etag', { exact: true }).waitFor();
      expect(sent).toEqual([`POST /client/v4${rulesPath('docs')}`]);
      expect(await api('GET', rulesPath('docs'))).toHaveLength(1);
      await page.getByText('Responses').click();
      await page.getByText('"200": "Success."').waitFor();
      await checkPage(tab, 'docs-answer');

      await choose('listRules');
      await button('Copy as curl').click();
      await page.getByText('✓ Copied').waitFor();
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(command).not.toContain(floodgate.token);
      const env = { ...process.env, FLOODGATE_TOKEN: floodgate.token };
      const { stdout } = await run('sh', ['-c', command], { env });
      expect(JSON.parse(stdout).result).toHaveLength(1);
    });

    it('proposes no account, because a rule of an account without a guard has no effect', async () => {
      await page.goto(`${floodgate.url}/client/v4/docs`);
      expect(await page.getByLabel('Account id').inputValue()).toBe('');
    });

    it('sends nothing if a path parameter could address another resource', async () => {
      await openDocs('docs');
      await choose('deleteRule');
      for (const id of ['', ' ', '..', '.', '%2F', `${UUID}/`]) {
        await page.locator('form [name="rule_id"]').fill(id);
        await button('Send').click();
        await page.getByText('✕ Nothing was sent').waitFor();
        await expect
          .poll(() => page.getByLabel('rule_id').getAttribute('aria-invalid'), { message: id })
          .toBe('true');
      }
      await page.getByText('allowed: a UUID such as').waitFor();
      await page.locator('form [name="rule_id"]').fill(UUID);
      for (const account of ['', '..', 'a/b']) {
        await page.getByLabel('Account id').fill(account);
        await button('Send').click();
        await expect.poll(() => page.getByLabel('account_id').getAttribute('aria-invalid')).toBe('true');
      }
      expect(sent).toEqual([]);
    });

    it('deletes only the given rule, after a confirmation', async () => {
      const rules = rulesPath('deletion');
      const [one, other] = [await api('POST', rules, newRule), await api('POST', rules, newRule)];
      await openDocs('deletion');
      await choose('deleteRule');
      await page.locator('form [name="rule_id"]').fill(one.id);
      await button('Send').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect(sent).toEqual([]);
      await button('Send').click();
      await dialog.getByRole('button', { name: 'Send it' }).click();
      await answer().getByText('✓ 200').waitFor();
      expect(sent).toEqual([`DELETE /client/v4${rules}/${one.id}`]);
      expect(await api('GET', rules)).toMatchObject([{ id: other.id }]);
    });

    it('supports search, choice and sending by keyboard', async () => {
      await page.goto('about:blank');
      await page.goto(`${floodgate.url}/v1/mainnet`);
      await page.getByRole('link', { name: 'eth_blockNumber', exact: true }).waitFor();
      await page.getByRole('searchbox').focus();
      await page.keyboard.type('eth_blockNumber');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const heading = page.locator('.operation h2');
      await heading.waitFor();
      await expect.poll(() => inPage(page, "document.activeElement.matches('.operation h2')")).toBe(true);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await answer().getByText('✓ 200').waitFor();
    });

    it('shows the methods of a network, and the response of the gateway', async () => {
      const { json } = await call(floodgate.gatewayUrl, 'rpc.discover');
      await page.goto('about:blank');
      await page.goto(`${floodgate.url}/v1/mainnet#eth_getBlockByNumber`);
      await page.getByText(`${json.result.methods.length} operations to try`).waitFor();
      await button('Send').click();
      await answer().getByText('✓ 200').waitFor();
      await answer()
        .getByText(/x-floodgate-(cache|upstream)/)
        .first()
        .waitFor();
      await button('Copy as curl').click();
      await page.getByText('✓ Copied').waitFor();
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(JSON.parse((await run('sh', ['-c', command])).stdout)).toMatchObject({ jsonrpc: '2.0', id: 1 });
      await page.getByText('Schema of the result').click();
      await page.locator('details pre').waitFor();
      await checkPage(tab, 'methods');
      expect(tab.faults).toEqual([]);
    });

    it('shows text of documents and responses as text', async () => {
      await page.route('**/v1/mainnet/openrpc.json', async (route) => {
        const response = await fetchRoute(route);
        const document = await response.json();
        const method = { summary: HOSTILE, description: HOSTILE, params: [{ name: HOSTILE, schema: {} }] };
        document.info.description = HOSTILE;
        document.methods = [{ ...document.methods[0], ...method, name: 'hostile', examples: [] }];
        return route.fulfill({ response, body: JSON.stringify(document) });
      });
      await page.route('**/v1/mainnet', (route) =>
        route.request().method() === 'POST'
          ? route.fulfill({ body: HOSTILE, contentType: 'text/html' })
          : route.continue(),
      );
      await page.goto('about:blank');
      await page.goto(`${floodgate.url}/v1/mainnet#hostile`);
      await button('Send').click();
      await answer().getByText('⟨U+202E⟩').waitFor();
      expect(await page.locator('img').count()).toBe(0);
      await checkPage(tab, 'methods-hostile');
      await page.unrouteAll({ behavior: 'wait' });
    });

    it('asks for an API key if the gateway requires one', async () => {
      const key = await api('POST', '/gateway/keys', { name: 'page' });
      await page.goto('about:blank');
      await page.goto(`${floodgate.url}/v1/mainnet/#eth_blockNumber`);
      await page.getByText('✕ 401').waitFor();
      tab.faults.splice(0, tab.faults.length, ...tab.faults.filter((fault) => !fault.includes('401')));
      await page.getByLabel('API key').fill(key.value);
      await page.keyboard.press('Enter');
      await button('Send').click();
      await answer().getByText('✓ 200').waitFor();
      expect(await page.content()).not.toContain(key.value);
      await checkPage(tab, 'methods-key');
    });
  },
);
