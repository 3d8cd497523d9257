import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/freePort.ts';
import { CHROMIUM, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { type DevServer, startDevServer } from './support/devServer.ts';

/** A name that browsers do not treat as loopback. */
const HOST = 'floodgate.test';

describe.skipIf(CHROMIUM === undefined)(
  `the console over plain HTTP to another machine${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let dataDir: string;
    let server: DevServer;
    let browser: Browser;
    let tab: Tab;
    let page: Page;
    let url: string;

    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'floodgate-plain-http-'));
      const port = await freePort();
      url = `http://${HOST}:${port}`;
      [server, browser] = await Promise.all([
        startDevServer(dataDir, port, { flags: ['--http-allowed-hosts', HOST] }),
        launchBrowser(`--host-resolver-rules=MAP ${HOST} 127.0.0.1`),
      ]);
      tab = await openTab(browser, url);
      page = tab.page;
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
      await rm(dataDir, { recursive: true, force: true });
    });

    const signIn = async () => {
      await page.getByLabel('Token', { exact: true }).fill(server.token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };

    it('reports that the server does not recognise a browser without a Referer', async () => {
      await page.goto(`${url}/console/`);
      // The answer of the server to a request that has a cookie, but no Referer.
      await page.route('**/console/session', (route) => route.fulfill({ json: { signed_in: false } }));
      await signIn();
      await page.getByText('The server does not recognise this browser after signing in.').waitFor();
      expect(await page.getByLabel('Token', { exact: true }).count()).toBe(1);
      await page.unrouteAll({ behavior: 'wait' });
    });

    it('signs in, reads the API and the live stream, and continues the session after a reload', async () => {
      const reads = new Map<string, Promise<Record<string, string>>>();
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (request.method() === 'GET' && request.resourceType() === 'fetch')
          reads.set(pathname, request.allHeaders());
      });
      await tab.context.clearCookies();
      await page.goto(`${url}/console/`);
      await signIn();
      await page.locator('.live-dot.live').waitFor();
      await page.reload();
      await page.locator('.live-dot.live').waitFor();
      await page.getByRole('link', { name: 'Rules', exact: true }).click();
      await page.getByRole('heading', { name: 'No rule yet' }).waitFor();
      expect([...reads.keys()]).toEqual(
        expect.arrayContaining([
          '/console/session',
          expect.stringMatching(/live$/),
          expect.stringMatching(/rules$/),
        ]),
      );
      for (const headers of await Promise.all(reads.values())) {
        expect(headers).not.toHaveProperty('sec-fetch-site');
        expect(headers).not.toHaveProperty('origin');
        expect(headers['referer']).toMatch(`${url}/console/`);
      }
      // The browser ignores this header over plain HTTP, and reports it as an error.
      expect(tab.faults.filter((fault) => !fault.includes('Cross-Origin-Opener-Policy'))).toEqual([]);
    });

    it('copies text, although browsers have no clipboard API there', async () => {
      const copy = page.getByRole('button', { name: 'Copy' }).first();
      const shown = await page.locator('main pre, main code').first().textContent();
      await copy.click();
      await page.getByText('✓ Copied').first().waitFor();
      await page.keyboard.press('Control+k');
      const field = page.getByRole('dialog').locator('input');
      await field.focus();
      await field.press('Control+v');
      const pasted = await field.inputValue();
      expect(pasted.length).toBeGreaterThan(10);
      expect(pasted).toContain(String(shown).trim().slice(0, 10));
    });
  },
);
