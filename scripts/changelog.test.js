import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const text = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

it('CHANGELOG.md has the form of Keep a Changelog', () => {
  const headings = [...text.matchAll(/^(##+) (.*)$/gm)].map(([, level, words]) => ({
    level: level.length,
    words,
  }));
  const releases = headings.filter(({ level }) => level === 2).map(({ words }) => words);
  expect(releases[0]).toBe('[Unreleased]');
  for (const release of releases.slice(1)) expect(release).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
  const dates = releases.slice(1).map((release) => release.split(' - ')[1]);
  expect(dates).toEqual(dates.toSorted().reverse());
  const kinds = headings.filter(({ level }) => level === 3).map(({ words }) => words);
  const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  expect(
    kinds.filter((kind) => !KINDS.includes(kind)),
    'areas are headings of level 4 below these',
  ).toEqual([]);
});

it('the version of the package is one of Semantic Versioning', () => {
  expect(version).toMatch(/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[\w.]+)?$/);
});
