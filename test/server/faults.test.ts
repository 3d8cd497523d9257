import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { smallFileSystem } from '../support/smallFileSystem.ts';
import { startFloodgateProcess } from '../support/startFloodgate.ts';
import { type Ended, floodgate } from './support/run.ts';

it('a server that was killed starts again on a full disk', async (context) => {
  const { folder } = smallFileSystem(context, 8 * 1024 * 1024);
  const options = {
    dataDir: join(folder, 'data'),
    args: ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'],
    whenListening: true,
  };
  await (await startFloodgateProcess(options)).kill();
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize));
  expect(statfsSync(folder).bavail).toBe(0);
  const { output, stop } = await startFloodgateProcess(options);
  expect(output()).toContain('"msg":"guarding DNS"');
  expect(await stop()).toBe(0);
});

describe('a server exits with 1 and prints what to do', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-faults-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const startOn = (dataDir: string, ...flags: string[]): Promise<Ended> =>
    floodgate(['start', '--role', 'rules', '--port', '0', '--data-dir', dataDir, ...flags], { cwd: folder });

  /** Expects one line for the operator and no stack trace, because the cause is not in the code. */
  function expectReportedWith({ code, stderr }: Ended, ...words: string[]): void {
    expect(code).toBe(1);
    const reported = stderr.split('\n').filter((line) => line.startsWith('floodgate: '));
    expect(reported).toHaveLength(1);
    for (const word of words) expect(reported[0]).toContain(word);
    expect(stderr).not.toMatch(/\n\s+at /);
  }

  it('if the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    try {
      const ended = await startOn(join(folder, 'port'), '--port', port);
      expectReportedWith(ended, `port ${port}`, 'another program', '--port');
    } finally {
      other.close();
    }
    // The failed start has released the lock.
    const next = await startFloodgateProcess({ dataDir: join(folder, 'port') });
    expect(await next.stop()).toBe(0);
  });

  it('if the address does not belong to this machine', async () => {
    expectReportedWith(await startOn(join(folder, 'host'), '--host', '192.0.2.1'), '192.0.2.1', '--host');
  });

  it('if the data folder is a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expectReportedWith(await startOn(file), file, 'cannot be written', '--data-dir');
  });

  it('if the data folder cannot be created', async () => {
    const below = join(folder, 'file2', 'below');
    writeFileSync(join(folder, 'file2'), '');
    expectReportedWith(await startOn(below), below, 'cannot be written', '--data-dir');
  });

  it.skipIf(!existsSync('/proc'))('if the file system of the data folder has no new folders', async () => {
    expectReportedWith(
      await startOn('/proc/floodgate'),
      '/proc/floodgate',
      'cannot be written',
      '--data-dir',
    );
  });

  it('if another server uses the data folder; that server continues', async () => {
    const dataDir = join(folder, 'shared');
    const first = await startFloodgateProcess({ dataDir });
    expectReportedWith(await startOn(dataDir), dataDir, `process ${first.process.pid}`, '--data-dir');
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
    expect(await first.stop()).toBe(0);
  });
});
