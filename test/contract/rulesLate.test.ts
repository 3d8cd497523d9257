import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { Random } from '../support/random.ts';
import { accessListStoreContract } from './accessListStoreContract.ts';
import { ruleStoreContract } from './ruleStoreContract.ts';

/** Turns of the event loop that a call waits before it begins, and its answer after it ended. */
const MAX_TURNS = 3;
const random = new Random(17);

/** A store as it is over a network: what is asked begins late and is told late, so that calls overtake each other. */
function late<Store extends object>(store: Store): Store {
  const pause = async (): Promise<void> => {
    for (let turns = random.below(MAX_TURNS + 1); turns > 0; turns--) await nextTurn();
  };
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      // The first gives how to end it, the second what is read one by one.
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
  name: 'LMDB, answering late',
  newPlace() {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-rules-late-'));
    return {
      async open(now?: () => number) {
        const { rules, lists, tokens, audit, close } = openRulesStorage(folder, now && { now });
        return { rules: late(rules), lists: late(lists), tokens: late(tokens), audit: late(audit), close };
      },
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};
ruleStoreContract(engine);
accessListStoreContract(engine);
