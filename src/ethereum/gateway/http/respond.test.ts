import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasOpenssl, makeCertificate, withOpenssl } from '../../../../test/support/certificate.ts';
import { TrackedResponse } from '../../../platform/http/index.ts';
import type { Part, ResultStream } from '../../jsonrpc/index.ts';
import { respond } from './respond.ts';

let parts: readonly Part[] = [];
let stream: ResultStream | undefined;
const options = { ServerResponse: TrackedResponse as unknown as typeof ServerResponse }; // node's types do not know TrackedResponse
const server = createServer(options, (_request, response) =>
  respond(response as unknown as TrackedResponse, { status: 200, parts, ...(stream && { stream }) }, []),
);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

/** Text of single-byte and multi-byte characters, and bytes; short parts as in a batch, and long ones. */
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.uint8Array(),
  fc.integer({ min: 500, max: 5_000 }).map((length) => 'ä1'.repeat(length)),
  fc.integer({ min: 500, max: 5_000 }).map((length) => new Uint8Array(length).fill(length)),
);

test('a response consists of its parts in order, and its Content-Length is in bytes', async () => {
  const { port } = server.address() as AddressInfo; // a TCP listener has an AddressInfo
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 12 }), async (given) => {
      parts = given;
      const answer = await fetch(`http://127.0.0.1:${port}`);
      const body = Buffer.from(await answer.arrayBuffer());
      const whole = Buffer.concat(given.map((one) => Buffer.from(one as string))); // Buffer.from accepts bytes as well
      expect(body.equals(whole)).toBe(true);
      expect(answer.headers.get('content-length')).toBe(String(whole.length));
    }),
  );
});

test('a streamed result is sent between the start and the end of its response', async () => {
  parts = ['{"result":', '}'];
  stream = {
    pipe(sink) {
      sink.write(Buffer.from('"0x'));
      sink.write(Buffer.from('1"'));
      sink.end();
    },
    resume: () => {},
    abort: () => {},
  };
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('{"result":"0x1"}');
});

test.skipIf(!hasOpenssl)(
  `a long response over TLS is encrypted while the client reads it${withOpenssl}`,
  async () => {
    const BYTES = 64 * 1024 * 1024;
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-respond-'));
    const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    makeCertificate(files);
    const tls = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
    rmSync(folder, { recursive: true });
    let writtenBytes = (): number => 0;
    let isReleased = false;
    const secure = createTlsServer({ ...options, ...tls }, (_request, response) => {
      const { socket } = response;
      writtenBytes = () => socket?.bytesWritten ?? 0;
      const release = (): void => {
        isReleased = true;
      };
      const body = ['[', Buffer.alloc(BYTES, '1'), ']'];
      respond(response as unknown as TrackedResponse, { status: 200, parts: body, release }, []);
    });
    await once(secure.listen(0, '127.0.0.1'), 'listening');
    const { port } = secure.address() as AddressInfo; // a TCP listener has an AddressInfo
    const request = get({ host: '127.0.0.1', port, rejectUnauthorized: false });
    const [response] = await once(request, 'response');
    // The client has the header and reads no more, so only the buffers of the system and of one slice can be full.
    expect(writtenBytes()).toBeLessThan(BYTES / 2);
    expect(isReleased).toBe(false);
    let read = 0;
    for await (const bytes of response) read += bytes.length;
    expect([read, response.headers['content-length']]).toEqual([BYTES + 2, String(BYTES + 2)]);
    await new Promise((resolve) => secure.close(resolve));
    expect(isReleased).toBe(true);
  },
);
