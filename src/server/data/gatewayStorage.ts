import type { AnswerStore, KeyStore } from '../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../ethereum/store/lmdb/gateway/index.ts';
import type { LastUsedTracker } from '../../platform/lastUses/index.ts';

export interface GatewayStorage {
  readonly answers: AnswerStore;
  readonly keys: KeyStore & ConstructorParameters<typeof LastUsedTracker>[1];
  close(): Promise<void>;
}

export interface GatewayStorageOptions {
  readonly dataDir: string;
  readonly cacheDiskBytes: number;
  /** False if the server has no gateway. Nothing is stored then. */
  readonly hasGateway: boolean;
  /** Returns whether answers may be written to the disk now. */
  readonly storesAnswers: () => boolean;
}

export const gatewayStorageOf = ({
  dataDir,
  cacheDiskBytes,
  hasGateway,
  storesAnswers,
}: GatewayStorageOptions): GatewayStorage =>
  hasGateway ? openGatewayStorage(dataDir, cacheDiskBytes, storesAnswers) : NOTHING_KEPT;

const NOTHING_KEPT: GatewayStorage = {
  answers: {
    get: () => undefined,
    put: () => undefined,
    anchor: () => undefined,
    setAnchor: () => undefined,
    clear: async () => undefined,
  },
  keys: {
    isEmpty: () => true,
    find: () => undefined,
    list: () => [],
    entries: () => [],
    add: () => Promise.reject(new Error('this server has no gateway')),
    revoke: async () => undefined,
    lastUses: async () => new Map(),
    noteUses: async () => undefined,
  },
  close: async () => undefined,
};
