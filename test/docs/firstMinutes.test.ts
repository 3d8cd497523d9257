import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, launchBrowser, openTab } from '../console/support/browser.ts';
import { run } from '../server/support/run.ts';
import { type Dev, startDev } from '../server/support/startDev.ts';
import { PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import { read, shellBlocksOf } from './support/commands.ts';

const PAGE = 'docs/start/first-ten-minutes.md';
const [START, ...COMMANDS] = shellBlocksOf(PAGE).map(({ script }) => script);
const STEPS = read(PAGE)
  .split(/^\d+\. /m)
  .slice(1)
  .map((step) => (step.split('\n\n')[0] ?? '').replaceAll(/\s+/g, ' '));
const hasDig = (await run('dig', ['-v']).catch(() => undefined))?.code === 0;

/** Actions of a step, in their order. Other sentences explain. */
const ACTION =
  /Open the link after `(?<link>\w+)`|Press \*\*(?<press>[^*]+)\*\*|The page shows “(?<shown>[^”]+)”/g;

describe('the first ten minutes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-minutes-'));
  let dev: Dev;
  let browser: Browser | undefined;
  let page: Page;
  const printed = (pattern: RegExp): string => pattern.exec(dev.startMessage)?.[1] ?? '';
  beforeAll(async () => {
    // `npm start` without compiling first, which takes most of its time.
    expect(START).toBe('npm ci && npm start');
    dev = await startDev(folder, [process.execPath, PROGRAM, 'dev']);
    if (CHROMIUM === undefined) return;
    browser = await launchBrowser();
    ({ page } = await openTab(browser, new URL(printed(/Console +(\S+)/)).origin));
  });
  afterAll(async () => {
    await browser?.close();
    dev?.process.kill('SIGTERM');
    await dev?.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it('has steps for the console', () => expect(STEPS.length).toBeGreaterThan(4));

  it.skipIf(CHROMIUM === undefined).each(STEPS)('%s', async (step) => {
    const actions = [...step.matchAll(ACTION)];
    expect(actions).not.toEqual([]);
    for (const { groups: { link, press, shown = '' } = {} } of actions) {
      if (link !== undefined) await page.goto(printed(new RegExp(`${link} +(\\S+)`)));
      else if (press === undefined) await page.getByText(shown).first().waitFor();
      else {
        const named = { name: press, exact: true } as const;
        await page.getByRole('button', named).or(page.getByRole('link', named)).first().click();
      }
    }
  });

  it('has commands that work', async () => {
    const script = COMMANDS.join('\n')
      .replaceAll('http://127.0.0.1:8420', new URL(dev.gatewayUrl).origin)
      .replaceAll('8453', printed(/DNS +\S+ port (\d+)/))
      .replaceAll(/^dig .*$/gm, (line) => (hasDig ? line : 'echo 192.0.2.80'));
    await until('traces in the results of the commands', async () => {
      const { code, stdout } = await run('sh', ['-e', '-c', script]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('192.0.2.80\n')]);
      expect(stdout).not.toMatch(/"error":\{"code":-3260[0-3]/);
      return stdout.includes('"traceAddress"') && (stdout.match(/"jsonrpc"/g) ?? []).length === 2;
    });
  });
});
