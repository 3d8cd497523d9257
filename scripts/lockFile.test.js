import { describe, expect, it } from 'vitest';
import { LOCKED, readLock, withoutHash } from './lockFile.js';

/** Binaries for other systems, which not every registry has: scripts/completeLock.js writes their entries. */
const isForAnotherSystem = ({ optional, os = [], cpu = [], libc = [] }) =>
  optional === true && !(os.includes('linux') && cpu.includes('x64') && !libc.includes('musl'));

describe.each(LOCKED)('%s/package-lock.json', (folder) => {
  const lock = readLock(folder);
  const entries = Object.entries(lock.packages).filter(([path]) => path !== '');

  it('has the hash of every package that can be installed here, and none that is weaker than SHA-512', () => {
    const missing = withoutHash(lock).filter((path) => !isForAnotherSystem(lock.packages[path]));
    expect(missing).toEqual([]);
    const weaker = entries.filter(([, { integrity = '' }]) => !/^(sha512-[\w+/]{86}==)?$/.test(integrity));
    expect(weaker).toEqual([]);
  });

  it('names exact versions of packages of the registry, and nothing from elsewhere', () => {
    const others = entries.filter(
      ([, { version, resolved, link }]) => !/^\d+\.\d+\.\d+/.test(version ?? '') || resolved || link,
    );
    expect(others.map(([path]) => path)).toEqual([]);
  });

  it('has no more entries without a hash than systems that this registry lacks', () => {
    // It falls where scripts/completeLock.js is run with a registry that has them all, and no release is made before it is 0.
    const most = { '.': 39, site: 24, '.ci/cast': 4 };
    expect(withoutHash(lock).length).toBeLessThanOrEqual(most[folder] ?? 0);
  });
});

it('a package that is downloaded needs a hash; one in the tarball of another has none of its own', () => {
  const packages = {
    '': { version: '1.0.0' },
    'node_modules/hashed': { version: '1.0.0', integrity: 'sha512-' },
    'node_modules/bare': { version: '1.0.0', optional: true },
    'node_modules/hashed/node_modules/bundled': { version: '1.0.0', inBundle: true },
    'node_modules/folder': { link: true },
  };
  expect(withoutHash({ packages })).toEqual(['node_modules/bare']);
});
