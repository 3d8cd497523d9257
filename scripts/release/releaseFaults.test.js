import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { releaseFaults } from './releaseFaults.js';

const GOOD = {
  manifest: { version: '1.2.3', repository: { type: 'git', url: 'git+https://forge.test/us/floodgate.git' } },
  changelog: '# Changelog\n\n## [1.2.3] - 2026-01-02\n',
  lock: { packages: { '': {}, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-' } } },
  hasFixture: true,
  tag: 'v1.2.3',
};

it('releaseFaults returns nothing for a complete version, with or without a tag', () => {
  expect(releaseFaults(GOOD)).toEqual([]);
  expect(releaseFaults({ ...GOOD, tag: undefined })).toEqual([]);
});

it.each([
  [{ tag: 'v1.2.4' }, /^the tag is v1\.2\.4, and package\.json has version 1\.2\.3/],
  [{ changelog: '## [1.2.30] - 2026-01-02' }, /^CHANGELOG\.md has no section for 1\.2\.3/],
  [{ changelog: '## [1.2.3] - unreleased' }, /^CHANGELOG\.md has no section for 1\.2\.3 with a date/],
  [{ manifest: { version: '1.2.3' } }, /"repository": \{ "type": "git", "url": "git\+https:/],
  [
    { lock: { packages: { 'node_modules/a-darwin-x64': { optional: true } } } },
    /no hash of 1 packages \(node_modules\/a-darwin-x64, …\)/,
  ],
  [{ hasFixture: false }, /npm run release:fixture/],
])('releaseFaults reports the fault of %o', (missing, reported) => {
  expect(releaseFaults({ ...GOOD, ...missing })).toEqual([expect.stringMatching(reported)]);
});

it('the release workflow runs npm run release, which checks for faults', () => {
  const workflow = readFileSync(new URL('../../.github/workflows/release.yml', import.meta.url), 'utf8');
  expect(workflow).toMatch(/run: npm ci && npm run release$/m);
});
