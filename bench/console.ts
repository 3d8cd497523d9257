/**
 * The console in headless Chromium, through the DevTools protocol: time to first paint, time from a flood to the
 * banner, time from a key to the next paint with 500 rules and live numbers, and memory over time. `npm run bench
 * console -- --minutes 3` measures memory for less than the default ten minutes. Each line contains the load of the
 * host, because waiting for a processor is part of every time except the processor time per key.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { CHROMIUM, inPage, launchBrowser, openTab } from '../test/console/support/browser.ts';
import { type DevServer, startDevServer } from '../test/console/support/devServer.ts';
import { Flood } from '../test/console/support/flood.ts';
import { freePort } from '../test/support/freePort.ts';
import { BUNDLE, buildBundle } from './support/child.ts';
import { numberOf, optionsOf } from './support/options.ts';

const RULES = 500;
const KEYS = 40;
const PAINTS = 5;
const WARM_UP_MS = 30_000;
const SAMPLE_MS = 5_000;
const MINUTE_MS = 60_000;
const MB = 1_000_000;
const TYPED = 'dc12';

const minutes = numberOf('minutes', optionsOf({ minutes: { type: 'string' } }).minutes, {
  otherwise: 10,
  least: 0.1,
});
if (CHROMIUM === undefined) throw new Error('Chromium is not installed: apt-get install chromium');

buildBundle();
const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
const server = await startDevServer(folder, await freePort(), { program: BUNDLE });
let browser: Browser | undefined;
let flood: Flood | undefined;
try {
  await makeRules(server);
  browser = await launchBrowser();
  const { page } = await openTab(browser, server.url);
  await page.goto(server.link);
  await page.getByRole('heading', { name: 'No attack' }).waitFor();
  await paints(browser, server.url);

  const banner = page.getByRole('heading', { name: 'Attack on' }).waitFor();
  const floodedMs = performance.now();
  flood = await Flood.start('example.test', server.dns);
  await banner;
  tell('from the flood to the banner', `${((performance.now() - floodedMs) / 1000).toFixed(1)} s`, '3 s');

  await keys(page);
  await memory(page);
} finally {
  await flood?.stop();
  await browser?.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function makeRules({ url, account, token }: DevServer): Promise<void> {
  const rules = `${url}/client/v4/accounts/${account}/network/advanced_dns_protection/configs/dns_protection/rules`;
  const sensitivities = {
    profile_sensitivity: 'medium',
    rate_sensitivity: 'medium',
    burst_sensitivity: 'medium',
  };
  for (let i = 0; i < RULES; i++) {
    const place =
      i === 0
        ? { scope: 'global', name: 'global', mode: 'enabled' }
        : { scope: 'datacenter', name: `dc${i}`, mode: 'monitoring' };
    const { ok } = await fetch(rules, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...place, ...sensitivities }),
    });
    if (!ok) throw new Error('a rule could not be created');
  }
}

/** Measures the first paint in new contexts with empty caches. */
async function paints(browser: Browser, url: string): Promise<void> {
  const each: number[] = [];
  for (let i = 0; i < PAINTS; i++) {
    const { context, page } = await openTab(browser, url);
    await page.goto(`${url}/console/`);
    await page.getByLabel('Token', { exact: true }).waitFor();
    each.push(await inPage(page, "performance.getEntriesByName('first-contentful-paint')[0].startTime"));
    await context.close();
  }
  each.sort((one, other) => one - other);
  const [median = 0, slowest = 0] = [each[PAINTS >>> 1], each.at(-1)];
  tell(
    'first contentful paint',
    `${median.toFixed(0)} ms, slowest of ${PAINTS} ${slowest.toFixed(0)} ms`,
    '1 s',
  );
}

/** Types into the search field of the list, so that each key redraws the list. */
async function keys(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Rules', exact: true }).first().click();
  await page.getByText(`datacenter dc${RULES - 1}`, { exact: true }).waitFor();
  await inPage(
    page,
    `window.longestMs = 0;
     new PerformanceObserver((list) => {
       for (const { duration } of list.getEntries()) window.longestMs = Math.max(window.longestMs, duration);
     }).observe({ type: 'event', durationThreshold: 16 }); undefined`,
  );
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const beforeSeconds = await processorSeconds(session);
  await page.keyboard.press('/');
  for (let i = 0; i < KEYS; i++) {
    const key = TYPED[i % (2 * TYPED.length)];
    await page.keyboard.press(key ?? 'Backspace');
    await pause(100);
  }
  const longestMs = await inPage<number>(page, 'window.longestMs');
  const usedMs = (1000 * ((await processorSeconds(session)) - beforeSeconds)) / KEYS;
  tell(`interaction to next paint, ${RULES} rules, ${KEYS} keys, longest`, `${longestMs} ms`, '100 ms');
  tell('processor time of the page per key, live updates included, mean', `${usedMs.toFixed(1)} ms`, '');
}

/** Returns the processor time of the page's main thread. */
async function processorSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
}

/** Measures memory during the flood, on the page with the most live updates. */
async function memory(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Now', exact: true }).first().click();
  const session = await page.context().newCDPSession(page);
  // By then the graph has been drawn for a while and the code is compiled.
  await pause(WARM_UP_MS);
  const megabytes: number[] = [];
  for (
    const endMs = performance.now() + minutes * MINUTE_MS;
    performance.now() < endMs;
    await pause(SAMPLE_MS)
  )
    megabytes.push((await heapBytes(session)) / MB);
  const third = Math.ceil(megabytes.length / 3);
  const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length;
  const [first, last] = [mean(megabytes.slice(0, third)), mean(megabytes.slice(-third))];
  tell(
    `memory of the page over ${minutes} minutes of flood, mean of the first and the last third`,
    `${first.toFixed(2)} and ${last.toFixed(2)} MB, maximum ${Math.max(...megabytes).toFixed(2)}`,
    'flat',
  );
}

async function heapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

function tell(what: string, measured: string, target: string): void {
  console.log(`| ${what} | ${measured} | ${target} | load ${loadavg()[0]?.toFixed(1)} |`);
}
