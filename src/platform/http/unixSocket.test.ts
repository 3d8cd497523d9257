import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenAtPath } from './unixSocket.ts';

describe('a Unix socket at a path', () => {
  let folder: string;
  let path: string;
  const servers: Server[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-unix-'));
    path = join(folder, 'ops.sock');
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a server that sends its name to each client. */
  async function listen(name: string, mode = 0o600): Promise<() => void> {
    const server = createServer((socket) => socket.on('error', () => undefined).end(name));
    servers.push(server);
    return listenAtPath({ path, mode }, (own) => new Promise<void>((resolve) => server.listen(own, resolve)));
  }
  const answer = (): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = '';
      connect(path)
        .on('data', (chunk) => {
          text += chunk;
        })
        .on('end', () => resolve(text))
        .on('error', reject);
    });
  /** Creates a socket file as a killed process leaves it. */
  function leaveStale(): void {
    const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', program]);
    expect(lstatSync(path).isSocket()).toBe(true);
  }

  it.each([0o600, 0o660, 0o666])(
    'has its permissions (%i) with any umask and is removed at the end',
    async (mode) => {
      const umask = process.umask(0);
      try {
        const remove = await listen('one', mode);
        expect(lstatSync(path).mode & 0o777).toBe(mode);
        expect(await answer()).toBe('one');
        expect(readdirSync(folder)).toEqual(['ops.sock']);
        remove();
        expect(readdirSync(folder)).toEqual([]);
      } finally {
        process.umask(umask);
      }
    },
  );

  it('replaces the socket file of a killed server', async () => {
    leaveStale();
    await listen('second');
    expect(await answer()).toBe('second');
    expect(readdirSync(folder)).toEqual(['ops.sock']);
  });

  it('does not replace the socket of a running server', async () => {
    await listen('first');
    await expect(listen('second')).rejects.toThrow('a running program listens on it');
    expect(await answer()).toBe('first');
    expect(readdirSync(folder)).toEqual(['ops.sock']);
  });

  it('belongs to exactly one server if many start at once after a crash', async () => {
    leaveStale();
    const started = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => listen(`server ${i}`)));
    const won = started.flatMap(({ status }, i) => (status === 'fulfilled' ? [`server ${i}`] : []));
    expect(won).toEqual([await answer()]);
    expect(readdirSync(folder)).toEqual(['ops.sock']);
  });

  it.each([
    ['a file', () => writeFileSync(path, 'kept')],
    ['a link', () => symlinkSync(join(folder, 'elsewhere'), path)],
  ])('does not replace %s', async (_what, make) => {
    make();
    const before = lstatSync(path).ino;
    await expect(listen('one')).rejects.toThrow('the path exists and is not a socket');
    expect(lstatSync(path).ino).toBe(before);
    expect(readdirSync(folder)).toEqual(['ops.sock']);
  });

  it('of another server at the same path is not removed', async () => {
    const remove = await listen('first');
    rmSync(path);
    await listen('second');
    remove();
    expect(await answer()).toBe('second');
  });

  it.each(['x'.repeat(120), 'é'.repeat(52)])('is rejected if its path is too long: %s', async (name) => {
    path = join(folder, name);
    await expect(listen('one')).rejects.toThrow('at most 103 bytes');
    expect(existsSync(path)).toBe(false);
  });

  it('is rejected if its folder does not exist', async () => {
    path = join(folder, 'none', 'ops.sock');
    await expect(listen('one')).rejects.toThrow('ENOENT');
  });

  it.skipIf(process.getuid?.() === 0)('is rejected if its folder is not writable', async () => {
    chmodSync(folder, 0o500);
    await expect(listen('one')).rejects.toThrow('EACCES');
    chmodSync(folder, 0o700);
  });
});
