import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const text = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const headings = (level) =>
  [...text.matchAll(new RegExp(`^${'#'.repeat(level)} (.*)$`, 'gm'))].map(([, words]) => words);

it('CHANGELOG.md has a dated section for each version, latest first, and the version of package.json is the latest', () => {
  const [latest, ...earlier] = headings(2);
  expect(latest).toMatch(/^\[\d+\.\d+\.\d+\] - (\d{4}-\d\d-\d\d|unreleased)$/);
  for (const section of earlier) expect(section).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
  const dates = headings(2).map((section) => section.split(' - ')[1]);
  expect(dates).toEqual(dates.toSorted().reverse());
  expect(latest).toContain(`[${version}]`);
});

it('CHANGELOG.md groups the entries of each version by known areas', () => {
  const areas = ['Rules API', 'DNS guard', 'Gateway', 'Traces', 'Console', 'Operations', 'Scale'];
  expect(headings(3).filter((area) => !areas.includes(area))).toEqual([]);
});

it('the version in package.json follows Semantic Versioning', () => {
  expect(version).toMatch(/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[\w.]+)?$/);
});
