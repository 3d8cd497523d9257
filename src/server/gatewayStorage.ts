import type { AnswerStore, KeyStore } from '../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../ethereum/store/lmdb/gateway/index.ts';
import type { LastUses } from '../platform/lastUses/index.ts';

/** What a gateway keeps in the data folder. */
export interface GatewayStorage {
  readonly answers: AnswerStore;
  readonly keys: KeyStore & ConstructorParameters<typeof LastUses>[1];
  /** Proves that ids of filters are ours, also over a restart. */
  readonly filterSecret: Uint8Array;
  close(): Promise<void>;
}

export interface GatewayStorageOptions {
  readonly dataDir: string;
  readonly cacheDiskBytes: number;
  /** Whether there is a gateway: nothing is kept where there is none. */
  readonly hasGateway: boolean;
}

export const gatewayStorageOf = ({
  dataDir,
  cacheDiskBytes,
  hasGateway,
}: GatewayStorageOptions): GatewayStorage =>
  hasGateway ? openGatewayStorage(dataDir, cacheDiskBytes) : NOTHING_KEPT;

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
    add: () => Promise.reject(new Error('there is no gateway')),
    revoke: async () => undefined,
    lastUses: async () => new Map(),
    noteUses: async () => undefined,
  },
  filterSecret: new Uint8Array(),
  close: async () => undefined,
};
