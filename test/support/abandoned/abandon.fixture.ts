import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, test } from 'vitest';
import { startFloodgateProcess } from '../startFloodgate.ts';

const HOUR_MS = 3_600_000;

beforeAll(async () => {
  const { process: server } = await startFloodgateProcess({ whenListening: true });
  process.stdout.write(`server ${server.pid} of ${process.pid}\n`);
  if (process.env['ABANDON'] === 'throws') throw new Error('on purpose');
}, HOUR_MS);

beforeAll(() => pause(HOUR_MS), process.env['ABANDON'] === 'hangs' ? 1 : HOUR_MS);

test('never runs', () => {});
