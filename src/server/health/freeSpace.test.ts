import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { QUIET } from '../../platform/logging/index.ts';
import { type FileSystemSpace, FreeSpace, registerFreeSpaceMetrics } from './freeSpace.ts';

const GIB = 1024 ** 3;

interface Line {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

let space: FileSystemSpace = { freeBytes: 0, totalBytes: 0 };
let monitor: FreeSpace | undefined;
afterEach(() => monitor?.stop());

/** Starts a monitor of a fake file system, because a real one of this size cannot be filled in a test. */
function monitored(totalBytes: number): { watched: FreeSpace; lines: Line[]; free: (bytes: number) => void } {
  const lines: Line[] = [];
  const logAt = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  space = { freeBytes: totalBytes, totalBytes };
  const log = { info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
  const watched = new FreeSpace({ dataDir: '/data', log, readSpace: () => space });
  monitor = watched;
  const free = (freeBytes: number): void => {
    space = { freeBytes, totalBytes };
    watched.check();
  };
  return { watched, lines, free };
}

const stoppedIn = (watched: FreeSpace): string[] =>
  (['traces', 'caches', 'analytics'] as const).filter((data) => !watched.allows(data));

test('the floor is 1 GiB or 5 percent of the file system, and at most half of a small one', () => {
  expect(monitored(10 * GIB).watched.floorBytes).toBe(GIB);
  expect(monitored(100 * GIB).watched.floorBytes).toBe(5 * GIB);
  expect(monitored(GIB).watched.floorBytes).toBe(GIB / 2);
});

test('writing stops below the floor in the order traces, caches, analytics, and resumes in the reverse order', () => {
  const { watched, free } = monitored(100 * GIB);
  const stopped: string[][] = [];
  for (const gib of [6, 5, 4.9, 3.7, 2.4, 0, 2.6, 2.8, 4, 4.2, 5.2, 5.6]) {
    free(gib * GIB);
    stopped.push(stoppedIn(watched));
  }
  const [traces, caches, all] = [['traces'], ['traces', 'caches'], ['traces', 'caches', 'analytics']];
  expect(stopped).toEqual([[], [], traces, caches, all, all, all, caches, caches, traces, traces, []]);
});

test('a change is logged once, with the remedy, and the reported problem names the data that is not written', () => {
  const { watched, lines, free } = monitored(100 * GIB);
  expect(watched.problem).toBeUndefined();
  for (let i = 0; i < 3; i++) free(4 * GIB - i);
  expect(lines).toEqual([
    {
      level: 'error',
      message: 'disk nearly full: writing stopped',
      fields: {
        dataDir: '/data',
        freeBytes: 4 * GIB,
        floorBytes: 5 * GIB,
        stopped: ['traces'],
        advice: expect.stringContaining('free disk space'),
      },
    },
  ]);
  expect(watched.problem).toMatch(/^writing of traces has stopped: less than 5368709120 bytes are free/);
  for (let i = 0; i < 3; i++) free(50 * GIB);
  expect(lines.slice(1).map(({ message, fields }) => [message, fields['resumed']])).toEqual([
    ['disk has space again: writing resumed', ['traces']],
  ]);
  expect(watched.problem).toBeUndefined();
});

test('a file system that cannot be read changes nothing', () => {
  const { watched, free } = monitored(100 * GIB);
  free(GIB);
  const readSpace = () => {
    throw new Error('ENOENT');
  };
  const unread = new FreeSpace({ dataDir: '/data', log: QUIET, readSpace });
  expect(unread.problem).toBeUndefined();
  unread.stop();
  expect(stoppedIn(watched)).toEqual(['traces', 'caches', 'analytics']);
});

test('metrics export the free space, the floor, and the data that is not written', async () => {
  const { watched, free } = monitored(100 * GIB);
  free(4 * GIB);
  const registry = new Registry();
  registerFreeSpaceMetrics(registry, watched);
  const text = await registry.metrics();
  expect(text).toContain(`floodgate_disk_free_bytes ${4 * GIB}`);
  expect(text).toContain(`floodgate_disk_floor_bytes ${5 * GIB}`);
  expect(text).toContain('floodgate_disk_writing_stopped{data="traces"} 1');
  expect(text).toContain('floodgate_disk_writing_stopped{data="caches"} 0');
});
