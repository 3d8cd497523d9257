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

  /** Answers whoever connects with its name. */
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
  /** A socket file that a killed process has left. */
  function leaveStale(): void {
    const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', program]);
    expect(lstatSync(path).isSocket()).toBe(true);
  }

  it.each([0o600, 0o660, 0o666])(
    'has its permissions (%i) whatever the umask is, and is gone after',
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

  it('takes the place of what a killed server left', async () => {
    leaveStale();
    await listen('second');
    expect(await answer()).toBe('second');
    expect(readdirSync(folder)).toEqual(['ops.sock']);
  });

  it('is never taken from a server that listens there', async () => {
    await listen('first');
    await expect(listen('second')).rejects.toThrow('a running program listens there');
    expect(await answer()).toBe('first');
    expect(readdirSync(folder)).toEqual(['ops.sock']);
  });

  it('is one server’s alone where many start at once on what a killed one left', async () => {
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
    await expect(listen('one')).rejects.toThrow('something is there that is no socket');
    expect(lstatSync(path).ino).toBe(before);
    expect(readdirSync(folder)).toEqual(['ops.sock']);
  });

  it('that another server has since put there is left alone', async () => {
    const remove = await listen('first');
    rmSync(path);
    await listen('second');
    remove();
    expect(await answer()).toBe('second');
  });

  it.each(['x'.repeat(120), 'é'.repeat(52)])('is refused where its path is too long: %s', async (name) => {
    path = join(folder, name);
    await expect(listen('one')).rejects.toThrow('103 bytes at most');
    expect(existsSync(path)).toBe(false);
  });

  it('is refused where its folder is not there', async () => {
    path = join(folder, 'none', 'ops.sock');
    await expect(listen('one')).rejects.toThrow('ENOENT');
  });

  it.skipIf(process.getuid?.() === 0)('is refused where its folder cannot be written', async () => {
    chmodSync(folder, 0o500);
    await expect(listen('one')).rejects.toThrow('EACCES');
    chmodSync(folder, 0o700);
  });
});
