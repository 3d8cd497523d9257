import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { sessionStoreContract } from './sessionStoreContract.ts';

sessionStoreContract({
  name: 'LMDB',
  newPlace() {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-session-store-'));
    return {
      open: async () => openRulesStorage(folder),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
});
