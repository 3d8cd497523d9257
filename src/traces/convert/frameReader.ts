import type {
  CallTrace,
  CallType,
  CreateTrace,
  CreationMethod,
  Hash,
  Quantity,
  RewardTrace,
  RewardType,
  SuicideTrace,
  Trace,
} from '../trace.ts';
import { errorName, REVERTED } from './errorName.ts';
import type { Place } from './place.ts';
import { readAddress, readData, readHash, readQuantity } from './readHex.ts';
import { TraceFormatError } from './traceFormatError.ts';

/** A frame runs at most 1024 calls below the root (Ethereum's rule); one that failed for that depth stands one deeper. */
export const MAX_TRACE_DEPTH = 1025;
/** Most children of a frame and most frames of a block: 100 million gas buy a million calls of the cheapest kind. */
export const MAX_FRAMES = 1_000_000;

const ZERO = '0x0' as Quantity; // the canonical zero

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads the flat traces of one answer, whichever client wrote them, into canonical ones. Built for full ingest speed:
 * what repeats from trace to trace (the block's hash, the transaction's) is checked once and shared.
 */
export class FrameReader {
  readonly #place: Place = { what: 'trace', index: -1 };
  #blockHash: { sent: unknown; read: Hash } | undefined;
  #transactionHash: { sent: unknown; read: Hash } | undefined;

  /**
   * @returns the canonical trace, or undefined for what is no trace to Floodgate: a reward of nothing (which some
   * clients give under proof of stake), a withdrawal, a reward of the genesis block.
   * @throws TraceFormatError naming the member that is wrong.
   */
  read(value: unknown, index: number): Trace | undefined {
    const place = this.#place;
    place.index = index;
    const members = asObject(value, place, '');
    const action = asObject(members['action'], place, 'action');
    switch (members['type']) {
      case 'call':
        return this.#call(members, action);
      case 'create':
        return this.#create(members, action);
      case 'suicide':
      case 'selfdestruct':
        return this.#suicide(members, action);
      case 'reward':
        return this.#reward(members, action);
      default:
        throw new TraceFormatError(place, 'type', 'call, create, suicide or reward', members['type']);
    }
  }

  #call(members: Members, action: Members): CallTrace {
    const place = this.#place;
    const error = this.#error(members);
    const read = {
      callType: callType(action['callType'], place),
      from: readAddress(action['from'], this.#place, 'action.from'),
      gas: readQuantity(action['gas'], place, 'action.gas'),
      input: readData(action['input'], place, 'action.input'),
      to: readAddress(action['to'], this.#place, 'action.to'),
      value: quantityOrZero(action['value'], place, 'action.value'),
    };
    const sent = this.#result(members, error);
    const result = sent && {
      gasUsed: readQuantity(sent['gasUsed'], place, 'result.gasUsed'),
      output: readData(sent['output'], place, 'result.output'),
    };
    return this.#trace(members, read, error, result, 'call');
  }

  #create(members: Members, action: Members): CreateTrace {
    const place = this.#place;
    const error = this.#error(members);
    const method = creationMethod(action['creationMethod'], place);
    const from = readAddress(action['from'], this.#place, 'action.from');
    const gas = readQuantity(action['gas'], place, 'action.gas');
    const init = readData(action['init'], place, 'action.init');
    const value = quantityOrZero(action['value'], place, 'action.value');
    const read = method ? { creationMethod: method, from, gas, init, value } : { from, gas, init, value };
    const sent = this.#result(members, error);
    if (sent === null) return this.#trace(members, read, error, null, 'create');
    // Erigon and Reth send the address that a reverted creation would have had: nothing stands there.
    const address =
      error === undefined ? readAddress(sent['address'], this.#place, 'result.address') : undefined;
    const code = readData(sent['code'], place, 'result.code');
    const gasUsed = readQuantity(sent['gasUsed'], place, 'result.gasUsed');
    const result = address ? { address, code, gasUsed } : { code, gasUsed };
    return this.#trace(members, read, error, result, 'create');
  }

  #suicide(members: Members, action: Members): SuicideTrace {
    const read = {
      address: readAddress(action['address'], this.#place, 'action.address'),
      balance: readQuantity(action['balance'], this.#place, 'action.balance'),
      refundAddress: readAddress(action['refundAddress'], this.#place, 'action.refundAddress'),
    };
    return this.#trace(members, read, this.#error(members), null, 'suicide');
  }

  #reward(members: Members, action: Members): RewardTrace | undefined {
    const place = this.#place;
    const sentType = action['rewardType'];
    // Erigon can list withdrawals among the rewards; the trace draft has no records of them.
    if (sentType === 'withdrawal') return undefined;
    const read = {
      author: readAddress(action['author'], this.#place, 'action.author'),
      rewardType: rewardType(sentType, place),
      value: readQuantity(action['value'], place, 'action.value'),
    };
    const blockHash = this.#blockHashOf(members);
    const blockNumber = count(members['blockNumber'], Number.MAX_SAFE_INTEGER, place, 'blockNumber');
    if (read.value === ZERO || blockNumber === 0) return undefined;
    return {
      action: read,
      blockHash,
      blockNumber,
      result: null,
      subtraces: 0,
      traceAddress: [],
      transactionHash: null,
      transactionPosition: null,
      type: 'reward',
    };
  }

  /** Puts a frame together, with its keys in the canonical order: an `error` stands between the others or not at all. */
  #trace<Action, Result, Type>(
    members: Members,
    action: Action,
    error: string | undefined,
    result: Result,
    type: Type,
  ) {
    const place = this.#place;
    const blockHash = this.#blockHashOf(members);
    const blockNumber = count(members['blockNumber'], Number.MAX_SAFE_INTEGER, place, 'blockNumber');
    const subtraces = count(members['subtraces'], MAX_FRAMES, place, 'subtraces');
    const traceAddress = readTraceAddress(members['traceAddress'], place);
    const transactionHash = this.#transactionHashOf(members);
    const transactionPosition = count(
      members['transactionPosition'],
      MAX_FRAMES,
      place,
      'transactionPosition',
    );
    // Two whole literals: spreading the common part costs a third of the time of reading a trace.
    return error === undefined
      ? {
          action,
          blockHash,
          blockNumber,
          result,
          subtraces,
          traceAddress,
          transactionHash,
          transactionPosition,
          type,
        }
      : {
          action,
          blockHash,
          blockNumber,
          error,
          result,
          subtraces,
          traceAddress,
          transactionHash,
          transactionPosition,
          type,
        };
  }

  /** The failure's canonical name; undefined where the frame did not fail. Some clients send null or nothing for none. */
  #error(members: Members): string | undefined {
    const error = members['error'];
    if (error === undefined || error === null || error === '') return undefined;
    if (typeof error !== 'string') throw new TraceFormatError(this.#place, 'error', 'a text', error);
    return errorName(error);
  }

  /**
   * What a call or creation gave back, null where it gave nothing: a revert keeps its result where the node sends one,
   * every other failure has none. geth's fixtures have `{}` in that place, which is none.
   */
  #result(members: Members, error: string | undefined): Members | null {
    const result = members['result'];
    if (error !== undefined && error !== REVERTED) return null;
    if (error === REVERTED && (result === undefined || result === null)) return null;
    return asObject(result, this.#place, 'result');
  }

  #blockHashOf(members: Members): Hash {
    const sent = members['blockHash'];
    if (this.#blockHash?.sent !== sent || !this.#blockHash)
      this.#blockHash = { sent, read: readHash(sent, this.#place, 'blockHash') };
    return this.#blockHash.read;
  }

  #transactionHashOf(members: Members): Hash {
    const sent = members['transactionHash'];
    if (this.#transactionHash?.sent !== sent || !this.#transactionHash)
      this.#transactionHash = { sent, read: readHash(sent, this.#place, 'transactionHash') };
    return this.#transactionHash.read;
  }
}

function asObject(value: unknown, place: Place, member: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TraceFormatError(place, member, 'an object', value);
  return value as Members; // checked: a JSON object
}

function count(value: unknown, max: number, place: Place, member: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
    throw new TraceFormatError(place, member, `a whole number from 0 to ${max}`, value);
  return value;
}

function readTraceAddress(value: unknown, place: Place): readonly number[] {
  if (!Array.isArray(value) || value.length > MAX_TRACE_DEPTH)
    throw new TraceFormatError(
      place,
      'traceAddress',
      `an array of at most ${MAX_TRACE_DEPTH} indices`,
      value,
    );
  for (const step of value) count(step, MAX_FRAMES, place, 'traceAddress');
  return value; // the array is the answer's own: an answer is read once and let go
}

/** A static call has no value, and geth says so by leaving it out. */
function quantityOrZero(value: unknown, place: Place, member: string): Quantity {
  return value === undefined || value === null ? ZERO : readQuantity(value, place, member);
}

function callType(value: unknown, place: Place): CallType {
  switch (value) {
    case 'call':
    case 'callcode':
    case 'delegatecall':
    case 'staticcall':
      return value;
    default:
      throw new TraceFormatError(
        place,
        'action.callType',
        'call, callcode, delegatecall or staticcall',
        value,
      );
  }
}

function creationMethod(value: unknown, place: Place): CreationMethod | undefined {
  if (value === 'create' || value === 'create2') return value;
  if (value === undefined || value === null) return undefined;
  throw new TraceFormatError(place, 'action.creationMethod', 'create or create2', value);
}

function rewardType(value: unknown, place: Place): RewardType {
  if (value === 'block' || value === 'uncle') return value;
  throw new TraceFormatError(place, 'action.rewardType', 'block, uncle or withdrawal', value);
}
