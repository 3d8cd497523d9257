import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import {
  checkStoreFormat,
  DATA_FILE,
  inOneCommit,
  NO_TURN_BATCHES,
  StoreFile,
} from '../../../../platform/storeFile/index.ts';
import type { AnswerStore } from '../../../gateway/index.ts';
import { GatewayAnswers } from './answerStore.ts';
import { GatewayKeys } from './keyStore.ts';

/** Named databases in the environment; lmdb reserves room for this many. */
const MAX_DATABASES = 12;
const FORMAT = 1;

const FILTERS = 'filters';
const SECRET_BYTES = 32;

export interface GatewayStorage {
  readonly answers: AnswerStore;
  readonly keys: GatewayKeys;
  /** Proves that ids of filters are ours, also over a restart. */
  readonly filterSecret: Uint8Array;
  /** What is read from now on is of no older commit than the last one of now. */
  refresh(): void;
  close(): Promise<void>;
}

/**
 * The LMDB environment of the gateway, in a folder of its own: answers that are final, and API keys. `cacheDiskBytes`
 * bounds the answers.
 */
export function openGatewayStorage(dataDir: string, cacheDiskBytes: number): GatewayStorage {
  const folder = join(dataDir, 'gateway');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = new StoreFile(folder);
  const isNew = !existsSync(join(folder, DATA_FILE));
  const { root, answers, ...others } = file.opening(() => {
    const root = open({ path: folder, maxDbs: MAX_DATABASES, ...NO_TURN_BATCHES });
    file.opened();
    return inOneCommit(root, () => {
      checkStoreFormat(
        { store: 'gateway', current: FORMAT },
        root.openDB<number, string>({ name: 'format', encoding: 'json' }),
        { isNew },
      );
      return {
        root,
        answers: new GatewayAnswers({ root, file }, cacheDiskBytes),
        keys: new GatewayKeys({ root, file }),
        filterSecret: filterSecretIn(root),
      };
    });
  });
  return {
    ...{ answers, ...others },
    refresh: () => root.resetReadTxn(),
    async close() {
      await answers.flush();
      await root.close();
      await file.close();
    },
  };
}

/** The one that was made first. */
function filterSecretIn(root: RootDatabase): Uint8Array {
  const secrets = root.openDB<Buffer, string>({ name: 'secrets', encoding: 'binary' });
  const known = secrets.get(FILTERS);
  if (known !== undefined) return known;
  const secret = randomBytes(SECRET_BYTES);
  secrets.putSync(FILTERS, secret);
  return secret;
}
