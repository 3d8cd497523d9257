import type { Target } from '../target.ts';
import { atRate, type PoliteClient, Watch } from '../watch.ts';
import { HttpClient } from './httpClient.ts';
import type { Miner } from './miner.ts';

const PER_SECOND = 10;
const LAST_POLL_MS = 50;

/** Polls a block filter over HTTP. Each mined block must be in one of the responses, in order. */
export async function startFilterPoller(
  target: Target,
  localAddress: string,
  miner: Miner,
): Promise<PoliteClient> {
  const watch = new Watch('block filter');
  const http = new HttpClient(target, localAddress);
  const id = await http.call('eth_newBlockFilter');
  const since = miner.blocks.length;
  const received: unknown[] = [];
  const poll = async (): Promise<void> => {
    received.push(...((await http.call('eth_getFilterChanges', id)) as string[])); // hashes of a block filter
  };
  const polling = atRate(watch, PER_SECOND, poll);
  return {
    watch,
    async stop(limitMs) {
      await polling.stop(limitMs);
      const expected = miner.blocks.slice(since).map(({ hash }) => hash);
      const endMs = performance.now() + limitMs;
      while (performance.now() < endMs && expected.some((hash) => !received.includes(hash))) {
        await new Promise((resolve) => setTimeout(resolve, LAST_POLL_MS));
        await poll().catch((error) => watch.failed(error));
      }
      const found = received.filter((hash) => expected.includes(String(hash)));
      if (found.join() !== expected.join())
        watch.failed(`the filter returned ${found.length} of ${expected.length} blocks, or not in order`);
      http.close();
    },
  };
}
