import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type APIResponse,
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
  type Route,
} from 'playwright-core';

const CHROMIUM_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Path of the installed Chromium, or undefined. */
export const CHROMIUM = CHROMIUM_PATHS.find((path) => existsSync(path));
/** Folder for screenshots of the pages. Default: none are stored. */
const ARTIFACTS = process.env['FLOODGATE_TEST_ARTIFACTS'];

/** The longest step takes 6 s. With `HANG_MS`, each later step on a page that hangs would take minutes to fail. */
const STEP_TIMEOUT_MS = 30_000;

/** Starts a headless browser. Without a sandbox, because root cannot use it; tests open only trusted pages. */
export const launchBrowser = (...args: readonly string[]): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-gpu', ...args] });

export interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors of the page and of its console, including violations of the Content-Security-Policy. */
  readonly faults: string[];
  /** Requested URLs of other origins. */
  readonly foreignRequests: string[];
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

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/**
 * Opens a tab in its own context, and therefore in its own window: tabs of one context hide each other.
 * `storageState` is the state of another tab's context, for a tab that shares its session. Default: no session.
 */
export async function openTab(
  browser: Browser,
  url: string,
  storageState: StorageState = { cookies: [], origins: [] },
): Promise<Tab> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'Europe/Zurich',
    permissions: ['clipboard-read', 'clipboard-write'],
    storageState,
  });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
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
  // Collects layout shifts as browsers measure them.
  await page.addInitScript({ content: COUNT_SHIFTS });
  return { context, page, faults, foreignRequests: strangers };
}

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** Evaluates an expression in the page. Uses DevTools, because the page's policy forbids evaluating text. */
export async function inPage<T>(page: Page, expression: string): Promise<T> {
  const opened = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, opened);
  const session = await opened;
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value as T; // the caller knows the type
}

/** Fetches an intercepted request as the page would: the browser adds this header only to its own requests. */
export const fetchRoute = async (route: Route): Promise<APIResponse> =>
  route.fetch({ headers: { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' } });

/** Holds requests that match the pattern. Returns a function that releases these and all later requests. */
export async function holdRequests(page: Page, pattern: string): Promise<() => void> {
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

/** Returns the cumulative layout shift of the console page with the largest one. */
export const layoutShift = (page: Page): Promise<number> =>
  inPage(page, 'Math.max(0, ...Object.values(window.movedBy))');
/** Returns the layout shifts with the elements that moved, for the message of a failure. */
export const layoutShifts = (page: Page): Promise<string> => inPage(page, "window.moves.join('\\n')");

export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (ARTIFACTS === undefined) return;
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}
