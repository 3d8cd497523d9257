import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { NameFiles } from './nameFiles.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-names-'));
afterAll(() => rmSync(folder, { recursive: true }));
const ADDRESS = `0x${'Ab'.repeat(20)}`;
const write = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

it('reads ABIs and labels, and keeps them if a later file is wrong', () => {
  const abi = [{ type: 'function', name: 'f', inputs: [] }];
  const abis = write('abis.json', { '*': abi, [ADDRESS]: abi });
  const files = new NameFiles({ enabled: true, abis, labels: write('labels.json', { [ADDRESS]: 'Vault' }) });
  const names = {
    abis: { '*': abi, [ADDRESS.toLowerCase()]: abi },
    labels: { [ADDRESS.toLowerCase()]: 'Vault' },
  };
  expect(files.names).toEqual(names);
  write('labels.json', '{');
  expect(() => files.reload({ enabled: true, abis, labels: join(folder, 'labels.json') })).toThrow(
    /labels\.json/,
  );
  expect(files.names).toEqual(names);
  expect(new NameFiles({ enabled: true }).names).toEqual({ abis: {}, labels: {} });
});

it('rejects wrong files with the option, the path, and what is allowed', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ abis: join(folder, 'missing.json') }, /console\.abis: .*missing\.json: ENOENT/],
    [{ abis: write('a.json', []) }, /must be a JSON object/],
    [{ abis: write('b.json', { '0x1': [] }) }, /"0x1" is neither an address nor \*/],
    [{ abis: write('c.json', { '*': [1] }) }, /the ABI of \* must be an array of objects/],
    [
      { abis: write('h.json', `{"*":[{"inputs":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`) },
      /h\.json: the ABI of \* is nested too deeply; allowed: at most 64 levels/,
    ],
    [{ labels: write('d.json', { '*': 'x' }) }, /"\*" is not an address/],
    [{ labels: write('e.json', { [ADDRESS]: 'x'.repeat(65) }) }, /must be text of 1 to 64 characters/],
    [
      { abis: write('f.json', {}), labels: write('g.json', `{}${' '.repeat(5 * 1024 * 1024 - 2)}`) },
      /g\.json: console\.abis and console\.labels may have 5 MiB in all/,
    ],
    [{ labels: write('i.json', ' '.repeat(5 * 1024 * 1024 + 1)) }, /i\.json: it has more than 5242880 bytes/],
  ];
  for (const [options, message] of wrong)
    expect(() => new NameFiles({ enabled: true, ...options })).toThrow(message);
});
