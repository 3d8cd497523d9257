import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const entries = Object.entries(packages).filter(([path]) => path !== '');

/** Binaries for other systems, which not every registry has: scripts/completeLock.js writes their entries. */
const isForAnotherSystem = ({ optional, os = [], cpu = [], libc = [] }) =>
  optional === true && !(os.includes('linux') && cpu.includes('x64') && !libc.includes('musl'));

describe('package-lock.json', () => {
  it('has the hash of every package that can be installed here, and a SHA-512 one', () => {
    const without = entries.filter(
      ([, entry]) => !/^sha512-[\w+/]{86}==$/.test(entry.integrity ?? '') && !isForAnotherSystem(entry),
    );
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it('names exact versions of packages of the registry, and nothing from elsewhere', () => {
    const others = entries.filter(
      ([, { version, resolved, link }]) => !/^\d+\.\d+\.\d+/.test(version ?? '') || resolved || link,
    );
    expect(others.map(([path]) => path)).toEqual([]);
  });

  it('has no more entries without a hash than systems that this registry lacks', () => {
    // It falls where `npm install` is run with a registry that has them all; it must not grow unseen.
    expect(entries.filter(([, { integrity }]) => integrity === undefined).length).toBeLessThanOrEqual(39);
  });
});
