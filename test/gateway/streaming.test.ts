import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { call, send } from './support/send.ts';
import { type SpoiltNode, startSpoiltNode } from './support/spoiltNode.ts';

const MEGABYTE = 1024 * 1024;
const LARGE_BYTES = 50 * MEGABYTE;
/** What the server may use more while 50 MB pass: buffers of sockets on both sides, and garbage not yet collected. */
const MAX_GROWTH_BYTES = 40 * MEGABYTE;
const PIECE = Buffer.alloc(MEGABYTE, '61');

describe('large answers', () => {
  let chain: SharedChain;
  let node: SpoiltNode;
  let floodgate: FloodgateProcess;
  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startSpoiltNode(chain.anvil.url);
    floodgate = await startFloodgateProcess({ upstream: node.url });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await node?.stop();
    await chain?.anvil.stop();
  });

  /** Answers eth_call with 50 MB, as fast as they are taken; ends after `bytes` as `end` says. */
  function answerLarge(bytes: number, end: 'whole' | 'cut' | 'unclosed'): { sent: number } {
    const progress = { sent: 0 };
    node.spoil = ({ methods }, answer, response) => {
      if (methods[0] !== 'eth_call') return answer();
      response.on('error', () => undefined);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"jsonrpc":"2.0","id":1,"result":"0x');
      const more = (): void => {
        while (progress.sent < bytes) {
          progress.sent += PIECE.length;
          if (!response.write(PIECE)) return void response.once('drain', more);
        }
        if (end === 'cut') response.destroy();
        else response.end(end === 'whole' ? '"}' : '');
      };
      more();
      return undefined;
    };
    return progress;
  }

  const residentBytes = (): number => {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${floodgate.process.pid}/status`, 'utf8'));
    return Number(line?.[1]) * 1024;
  };
  const body = { jsonrpc: '2.0', id: 'large', method: 'eth_call', params: [{ to: `0x${'1'.repeat(40)}` }] };

  it('50 MB pass through byte by byte, with the id of the request', async () => {
    answerLarge(LARGE_BYTES, 'whole');
    const answer = await send(floodgate.gatewayUrl, { body });
    expect(answer.status).toBe(200);
    expect(answer.json.id).toBe('large');
    expect(answer.json.result.length).toBe(LARGE_BYTES + 2);
    expect(answer.json.result.startsWith('0x616161')).toBe(true);
  });

  it('50 MB are not held in memory while a client takes its time', async (context) => {
    if (process.platform !== 'linux') context.skip('reads /proc to see the memory of the server');
    const progress = answerLarge(LARGE_BYTES, 'whole');
    const before = residentBytes();
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': text.length };
    await new Promise<void>((resolve, reject) => {
      const request = httpRequest(
        floodgate.gatewayUrl,
        { method: 'POST', agent: false, headers },
        async (response) => {
          // Nothing is read: the node must be held up, not the answer kept.
          let last = -1;
          while (last !== progress.sent) {
            last = progress.sent;
            await pause(200);
          }
          const grown = residentBytes() - before;
          response.destroy();
          try {
            expect(progress.sent).toBeLessThan(LARGE_BYTES);
            expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
            resolve();
          } catch (error) {
            reject(error);
          }
        },
      );
      request.on('error', reject);
      request.end(text);
    });
    node.spoil = undefined;
    expect((await call(floodgate.gatewayUrl, 'eth_chainId')).status).toBe(200);
  });

  it.each<'cut' | 'unclosed'>(['cut', 'unclosed'])('an answer that is %s never looks whole', async (end) => {
    answerLarge(5 * MEGABYTE, end);
    await expect(send(floodgate.gatewayUrl, { body })).rejects.toThrow();
    node.spoil = undefined;
    expect((await call(floodgate.gatewayUrl, 'eth_chainId')).status).toBe(200);
  });

  it('a client that hangs up before its large answer begins takes no place for good', async () => {
    const one = await startFloodgateProcess({ upstream: node.url, args: ['--gateway-max-in-flight', '2'] });
    try {
      for (let i = 0; i < 3; i++) {
        let goOn = (): void => undefined;
        const asked = new Promise<void>((resolve) => {
          node.spoil = ({ methods }, answer, response) => {
            if (methods[0] !== 'eth_call') return answer();
            goOn = () => {
              response.writeHead(200, { 'content-type': 'application/json' });
              response.end(`{"jsonrpc":"2.0","id":1,"result":"0x${'61'.repeat(2 * MEGABYTE)}"}`);
            };
            resolve();
            return undefined;
          };
        });
        const request = httpRequest(one.gatewayUrl, {
          method: 'POST',
          agent: false,
          headers: { 'content-type': 'application/json' },
        });
        request.on('error', () => undefined);
        request.end(JSON.stringify(body));
        await asked;
        const gone = new Promise((resolve) => request.once('close', resolve));
        request.destroy();
        await gone;
        // Answered after it: the server has noticed by then that the client is gone.
        expect((await call(one.gatewayUrl, 'eth_chainId')).status).toBe(200);
        goOn();
        await until('there is room for two again', async () => {
          const both = await Promise.all([1, 2].map(() => call(one.gatewayUrl, 'eth_chainId')));
          return both.every(({ status }) => status === 200);
        });
      }
    } finally {
      await one.stop();
    }
  });

  it('in a batch a large answer is read whole, up to the bound', async () => {
    answerLarge(3 * MEGABYTE, 'whole');
    const answer = await send(floodgate.gatewayUrl, { body: [body] });
    expect(answer.json[0].result.length).toBe(3 * MEGABYTE + 2);
    node.spoil = undefined;
  });
});
