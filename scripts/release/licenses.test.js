import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAllowed, SHIPPED_LICENSES, TOOL_LICENSES } from './licenses.js';

const entriesOf = (file) => {
  const { packages } = JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
  return Object.entries(packages).filter(([path]) => path !== '');
};

describe('isAllowed', () => {
  it.each([
    ['package-lock.json', 30],
    ['.ci/cast/package-lock.json', 1],
    ['.ci/client-generators/package-lock.json', 30],
    ['site/package-lock.json', 30],
  ])('accepts the licence of every dependency in %s', (file, least) => {
    // Entries that completeLock.js added for other systems name no licence: that of the package they belong to applies.
    const known = entriesOf(file).filter(([, { license, optional }]) => license !== undefined || !optional);
    expect(known.length).toBeGreaterThan(least);
    const refused = known.filter(
      ([, { license, dev }]) =>
        !isAllowed(license, dev || file.includes('/') ? TOOL_LICENSES : SHIPPED_LICENSES),
    );
    expect(refused.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  });

  it('evaluates SPDX expressions with AND and OR', () => {
    expect(isAllowed('(MIT OR GPL-3.0-only)', SHIPPED_LICENSES)).toBe(true);
    expect(isAllowed('Apache-2.0 AND MIT', SHIPPED_LICENSES)).toBe(true);
    for (const refused of [
      'Apache-2.0 AND GPL-3.0-only',
      'MPL-2.0',
      'UNLICENSED',
      'SEE LICENSE IN x',
      '',
      undefined,
    ])
      expect(isAllowed(refused, SHIPPED_LICENSES), refused).toBe(false);
  });
});
