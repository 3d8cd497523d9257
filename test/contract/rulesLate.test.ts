import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { Random } from '../support/random.ts';
import { accessListStoreContract } from './accessListStoreContract.ts';
import { ruleStoreContract } from './ruleStoreContract.ts';
import { zonePolicyStoreContract } from './zonePolicyStoreContract.ts';

/** Maximum number of ticks before a call starts and after it ends. */
const MAX_TURNS = 3;
const random = new Random(17);

/**
 * Wraps a store so that it behaves like one over a network: calls start and end after a random delay and overtake
 * each other.
 */
function late<Store extends object>(store: Store): Store {
  const pause = async (): Promise<void> => {
    for (let turns = random.below(MAX_TURNS + 1); turns > 0; turns--) await nextTurn();
  };
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      // `onChange` returns a function, and `read` an async iterator.
      if (name === 'onChange' || name === 'read') return method.bind(target);
      return async (...args: readonly unknown[]) => {
        await pause();
        try {
          return await method.apply(target, args);
        } finally {
          await pause();
        }
      };
    },
  });
}

const engine = {
  name: 'LMDB with random delays',
  newPlace() {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-rules-late-'));
    return {
      async open(now?: () => number) {
        const { rules, lists, zonePolicies, tokens, audit, close } = openRulesStorage(folder, now && { now });
        return {
          rules: late(rules),
          lists: late(lists),
          zonePolicies: late(zonePolicies),
          tokens: late(tokens),
          audit: late(audit),
          close,
        };
      },
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};
ruleStoreContract(engine);
accessListStoreContract(engine);
zonePolicyStoreContract(engine);
