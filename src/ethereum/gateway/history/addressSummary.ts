import { type Result, RpcError } from '../../jsonrpc/index.ts';
import {
  type Address,
  type Awaitable,
  andThen,
  type BlockRange,
  DirectoryUnfinishedError,
  type HistorySummary,
  TRACE_TYPES,
  type TypeCounts,
} from '../../traces/index.ts';
import type { Handler } from '../method.ts';
import type { Kind } from '../methods/kind.ts';
import { address } from '../methods/kinds.ts';
import type { BlockBound } from '../traceFilter/blockTag.ts';
import { resolveHeads } from '../traceFilter/fromIndex.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { readBounds, readMembers } from './params.ts';
import { rangeOf } from './rangeOf.ts';

interface AddressSummaryParams {
  readonly address: Address;
  readonly from: BlockBound | undefined;
  readonly to: BlockBound;
}

/** The parameter of floodgate_addressSummary. */
export const addressSummaryObject: Kind = {
  allowed: 'an object, for example {"address":"0x…"}',
  read(value, path): AddressSummaryParams {
    const members = readMembers(value, path, {
      allowed: addressSummaryObject.allowed,
      known: ['address', 'fromBlock', 'toBlock'],
    });
    // The cast holds: an address was just read.
    return { address: address.read(members['address'], 'address') as Address, ...readBounds(members) };
  },
};

/** floodgate_addressSummary: what the history of an address comes to, from the index. Nothing is fetched for it. */
export function addressSummary(services: IndexServices): Handler {
  return ([params]) => {
    const asked = params as AddressSummaryParams; // what the parameter's kind made
    const bounds = asked.from === undefined ? [asked.to] : [asked.from, asked.to];
    return andThen(resolveHeads(services, bounds), (heads): Awaitable<Result> => {
      const query = { address: asked.address, ...rangeOf(asked, heads) };
      return andThen(
        readSummary(() => services.store.addressSummary(query)),
        resultOf,
      );
    });
  };
}

/** A summary, or the error for one that cannot be given yet, now or later. */
function readSummary(read: () => Awaitable<HistorySummary>): Awaitable<HistorySummary> {
  const refused = (error: unknown): never => {
    if (!(error instanceof DirectoryUnfinishedError)) throw error;
    throw new RpcError(
      'resourceUnavailable',
      'the directory of addresses is still being made for this index; try again later, or ask for a smaller range',
    );
  };
  try {
    const summary = read();
    return summary instanceof Promise ? summary.catch(refused) : summary;
  } catch (error) {
    return refused(error);
  }
}

function resultOf({ range, firstBlock, lastBlock, counts, value, missing }: HistorySummary): Result {
  const isPartial = (own: BlockRange | undefined): boolean =>
    own === undefined || own.fromBlock !== range.fromBlock || own.toBlock !== range.toBlock;
  return Buffer.from(
    JSON.stringify({
      range,
      firstBlock: firstBlock ?? null,
      lastBlock: lastBlock ?? null,
      counts: {
        from: byType(counts.by.from),
        to: byType(counts.by.to),
        partial: isPartial(counts.range),
        range: counts.range ?? null,
      },
      value: {
        in: `0x${value.by.to.toString(16)}`,
        out: `0x${value.by.from.toString(16)}`,
        partial: isPartial(value.range),
        range: value.range ?? null,
      },
      missing: missing.map(({ fromBlock, toBlock }) => [fromBlock, toBlock]),
    }),
  );
}

const byType = (counts: TypeCounts): Record<string, number> =>
  Object.fromEntries(TRACE_TYPES.map((type, i) => [type, counts[i] ?? 0]));
