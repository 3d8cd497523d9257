import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { keyStoreContract } from './keyStoreContract.ts';

keyStoreContract({
  name: 'LMDB',
  newPlace() {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-key-store-'));
    return {
      open: async () => openGatewayStorage(folder, 1024 * 1024),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
});
