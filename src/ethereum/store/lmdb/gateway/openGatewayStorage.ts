import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import {
  checkStoreFormat,
  inOneCommit,
  StoreFile,
  WITHOUT_EVENT_TURN_BATCHING,
} from '../../../../platform/storeFile/index.ts';
import type { AnswerStore } from '../../../gateway/index.ts';
import { LmdbResultStore } from './answerStore.ts';
import { GatewayKeys } from './keyStore.ts';

/** Maximum number of named databases in the environment. lmdb reserves space for all of them. */
const MAX_DATABASES = 12;
const FORMAT = 1;

export interface GatewayStorage {
  readonly answers: AnswerStore;
  readonly keys: GatewayKeys;
  /** Makes all earlier commits, also those of other processes, visible to later reads. */
  refresh(): void;
  close(): Promise<void>;
}

/**
 * Opens the gateway's LMDB environment: final results, limited to `cacheDiskBytes`, and API keys. While `storesAnswers`
 * returns false, no results are written.
 */
export function openGatewayStorage(
  dataDir: string,
  cacheDiskBytes: number,
  storesAnswers = () => true,
): GatewayStorage {
  const folder = join(dataDir, 'gateway');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = new StoreFile(folder);
  const { root, answers, ...others } = file.withOpen(() => {
    const root = open({ path: folder, maxDbs: MAX_DATABASES, ...WITHOUT_EVENT_TURN_BATCHING });
    file.opened();
    return inOneCommit(root, () => {
      checkStoreFormat(root, { store: 'gateway', folder, format: FORMAT });
      return {
        root,
        answers: new LmdbResultStore({ root, file }, cacheDiskBytes, storesAnswers),
        keys: new GatewayKeys({ root, file }),
      };
    });
  });
  return {
    answers,
    ...others,
    refresh: () => root.resetReadTxn(),
    async close() {
      await answers.flush();
      await file.close(root);
    },
  };
}
