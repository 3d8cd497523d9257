import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { TraceStore } from '../../src/ethereum/traces/index.ts';
import type { Random } from './random.ts';

const MAX_DELAY_MS = 10;

const READS = [
  'chain',
  'head',
  'finalizedNumber',
  'block',
  'lastBlock',
  'firstMissing',
  'filter',
  'blockTraces',
  'transactionTraces',
  'transactionTrace',
  'addressTraces',
  'addressSummary',
  'internalTransactions',
  'transactionPlace',
] as const;

/**
 * An engine as it is over a network: the same as another, but every read begins late and is told late, at random, so that
 * reads overtake each other and changes come in between. Each is still of one state.
 */
export function lateStore(store: TraceStore, random: Random): TraceStore {
  const pause = async (): Promise<void> => {
    // Most of the time only the turn of the event loop ends, so that the tests do not take long.
    await (random.chance(0.01) ? sleep(random.below(MAX_DELAY_MS + 1)) : nextTurn());
  };
  const isRead = new Set<PropertyKey>(READS);
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      if (!isRead.has(name)) return method.bind(target);
      return async (...args: readonly unknown[]) => {
        await pause();
        const answer: unknown = await method.apply(target, args);
        await pause();
        return answer;
      };
    },
  });
}
