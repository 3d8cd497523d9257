import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { inPage, layoutShift, layoutShifts, type Tab, takeScreenshot } from './browser.ts';

const NARROW_SIZE = { width: 360, height: 740 } as const;
const USUAL_SIZE = { width: 1280, height: 800 } as const;
/** The usual size is the last one, so that the steps of a test after the check move elements as users see it. */
const SIZES = [NARROW_SIZE, { width: 768, height: 1024 }, { width: 2560, height: 1440 }, USUAL_SIZE] as const;
const SCHEMES = ['light', 'dark'] as const;
/** Cumulative layout shift that web.dev rates as good. */
const MAX_LAYOUT_SHIFT = 0.1;

/** Waits for the end of colour transitions: intermediate colours have a different contrast. */
const TRANSITIONS_ENDED = `Promise.all(document.getAnimations()
  .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
  .map(({ finished }) => finished.catch(() => undefined))).then(() => undefined)`;

/** Waits for two animation frames, after which all changes are drawn. */
export const DRAWN =
  'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))';
const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth';
/** Number of legends of graphs that have several lines. */
const WRAPPED_LEGENDS = `[...document.querySelectorAll('.graph figcaption')]
  .filter(({ firstElementChild, lastElementChild }) => lastElementChild.offsetTop > firstElementChild.offsetTop + 8).length`;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[];
}

/** Returns the violations found by axe-core. */
async function violations(page: Page): Promise<string[]> {
  // axe-core has 500 kB, so it is sent only once per loaded page.
  if (!(await inPage<boolean>(page, "'axe' in window"))) await inPage(page, `(() => {${axe.source}})()`);
  const run =
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => ({ id, nodes }))))";
  const found = JSON.parse(await inPage<string>(page, run)) as Violation[]; // as axe-core has them
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${String(target)}: ${failureSummary}`),
  );
}

/**
 * Checks a page at each width in both colour schemes: no layout shift, no horizontal overflow, no axe-core violation.
 */
export async function checkPage(tab: Tab, name: string): Promise<void> {
  for (const scheme of SCHEMES) for (const size of SIZES) await look(tab.page, { name, scheme, size });
  await checkRest(tab, name);
}

/**
 * Checks for overflow at 700 px, the narrowest width that shows tables. Resets the layout shift, because the new
 * width causes one.
 */
export async function checkWidth({ page }: Tab, name: string): Promise<void> {
  await page.setViewportSize({ width: 700, height: 800 });
  await inPage(page, DRAWN);
  expect.soft(await inPage<number>(page, TOO_WIDE), `${name} 700: too wide`).toBeLessThanOrEqual(0);
  await inPage(page, 'window.movedBy = {}');
}

/** Checks a state of a page that another test checks in full: one narrow and one usual window size. */
export async function checkState(tab: Tab, name: string): Promise<void> {
  await look(tab.page, { name, scheme: 'light', size: NARROW_SIZE });
  await look(tab.page, { name, scheme: 'dark', size: USUAL_SIZE });
  await checkRest(tab, name);
}

/** Checks a state of a page in a narrow window, for overflow and violations only. */
export const checkNarrow = ({ page }: Tab, name: string): Promise<void> =>
  look(page, { name, scheme: 'light', size: NARROW_SIZE });

interface Looked {
  readonly name: string;
  readonly scheme: (typeof SCHEMES)[number];
  readonly size: (typeof SIZES)[number];
}

async function look(page: Page, { name, scheme, size }: Looked): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize(size);
  const where = `${name} ${size.width} ${scheme}`;
  await inPage(page, DRAWN);
  await inPage(page, TRANSITIONS_ENDED);
  await takeScreenshot(page, where.replaceAll(' ', '-'));
  expect.soft(await inPage<number>(page, TOO_WIDE), `${where}: too wide`).toBeLessThanOrEqual(0);
  if (size === USUAL_SIZE)
    expect.soft(await inPage<number>(page, WRAPPED_LEGENDS), `${where}: wrapped legends`).toBe(0);
  expect.soft(await violations(page), where).toEqual([]);
}

async function checkRest({ page, faults, foreignRequests }: Tab, name: string): Promise<void> {
  expect
    .soft(await layoutShift(page), `${name}: moves\n${await layoutShifts(page)}`)
    .toBeLessThanOrEqual(MAX_LAYOUT_SHIFT);
  expect.soft(faults, name).toEqual([]);
  expect.soft(foreignRequests, name).toEqual([]);
}
