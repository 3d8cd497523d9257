import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsOf, modules } from './modules.js';

const src = fileURLToPath(new URL('../src/', import.meta.url));
const paths = modules.map(({ path }) => path);

describe('scripts/modules.js', () => {
  it('lists each module once, and no folder that does not exist', () => {
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.filter((path) => !existsSync(src + path))).toEqual([]);
  });

  it('lists every folder of src that has an index.ts', () => {
    const entryPoints = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('/index.ts'))
      .map(dirname);
    expect(entryPoints.filter((path) => !paths.includes(path))).toEqual([]);
  });

  it('allows no import between dns and ethereum, and none from platform to either', () => {
    const half = /^(dns|rules|ethereum)(\/|$)/;
    for (const path of paths.filter((one) => /^(dns|rules|platform)(\/|$)/.test(one)))
      expect(importsOf(path).filter((other) => other.startsWith('ethereum/'))).toEqual([]);
    for (const path of paths.filter((one) => one.startsWith('ethereum/')))
      expect(importsOf(path).filter((other) => /^(dns|rules)(\/|$)/.test(other))).toEqual([]);
    for (const path of paths.filter((one) => one.startsWith('platform/')))
      expect(importsOf(path).filter((other) => half.test(other))).toEqual([]);
  });
});
