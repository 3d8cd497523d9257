import { isDeepStrictEqual } from 'node:util';
import { parseTraceBlock } from '../../../src/ethereum/traces/convert/index.ts';
import { type Call, connect } from '../../support/anvil.ts';
import { hexBlock, type Target } from '../target.ts';
import { atRate, type PoliteClient, Watch } from '../watch.ts';
import { HttpClient } from './httpClient.ts';

const PER_SECOND = 20;
/** Blocks below the head that are final. */
const FINAL_DEPTH = 70;
const COUNT = 10;

/** Three clients on one address: `eth_chainId`, a cached block, and a small `trace_filter`. */
export async function startHttpCalls(target: Target, localAddress: string): Promise<PoliteClient[]> {
  const node = connect(target.chain.nodeUrl);
  const number = target.chain.head - FINAL_DEPTH;
  const block = await node.call('eth_getBlockByNumber', hexBlock(number), false);
  const traces = parseTraceBlock(await node.call('trace_block', hexBlock(number))).slice(0, COUNT);
  const filter = { fromBlock: number, toBlock: number, count: COUNT };
  const client = (name: string, [method, ...params]: Call, expected: unknown): PoliteClient => {
    const http = new HttpClient(target, localAddress);
    const running = atRate(new Watch(name), PER_SECOND, async () => {
      const result = await http.call(method, ...params);
      if (!isDeepStrictEqual(result, expected)) throw new Error(`wrong result: ${JSON.stringify(result)}`);
    });
    return { ...running, stop: (limitMs) => running.stop(limitMs).finally(() => http.close()) };
  };
  return [
    client('eth_chainId', ['eth_chainId'], await node.call('eth_chainId')),
    client('cached block', ['eth_getBlockByNumber', hexBlock(number), false], block),
    client('trace_filter', ['trace_filter', filter], JSON.parse(JSON.stringify(traces))),
  ];
}
