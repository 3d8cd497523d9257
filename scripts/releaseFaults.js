// What keeps a version from being released, in words that say what to do.
import { withoutHash } from './lockFile.js';

/**
 * @typedef {object} Release
 * @property {{ version: string, repository?: string | { url?: string } }} manifest package.json
 * @property {string} changelog
 * @property {Parameters<typeof withoutHash>[0]} lock package-lock.json
 * @property {boolean} hasFixture whether what this version writes is kept for the test of upgrades
 * @property {string | undefined} tag the tag that is released, where CI releases one
 */

/** @type {(release: Release) => string[]} */
export function releaseFaults({ manifest, changelog, lock, hasFixture, tag }) {
  const { version, repository } = manifest;
  const sections = [...changelog.matchAll(/^## \[?([^\s\]]+)/gm)].map(([, section]) => section);
  const url = typeof repository === 'string' ? repository : repository?.url;
  const bare = withoutHash(lock);
  return [
    tag !== undefined &&
      tag !== `v${version}` &&
      `the tag is ${tag}, and package.json has version ${version}: set the tag v${version} on the commit that has it`,
    !sections.includes(version) &&
      `CHANGELOG.md has no section for ${version}: rename "Unreleased", or set another version in package.json`,
    !url &&
      'package.json has no "repository", and npm publishes no provenance without it. Set "repository": { "type": "git", "url": ' +
        '"git+https://HOST/OWNER/NAME.git" } to the repository whose workflow publishes the package; npm compares the two',
    bare.length > 0 &&
      `package-lock.json has no hash of ${bare.length} packages (${bare[0]}, …): run node scripts/completeLock.js with a registry that has ` +
        'them, and commit it',
    !hasFixture &&
      `later versions are tested on what ${version} writes: run npm run release:fixture, and commit it`,
  ].filter((fault) => fault !== false);
}
