import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { inPage, keepPicture, layoutShift, moves, type Tab } from './browser.ts';

const WIDTHS = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1440 },
] as const;
const SCHEMES = ['light', 'dark'] as const;
/** What browsers call good. */
const MAX_LAYOUT_SHIFT = 0.1;

/** Colours have changed from one scheme to the other: on their way they have another contrast. */
const AT_REST = `Promise.all(document.getAnimations()
  .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
  .map(({ finished }) => finished.catch(() => undefined))).then(() => undefined)`;

/** Two frames later everything was drawn. */
export const DRAWN =
  'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))';
const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[];
}

/** What axe-core finds, in short. */
async function violations(page: Page): Promise<string[]> {
  // Half a megabyte, sent once for each page that is loaded.
  if (!(await inPage<boolean>(page, "'axe' in window"))) await inPage(page, `(() => {${axe.source}})()`);
  const run =
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => ({ id, nodes }))))";
  const found = JSON.parse(await inPage<string>(page, run)) as Violation[]; // as axe-core has them
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${String(target)}: ${failureSummary}`),
  );
}

/** A page at each width and in both schemes: nothing moves, nothing is wider than the window, axe-core finds nothing. */
export async function checkPage(tab: Tab, name: string): Promise<void> {
  for (const scheme of SCHEMES) for (const size of WIDTHS) await look(tab.page, { name, scheme, size });
  await checkRest(tab, name);
}

/** Nothing is wider than the narrowest window that shows tables as such. What moves for the new width counts for no check before. */
export async function checkWidth({ page }: Tab, name: string): Promise<void> {
  await page.setViewportSize({ width: 700, height: 800 });
  await inPage(page, DRAWN);
  expect.soft(await inPage<number>(page, TOO_WIDE), `${name} 700: too wide`).toBeLessThanOrEqual(0);
  await inPage(page, 'window.movedBy = {}');
}

/** A state of a page whose looks are those of a page that is looked at in full: the narrowest and a usual window. */
export async function checkState(tab: Tab, name: string): Promise<void> {
  await look(tab.page, { name, scheme: 'light', size: WIDTHS[0] });
  await look(tab.page, { name, scheme: 'dark', size: WIDTHS[1] });
  await checkRest(tab, name);
}

interface Looked {
  readonly name: string;
  readonly scheme: (typeof SCHEMES)[number];
  readonly size: (typeof WIDTHS)[number];
}

async function look(page: Page, { name, scheme, size }: Looked): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize(size);
  const where = `${name} ${size.width} ${scheme}`;
  await inPage(page, DRAWN);
  await inPage(page, AT_REST);
  await keepPicture(page, where.replaceAll(' ', '-'));
  expect.soft(await inPage<number>(page, TOO_WIDE), `${where}: too wide`).toBeLessThanOrEqual(0);
  expect.soft(await violations(page), where).toEqual([]);
}

async function checkRest({ page, faults, strangers }: Tab, name: string): Promise<void> {
  expect
    .soft(await layoutShift(page), `${name}: moves\n${await moves(page)}`)
    .toBeLessThanOrEqual(MAX_LAYOUT_SHIFT);
  expect.soft(faults, name).toEqual([]);
  expect.soft(strangers, name).toEqual([]);
}
