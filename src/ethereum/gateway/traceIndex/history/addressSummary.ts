import { type Result, RpcError } from '../../../jsonrpc/index.ts';
import {
  type Address,
  type BlockRange,
  DirectoryNotReadyError,
  type HistorySummary,
  type MaybePromise,
  mapMaybe,
  TRACE_TYPES,
  type TypeCounts,
} from '../../../traces/index.ts';
import type { Handler } from '../../method.ts';
import type { ParamType } from '../../methods/paramType.ts';
import { address } from '../../methods/paramTypes.ts';
import type { BlockBound } from '../traceFilter/blockTag.ts';
import { resolveHeads } from '../traceFilter/fromIndex.ts';
import { storeFor } from '../traceFilter/fromNodes.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { readBounds, readMembers } from './params.ts';
import { rangeOf } from './rangeOf.ts';

interface AddressSummaryParams {
  readonly address: Address;
  readonly from: BlockBound | undefined;
  readonly to: BlockBound;
}

export const addressSummaryObject: ParamType = {
  allowed: 'an object, for example {"address":"0x…"}',
  read(value, path): AddressSummaryParams {
    const members = readMembers(value, path, {
      allowed: addressSummaryObject.allowed,
      known: ['address', 'fromBlock', 'toBlock'],
    });
    // `address.read` returns an address.
    return { address: address.read(members['address'], 'address') as Address, ...readBounds(members) };
  },
};

/** Returns the handler of floodgate_addressSummary. Blocks that the index lacks are not fetched. */
export function addressSummary(services: IndexServices): Handler {
  return ([params], caller) => {
    const asked = params as AddressSummaryParams; // validated by the parameter type
    const bounds = asked.from === undefined ? [asked.to] : [asked.from, asked.to];
    return mapMaybe(resolveHeads(services, bounds), (heads): MaybePromise<Result> => {
      const query = { address: asked.address, ...rangeOf(asked, heads) };
      return mapMaybe(
        readSummary(() => storeFor(services, caller).addressSummary(query)),
        resultOf,
      );
    });
  };
}

/** Reads a summary. Throws RpcError, or rejects with it, while the address directory is still being built. */
function readSummary(read: () => MaybePromise<HistorySummary>): MaybePromise<HistorySummary> {
  const refused = (error: unknown): never => {
    if (!(error instanceof DirectoryNotReadyError)) throw error;
    throw new RpcError(
      'resourceUnavailable',
      'the address directory of this index is still being built; try again later, or use a smaller range',
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
