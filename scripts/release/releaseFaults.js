// Checks whether a version can be released. Each message says what to do.
import { withoutHash } from './lockFile.js';

/**
 * @typedef {object} Release
 * @property {{ version: string, repository?: string | { url?: string } }} manifest package.json
 * @property {string} changelog
 * @property {Parameters<typeof withoutHash>[0]} lock package-lock.json
 * @property {boolean} hasFixture whether test/fixtures/releases has the data of this version, for the upgrade test
 * @property {string | undefined} tag the released tag, if CI runs for a tag
 */

/** @type {(release: Release) => string[]} */
export function releaseFaults({ manifest, changelog, lock, hasFixture, tag }) {
  const { version, repository } = manifest;
  const dated = [...changelog.matchAll(/^## \[(.+)\] - \d{4}-/gm)].map(([, section]) => section);
  const url = typeof repository === 'string' ? repository : repository?.url;
  const bare = withoutHash(lock);
  return [
    tag !== undefined &&
      tag !== `v${version}` &&
      `the tag is ${tag}, and package.json has version ${version}: set the tag v${version} on the commit with that version`,
    !dated.includes(version) &&
      `CHANGELOG.md has no section for ${version} with a date: replace "unreleased" by the date`,
    !url &&
      'package.json has no "repository", and npm publishes no provenance without it. Set "repository": { "type": "git", "url": ' +
        '"git+https://HOST/OWNER/NAME.git" } to the repository whose workflow publishes the package; npm compares the two',
    bare.length > 0 &&
      `package-lock.json has no hash of ${bare.length} packages (${bare[0]}, …): run node scripts/release/completeLock.js with a registry that has ` +
        'them, and commit the file',
    !hasFixture &&
      `test/fixtures/releases has no data of ${version} for the upgrade test of later versions: run npm run release:fixture, and commit it`,
  ].filter((fault) => fault !== false);
}
