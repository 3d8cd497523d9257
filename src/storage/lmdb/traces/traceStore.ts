import {
  AnswerTooLargeError,
  blockAt,
  type ChainIdentity,
  type Hash,
  type IndexChange,
  JsonWriter,
  placeAt,
  type StoredBlock,
  segmentOf,
  TRACES_PER_CHUNK,
  type Trace,
  type TraceFilter,
  type TraceStore,
  termOf,
  visitMatches,
  WrongChainError,
  writeTrace,
} from '../../../traces/index.ts';
import { Changes } from './changes.ts';
import { openTraceEnvironment, type TraceEnvironment } from './environment.ts';
import { encodeChain } from './records.ts';
import { Snapshot } from './snapshot.ts';

const OPEN_BRACKET = new Uint8Array([0x5b]);
const CLOSE_BRACKET = new Uint8Array([0x5d]);
const COMMA = new Uint8Array([0x2c]);

/** The index of traces in an LMDB environment in the folder `path`. */
export function openTraceStore(path: string): TraceStore {
  return new LmdbTraceStore(openTraceEnvironment(path));
}

class LmdbTraceStore implements TraceStore {
  readonly #environment: TraceEnvironment;
  readonly #json = new JsonWriter();
  #snapshot: Snapshot;
  /** The last change that was begun: changes are worked out one after the other, each from the state before. */
  #lastChange: Promise<void> = Promise.resolve();

  constructor(environment: TraceEnvironment) {
    this.#environment = environment;
    this.#snapshot = new Snapshot(environment);
  }

  chain(): ChainIdentity | undefined {
    return this.#snapshot.chain();
  }

  bindChain(identity: ChainIdentity): Promise<void> {
    return this.#inTurn(async () => {
      const held = this.chain();
      if (held === undefined) {
        await this.#commit(
          () => void this.#environment.meta.put(Buffer.from('chain'), encodeChain(identity)),
        );
      } else if (held.chainId !== identity.chainId || held.genesisHash !== identity.genesisHash) {
        throw new WrongChainError(held, identity);
      }
    });
  }

  head(): StoredBlock | undefined {
    return this.#snapshot.head();
  }

  finalizedNumber(): number | undefined {
    return this.#snapshot.finalizedNumber();
  }

  block(blockNumber: number): StoredBlock | undefined {
    return this.#snapshot.block(blockNumber);
  }

  firstMissing(fromBlock: number, toBlock: number): number | undefined {
    for (let number = fromBlock; number <= toBlock; number++)
      if (!this.#snapshot.hasBlock(number)) return number;
    return undefined;
  }

  filter(filter: TraceFilter, maxBytes: number): Buffer {
    const snapshot = this.#snapshot;
    return this.#array(maxBytes, (visit) => visitMatches(snapshot, filter, visit));
  }

  blockTraces(blockNumber: number, maxBytes: number): Buffer | undefined {
    const block = this.#snapshot.block(blockNumber);
    if (block === undefined) return undefined;
    return this.#array(maxBytes, (visit) => {
      for (let place = 0; place < block.traceCount; place++) visit(blockNumber, place);
    });
  }

  transactionTraces(hash: Hash, maxBytes: number): Buffer | undefined {
    const root = this.#findTransaction(hash);
    if (root === undefined) return undefined;
    const [blockNumber, firstPlace, endPlace] = root;
    return this.#array(maxBytes, (visit) => {
      for (let place = firstPlace; place < endPlace; place++) visit(blockNumber, place);
    });
  }

  apply(change: IndexChange): Promise<void> {
    return this.#inTurn(async () => {
      const changes = new Changes(this.#environment, this.#snapshot, change, (block) =>
        this.#tracesOf(block),
      );
      await this.#commit(() => changes.write());
    });
  }

  async close(): Promise<void> {
    await this.#lastChange;
    this.#snapshot.close();
    await this.#environment.root.close();
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#lastChange.then(change);
    this.#lastChange = done.catch(() => undefined);
    return done;
  }

  /** Writes in one transaction, waits until it is on disk, then lets reads see it. */
  async #commit(write: () => void): Promise<void> {
    await this.#environment.root.batch(write);
    await this.#environment.root.flushed;
    const previous = this.#snapshot;
    this.#snapshot = new Snapshot(this.#environment);
    previous.close();
  }

  #array(maxBytes: number, visitAll: (visit: (blockNumber: number, place: number) => void) => void): Buffer {
    const snapshot = this.#snapshot;
    const json = this.#json;
    json.reset();
    json.constant(OPEN_BRACKET);
    visitAll((blockNumber, place) => {
      const chunk = snapshot.chunk(blockNumber, place);
      json.reserve(1);
      if (json.length > 1) json.constant(COMMA);
      writeTrace(json, chunk, place % TRACES_PER_CHUNK, blockNumber);
      if (json.length > maxBytes) throw new AnswerTooLargeError(maxBytes);
    });
    json.reserve(1);
    json.constant(CLOSE_BRACKET);
    return json.copy();
  }

  #tracesOf(block: StoredBlock): readonly Trace[] {
    const text = this.blockTraces(block.number, Number.POSITIVE_INFINITY);
    return JSON.parse(text?.toString() ?? '[]') as Trace[]; // written from traces that were checked
  }

  /** The block and the places (first, and one past the last) of a transaction's traces; newest segments first. */
  #findTransaction(hash: Hash): [blockNumber: number, firstPlace: number, endPlace: number] | undefined {
    const head = this.head();
    if (head === undefined) return undefined;
    for (let segment = segmentOf(head.number); segment >= 0; segment--) {
      const list = this.#snapshot.postings(segment, 'transaction', termOf(hash));
      for (let i = 0; list !== undefined && i < list.length; i++) {
        const position = list.at(i);
        const found = this.#transactionAt(blockAt(segment, position), placeAt(position), hash);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  #transactionAt(blockNumber: number, firstPlace: number, hash: Hash): [number, number, number] | undefined {
    const traceCount = this.#snapshot.block(blockNumber)?.traceCount ?? 0;
    let place = firstPlace;
    while (place < traceCount && this.#traceAt(blockNumber, place).transactionHash === hash) place++;
    return place === firstPlace ? undefined : [blockNumber, firstPlace, place];
  }

  #traceAt(blockNumber: number, place: number): Trace {
    this.#json.reset();
    writeTrace(this.#json, this.#snapshot.chunk(blockNumber, place), place % TRACES_PER_CHUNK, blockNumber);
    return JSON.parse(this.#json.copy().toString()) as Trace; // written from a trace that was checked
  }
}
