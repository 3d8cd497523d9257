import { describe, expect, it } from 'vitest';
import { LOCKED, readLock, withoutHash } from './lockFile.js';

/**
 * Whether the package is a binary for another system. Some registries lack these: scripts/release/completeLock.js writes
 * their entries.
 */
const isForAnotherSystem = ({ optional, os = [], cpu = [], libc = [] }) =>
  optional === true && !(os.includes('linux') && cpu.includes('x64') && !libc.includes('musl'));

describe.each(LOCKED)('%s/package-lock.json', (folder) => {
  const lock = readLock(folder);
  const entries = Object.entries(lock.packages).filter(([path]) => path !== '');

  it('has a SHA-512 hash for every package that can be installed on Linux x64', () => {
    const missing = withoutHash(lock).filter((path) => !isForAnotherSystem(lock.packages[path]));
    expect(missing).toEqual([]);
    const weaker = entries.filter(([, { integrity = '' }]) => !/^(sha512-[\w+/]{86}==)?$/.test(integrity));
    expect(weaker).toEqual([]);
  });

  it('contains only exact versions from the registry: no URLs and no links', () => {
    const others = entries.filter(
      ([, { version, resolved, link }]) => !/^\d+\.\d+\.\d+/.test(version ?? '') || resolved || link,
    );
    expect(others.map(([path]) => path)).toEqual([]);
  });

  it('has at most the known number of entries without a hash', () => {
    // Running scripts/release/completeLock.js with a complete registry lowers these numbers. A release requires 0.
    const most = { '.': 39, site: 24, '.ci/cast': 4 };
    expect(withoutHash(lock).length).toBeLessThanOrEqual(most[folder] ?? 0);
  });
});

it('withoutHash returns downloaded packages without a hash, but no bundled packages and no links', () => {
  const packages = {
    '': { version: '1.0.0' },
    'node_modules/hashed': { version: '1.0.0', integrity: 'sha512-' },
    'node_modules/bare': { version: '1.0.0', optional: true },
    'node_modules/hashed/node_modules/bundled': { version: '1.0.0', inBundle: true },
    'node_modules/folder': { link: true },
  };
  expect(withoutHash({ packages })).toEqual(['node_modules/bare']);
});
