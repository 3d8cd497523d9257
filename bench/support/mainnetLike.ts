import type { Address, Hash } from '../../src/ethereum/traces/index.ts';
import { Random } from '../../test/support/random.ts';

/**
 * Generates blocks from a seed with traces like those of Ethereum's mainnet. The shares and sizes below are from four
 * recorded blocks (17,073,191, 17,073,192, 15,630,274 and 10,000,000).
 */

export interface MadeBlock {
  readonly number: number;
  readonly hash: Hash;
  /** The result of eth_getBlockByNumber, with the members that are read. */
  readonly header: object;
  /** The result of trace_block. */
  readonly traces: readonly object[];
}

const TRACES_PER_TRANSACTION = [1, 1, 1, 1, 1, 2, 3, 8, 8, 11, 15, 19, 37];
const CALL_TYPES = [...repeat('call', 57), ...repeat('staticcall', 30), ...repeat('delegatecall', 13)];
/** Number of 32-byte words after the selector of call data, at twenty even quantiles; -1 for no data. */
const INPUT_WORDS = [-1, -1, -1, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 4, 5, 9, 20];
/** One input in a hundred is long. */
const LONG_INPUT_SHARE = 0.01;
const LONG_INPUT_WORDS = [60, 70, 75, 100, 120, 140, 200];
const OUTPUT_WORDS = [...repeat(0, 8), ...repeat(1, 11), 3];
/** Kinds of words by share: random bytes, an address, a small number, an amount, zero. */
const INPUT_KINDS = [
  ...repeat('full', 22),
  ...repeat('address', 24),
  ...repeat('small', 33),
  ...repeat('amount', 12),
  ...repeat('zero', 9),
];
const OUTPUT_KINDS = [
  ...repeat('full', 10),
  ...repeat('address', 8),
  ...repeat('small', 43),
  ...repeat('amount', 33),
  ...repeat('zero', 6),
];
/** Share of random words that repeat a word of the same transaction. */
const REPEATED_WORD_SHARE = 0.35;
const REPEATED_INPUT_SHARE = 0.12;
const FAILED_SHARE = 0.02;

/** A few hot addresses receive most calls; the rest is drawn from a long tail, log-uniformly. */
const HOT_ADDRESSES = 40;
const TAIL_ADDRESSES = 400_000;
const HOT_SHARE = 0.45;

export function addressAt(rank: number): Address {
  // A cheap hash of the rank to 20 bytes, identical in every process.
  const random = new Random(rank * 2_654_435_761 + 1);
  return random.hex(20) as Address; // 20 bytes as digits
}

export class MainnetLike {
  readonly #random: Random;
  readonly #tracesPerBlock: number;
  readonly #addresses = new Map<number, Address>();
  readonly #selectors: string[];
  /** Random words of the current transaction. */
  #words: string[] = [];
  #parent: Hash;

  /** `parent` is the parent hash of the first block. */
  constructor(seed: number, tracesPerBlock: number, parent = `0x${'0'.repeat(64)}` as Hash) {
    this.#random = new Random(seed);
    this.#tracesPerBlock = tracesPerBlock;
    this.#parent = parent;
    this.#selectors = Array.from({ length: 300 }, () => this.#random.hex(4).slice(2));
  }

  block(number: number): MadeBlock {
    const random = this.#random;
    const hash = random.hex(32) as Hash;
    const traces: object[] = [];
    const transactions: string[] = [];
    while (traces.length < this.#tracesPerBlock) {
      const transactionHash = random.hex(32);
      const frames = Math.min(random.pick(TRACES_PER_TRANSACTION), this.#tracesPerBlock - traces.length);
      this.#transaction(traces, frames, {
        blockHash: hash,
        blockNumber: number,
        transactionHash,
        position: transactions.length,
      });
      transactions.push(transactionHash);
    }
    const header = {
      number: `0x${number.toString(16)}`,
      hash,
      parentHash: this.#parent,
      timestamp: `0x${(1_700_000_000 + 12 * number).toString(16)}`,
      gasLimit: '0x1c9c380',
      gasUsed: '0xe4e1c0',
      transactions,
      uncles: [],
    };
    this.#parent = hash;
    return { number, hash, header, traces };
  }

  /** Adds one call with all others as its direct children. */
  #transaction(
    traces: object[],
    frames: number,
    at: { blockHash: string; blockNumber: number; transactionHash: string; position: number },
  ): void {
    const random = this.#random;
    this.#words = [];
    let caller = this.#address();
    let input = '0x';
    for (let frame = 0; frame < frames; frame++) {
      const to = this.#address();
      const callType = frame === 0 ? 'call' : random.pick(CALL_TYPES);
      if (frame === 0 || !random.chance(REPEATED_INPUT_SHARE)) input = this.#input();
      const failed = frame > 0 && random.chance(FAILED_SHARE);
      const gasUsed = `0x${random.below(200_000).toString(16)}`;
      traces.push({
        action: {
          callType,
          from: caller,
          gas: `0x${random.below(1_000_000).toString(16)}`,
          input,
          to,
          value: random.chance(0.2) ? `0x${(random.below(2 ** 30) * 2 ** 20).toString(16)}` : '0x0',
        },
        blockHash: at.blockHash,
        blockNumber: at.blockNumber,
        ...(failed && { error: 'Reverted' }),
        result: { gasUsed, output: `0x${this.#wordsOf(OUTPUT_KINDS, random.pick(OUTPUT_WORDS))}` },
        subtraces: frame === 0 ? frames - 1 : 0,
        traceAddress: frame === 0 ? [] : [frame - 1],
        transactionHash: at.transactionHash,
        transactionPosition: at.position,
        type: 'call',
      });
      if (frame === 0) caller = to;
    }
  }

  #address(): Address {
    const random = this.#random;
    const rank = random.chance(HOT_SHARE)
      ? Math.floor(HOT_ADDRESSES * random.next() ** 2)
      : Math.floor(Math.exp(random.next() * Math.log(TAIL_ADDRESSES)));
    let address = this.#addresses.get(rank);
    if (address === undefined) {
      address = addressAt(rank);
      this.#addresses.set(rank, address);
    }
    return address;
  }

  #input(): string {
    const random = this.#random;
    const words = random.chance(LONG_INPUT_SHARE) ? random.pick(LONG_INPUT_WORDS) : random.pick(INPUT_WORDS);
    if (words < 0) return '0x';
    return `0x${random.pick(this.#selectors)}${this.#wordsOf(INPUT_KINDS, words)}`;
  }

  #wordsOf(kinds: readonly string[], words: number): string {
    let text = '';
    for (let i = 0; i < words; i++) text += this.#word(this.#random.pick(kinds));
    return text;
  }

  #word(kind: string): string {
    const random = this.#random;
    switch (kind) {
      case 'full': {
        if (this.#words.length > 0 && random.chance(REPEATED_WORD_SHARE)) return random.pick(this.#words);
        const word = random.hex(32).slice(2);
        this.#words.push(word);
        return word;
      }
      case 'address':
        return this.#address().slice(2).padStart(64, '0');
      case 'small':
        return random.below(65_536).toString(16).padStart(64, '0');
      case 'amount':
        return random.hex(9).slice(2).padStart(64, '0');
      default:
        return ZERO_WORD;
    }
  }
}

const ZERO_WORD = '0'.repeat(64);

function repeat<T>(item: T, times: number): T[] {
  return new Array(times).fill(item);
}
