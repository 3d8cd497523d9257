import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { floodgate as command } from '../rules/support/command.ts';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { CHROMIUM, inPage, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { checkPage, checkState } from './support/checkPages.ts';
import { pay } from './support/pay.ts';

const run = promisify(execFile);
const PAID: Hex = `0x${'c2'.repeat(20)}`;
const NOBODY: Hex = `0x${'c3'.repeat(20)}`;
/** First indexed block of the side chain. */
const SIDE_FROM = 10;
/** More blocks than the development chain needs to make a block final. */
const EMPTY_BLOCKS = 100;

describe.skipIf(CHROMIUM === undefined)(
  `the console of several networks${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let folder = '';
    let main: SharedChain;
    let side: SharedChain;
    let floodgate: Floodgate;
    let browser: Browser;
    let tab: Tab;
    let page: Page;

    /** Starts a server with a complete index of `mainnet` and an index of the side chain that begins at SIDE_FROM. */
    const start = () =>
      startFloodgate({
        upstream: main.anvil.url,
        dataDir: folder,
        config: {
          index: { finality: 'depth:2', pollIntervalMs: 100, from: 0 },
          networks: { side: { upstream: [side.anvil.url], indexFrom: SIDE_FROM } },
          console: { enabled: true },
        },
      });

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'floodgate-networks-'));
      [main, side, browser] = await Promise.all([startSharedChain(), startSharedChain(11), launchBrowser()]);
      await connect(side.anvil.url).call('anvil_mine', `0x${EMPTY_BLOCKS.toString(16)}`);
      floodgate = await start();
      tab = await openTab(browser, floodgate.url);
      page = tab.page;
    });
    afterAll(async () => {
      await browser?.close();
      await floodgate?.stop();
      await Promise.all([main?.anvil.stop(), side?.anvil.stop()]);
      rmSync(folder, { recursive: true, force: true });
    });

    const sideUrl = () => `${floodgate.url}/v1/side`;
    const rows = () => page.locator('main table tbody tr');
    const button = (name: string) => page.getByRole('button', { name });
    const network = () => page.getByLabel('Network');
    const signIn = async () => {
      await page.getByLabel('Token', { exact: true }).fill(floodgate.token);
      await button('Sign in').click();
    };
    const look = async (text: string) => {
      await page.getByRole('searchbox').first().fill(text);
      await page.keyboard.press('Enter');
    };
    const go = async (title: string) => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole('link', { name: title, exact: true }).first().click();
    };
    const paySide = (wei: bigint) => pay({ to: PAID, wei, nodeUrl: side.anvil.url, gatewayUrl: sideUrl() });
    /** Returns the targets of the page's links to traces. */
    const traceLinks = () =>
      inPage<string[]>(
        page,
        `[...document.querySelectorAll('main a[href*="/traces/"]')].map(({ href }) => href)`,
      );

    it('lists the networks, and keeps the selected one in every link', async () => {
      const hash = await paySide(5n);
      await page.goto(`${floodgate.url}/console/traces`);
      await signIn();
      await expect.poll(() => network().locator('option').allTextContents()).toEqual(['mainnet', 'side']);
      await network().selectOption('side');
      await page.waitForURL('**/traces?network=side');
      await look(PAID);
      await page.waitForURL(`**/address/${PAID}?network=side`);
      await rows().first().waitFor();
      await page.getByText('Newest first, live').waitFor();
      await expect.poll(() => rows().count()).toBe(1);
      await checkPage(tab, 'address-network');

      // New traces are those of the selected network.
      await paySide(6n);
      await button('Show 1 new trace').click();
      await expect.poll(() => rows().count()).toBe(2);

      // The other network has no trace of this address. Going back selects the first network again.
      await network().selectOption('mainnet');
      await page.waitForURL(`**/address/${PAID}`);
      await page.getByText('No matching traces').waitFor();
      await page.goBack();
      await page.waitForURL(`**/address/${PAID}?network=side`);
      await rows().nth(1).waitFor();
      await expect.poll(() => network().inputValue()).toBe('side');

      // A filter, a frame of a call tree, a block and its neighbour.
      await page.getByLabel('direction').selectOption('to');
      await page.waitForURL('**direction=to');
      expect(page.url()).toContain('network=side');
      const steps = [
        {
          leave: () => rows().last().getByRole('link').first().click(),
          url: `**/transaction/${hash}?network=side`,
          there: page.getByRole('treeitem'),
        },
        {
          leave: () => page.getByRole('treeitem').getByRole('button').last().click(),
          url: '**?network=side&frame=',
          there: page.locator('.frame-details'),
        },
        {
          leave: () => page.locator('.summary').getByRole('link').first().click(),
          url: '**/block/*?network=side',
          there: page.getByText('Transactions in block order'),
        },
        {
          leave: () => page.getByRole('link', { name: /^← / }).click(),
          url: '**/block/*?network=side',
          there: page.getByText('Transactions in block order'),
        },
      ];
      for (const { leave, url, there } of steps) {
        await leave();
        await page.waitForURL(url);
        await there.first().waitFor();
        const links = await until('links to traces', async () => {
          const found = await traceLinks();
          return found.length > 0 && found;
        });
        expect(links.filter((link) => !link.includes('network=side'))).toEqual([]);
      }
      await button('Copy as curl').click();
      await page.getByText('✓ Copied').waitFor();
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(copied).toContain(sideUrl());
      const [, shown] = /\/block\/(\d+)/.exec(page.url()) ?? [];
      const { json } = await call(sideUrl(), 'trace_block', `0x${Number(shown).toString(16)}`);
      expect(JSON.parse((await run('sh', ['-c', copied])).stdout)).toEqual(json);

      // Open the link without a session, as another user would.
      await tab.context.clearCookies();
      await page.reload();
      await signIn();
      await page.getByRole('heading', { name: `Block ${shown}` }).waitFor();
      await expect.poll(() => network().inputValue()).toBe('side');
    });

    it('sends methods to the selected network', async () => {
      await go('Try');
      await network().selectOption('side');
      await page.waitForURL('**/try?network=side');
      await page.getByRole('searchbox').fill('eth_blockNumber');
      await page.getByRole('link', { name: 'eth_blockNumber', exact: true }).click();
      await page.waitForURL('**/try/rpc/eth_blockNumber?network=side');
      await button('Send').click();
      await page.locator('.answer').getByText('✓ 200').waitFor();
      const { json } = await call(sideUrl(), 'eth_blockNumber');
      await page.locator('.answer pre').getByText(json.result).waitFor();
      await checkState(tab, 'try-network');
    });

    it('shows the nodes of each network', async () => {
      await go('Nodes');
      await page.getByText('2 of 2 nodes are healthy, and the index is at the head.').waitFor();
      await expect
        .poll(() => page.locator('main section.network h2').allTextContents())
        .toEqual([
          expect.stringMatching(/^mainnet, chain 31337/),
          expect.stringMatching(/^side, chain 31337/),
          expect.stringMatching(/^Last day/),
          'Server',
        ]);
      await checkState(tab, 'nodes-networks');
    });

    it('shows which blocks are not indexed, and the command that indexes them', async () => {
      // A query of old blocks indexes them. The blocks between them and SIDE_FROM are still missing.
      await call(sideUrl(), 'trace_filter', { fromBlock: '0x1', toBlock: '0x2' });
      const { json } = await call(sideUrl(), 'floodgate_addressTraces', { address: PAID });
      const [first, last] = json.result.missing[0];
      expect([json.result.missing.length, last]).toEqual([1, SIDE_FROM - 1]);
      await page.goto(`${floodgate.url}/console/traces/address/${PAID}?network=side`);
      const missing = page.getByText('▲ Incomplete:');
      await missing
        .getByText(`blocks ${first} to ${last} are not in the index, so traces are missing here`)
        .waitFor();
      await page.getByText(/^All traces in the indexed part of blocks/).waitFor();
      await checkPage(tab, 'address-missing');
      const [line = '', option] = await missing.locator('code').allTextContents();
      expect([line, option]).toEqual([
        `floodgate index --network side --from ${first} --to ${last}`,
        'networks.side.indexFrom',
      ]);
      await look(NOBODY);
      await page.getByText('No matching traces in the index').waitFor();
      await missing.waitFor();
      // The index of the other network is complete.
      await network().selectOption('mainnet');
      await page.getByText('No matching traces').waitFor();
      expect(await missing.count()).toBe(0);
      expect(tab.faults).toEqual([]);

      await floodgate.stop();
      const [, ...args] = line.split(' ');
      const config = ['--config', join(folder, 'floodgate.yaml'), '--data-dir', folder];
      const { status, stderr } = await command([...args, ...config]);
      expect(status, stderr).toBe(0);
      floodgate = await start();
      await page.goto(`${floodgate.url}/console/traces/address/${NOBODY}?network=side`);
      await signIn();
      await page.getByText('No matching traces').waitFor();
      await page.getByText(/match the filter in blocks \d+ to \d+\.$/).waitFor();
      expect(await missing.count()).toBe(0);
    });
  },
);
