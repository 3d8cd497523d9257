/**
 * The console in headless Chromium, through the DevTools protocol: how long until it is drawn, from a flood to the banner, from a key to
 * the next paint with 500 rules and live numbers, and whether its memory stays. `npm run bench console -- --minutes 10`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inPage, launchBrowser, openTab } from '../test/console/support/browser.ts';
import { startDevServer } from '../test/console/support/devServer.ts';
import { Flood } from '../test/console/support/flood.ts';
import { freePort } from '../test/support/freePort.ts';

const RULES = 500;
const KEYS = 40;
const DEFAULT_MINUTES = 2;
const MB = 1_000_000;

const given = process.argv.indexOf('--minutes');
const minutes = given === -1 ? DEFAULT_MINUTES : Number(process.argv[given + 1]);
const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
const server = await startDevServer(folder, await freePort());
const browser = await launchBrowser();
let flood: Flood | undefined;
try {
  const rules = `${server.url}/client/v4/accounts/${server.account}/network/advanced_dns_protection/configs/dns_protection/rules`;
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
    await fetch(rules, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
      body: JSON.stringify({ ...place, ...sensitivities }),
    });
  }
  const { page } = await openTab(browser, server.url);
  await page.goto(server.link);
  await page.getByText('No attack').waitFor();
  const paintMs = await inPage<number>(
    page,
    "performance.getEntriesByName('first-contentful-paint')[0].startTime",
  );
  tell('first contentful paint', `${paintMs.toFixed(0)} ms`, '1 s');

  const banner = page.getByText('Attack on').waitFor();
  const floodedMs = performance.now();
  flood = await Flood.start('example.test', server.dns);
  await banner;
  tell('from the flood to the banner', `${((performance.now() - floodedMs) / 1000).toFixed(1)} s`, '3 s');

  await page.getByRole('link', { name: 'Rules' }).click();
  await page.getByText('dc499').waitFor();
  await inPage(
    page,
    `window.longestMs = 0;
     new PerformanceObserver((list) => {
       for (const { duration } of list.getEntries()) window.longestMs = Math.max(window.longestMs, duration);
     }).observe({ type: 'event', durationThreshold: 16 }); undefined`,
  );
  await page.keyboard.press('/');
  for (let i = 0; i < KEYS; i++) {
    await page.keyboard.press(i % 8 < 4 ? ('dc12'[i % 4] ?? 'd') : 'Backspace');
    await pause(100);
  }
  const longestMs = await inPage<number>(page, 'window.longestMs');
  tell(`interaction to next paint, ${RULES} rules, ${KEYS} keys, the longest`, `${longestMs} ms`, '100 ms');

  await page.getByRole('link', { name: 'Now' }).click();
  const session = await page.context().newCDPSession(page);
  const heapBytes = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  // Half a minute, until the graph has what it keeps and code is compiled.
  await pause(30_000);
  const samples: number[] = [];
  for (const endMs = performance.now() + minutes * 60_000; performance.now() < endMs; await pause(10_000))
    samples.push(await heapBytes());
  const first = samples[0] ?? 0;
  tell(
    `memory over ${minutes} minutes of flood`,
    `${(first / MB).toFixed(1)} to ${((samples.at(-1) ?? 0) / MB).toFixed(1)} MB`,
    'flat',
  );
} finally {
  await flood?.stop();
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function tell(what: string, measured: string, target: string): void {
  console.log(`| ${what} | ${measured} | ${target} |`);
}
