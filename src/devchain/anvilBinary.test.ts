import { accessSync, constants } from 'node:fs';
import { expect, test } from 'vitest';
import { anvilBinary } from './anvilBinary.ts';

test('finds the installed binary', () => {
  accessSync(anvilBinary(), constants.X_OK);
});

test('says what to install where the package is missing', () => {
  const other = process.platform === 'win32' ? 'linux-x64' : 'win32-x64';
  expect(() => anvilBinary(other)).toThrow(/npm install @foundry-rs\/anvil.*npx -p floodgate/);
});

test('says so where anvil is not published', () => {
  expect(() => anvilBinary('aix-ppc64')).toThrow(/not published for aix-ppc64/);
});
