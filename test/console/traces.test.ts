import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { connect } from '../support/anvil.ts';
import { PROGRAM } from '../support/program.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { CHROMIUM, fetchRoute, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { checkPage, checkState } from './support/checkPages.ts';
import { pay } from './support/pay.ts';
import { transferToken } from './support/token.ts';

const RECIPIENT: Hex = `0x${'c2'.repeat(20)}`;
/** A function with the selector of `transfer`. */
const COLLISION = { type: 'function', name: 'many_msg_babbage', inputs: [{ type: 'bytes1' }], outputs: [] };
const HOSTILE_SYMBOL = '<b>USD\u202e';

describe.skipIf(CHROMIUM === undefined)(
  `the page Traces${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let folder: string;
    let chain: SharedChain;
    let floodgate: Floodgate;
    let browser: Browser;
    let tab: Tab;
    let page: Page;
    let payment: { readonly token: Hex; readonly hash: Hex };

    beforeAll(async () => {
      [chain, browser] = await Promise.all([startSharedChain(), launchBrowser()]);
      payment = await transferToken(chain.anvil.url, {
        symbol: HOSTILE_SYMBOL,
        to: RECIPIENT,
        amount: 1_234_567_890n,
      });
      folder = mkdtempSync(join(tmpdir(), 'floodgate-names-'));
      const [labels, abis] = ['labels.json', 'abis.json'].map((name) => join(folder, name)) as [
        string,
        string,
      ];
      writeFileSync(labels, JSON.stringify({ [RECIPIENT]: 'Treasury <b>\u202e' }));
      writeFileSync(abis, JSON.stringify({ '*': [COLLISION] }));
      floodgate = await startFloodgate({
        upstream: [chain.anvil.url],
        config: {
          index: { finality: 'none', pollIntervalMs: 100 },
          console: { enabled: true, labels, abis },
        },
      });
      await until('the block of the token transfer to be indexed', async () => {
        const { json } = await call(floodgate.gatewayUrl, 'trace_transaction', payment.hash);
        return json.result?.length > 0;
      });
      tab = await openTab(browser, floodgate.url);
      page = tab.page;
      await page.goto(`${floodgate.url}/console/traces`);
      await signIn();
      await page.getByRole('searchbox').waitFor();
    });
    afterAll(async () => {
      await browser?.close();
      await floodgate?.stop();
      await chain?.anvil.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const signIn = async () => {
      await page.getByLabel('Token', { exact: true }).fill(floodgate.token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    const look = async (text: string) => {
      await page.getByRole('searchbox').first().fill(text);
      await page.keyboard.press('Enter');
    };
    const link = (name: string | RegExp) => page.getByRole('link', { name });
    const fact = (name: string) => page.locator('.receipt > div').filter({ hasText: name }).locator('dd');

    it('opens the subject of a search that was submitted before the networks were known', async () => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route('**/client/v4/gateway', async (route) => {
        await released;
        await route.continue();
      });
      await page.reload();
      await page.getByText('Reading the networks').waitFor();
      await look(payment.hash);
      await page.waitForURL(`**/traces/transaction/${payment.hash}`);
      release();
      await page.getByText('✓ Succeeded').waitFor();
      await page.unroute('**/client/v4/gateway');
      await page.goto(`${floodgate.url}/console/traces`);
    });

    it('shows the receipt, token transfers and logs of a transaction', async () => {
      await look(payment.hash);
      await page.getByText('✓ Succeeded').waitFor();
      await fact('Method').getByText('amount 1234567890').waitFor();
      await expect.poll(() => fact('Nonce').textContent()).toMatch(/^\d+$/);
      await expect.poll(() => fact('Fee').textContent()).toMatch(/^0\.0\d+ ETH$/);
      await expect.poll(() => fact('Gas used').textContent()).toMatch(/^[\d,]+ of [\d,]+ \(\d+\.\d\s%\)$/);
      await checkPage(tab, 'transfer');
      await link('Token transfers 1').click();
      await page.waitForURL('**view=transfers');
      const row = page.locator('main tbody tr');
      // Six decimals and the symbol come from the contract.
      await row.getByText('1,234.56789').waitFor();
      await row.getByText('<b>USD⟨U+202E⟩').waitFor();
      await row.getByText('Treasury <b>⟨U+202E⟩').waitFor();
      await row.getByTitle('0xc2C2C2C2C2C2c2c2c2c2C2C2c2C2C2C2C2C2c2C2').waitFor();
      await checkState(tab, 'transaction-transfers');
      await link('Logs 1').click();
      await page.getByText('Transfer(address,address,uint256)').waitFor();
      await checkState(tab, 'transaction-logs');
    });

    it('leads to the previous and the next transaction of a block', async () => {
      const { json } = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', '0x2', false);
      const [first, second] = json.result.transactions;
      await look(first);
      await link('Next →').click();
      await page.waitForURL(`**/transaction/${second}`);
      await link('← Previous').click();
      await page.waitForURL(`**/transaction/${first}`);
      await expect.poll(() => link('← Previous').count()).toBe(0);
    });

    it('shows what is known of a transaction if a node fails, and names what is missing', async () => {
      await page.route('**/v1/mainnet', async (route) => {
        const answer = await fetchRoute(route);
        const body = await answer.json();
        const sent = JSON.parse(route.request().postData() ?? '{}');
        if (!Array.isArray(sent)) return route.fulfill({ response: answer, json: body });
        const failed = sent.findIndex(({ method }) => method === 'eth_getTransactionReceipt');
        const error = { code: -32002, message: '<b>gone</b>', data: { reason: 'noNode' } };
        const json = body.map((one: object & { id: number }) =>
          one.id === failed ? { jsonrpc: '2.0', id: failed, error } : one,
        );
        return route.fulfill({ response: answer, json });
      });
      await look(payment.hash);
      await page.getByText('Incomplete, without the receipt: No node is available.').waitFor();
      await page.getByRole('treeitem').waitFor();
      expect(await fact('Fee').textContent()).toBe('unknown');
      expect(await fact('Nonce').textContent()).toMatch(/^\d+$/);
      await checkState(tab, 'transaction-partial');
      await page.unrouteAll({ behavior: 'wait' });
      await page.getByRole('button', { name: 'Try again' }).click();
      await expect.poll(() => fact('Fee').textContent()).toMatch(/ETH$/);
      await expect.poll(() => page.getByText('Incomplete').count()).toBe(0);
    });

    it('decodes a call, and opens it from the flame graph', async () => {
      await page.getByRole('treeitem').first().focus();
      await page.keyboard.press('Enter');
      await page.waitForURL('**frame=');
      const details = page.locator('.frame-details');
      await details.getByText('transfer(address,uint256)').first().waitFor();
      await details.getByText('1234567890').waitFor();
      await details.getByText('many_msg_babbage(bytes1)').waitFor();
      await details.getByText('2 known functions have this selector').waitFor();
      await checkState(tab, 'transaction-decoded');
    });

    it('renders only the visible part of a large tree, and stops unfolding at 10,000 calls', async () => {
      await page.route('**/v1/mainnet', async (route) => {
        const answer = await fetchRoute(route);
        const body = await answer.json();
        if (JSON.parse(route.request().postData() ?? '{}').method !== 'trace_transaction')
          return route.fulfill({ response: answer, json: body });
        const [root] = body.result;
        // 150 calls with 80 calls each.
        const calls = Array.from({ length: 150 }, (_, i) => [
          { ...root, traceAddress: [i], subtraces: 80 },
          ...Array.from({ length: 80 }, (_, j) => ({ ...root, traceAddress: [i, j] })),
        ]).flat();
        return route.fulfill({ response: answer, json: { ...body, result: [root, ...calls] } });
      });
      await page.goto(`${floodgate.url}/console/traces/transaction/${payment.hash}`);
      await page.getByText('151 of 12,151 calls are visible').waitFor();
      await checkState(tab, 'transaction-large');
      await page.getByRole('button', { name: 'Unfold all' }).click();
      await page.getByText('“Unfold all” stops at 10,000 calls').waitFor();
      expect(await page.getByRole('treeitem').count()).toBeLessThan(200);
      await page.getByRole('treeitem').first().focus();
      await page.keyboard.press('End');
      await page.locator('[role=treeitem][data-path="149"]:focus').waitFor();
      expect(await page.getByRole('treeitem').count()).toBeLessThan(200);
      await page.unrouteAll({ behavior: 'wait' });
    });

    it('shows the latest blocks and internal transfers live, with examples that work', async () => {
      await page.getByRole('link', { name: 'Traces', exact: true }).first().click();
      await page.getByText('Search an address, a transaction or a block').waitFor();
      const blocks = page.getByRole('table', { name: 'Latest blocks' }).locator('tbody tr');
      await expect.poll(() => blocks.count()).toBe(10);
      await checkPage(tab, 'traces-latest');
      const { json } = await call(floodgate.gatewayUrl, 'eth_blockNumber');
      const next = String(Number(json.result) + 1);
      await page.mouse.move(0, 0);
      await page.getByText('live', { exact: true }).first().waitFor();
      await connect(chain.anvil.url).call('evm_mine');
      await blocks.first().getByText(next, { exact: true }).waitFor();
      for (const [example, path] of [
        ['a transaction with many calls', 'transaction'],
        ['a busy address', 'address'],
        ['its block', 'block'],
      ] as const) {
        await page.goto(`${floodgate.url}/console/traces`);
        await link(example).click();
        await page.waitForURL(`**/traces/${path}/*`);
        await page.locator('[role=treeitem], main tbody tr').first().waitFor();
      }
    });

    it('shows balance, nonce and code of an address, its values in other units, and a CSV file', async () => {
      await look(RECIPIENT);
      await page.getByText('Newest first, live').waitFor();
      await page.getByText('No matching traces').waitFor();
      await pay({ to: RECIPIENT, wei: 7n, nodeUrl: chain.anvil.url, gatewayUrl: floodgate.gatewayUrl });
      await pay({
        to: RECIPIENT,
        wei: 10n ** 18n,
        nodeUrl: chain.anvil.url,
        gatewayUrl: floodgate.gatewayUrl,
      });
      // Balances are read again at each block.
      await fact('Balance').getByText('1.000000000000000007 ETH').waitFor();
      expect(await fact('Nonce').textContent()).toBe('0');
      expect(await fact('Code').textContent()).toBe('none');
      await page.getByRole('button', { name: 'Show 2 new traces' }).click();
      const values = () => page.locator('main tbody tr td:last-child').allTextContents();
      await expect.poll(values).toEqual(['1', '7 wei']);
      await page.getByText('0 traces from it, 2 to it').waitFor();
      await checkPage(tab, 'address-values');
      await page.getByLabel('Unit').selectOption('wei');
      await page.waitForURL('**unit=wei');
      await expect.poll(values).toEqual(['1,000,000,000,000,000,000', '7']);
      await page.getByLabel('Direction').selectOption('to');
      await page.waitForURL('**direction=to');
      expect(page.url()).toContain('unit=wei');
      await page.getByRole('button', { name: 'CSV of 2 rows' }).waitFor();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV of 2 rows' }).click(),
      ]);
      const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
      expect(lines[0]).toBe('transaction,frame,block,time,method,from,to,value (wei),error');
      expect(lines[1]).toMatch(
        /^0x[0-9a-f]{64},,\d+,[^,]+Z,transfer,0xf39F[^,]+,0xc2C2C2C2[^,]+,1000000000000000000,$/,
      );
    });

    it('shows one block for a tag, although a block is added between the calls', async () => {
      await page.route('**/console/v1/**', async (route) => {
        const isOfTag = route.request().postData()?.includes('"latest",false');
        return isOfTag
          ? route.continue({ postData: route.request().postData()?.replace('"latest"', '"0x1"') ?? '' })
          : route.continue();
      });
      const read = page.waitForRequest((request) => request.postData()?.includes('trace_block') ?? false);
      await page.goto(`${floodgate.url}/console/traces/block/latest`);
      await page.getByRole('heading', { name: 'Block 1', exact: true }).waitFor();
      expect((await read).postDataJSON().params).toEqual(['0x1']);
      await page.unroute('**/console/v1/**');
    });

    it('reports a subject, an amount or a view of a link that is wrong, and a block that does not exist yet', async () => {
      const open = (path: string) => page.goto(`${floodgate.url}/console/traces/${path}`);
      const min = page.getByLabel('Minimum value, ETH');
      for (const path of ['address/0x12', 'transaction/0x12', 'block/zzz']) {
        await open(path);
        await page.getByText('✕ Not recognised').waitFor();
      }
      await open('block/0x2');
      await page.getByRole('heading', { name: 'Block 2', exact: true }).waitFor();
      await open('block/999999');
      await page.getByText('The chain does not have this block yet.').waitFor();
      expect(await page.getByText(/Incomplete|changed/).count()).toBe(0);
      await open(`transaction/${payment.hash}?view=none`);
      await page.getByRole('treeitem').waitFor();
      await open(`address/${RECIPIENT}?min=0,5`);
      await page.getByText('is not a number such as 1,000.5').waitFor();
      await expect.poll(() => page.locator('main tbody tr').count()).toBe(2);
      await min.fill('0.5');
      await min.press('Enter');
      await page.waitForURL('**min=0.5');
      await expect.poll(() => page.locator('main tbody tr').count()).toBe(1);
      expect(await page.getByText('is not a number').count()).toBe(0);
      expect(tab.faults).toEqual([]);
    });

    it('has files of less than 150 kB in all, compressed', async () => {
      expect(tab.faults).toEqual([]);
      const folder = join(dirname(PROGRAM), 'web/assets');
      const sizes = readdirSync(folder).map((name) => gzipSync(readFileSync(join(folder, name))).length);
      const bytes = sizes.reduce((sum, size) => sum + size);
      expect(bytes).toBeGreaterThan(50_000);
      expect(bytes).toBeLessThan(150_000);
    });
  },
);
