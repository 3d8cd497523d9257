import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { releaseFaults } from './releaseFaults.js';

const GOOD = {
  manifest: { version: '1.2.3', repository: { type: 'git', url: 'git+https://forge.test/us/floodgate.git' } },
  changelog: '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n',
  lock: { packages: { '': {}, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-' } } },
  hasFixture: true,
  tag: 'v1.2.3',
};

it('a version with all that belongs to it may be released, from a tag or without one', () => {
  expect(releaseFaults(GOOD)).toEqual([]);
  expect(releaseFaults({ ...GOOD, tag: undefined })).toEqual([]);
});

it.each([
  [{ tag: 'v1.2.4' }, /^the tag is v1\.2\.4, and package\.json has version 1\.2\.3/],
  [{ changelog: '## [1.2.30] - 2026-01-02' }, /^CHANGELOG\.md has no section for 1\.2\.3/],
  [{ manifest: { version: '1.2.3' } }, /"repository": \{ "type": "git", "url": "git\+https:/],
  [
    { lock: { packages: { 'node_modules/a-darwin-x64': { optional: true } } } },
    /no hash of 1 packages \(node_modules\/a-darwin-x64, …\)/,
  ],
  [{ hasFixture: false }, /npm run release:fixture/],
])('says what is missing: %o', (missing, told) => {
  expect(releaseFaults({ ...GOOD, ...missing })).toEqual([expect.stringMatching(told)]);
});

it('the workflow that publishes makes the release by the script that looks', () => {
  const workflow = readFileSync(new URL('../.github/workflows/release.yml', import.meta.url), 'utf8');
  expect(workflow).toMatch(/run: npm ci && npm run release$/m);
});
