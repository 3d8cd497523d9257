import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { HANG_MS } from '../../support/hang.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Undefined where there is none. */
export const CHROMIUM = PLACES.find((path) => existsSync(path));
/** Where pictures of the pages are kept; nowhere where it is not set. */
const ARTIFACTS = process.env['FLOODGATE_TEST_ARTIFACTS'];

/** A browser without a window. As root it has no sandbox of its own: what it opens here is ours. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-gpu'] });

export interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors of the page and of its console, what the policy refused among them. */
  readonly faults: string[];
  /** URLs that were asked for and are not of the server. */
  readonly strangers: string[];
}

const COUNT_SHIFTS = `
  window.movedBy = {};
  window.moves = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const page = location.pathname.split('/')[2];
      window.movedBy[page] = (window.movedBy[page] ?? 0) + value;
      const moved = sources.map(({ node }) => [node?.nodeName, node?.className, node?.textContent?.slice(0, 30)].join(' '));
      window.moves.push([value.toFixed(4), location.pathname, innerWidth, ...moved].join(', '));
    }
  }).observe({ type: 'layout-shift', buffered: true });
`;

export async function openTab(browser: Browser, url: string): Promise<Tab> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'Europe/Zurich',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  const strangers: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      faults.push(`${message.text()} ${message.location().url}`.trim());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) strangers.push(request.url());
  });
  // How much of the page moves by itself, as browsers count it.
  await page.addInitScript({ content: COUNT_SHIFTS });
  return { context, page, faults, strangers };
}

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** What an expression is in the page; by the DevTools, as the page's own policy lets no text become a script. */
export async function inPage<T>(page: Page, expression: string): Promise<T> {
  const opened = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, opened);
  const session = await opened;
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    ...{ expression, awaitPromise: true, returnByValue: true },
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value as T; // the caller knows what it asks for
}

/** Holds what a page asks for; gives what lets it through, and all that is asked for later. */
export async function hold(page: Page, pattern: string): Promise<() => void> {
  let letThrough = () => {};
  const held = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  await page.route(pattern, async (route) => {
    await held;
    await route.continue();
  });
  return () => letThrough();
}

/** Of the page of the console that has moved most. */
export const layoutShift = (page: Page): Promise<number> =>
  inPage(page, 'Math.max(0, ...Object.values(window.movedBy))');
/** What moved, for who looks for the reason. */
export const moves = (page: Page): Promise<string> => inPage(page, "window.moves.join('\\n')");

export async function keepPicture(page: Page, name: string): Promise<void> {
  if (ARTIFACTS === undefined) return;
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}
