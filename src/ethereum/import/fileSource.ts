import { awaitedLater } from '../../platform/background/index.ts';
import type { BlockSource, TraceProvider } from '../nodes/index.ts';
import { chainRulesOf } from '../traces/convert/index.ts';
import { type ChainIdentity, type IndexedBlock, indexBlock, indexUnavailable } from '../traces/index.ts';
import { type FileHeader, ImportError } from './format.ts';
import { HeaderFiles, partsOf } from './headerFiles.ts';
import type { PreparedBlock } from './prepareUnit.ts';
import type { Part } from './table.ts';
import { openTraces } from './tableFile.ts';
import type { Prepare } from './threads.ts';

/** Size of the parts of trace files. A thread keeps the traces of one part in memory. */
const PART_BYTES = 32 * 1024 * 1024;
/** Maximum number of blocks per unit. It bounds the memory for headers if blocks have few traces. */
const MAX_UNIT_BLOCKS = 32_768;

/** Node for data that is missing in files. */
export interface ImportNode {
  readonly source: Pick<TraceProvider, 'block' | 'blockRef'>;
  /** Returns the number of transactions in a block; undefined if the node does not know the block. */
  readonly transactionCount: (header: FileHeader) => Promise<number | undefined>;
}

export interface FileSourceOptions {
  readonly traces: readonly string[];
  readonly headers: readonly string[];
}

export interface FileSourceDependencies {
  readonly prepare: Prepare;
  /** Number of units that are prepared at the same time. */
  readonly threads: number;
  readonly partBytes?: number;
}

interface UnitRange {
  readonly from: number;
  readonly to: number;
  readonly parts: readonly Part[];
}

type Blocks = Map<number, { header: FileHeader; prepared: PreparedBlock }>;

/** Blocks in files. Blocks should be requested in ascending order, because those that follow are read in advance. */
export class FileSource implements BlockSource {
  readonly #headers: HeaderFiles;
  readonly #units: readonly UnitRange[];
  readonly #dependencies: FileSourceDependencies;
  readonly #prepared = new Map<number, Promise<Blocks>>();
  /** The last read of headers: one at a time. */
  #lastRead: Promise<unknown> = Promise.resolve();
  readonly #isForeign: boolean;
  #current = 0;
  #chain: ChainIdentity | undefined;
  #node: ImportNode | undefined;

  /** Opens files and checks their order. Throws ImportError. */
  static async open(
    { traces, headers }: FileSourceOptions,
    dependencies: FileSourceDependencies,
  ): Promise<FileSource> {
    const opened = await HeaderFiles.open(headers);
    let isForeign = false;
    const openFile = async (path: string) => {
      const table = await openTraces(path);
      if (table.format?.isCanonical === false) isForeign = true;
      return table;
    };
    const parts = await partsOf(traces, openFile, dependencies.partBytes ?? PART_BYTES);
    const outside = parts.find(({ first, last }) => first < opened.first.number || last > opened.last.number);
    if (outside !== undefined)
      throw new ImportError(
        `${outside.path} has blocks ${outside.first} to ${outside.last}, but the headers are those of blocks ` +
          `${opened.first.number} to ${opened.last.number}`,
      );
    return new FileSource(opened, { units: unitsOf(opened, parts), isForeign }, dependencies);
  }

  private constructor(
    headers: HeaderFiles,
    { units, isForeign }: { units: readonly UnitRange[]; isForeign: boolean },
    dependencies: FileSourceDependencies,
  ) {
    this.#headers = headers;
    this.#units = units;
    this.#isForeign = isForeign;
    this.#dependencies = dependencies;
  }

  get first(): FileHeader {
    return this.#headers.first;
  }

  get last(): FileHeader {
    return this.#headers.last;
  }

  /** Sets the chain of the blocks, and the node for missing data. Throws ImportError. */
  begin(chain: ChainIdentity, node: ImportNode | undefined): void {
    const { chainId, genesisHash } = this.first;
    if (
      (chainId ?? chain.chainId) !== chain.chainId ||
      (genesisHash ?? chain.genesisHash) !== chain.genesisHash
    )
      throw new ImportError(
        `the headers are of chain ${chainId}${genesisHash === undefined ? '' : ` with genesis ${genesisHash}`}, not of ` +
          `chain ${chain.chainId} with genesis ${chain.genesisHash}`,
      );
    const { name, systemTransaction, hasInvalidFrames, hasStopRoots, unsupported } = chainRulesOf(
      chain.chainId,
    );
    if (this.#isForeign && (systemTransaction || hasInvalidFrames || hasStopRoots || unsupported))
      throw new ImportError(`files of other programs cannot be checked for ${name}: use floodgate index`);
    this.#chain = chain;
    this.#node = node;
  }

  async chain(): Promise<ChainIdentity> {
    return this.#begun;
  }

  async heads() {
    return { latest: this.last, finalized: this.last };
  }

  async indexedBlock(blockNumber: number): Promise<IndexedBlock | undefined> {
    const index = this.#unitOf(blockNumber);
    for (let i = index; i <= index + this.#dependencies.threads; i++) this.#start(i);
    for (const started of this.#prepared.keys())
      if (started < index || started > index + this.#dependencies.threads) this.#prepared.delete(started);
    const found = (await this.#prepared.get(index))?.get(blockNumber);
    if (found === undefined) throw new ImportError(`the files have no header of block ${blockNumber}`);
    return this.#completed(found);
  }

  async close(): Promise<void> {
    await this.#lastRead.catch(() => undefined);
    await this.#headers.close();
  }

  get #begun(): ChainIdentity {
    if (this.#chain === undefined) throw new Error('the chain of the files is not set');
    return this.#chain;
  }

  /** Returns the index of a block's unit. Fast if it is the unit of the previous call or the next one. */
  #unitOf(blockNumber: number): number {
    if ((this.#units[this.#current]?.from ?? 0) > blockNumber) this.#current = 0;
    while ((this.#units[this.#current]?.to ?? Number.POSITIVE_INFINITY) < blockNumber) this.#current++;
    return this.#current;
  }

  #start(index: number): void {
    const unit = this.#units[index];
    if (unit === undefined || this.#prepared.has(index)) return;
    const before = this.#lastRead.catch(() => undefined);
    const headers = awaitedLater(before.then(() => this.#headers.between(unit.from, unit.to)));
    this.#lastRead = awaitedLater(headers);
    this.#prepared.set(index, awaitedLater(this.#prepare(headers, unit)));
  }

  async #prepare(reading: Promise<FileHeader[]>, { parts }: UnitRange): Promise<Blocks> {
    const headers = await reading;
    const prepared = await this.#dependencies.prepare({ headers, parts, chainId: this.#begun.chainId });
    const byNumber = new Map(headers.map((header) => [header.number, header]));
    const blocks: Blocks = new Map();
    for (const block of prepared) {
      const header = byNumber.get(block.number);
      if (header !== undefined) blocks.set(block.number, { header, prepared: block });
    }
    return blocks;
  }

  /** Returns a prepared block. Requests missing data from the node. Throws ImportError if there is no node. */
  async #completed({
    header,
    prepared,
  }: {
    header: FileHeader;
    prepared: PreparedBlock;
  }): Promise<IndexedBlock> {
    const { indexed, lacks, uncounted } = prepared;
    const { number } = header;
    if (indexed !== undefined && lacks === undefined) {
      if (uncounted !== undefined) await this.#checkCount(header, uncounted);
      return indexed;
    }
    if (this.#node === undefined) {
      if (indexed !== undefined) return indexed;
      throw new ImportError(
        `block ${number}: the files lack ${lacks}. Fetch such blocks from a node with --node URL`,
      );
    }
    const block = await this.#node.source.block(number);
    if (block === undefined) throw new ImportError(`block ${number}: the node does not have it`);
    if (block.header.hash !== header.hash)
      throw new ImportError(
        `block ${number} is ${header.hash} in the files, but ${block.header.hash} at the node`,
      );
    return block.unavailable === undefined
      ? indexBlock(block.header, block.traces)
      : indexUnavailable(block.header, block.unavailable);
  }

  async #checkCount(header: FileHeader, traced: number): Promise<void> {
    if (this.#node === undefined)
      throw new ImportError(
        `block ${header.number}: the headers lack the number of transactions, without which a missing last transaction ` +
          'is not noticed. Ask a node for it with --node URL, or add a column transaction_count to the headers',
      );
    const count = await this.#node.transactionCount(header);
    if (count === undefined)
      throw new ImportError(`block ${header.number}: the node does not know the block ${header.hash}`);
    if (count !== traced)
      throw new ImportError(
        `block ${header.number} has ${count} transactions, but the files have traces of ${traced}. Files must contain ` +
          'all traces, failed ones too',
      );
  }
}

/** Divides the blocks into units of whole blocks. A block whose rows are in several parts belongs to one unit. */
function unitsOf({ first, last }: HeaderFiles, parts: readonly Part[]): UnitRange[] {
  const starts = [first.number];
  let covered = -1;
  for (const part of parts) {
    const start = Math.max(part.first, covered + 1);
    if (start <= part.last && start > (starts.at(-1) ?? 0)) starts.push(start);
    covered = part.last;
  }
  const units: UnitRange[] = [];
  // Starts and parts ascend, so each search begins where the previous one found the first part.
  let low = 0;
  for (const [i, start] of starts.entries()) {
    const end = (starts[i + 1] ?? last.number + 1) - 1;
    for (let from = start; from <= end; from += MAX_UNIT_BLOCKS) {
      const to = Math.min(end, from + MAX_UNIT_BLOCKS - 1);
      while (low < parts.length && (parts[low]?.last ?? 0) < from) low++;
      let high = low;
      while (high < parts.length && (parts[high]?.first ?? 0) <= to) high++;
      units.push({ from, to, parts: parts.slice(low, high) });
    }
  }
  return units;
}
