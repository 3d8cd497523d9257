import { expect, it } from 'vitest';
import type { NodePool } from '../../nodes/index.ts';
import { AnswerCache } from '../cache/answerCache.ts';
import { DEFAULT_LIMITS } from '../callLimits.ts';
import { relayedHandler } from '../push/live/liveBlocks.ts';
import { FailedRequests } from './checks/failedRequests.ts';
import { SecondOpinions } from './checks/secondOpinions.ts';
import type { Network } from './network.ts';
import { AcceptedTransactions } from './sending/acceptedTransactions.ts';

const CONTEXT = {
  mayStream: false,
  room: { charge: () => true, credit: () => undefined, freeConnection: () => undefined },
  limits: DEFAULT_LIMITS,
};
const HASH = `0x${'ab'.repeat(32)}`;
const counter = { inc: () => undefined };
const nothing = {
  get: () => undefined,
  put: () => undefined,
  anchor: () => undefined,
  setAnchor: () => undefined,
  clear: async () => undefined,
};

/** Returns the network of a process that follows another one. That process knows block 8, this one block 7. */
function followingNetwork() {
  const events: string[] = [];
  let head = 7;
  const pool = {
    isFollower: true,
    isSingle: false,
    isAnyHealthy: true,
    nodes: [],
    chainId: '0x1',
    heads: {
      get latest() {
        return { number: head };
      },
      hashOf: () => undefined,
    },
    async catchUp() {
      events.push('catch up');
      const isNew = head < 8;
      head = 8;
      return isNew;
    },
    /** While the head is 7, a node that lags behind block 8 may be chosen. */
    async ask() {
      events.push(`ask at ${head}`);
      const value = head < 8 ? null : '0x1';
      const response = { kind: 'result', value, bytes: Buffer.from(JSON.stringify(value)) };
      return { node: { name: 'node-1' }, response };
    },
  } as unknown as NodePool; // only the members that a relay uses
  const network = {
    name: 'mainnet',
    pool,
    maxAnswerBytes: 1_000,
    timeoutMs: 1_000,
    cache: new AnswerCache({ network: 'mainnet', store: nothing, memoryBytes: 1_000 }),
    agreementMethods: [],
    failedRequests: new FailedRequests(),
    secondOpinions: new SecondOpinions(),
    accepted: new AcceptedTransactions(),
    metrics: { cacheResults: () => ({ hit: counter, miss: counter, coalesced: counter }) },
  } as unknown as Network; // only the members that a relay uses
  const call = async (method: string, ...params: unknown[]): Promise<string> =>
    Buffer.from((await relayedHandler(network, method)(params, CONTEXT)) as Uint8Array).toString();
  return { events, call };
}

it('a request for a block above the head of this process waits for the newest head', async () => {
  const { events, call } = followingNetwork();
  expect(await call('eth_getBalance', HASH.slice(0, 42), '0x8')).toBe('"0x1"');
  expect(events).toEqual(['catch up', 'ask at 8']);
});

it('a log range above the head of this process waits for the newest head', async () => {
  const { events, call } = followingNetwork();
  await call('eth_getLogs', { fromBlock: '0x8', toBlock: 'latest' });
  expect(events).toEqual(['catch up', 'ask at 8']);
});

it('an object that a node lacks is requested again if the head has changed', async () => {
  const { events, call } = followingNetwork();
  expect(await call('eth_getTransactionReceipt', HASH)).toBe('"0x1"');
  expect(events).toEqual(['ask at 7', 'catch up', 'ask at 8']);
});

it('a request for a block that this process knows does not wait for another process', async () => {
  const { events, call } = followingNetwork();
  await call('eth_getBalance', HASH.slice(0, 42), '0x7');
  expect(events).toEqual(['ask at 7']);
});
