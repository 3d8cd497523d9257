import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { zonePolicyStoreContract } from './zonePolicyStoreContract.ts';

zonePolicyStoreContract({
  name: 'LMDB',
  newPlace() {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-zone-policies-'));
    return {
      open: async (now) => openRulesStorage(folder, now && { now }),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
});
