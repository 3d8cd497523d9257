import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { LineFile, type LineFileOptions } from './lineFile.ts';

let folder: string;
let path: string;
let reported: Array<{ lines: number; reason: string }>;
let open: LineFile[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-access-'));
  path = join(folder, 'access.log');
  reported = [];
  open = [];
});
afterEach(async () => {
  for (const file of open) await file.close();
  rmSync(folder, { recursive: true, force: true });
});

async function opened(options: Partial<LineFileOptions> = {}): Promise<LineFile> {
  const warn = (fields: object): void => void reported.push(fields as { lines: number; reason: string }); // the fields that LineFile logs
  const file = await LineFile.open({ path, ...options }, { info: warn, warn, error: warn });
  open.push(file);
  return file;
}
const written = (file = path): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

describe('LineFile', () => {
  it('appends all lines in order after existing content', async () => {
    await (await opened()).close();
    const first = await opened();
    first.write('one\n');
    await first.close();
    const second = await opened();
    second.write('two\n');
    second.write('three\n');
    await until('they are written', () => written().includes('three'));
    second.write('four\n');
    await second.close();
    expect(written()).toBe('one\ntwo\nthree\nfour\n');
  });

  it('creates the file again after it was moved away', async () => {
    const file = await opened();
    file.write('one\n');
    await until('it is written', () => written() === 'one\n');
    renameSync(path, `${path}.1`);
    await until('the file exists again', () => {
      file.write('two\n');
      return written().includes('two');
    });
    expect(written(`${path}.1`)).toMatch(/^one\n(two\n)*$/);
    expect(file.dropped).toBe(0);
  });

  it('drops, counts and reports lines beyond its buffer', async () => {
    const file = await opened({ maxWaitingBytes: 10 });
    for (let i = 0; i < 5; i++) file.write('1234\n');
    expect(file.dropped).toBe(3);
    await file.close();
    expect(written()).toBe('1234\n1234\n');
    expect(reported.reduce((sum, { lines }) => sum + lines, 0)).toBe(3);
  });

  it('drops lines and recovers if the disk is full', async () => {
    const file = await opened({ path: '/dev/full' });
    for (let i = 0; i < 3; i++) file.write('line\n');
    await until('they are dropped', () => file.dropped === 3);
    file.write('line\n');
    await until('one more is dropped', () => file.dropped === 4);
    expect(reported).toEqual([{ lines: 3, reason: 'ENOSPC' }]);
  });

  it('rejects a path that cannot be opened', async () => {
    await expect(opened({ path: join(folder, 'none', 'access.log') })).rejects.toThrow('ENOENT');
    await expect(opened({ path: folder })).rejects.toThrow('EISDIR');
  });

  it('rejects a pipe without a reader, without blocking', async () => {
    spawnSync('mkfifo', [path]);
    await expect(opened()).rejects.toThrow('ENXIO');
  });

  it('buffers for a slow pipe reader, drops excess lines and never splits a line', async () => {
    spawnSync('mkfifo', [path]);
    const reader = createReadStream(path, { highWaterMark: 1024 });
    let read = '';
    const file = await until('the pipe has a reader', () =>
      opened({ maxWaitingBytes: 1024 * 1024 }).catch(() => undefined),
    );
    const line = `${'x'.repeat(999)}\n`;
    for (let i = 0; i < 2_000; i++) file.write(line);
    expect(file.dropped).toBeGreaterThan(900);
    const kept = 2_000 - file.dropped;
    reader.on('data', (bytes) => {
      read += bytes;
    });
    await until('all buffered lines are read', () => read.length === kept * line.length);
    await file.close();
    expect(read).toBe(line.repeat(kept));
  });

  it('closes in time if a pipe reader has stalled', async () => {
    spawnSync('mkfifo', [path]);
    const reader = createReadStream(path);
    const file = await until('the pipe has a reader', () => opened().catch(() => undefined));
    for (let i = 0; i < 1_000; i++) file.write(`${'x'.repeat(999)}\n`);
    await file.close();
    expect(file.dropped).toBeGreaterThan(0);
    reader.destroy();
  });
});
