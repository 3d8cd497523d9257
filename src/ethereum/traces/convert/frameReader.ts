import type {
  CallResult,
  CallTrace,
  CallType,
  CreateResult,
  CreateTrace,
  CreationMethod,
  Hash,
  RewardTrace,
  RewardType,
  SuicideTrace,
  Trace,
} from '../index.ts';
import { REVERTED, readErrorName } from './errorName.ts';
import { asFrameCount, assembleFrame, type FramePlacement, MAX_TRACE_DEPTH, ZERO } from './frame.ts';
import type { ParseContext } from './json/parseContext.ts';
import { readAddress, readData, readHash, readQuantity } from './json/readHex.ts';
import { asObject, countUpTo, type Members } from './json/readJson.ts';
import { TraceFormatError } from './json/traceFormatError.ts';

const asBlockNumber = countUpTo(Number.MAX_SAFE_INTEGER);

/** Converts flat traces of any node to canonical traces. A hash that repeats the previous hash is validated once. */
export class FrameReader {
  readonly #place: ParseContext = { what: 'trace', index: -1 };
  #blockHash: { sent: unknown; read: Hash } | undefined;
  #transactionHash: { sent: unknown; read: Hash } | undefined;

  /**
   * @returns the canonical trace, or undefined if it is left out: a reward of zero, which some nodes list under proof
   * of stake, a withdrawal, or a reward of the genesis block.
   * @throws TraceFormatError naming the invalid member.
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
        throw new TraceFormatError(place, 'type', {
          expected: 'call, create, suicide or reward',
          got: members['type'],
        });
    }
  }

  #call(members: Members, action: Members): CallTrace {
    const place = this.#place;
    const error = readErrorName(members['error'], place);
    const read = {
      callType: callType(action['callType'], place),
      from: readAddress(action['from'], this.#place, 'action.from'),
      gas: readQuantity(action['gas'], place, 'action.gas'),
      input: readData(action['input'], place, 'action.input'),
      to: readAddress(action['to'], this.#place, 'action.to'),
      value: readQuantity(action['value'] ?? ZERO, place, 'action.value'),
    };
    const sent = this.#result(members, error);
    const result = sent && {
      gasUsed: readQuantity(sent['gasUsed'], place, 'result.gasUsed'),
      output: readData(sent['output'], place, 'result.output'),
    };
    return assembleFrame(read, this.#placement(members), error, result, 'call');
  }

  #create(members: Members, action: Members): CreateTrace {
    const place = this.#place;
    const error = readErrorName(members['error'], place);
    const method = creationMethod(action['creationMethod'], place);
    const from = readAddress(action['from'], this.#place, 'action.from');
    const gas = readQuantity(action['gas'], place, 'action.gas');
    const init = readData(action['init'], place, 'action.init');
    const value = readQuantity(action['value'] ?? ZERO, place, 'action.value');
    const read = method ? { creationMethod: method, from, gas, init, value } : { from, gas, init, value };
    const sent = this.#result(members, error);
    const result = sent && (error === undefined ? created(sent, place) : reverted(sent, place));
    return assembleFrame(read, this.#placement(members), error, result, 'create');
  }

  #suicide(members: Members, action: Members): SuicideTrace {
    const read = {
      address: readAddress(action['address'], this.#place, 'action.address'),
      balance: readQuantity(action['balance'], this.#place, 'action.balance'),
      refundAddress: readAddress(action['refundAddress'], this.#place, 'action.refundAddress'),
    };
    return assembleFrame(
      read,
      this.#placement(members),
      readErrorName(members['error'], this.#place),
      null,
      'suicide',
    );
  }

  #reward(members: Members, action: Members): RewardTrace | undefined {
    const place = this.#place;
    const sentType = action['rewardType'];
    // Erigon can list withdrawals as rewards. The trace draft has no withdrawals.
    if (sentType === 'withdrawal') return undefined;
    const read = {
      author: readAddress(action['author'], this.#place, 'action.author'),
      rewardType: rewardType(sentType, place),
      value: readQuantity(action['value'], place, 'action.value'),
    };
    const blockHash = this.#blockHashOf(members);
    const blockNumber = asBlockNumber(members['blockNumber'], place, 'blockNumber');
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

  #placement(members: Members): FramePlacement {
    const place = this.#place;
    return {
      blockHash: this.#blockHashOf(members),
      blockNumber: asBlockNumber(members['blockNumber'], place, 'blockNumber'),
      subtraces: asFrameCount(members['subtraces'], place, 'subtraces'),
      traceAddress: readTraceAddress(members['traceAddress'], place),
      transactionHash: this.#transactionHashOf(members),
      transactionPosition: asFrameCount(members['transactionPosition'], place, 'transactionPosition'),
    };
  }

  /**
   * Returns the result of a frame, or null if it has none. A reverted frame has a result if the node sends one. A
   * frame that failed for another reason has none, even if geth sends `{}`.
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

function created(sent: Members, place: ParseContext): CreateResult {
  return {
    address: readAddress(sent['address'], place, 'result.address'),
    code: readData(sent['code'], place, 'result.code'),
    gasUsed: readQuantity(sent['gasUsed'], place, 'result.gasUsed'),
  };
}

/**
 * Returns the result of a reverted creation in the form of a call's result. Some nodes send the output as `code`.
 * Erigon until 3.7 and Reth also send the address of the contract that was not created.
 */
function reverted(sent: Members, place: ParseContext): CallResult {
  return {
    gasUsed: readQuantity(sent['gasUsed'], place, 'result.gasUsed'),
    output: readData(sent['output'] ?? sent['code'], place, 'result.output'),
  };
}

function readTraceAddress(value: unknown, place: ParseContext): readonly number[] {
  if (!Array.isArray(value) || value.length > MAX_TRACE_DEPTH)
    throw new TraceFormatError(place, 'traceAddress', {
      expected: `an array of at most ${MAX_TRACE_DEPTH} indices`,
      got: value,
    });
  for (const step of value) asFrameCount(step, place, 'traceAddress');
  return value; // not copied: a response is read once and then discarded
}

function callType(value: unknown, place: ParseContext): CallType {
  switch (value) {
    case 'call':
    case 'callcode':
    case 'delegatecall':
    case 'staticcall':
      return value;
    default:
      throw new TraceFormatError(place, 'action.callType', {
        expected: 'call, callcode, delegatecall or staticcall',
        got: value,
      });
  }
}

function creationMethod(value: unknown, place: ParseContext): CreationMethod | undefined {
  if (value === 'create' || value === 'create2') return value;
  if (value === undefined || value === null) return undefined;
  throw new TraceFormatError(place, 'action.creationMethod', { expected: 'create or create2', got: value });
}

function rewardType(value: unknown, place: ParseContext): RewardType {
  if (value === 'block' || value === 'uncle' || value === 'external') return value;
  throw new TraceFormatError(place, 'action.rewardType', {
    expected: 'block, uncle, external or withdrawal',
    got: value,
  });
}
