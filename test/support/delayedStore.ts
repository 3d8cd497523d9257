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
  'unavailable',
  'filter',
  'blockTraces',
  'transactionTraces',
  'transactionTrace',
  'addressTraces',
  'addressSummary',
  'frames',
  'transactionPosition',
] as const;

/**
 * Wraps a store so that it behaves like one over a network: each read starts and ends after a random delay, so that
 * reads overtake each other and changes happen in between. Each read still sees one state.
 */
export function delayedStore<Store extends TraceStore>(store: Store, random: Random): Store {
  const pause = async (): Promise<void> => {
    // Most delays only end the current tick, so that the tests stay fast.
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
