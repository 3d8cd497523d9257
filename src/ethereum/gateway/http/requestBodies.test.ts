import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { UnfinishedMessages } from '../../../platform/http/index.ts';
import { Scheduler } from '../../../platform/scheduler/index.ts';
import { RequestBodies, type RequestBody } from './requestBodies.ts';

const KIB = 1024;
const BODY = Buffer.from('{}');

/** Returns a complete request of one client with a compressed body. */
const compressed = (): IncomingMessage =>
  ({
    headers: { 'content-encoding': 'gzip' },
    complete: true,
    read: () => gzipSync(BODY),
    socket: { remoteAddress: '192.0.2.7' },
  }) as unknown as IncomingMessage; // only the members that RequestBodies reads

describe('compressed bodies', () => {
  it('count as unfinished while they wait, and a body above the limit of its client gets 429', async () => {
    const unfinished = new UnfinishedMessages({
      limits: { perClient: 40 * KIB, total: 1024 * KIB },
      clientAddress: ({ socket }) => socket.remoteAddress ?? '',
      metrics: new Registry(),
      log: { warn: () => undefined },
    });
    const bodies = new RequestBodies(KIB, unfinished, new Scheduler());
    const read: RequestBody[] = [];
    const send = (): void => {
      const response = { isFinished: false, onFinished: () => undefined, rejectBody: undefined };
      bodies.read({ request: compressed(), response, client: { address: '192.0.2.7' } }, (body) =>
        read.push(body),
      );
    };
    for (let i = 0; i < 3; i++) send();
    expect(read).toMatchObject([{ kind: 'refused', status: 429, error: { code: -32005 } }]);
    await until('the first two are decompressed', () => read.length === 3);
    expect(read.slice(1)).toEqual(Array(2).fill({ kind: 'whole', bytes: BODY }));
    send();
    await until('the fourth one is decompressed', () => read.length === 4);
    expect(read[3]).toEqual({ kind: 'whole', bytes: BODY });
  });
});
