import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { call, send } from './support/send.ts';

const MEGABYTE = 1024 * 1024;
const LARGE_BYTES = 50 * MEGABYTE;
/** Maximum memory growth while 50 MB are relayed: socket buffers on both sides and uncollected garbage. */
const MAX_GROWTH_BYTES = 40 * MEGABYTE;
const PIECE = Buffer.alloc(MEGABYTE, '61');

describe('large results', () => {
  let chain: SharedChain;
  let node: InterceptedNode;
  let floodgate: FloodgateProcess;
  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startInterceptedNode(chain.anvil.url);
    floodgate = await startFloodgateProcess({ upstream: node.url });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await node?.stop();
    await chain?.anvil.stop();
  });

  /** Makes the node respond to eth_call with `bytes` bytes under backpressure; `end` selects how the response ends. */
  function answerLarge(bytes: number, end: 'whole' | 'cut' | 'unclosed'): { sent: number } {
    const progress = { sent: 0 };
    node.intercept = ({ methods }, answer, response) => {
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

  it('of 50 MB are relayed unchanged with the id of the request', async () => {
    answerLarge(LARGE_BYTES, 'whole');
    const answer = await send(floodgate.gatewayUrl, { body });
    expect(answer.status).toBe(200);
    expect(answer.json.id).toBe('large');
    expect(answer.json.result.length).toBe(LARGE_BYTES + 2);
    expect(answer.json.result.startsWith('0x616161')).toBe(true);
  });

  it('of 50 MB are not buffered while a client does not read', async (context) => {
    if (process.platform !== 'linux') context.skip('reading the memory of the server requires /proc');
    const progress = answerLarge(LARGE_BYTES, 'whole');
    const before = residentBytes();
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': text.length };
    await new Promise<void>((resolve, reject) => {
      const request = httpRequest(
        floodgate.gatewayUrl,
        { method: 'POST', agent: false, headers },
        async (response) => {
          // The client reads nothing: the gateway must stop reading from the node instead of buffering.
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
    node.intercept = undefined;
    expect((await call(floodgate.gatewayUrl, 'eth_chainId')).status).toBe(200);
  });

  it.each<'cut' | 'unclosed'>(['cut', 'unclosed'])('that are %s never look complete', async (end) => {
    answerLarge(5 * MEGABYTE, end);
    await expect(send(floodgate.gatewayUrl, { body })).rejects.toThrow();
    node.intercept = undefined;
    expect((await call(floodgate.gatewayUrl, 'eth_chainId')).status).toBe(200);
  });

  it('release their slot if the client closes its connection before they start', async () => {
    const one = await startFloodgateProcess({ upstream: node.url, args: ['--gateway-max-in-flight', '2'] });
    try {
      for (let i = 0; i < 3; i++) {
        let goOn = (): void => undefined;
        const asked = new Promise<void>((resolve) => {
          node.intercept = ({ methods }, answer, response) => {
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
        // When this later call is served, the server has noticed that the client closed its connection.
        expect((await call(one.gatewayUrl, 'eth_chainId')).status).toBe(200);
        goOn();
        await until('two free slots', async () => {
          const both = await Promise.all([1, 2].map(() => call(one.gatewayUrl, 'eth_chainId')));
          return both.every(({ status }) => status === 200);
        });
      }
    } finally {
      await one.stop();
    }
  });

  it('are read completely in a batch, up to the limit', async () => {
    answerLarge(3 * MEGABYTE, 'whole');
    const answer = await send(floodgate.gatewayUrl, { body: [body] });
    expect(answer.json[0].result.length).toBe(3 * MEGABYTE + 2);
    node.intercept = undefined;
  });
});
