import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { EMITTER, LOGS_PER_BLOCK, type MinedBlock } from '../chain.ts';
import { GATEWAY_PATH, rpcCall, type Target } from '../target.ts';
import { type PoliteClient, Watch } from '../watch.ts';
import type { Miner } from './miner.ts';

const POLL_MS = 20;

interface Message {
  readonly id?: number;
  readonly result?: string;
  readonly error?: unknown;
  readonly params?: { readonly subscription: string; readonly result: Notification };
}

interface Notification {
  readonly hash?: string;
  readonly blockHash?: string;
}

/** A WebSocket with `newHeads` and `logs`. Each mined block must arrive once, in order, with all of its logs. */
export async function startLiveFeed(
  target: Target,
  localAddress: string,
  miner: Miner,
): Promise<PoliteClient> {
  const watch = new Watch('newHeads');
  const socket = new WebSocket(target.url.replace(/^http/, 'ws') + GATEWAY_PATH, {
    localAddress,
    rejectUnauthorized: false,
  });
  await once(socket, 'open');
  const kinds = [['newHeads'], ['logs', { address: EMITTER }]];
  const names = new Map<string, string>();
  /** Times of the heads by hash, in the order of their arrival. */
  const heads = new Map<string, number>();
  const logs = new Map<string, number>();
  socket.on('message', (bytes) => {
    const { id, result, error, params } = JSON.parse(String(bytes)) as Message;
    if (error !== undefined) watch.failed(JSON.stringify(error));
    if (id !== undefined && result !== undefined) names.set(result, String(kinds[id]?.[0]));
    if (params === undefined) return;
    const { hash = '', blockHash = '' } = params.result;
    if (names.get(params.subscription) === 'logs') logs.set(blockHash, (logs.get(blockHash) ?? 0) + 1);
    else if (heads.has(hash)) watch.failed(`the head ${hash} arrived twice`);
    else heads.set(hash, performance.now());
  });
  let isClosing = false;
  socket.on('error', (error) => watch.failed(error));
  socket.on('close', (code, reason) => {
    if (!isClosing) watch.failed(`the WebSocket was closed: ${code} ${reason}`);
  });
  for (const [id, params] of kinds.entries())
    socket.send(JSON.stringify(rpcCall('eth_subscribe', params, id)));
  while (names.size < kinds.length) await pause(POLL_MS);
  const since = miner.blocks.length;

  /** Reports the delay of each block that arrived, and each time only once. */
  const timer = setInterval(report, POLL_MS);
  let reported = since;
  function report(): void {
    for (; reported < miner.blocks.length; reported++) {
      const { hash, atMs } = miner.blocks[reported] as MinedBlock; // below the length
      const arrivedMs = heads.get(hash);
      if (arrivedMs === undefined) return;
      watch.answered(Math.max(0, arrivedMs - atMs));
    }
  }
  const expected = (): readonly MinedBlock[] => miner.blocks.slice(since);
  const isComplete = (): boolean =>
    expected().every(({ hash }) => heads.has(hash) && logs.get(hash) === LOGS_PER_BLOCK);
  return {
    watch,
    async stop(limitMs) {
      const endMs = performance.now() + limitMs;
      while (!isComplete() && performance.now() < endMs && socket.readyState === WebSocket.OPEN)
        await pause(POLL_MS);
      report();
      clearInterval(timer);
      for (const { hash, number } of expected()) {
        if (!heads.has(hash)) watch.failed(`head ${number} is missing`);
        if (logs.get(hash) !== LOGS_PER_BLOCK)
          watch.failed(`block ${number}: ${logs.get(hash) ?? 0} of ${LOGS_PER_BLOCK} logs`);
      }
      const known = new Set(expected().map(({ hash }) => hash));
      const order = [...heads.keys()].filter((hash) => known.has(hash));
      if (order.some((hash, i) => hash !== [...known].filter((one) => heads.has(one))[i]))
        watch.failed('heads arrived out of order');
      isClosing = true;
      socket.terminate();
    },
  };
}
