import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { ruleStoreContract } from './ruleStoreContract.ts';

ruleStoreContract({
  name: 'LMDB',
  newPlace() {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-rule-store-'));
    return {
      open: async (now) => openRulesStorage(folder, now && { now }),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
});
