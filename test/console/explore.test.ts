import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { call } from '../gateway/support/send.ts';
import { reorganise } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
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
import { checkPage, checkState, checkWidth, DRAWN } from './support/checkPages.ts';
import { pay as payInBlock } from './support/pay.ts';

const run = promisify(execFile);
const PAID: Hex = `0x${'c1'.repeat(20)}`;
const HOSTILE = '<img src=x onerror=alert(1)>\u202egnp.exe\u0000';

describe.skipIf(CHROMIUM === undefined)(
  `the console${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let chain: SharedChain;
    let node: InterceptedNode;
    let floodgate: Floodgate;
    let browser: Browser;
    let tab: Tab;
    let page: Page;

    beforeAll(async () => {
      [chain, browser] = await Promise.all([startSharedChain(), launchBrowser()]);
      node = await startInterceptedNode(chain.anvil.url);
      floodgate = await startFloodgate({
        upstream: [chain.anvil.url, node.url],
        config: { index: { finality: 'none', pollIntervalMs: 100 }, console: { enabled: true } },
      });
      tab = await openTab(browser, floodgate.url);
      page = tab.page;
    });
    afterAll(async () => {
      await browser?.close();
      await floodgate?.stop();
      await node?.stop();
      await chain?.anvil.stop();
    });

    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const go = async (title: string) => {
      // A narrow window has fewer links in its navigation bar.
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole('link', { name: title, exact: true }).first().click();
    };
    const signIn = async (of: Page, token: string) => {
      await of.getByLabel('Token', { exact: true }).fill(token);
      await of.getByRole('button', { name: 'Sign in' }).click();
    };
    const look = async (text: string) => {
      await page.getByRole('searchbox').first().fill(text);
      await page.keyboard.press('Enter');
    };
    const lookAtAccount = async (id: string) => {
      await button('account and menu').click();
      await page.getByRole('dialog').getByLabel('Account', { exact: true }).fill(id);
      await button('Switch account').click();
    };
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
    const rows = () => page.locator('main table tbody tr');
    const api = async (method: string, path: string, token = floodgate.token) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${floodgate.url}/client/v4${path}`, { method, headers });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
      return { status: answer.status, result: ((await answer.json()) as any).result };
    };

    const pay = (to: Hex, wei: bigint): Promise<Hex> =>
      payInBlock({ to, wei, nodeUrl: chain.anvil.url, gatewayUrl: floodgate.gatewayUrl });

    /** Returns the contract that most transactions of the chain call. */
    async function busiest(): Promise<string> {
      const { json } = await call(floodgate.gatewayUrl, 'trace_filter', {
        fromBlock: '0x1',
        toBlock: 'latest',
        count: 200,
      });
      const counts = new Map<string, number>();
      for (const { type, action, traceAddress } of json.result)
        if (type === 'call' && traceAddress.length === 0)
          counts.set(action.to, (counts.get(action.to) ?? 0) + 1);
      return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
    }

    it('shifts no content when the summary and the traces of an address arrive late', async () => {
      const late = await openTab(browser, floodgate.url);
      await late.page.goto(`${floodgate.url}/console/traces`);
      await signIn(late.page, floodgate.token);
      await late.page.getByText('Search an address, a transaction or a block').waitFor();
      const letThrough = await holdRequests(late.page, '**/v1/mainnet');
      // Browsers do not count layout shifts soon after a key press, so the page is opened without one.
      await late.page.goto(`${floodgate.url}/console/traces/address/${await busiest()}`);
      await late.page.getByRole('heading', { name: 'Traces' }).waitFor();
      await inPage(late.page, DRAWN);
      letThrough();
      await late.page.locator('main table tbody tr').nth(10).waitFor();
      await checkState(late, 'address-late');
      await late.context.close();
    });

    it('leads from an address to a transaction, its call tree, and a copied command that runs in a shell', async () => {
      await page.goto(`${floodgate.url}/console/traces`);
      await signIn(page, floodgate.token);
      await page.getByText('Search an address, a transaction or a block').waitFor();
      await checkPage(tab, 'traces-empty');
      await page.keyboard.press('/');
      await page.keyboard.type(' 0xnothing');
      await page.keyboard.press('Enter');
      await page.getByText('Not recognised').waitFor();
      const contract = await busiest();
      await look(contract.toUpperCase().replace('0X', '0x'));
      await page.waitForURL(`**/console/traces/address/${contract}`);
      await page.getByText(/Contract, created in block/).waitFor();
      await rows().nth(10).waitFor();
      await checkPage(tab, 'address');
      const { json: all } = await call(floodgate.gatewayUrl, 'floodgate_addressTraces', {
        address: contract,
        limit: 200,
      });
      // Load all pages.
      await until('all traces in the table', async () => {
        if (await button('Show more').isVisible()) await button('Show more').click();
        return (await rows().count()) === Math.min(all.result.traces.length, 200);
      });

      await page.getByLabel('failed').selectOption('yes');
      await page.waitForURL('**failed=yes');
      await page.getByText(/✕/).first().waitFor();
      const { json } = await call(floodgate.gatewayUrl, 'floodgate_addressTraces', {
        address: contract,
        failed: true,
        limit: 50,
      });
      await expect.poll(() => rows().count()).toBe(json.result.traces.length);
      await page.goBack();
      expect(page.url()).not.toContain('failed');
      await expect.poll(() => page.getByLabel('failed').inputValue()).toBe('');

      const { json: block } = await call(floodgate.gatewayUrl, 'trace_filter', {
        fromBlock: '0x1',
        toBlock: 'latest',
        count: 200,
      });
      const deepest = block.result.reduce(
        (one: { traceAddress: unknown[] }, two: { traceAddress: unknown[] }) =>
          two.traceAddress.length > one.traceAddress.length ? two : one,
      );
      await page.goto(
        `${floodgate.url}/console/traces/transaction/${deepest.transactionHash}?frame=${deepest.traceAddress.join('.')}`,
      );
      const chosen = page.locator('[role=treeitem][aria-selected=true]');
      await chosen.waitFor();
      await expect.poll(() => chosen.getAttribute('data-path')).toBe(deepest.traceAddress.join('.'));
      await checkPage(tab, 'transaction');
      // By keyboard: select the root, fold it, unfold it, open a frame.
      await chosen.focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => page.getByRole('treeitem').count()).toBe(1);
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL('**frame=0');

      await page.locator('.above-list').getByRole('button', { name: 'Copy as curl' }).click();
      await page.getByText('✓ Copied').waitFor();
      const { stdout } = await run('sh', ['-c', await clipboard()]);
      expect(
        JSON.parse(stdout).result.map(({ traceAddress }: { traceAddress: number[] }) => traceAddress),
      ).toContainEqual(deepest.traceAddress);
      await page.locator('.above-list').getByRole('button', { name: 'Copy as viem' }).click();
      await until('the viem program in the clipboard', async () =>
        (await clipboard()).startsWith("import { createPublicClient, http } from 'viem'"),
      );
      const viem = await run(process.execPath, ['--input-type=module', '-e', await clipboard()]);
      expect(viem.stdout).toContain(`transactionHash: '${deepest.transactionHash}'`);
    });

    it('shows no transferred value for a delegatecall or a callcode', async () => {
      for (const [callType, why] of [
        ['delegatecall', 'not moved: a delegatecall repeats the value of its caller'],
        ['callcode', 'not moved: a callcode pays no other account'],
      ] as const) {
        const { json } = await call(floodgate.gatewayUrl, 'floodgate_addressTraces', {
          address: await busiest(),
          types: ['call'],
          callTypes: [callType],
          failed: false,
          limit: 200,
        });
        const { action, transactionHash, traceAddress } = json.result.traces.find(
          (trace: { action: { value: Hex } }) => BigInt(trace.action.value) > 0n,
        );
        await look(action.to);
        await page.waitForURL(`**/traces/address/${action.to}`);
        const listed = rows().filter({ hasText: callType });
        await until('a trace with this call type in the list', async () => {
          if (await button('Show more').isVisible()) await button('Show more').click();
          return (await listed.count()) > 0;
        });
        const values = await listed.locator('td:last-child').allTextContents();
        expect(values.filter((value) => value !== '0')).toEqual([]);
        const frame = traceAddress.join('.');
        await page.goto(`${floodgate.url}/console/traces/transaction/${transactionHash}?frame=${frame}`);
        const row = page.locator('[role=treeitem][aria-selected=true]');
        await row.getByText(why).waitFor();
        expect(await row.locator('.what').textContent()).not.toContain('ETH');
      }
    });

    it('adds new traces above the list only after a click', async () => {
      await pay(PAID, 1n);
      await look(PAID);
      await page.getByText('Newest first, live').waitFor();
      await rows().first().waitFor();
      await expect.poll(() => rows().count()).toBe(1);
      await pay(PAID, 2_500_000_000_000_000_001n);
      await button('Show 1 new trace').waitFor();
      await expect.poll(() => rows().count()).toBe(1);
      await button('Show 1 new trace').click();
      await rows().first().getByText('2.500000000000000001').waitFor();
      await expect.poll(() => rows().count()).toBe(2);
      await page.getByText('All traces in blocks').waitFor();
      await checkPage(tab, 'address-short');
    });

    it('offers new traces that arrived while the subscription was interrupted', async () => {
      const sockets: WebSocketRoute[] = [];
      let isDown = false;
      await page.routeWebSocket('**/console/v1/mainnet', (socket) => {
        sockets.push(socket);
        if (isDown) void socket.close();
        else socket.connectToServer();
      });
      await page.reload();
      await page.getByText('Newest first, live').waitFor();
      isDown = true;
      for (const socket of sockets.splice(0)) await socket.close();
      await page.locator('.above-list').getByText('Newest first', { exact: true }).waitFor();
      await pay(PAID, 4n);
      await pay(PAID, 5n);
      isDown = false;
      await button('Show 2 new traces').waitFor();
      expect(await rows().count()).toBe(2);
      await button('Show 2 new traces').click();
      await expect.poll(() => rows().count()).toBe(4);
      await page.getByText('Newest first, live').waitFor();
      await pay(PAID, 6n);
      await button('Show 1 new trace').click();
      await rows().first().getByText('6 wei').waitFor();
    });

    it('reports a reorganisation that replaces the block of an open call tree', async () => {
      const hash = await pay(PAID, 3n);
      await look(hash);
      await page.getByRole('treeitem').waitFor();
      await page.getByText('✓ Succeeded').waitFor();
      await reorganise({ url: chain.anvil.url, depth: 1, seed: 11 });
      await page.getByText('The chain was reorganised').waitFor();
      await checkPage(tab, 'replaced');
      await button('Reload the calls').click();
      await page.getByText('No such transaction').waitFor();
    });

    it('marks the traces of an address whose block was replaced after the list was read', async () => {
      await pay(PAID, 7n);
      await look(PAID);
      await page.getByText('Newest first, live').waitFor();
      await rows().first().getByText('7 wei').waitFor();
      await reorganise({ url: chain.anvil.url, depth: 1, seed: 12 });
      await rows().first().getByText('▲ block replaced').waitFor();
      expect(await page.getByText('▲ block replaced').count()).toBe(1);
    });

    it('shows a block with links to its neighbours', async () => {
      await look('5');
      await page.getByRole('heading', { name: 'Block 5' }).waitFor();
      await rows().first().waitFor();
      await checkPage(tab, 'block');
      await page.getByRole('link', { name: '6 →' }).click();
      await page.getByRole('heading', { name: 'Block 6' }).waitFor();
    });

    it('shows strings from a node or a contract as text', async () => {
      const hash = await pay(PAID, 4n);
      const word = (n: number) => n.toString(16).padStart(64, '0');
      const reason = Buffer.from(HOSTILE);
      await page.route('**/v1/mainnet', async (route) => {
        const answer = await fetchRoute(route);
        const text = await answer.text();
        const { method } = JSON.parse(route.request().postData() ?? '{}');
        if (method !== 'trace_transaction') return route.fulfill({ response: answer, body: text });
        const body = JSON.parse(text);
        const output = `0x08c379a0${word(32)}${word(reason.length)}${reason.toString('hex').padEnd(128, '0')}`;
        Object.assign(body.result[0], { error: HOSTILE, result: { gasUsed: '0x1', output } });
        return route.fulfill({ response: answer, body: JSON.stringify(body) });
      });
      await look(hash);
      await page.locator('.call-tree').getByText('⟨U+202E⟩').first().waitFor();
      expect(await page.locator('main img').count()).toBe(0);
      await checkPage(tab, 'hostile-tree');
      await page.unrouteAll({ behavior: 'wait' });

      await page.route('**/client/v4/health', async (route) => {
        const answer = await fetchRoute(route);
        const body = await answer.json();
        Object.assign(body.result.networks[0].nodes[0], {
          health: 'quarantined',
          node: HOSTILE,
          last_failure: { at: new Date().toISOString(), reason: HOSTILE.repeat(20) },
        });
        body.result.networks[0].index.failure = HOSTILE;
        body.result.limited.in_flight = 1;
        return route.fulfill({ response: answer, body: JSON.stringify(body) });
      });
      await go('Nodes');
      await page.getByText('1 of 2 nodes is out of rotation.').waitFor();
      expect(await page.locator('main img').count()).toBe(0);
      await checkPage(tab, 'hostile-nodes');
      await page.unrouteAll({ behavior: 'wait' });
    });

    it('shows the status of the nodes, sets one aside, and undoes that with Undo or Resume', async () => {
      await page.getByText('2 of 2 nodes are healthy, and the index is at the head.').waitFor();
      const figures = page.locator('main .figures > div');
      for (const [name, value] of [
        ['index', /to block \d+0 blocks behind the head/],
        ['gaps', /none/],
        ['answered from the cache', /\d %of [\d,]+ calls since server start/],
        ['rejected by a limit', /\d+requests? since server start/],
      ] as const)
        await figures.filter({ hasText: name }).first().filter({ hasText: value }).waitFor();
      await checkPage(tab, 'nodes');
      const drainOne = async () => {
        await button('Drain').first().click();
        await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
        await page.getByText('is drained.').waitFor();
        await page.getByText('1 of 2 nodes is out of rotation').waitFor();
      };
      await drainOne();
      await button('Undo').click();
      await page.getByText('2 of 2 nodes are healthy').waitFor();
      // Undo is offered for ten seconds, and on a busy machine the check of the page takes longer.
      await drainOne();
      // The last node cannot be set aside.
      expect(await button('Drain').isDisabled()).toBe(true);
      await checkState(tab, 'nodes-drained');
      await button('Resume').click();
      await page.getByText('2 of 2 nodes are healthy').waitFor();
    });

    it('creates a token that is shown once, counts its requests, and revokes it by name', async () => {
      await go('Access');
      await page
        .getByText('Valid tokens: only the server’s own. The gateway is open: no key was ever created.')
        .waitFor();
      await checkPage(tab, 'access-empty');
      const hint = page.locator('.empty pre').filter({ hasText: 'floodgate token create' });
      expect(await hint.textContent()).toContain(' --account default ');
      await lookAtAccount('acme');
      await go('Access');
      await expect.poll(() => hint.textContent()).toContain(' --account acme ');
      await lookAtAccount('default');
      // An invalid account in a URL is not copied into a shell command.
      const other = await openTab(browser, floodgate.url);
      await other.page.goto(`${floodgate.url}/console/access?account=${encodeURIComponent('$(id)')}`);
      await signIn(other.page, floodgate.token);
      const itsHint = other.page.locator('.empty pre').filter({ hasText: 'floodgate token create' });
      expect(await itsHint.textContent()).toContain(' --account default ');
      await other.context.close();
      await go('Access');
      await button('New token').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Label').fill('<b>dashboard</b>');
      await dialog.getByLabel('Account ids').fill('no such/id');
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await dialog.getByText(/accounts must be a list/).waitFor();
      tab.faults.splice(0, tab.faults.length, ...tab.faults.filter((fault) => !fault.includes('400')));
      await checkPage(tab, 'token-form');
      await dialog.getByLabel('Account ids').fill('a b');
      await dialog.getByLabel('View tokens').check();
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await dialog.getByText('It is shown only once.').waitFor();
      const secret = (await dialog.locator('.secret').textContent()) ?? '';
      expect(secret).toMatch(/^fg_[A-Za-z0-9]{40}$/);
      await checkPage(tab, 'token-shown');
      await checkWidth(tab, 'token-shown');
      await dialog.getByRole('button', { name: 'Copy' }).first().click();
      await expect.poll(clipboard).toBe(secret);
      await dialog.getByRole('button', { name: 'I have saved it' }).click();
      expect(await page.content()).not.toContain(secret);

      expect((await api('GET', '/user/tokens', secret)).status).toBe(200);
      expect((await api('GET', '/gateway/keys', secret)).status).toBe(403);
      await go('Try');
      await go('Access');
      const row = rows().filter({ hasText: '<b>dashboard</b>' });
      await row.getByText('1 rejected').waitFor();
      await checkPage(tab, 'access');
      await checkWidth(tab, 'access');

      // A read-only token sees no buttons for changes.
      const reader = await openTab(browser, floodgate.url);
      await reader.page.goto(`${floodgate.url}/console/access`);
      await signIn(reader.page, secret);
      await reader.page.getByText('Valid tokens: 1').waitFor();
      const buttons = await reader.page.locator('main').getByRole('button').allTextContents();
      expect(buttons).toEqual([]);
      expect(await reader.page.getByText('API keys of the gateway').count()).toBe(0);
      expect(await reader.page.getByRole('link', { name: 'Nodes' }).count()).toBe(0);
      await checkPage(reader, 'access-reader');

      await row.getByRole('button', { name: 'Revoke' }).click();
      expect(await dialog.getByRole('button', { name: 'Revoke' }).isDisabled()).toBe(true);
      await dialog.getByRole('textbox').fill('<b>dashboard</b>');
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('<b>dashboard</b> is revoked.').waitFor();
      expect((await api('GET', '/user/tokens', secret)).status).toBe(401);
      await reader.page.reload();
      await reader.page.getByLabel('Token', { exact: true }).waitFor();
      await reader.context.close();
    });

    it('sends operations of the REST and RPC documents, shows the responses, and copies commands that run in a shell', async () => {
      const release = await holdRequests(page, '**/openapi.json');
      const discovered = page.waitForResponse(
        (answer) => answer.request().postDataJSON()?.method === 'rpc.discover',
      );
      await go('Try');
      await (await discovered).finished();
      await inPage(page, DRAWN);
      // The methods follow the operations of the REST API, so they would move when these arrive.
      expect(await page.getByRole('heading', { name: 'JSON-RPC' }).count()).toBe(0);
      release();
      const document = (await (await fetch(`${floodgate.url}/client/v4/openapi.json`)).json()) as {
        readonly paths: Readonly<Record<string, object>>;
      };
      const rest = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length;
      const { json: rpc } = await call(floodgate.gatewayUrl, 'rpc.discover');
      await page.getByText(`${rest + rpc.result.methods.length} operations to try`).waitFor();
      // Browsers count no layout shift after a key press, and a search moves the groups that it finds.
      const search = page.getByRole('searchbox');
      await search.pressSequentially('createToken');
      await page.getByRole('link', { name: 'createToken' }).click();
      await page.waitForURL('**/try/rest/createToken');
      await page.getByLabel('permissions').fill('everything');
      await button('Send').click();
      await page.locator('.answer').getByText('✕ 400').waitFor();
      await page.locator('.answer').getByText('permissions must be a list').waitFor();
      tab.faults.splice(0, tab.faults.length, ...tab.faults.filter((fault) => !fault.includes('400')));
      await search.press('Control+A');
      await search.press('Delete');
      await checkPage(tab, 'try-rest');
      await search.pressSequentially('eth_getBlockByNumber');
      await page.getByRole('link', { name: 'eth_getBlockByNumber', exact: true }).click();
      await button('Send').click();
      await page.locator('.answer').getByText('✓ 200').waitFor();
      await button('Copy as curl').click();
      await page.getByText('✓ Copied').waitFor();
      const { stdout } = await run('sh', ['-c', await clipboard()]);
      expect(JSON.parse(stdout)).toMatchObject({ jsonrpc: '2.0', id: 1 });
      await checkPage(tab, 'try-rpc');
    });

    it('requires an API key after the first one is created, asks for it, and revokes it', async () => {
      await go('Access');
      await button('New key').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('This is the first key').waitFor();
      await dialog.getByLabel('Name').fill('explorer');
      await checkPage(tab, 'key-form');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      const secret = (await dialog.locator('.secret').textContent()) ?? '';
      expect(secret).toMatch(/^fgk_\S{40}$/);
      await dialog.getByRole('button', { name: 'I have saved it' }).click();
      await until(
        'the gateway to require a key',
        async () =>
          (
            await fetch(floodgate.gatewayUrl, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: '[]',
            })
          ).status === 401,
      );
      await go('Traces');
      await page.getByLabel('The gateway requires an API key').fill(secret);
      await button('Use key').click();
      await look(PAID);
      await page.getByText('Newest first, live').waitFor();
      await rows().first().waitFor();
      await go('Access');
      const row = rows().filter({ hasText: 'explorer' });
      await row.waitFor();
      await checkPage(tab, 'access-keys');
      await row.getByRole('button', { name: 'Revoke' }).click();
      await dialog.getByRole('textbox').fill('explorer');
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('explorer is revoked.').waitFor();
      expect(tab.faults).toEqual([]);
    });
  },
);
