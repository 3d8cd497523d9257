import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { type ReplicatedChain, startReplicatedChain } from './support/replicatedChain.ts';
import { type Answer, call } from './support/send.ts';

/** Exceeds the number of samples needed for a latency quantile. */
const WARM_UP_CALLS = 40;

describe('hedged requests', () => {
  let chain: ReplicatedChain;
  let nodes: readonly InterceptedNode[];
  let floodgate: Floodgate;

  beforeAll(async () => {
    chain = await startReplicatedChain(2);
    await chain.grow(4);
    nodes = await Promise.all(chain.nodes.map(({ url }) => startInterceptedNode(url)));
    // Polls are rare, so they do not detect the slow node; only hedging helps.
    const args = ['--index-poll-interval-ms', '60000'];
    floodgate = await startFloodgate({ upstream: nodes.map(({ url }) => url), args });
    for (let i = 0; i < WARM_UP_CALLS; i++) await balance();
  });
  afterAll(async () => {
    await floodgate?.stop();
    await Promise.all((nodes ?? []).map((node) => node.stop()));
    await chain?.stop();
  });

  let address = 2 ** 41;
  const balance = () =>
    call(
      floodgate.gatewayUrl,
      'eth_getBalance',
      `0x${(address++).toString(16).padStart(40, '0')}`,
      `0x${chain.head().toString(16)}`,
    );
  const asked = (method: string): number =>
    nodes.reduce((sum, { counts }) => sum + (counts.get(method) ?? 0), 0);

  it('send a read to the other node if the first becomes slow, and discard the late response', async () => {
    // The preferred node depends on latency: slow down the node that served the last read.
    const preferred = (await balance()).headers['x-floodgate-upstream'];
    const [slow, other] = preferred === 'node-1' ? [nodes[0], 'node-2'] : [nodes[1], 'node-1'];
    if (slow === undefined) throw new Error('the first node is missing');
    let held = 0;
    let answeredLate = 0;
    let isFinished = false;
    slow.intercept = async ({ methods }, answer) => {
      const text = await answer();
      if (methods[0] !== 'eth_getBalance') return text;
      held++;
      await until('the reads to finish', () => isFinished);
      answeredLate++;
      return text.replace(/"result":"[^"]*"/, '"result":"0xbad"');
    };
    const before = asked('eth_getBalance');
    const answers: Answer[] = [];
    try {
      await until('a read to reach the slow node', async () => {
        answers.push(await balance());
        return held > 0;
      });
    } finally {
      isFinished = true;
    }
    for (const { json, headers } of answers) {
      expect(json.result).toBe('0x0');
      expect(headers['x-floodgate-upstream']).toBe(other);
    }
    // Each read was sent once, and a second time if it was hedged.
    expect(asked('eth_getBalance') - before).toBe(answers.length + held);
    await until('the late responses to be sent', () => answeredLate === held);
    slow.intercept = undefined;
    expect((await balance()).json.result).toBe('0x0');
    const page = await (await fetch(`${floodgate.url}/metrics`)).text();
    const hedgesOf = (node: unknown): number => {
      const labels = `network="mainnet",node="${node}",method="eth_getBalance"`;
      return Number(
        new RegExp(`^floodgate_upstream_hedges_total\\{${labels}\\} (\\d+)`, 'm').exec(page)?.[1] ?? 0,
      );
    };
    expect(hedgesOf(preferred)).toBeGreaterThanOrEqual(held);
  });

  it('do not apply to eth_sendRawTransaction, which is sent to one node', async () => {
    const longerThanAnyHedgeMs = 1_500;
    for (const node of nodes)
      node.intercept = async ({ methods }, answer) => {
        if (methods[0] === 'eth_sendRawTransaction') await pause(longerThanAnyHedgeMs);
        return answer();
      };
    const answer = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', '0x02c0');
    expect(answer.json.error).toBeDefined();
    expect(asked('eth_sendRawTransaction')).toBe(1);
  });
});
