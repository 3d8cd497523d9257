import { Quota } from './quota.ts';

const MIB = 1024 * 1024;
/** Memory of filters and subscriptions, in bytes. The total is far below the heap size of a small machine. */
const TOTAL = 64 * MIB;
const PER_ADDRESS = MIB;
const PER_KEY = 4 * MIB;
/** With this part, 100 addresses that use as much as possible leave a hundredth of the total free. */
const PART_OF_FREE = 1 / 16;
/** Enough for a few subscriptions, or for one with 100 topics. */
const MIN_SHARE = 16 * 1024;

export interface FilterMemoryOptions {
  /** Number of processes that divide the total limit. Default: 1. */
  readonly processes?: number;
  /** Called each time a limit is reached. */
  readonly refused?: () => void;
}

/** Limits the memory of HTTP filters and subscriptions. `filterBytes.ts` computes their sizes in bytes. */
export class FilterMemory extends Quota {
  constructor({ processes = 1, refused }: FilterMemoryOptions = {}) {
    super(
      {
        what: 'bytes of filters and subscriptions',
        remedy: 'end other filters and subscriptions, or use fewer addresses and topics',
      },
      {
        total: Math.floor(TOTAL / processes),
        perClient: PER_ADDRESS,
        perKey: PER_KEY,
        partOfFree: PART_OF_FREE,
        minShare: MIN_SHARE,
      },
      refused,
    );
  }
}
