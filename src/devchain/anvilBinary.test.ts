import { accessSync, constants } from 'node:fs';
import { expect, test } from 'vitest';
import { anvilBinary } from './anvilBinary.ts';

test('anvilBinary finds the installed binary', () => {
  accessSync(anvilBinary(), constants.X_OK);
});

test('anvilBinary throws an error with the package to install if it is missing', () => {
  const other = process.platform === 'win32' ? 'linux-x64' : 'win32-x64';
  expect(() => anvilBinary(other)).toThrow(
    /npm install @foundry-rs\/anvil.*\.\/floodgate-VERSION\.tgz.*--upstream URL/,
  );
});

test('anvilBinary throws if anvil is not published for the platform', () => {
  expect(() => anvilBinary('aix-ppc64')).toThrow(/not published for aix-ppc64/);
});
