import type {
  CallResult,
  CallTrace,
  CallType,
  CreateResult,
  CreateTrace,
  CreationMethod,
  Quantity,
  SuicideTrace,
  Trace,
} from '../../index.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import { REVERTED, readErrorName } from '../errorName.ts';
import {
  asFrameList,
  assembleFrame,
  type FramePlacement,
  MAX_FRAMES,
  MAX_TRACE_DEPTH,
  ZERO,
  ZERO_ADDRESS,
} from '../frame.ts';
import type { ParseContext } from '../json/parseContext.ts';
import { readAddress, readData, readQuantity } from '../json/readHex.ts';
import { asObject, type Members } from '../json/readJson.ts';
import { TraceFormatError } from '../json/traceFormatError.ts';
import type { FullHeader } from '../parseHeader.ts';
import type { BlockTransaction, FullBlock } from '../parseTransactions.ts';

/** For each type of call frame in `callTracer`, Parity's call type. */
const CALLS: ReadonlyMap<unknown, CallType> = new Map([
  ['CALL', 'call'],
  ['CALLCODE', 'callcode'],
  ['DELEGATECALL', 'delegatecall'],
  ['STATICCALL', 'staticcall'],
]);
const CREATIONS: ReadonlyMap<unknown, CreationMethod> = new Map([
  ['CREATE', 'create'],
  ['CREATE2', 'create2'],
]);

/** Converts the nested frames of one transaction, from geth's `callTracer`, to a flat list of traces in pre-order. */
export class CallFrameReader {
  readonly #header: FullHeader;
  readonly #transaction: BlockTransaction;
  readonly #traces: Trace[];
  readonly #place: ParseContext;
  readonly #rules: ChainRules;

  /**
   * @param position the position of the transaction in the block.
   * @param traces the list to which the traces are appended.
   */
  // biome-ignore lint/complexity/useMaxParams: created for each transaction; avoids an allocation
  constructor({ header, transactions }: FullBlock, position: number, traces: Trace[], rules: ChainRules) {
    this.#rules = rules;
    this.#header = header;
    this.#transaction = transactions[position] as BlockTransaction; // position is valid
    this.#traces = traces;
    this.#place = { what: 'transaction', index: position };
  }

  /**
   * Converts a root frame and its descendants.
   *
   * @returns the gas that the whole transaction used, as the node reports it; undefined if it has no frames.
   * @throws TraceFormatError naming the frame and the invalid member.
   */
  read(root: unknown): bigint | undefined {
    if (this.#rules.hasStopRoots === true && isStopRoot(root)) return undefined;
    this.#frame(root, [], ZERO);
    this.#place.path = [];
    return BigInt(readQuantity(asObject(root, this.#place, '')['gasUsed'], this.#place, 'gasUsed'));
  }

  /** @param inherited the value of the parent frame, which is also the value of a delegatecall. */
  #frame(value: unknown, traceAddress: readonly number[], inherited: Quantity): void {
    const place = this.#place;
    place.path = traceAddress;
    if (traceAddress.length > MAX_TRACE_DEPTH || this.#traces.length >= MAX_FRAMES) {
      const allowed = `at most ${MAX_TRACE_DEPTH} deep and one of at most ${MAX_FRAMES}`;
      throw new TraceFormatError(place, '', { expected: allowed, got: value });
    }
    const members = asObject(value, place, '');
    const calls = asFrameList(members['calls'] ?? [], place, 'calls');
    const frame = this.#flat(members, this.#placement(calls.length, traceAddress), inherited);
    this.#traces.push(frame);
    const passedOn = frame.type === 'suicide' ? ZERO : frame.action.value;
    for (let i = 0; i < calls.length; i++) this.#frame(calls[i], [...traceAddress, i], passedOn);
  }

  #placement(subtraces: number, traceAddress: readonly number[]): FramePlacement {
    return {
      blockHash: this.#header.hash,
      blockNumber: this.#header.number,
      subtraces,
      traceAddress,
      transactionHash: this.#transaction.hash,
      transactionPosition: this.#place.index,
    };
  }

  #flat(members: Members, placement: FramePlacement, inherited: Quantity): FlatFrame {
    const sent = members['type'];
    const type = typeof sent === 'string' ? sent.toUpperCase() : sent;
    const callType = CALLS.get(type);
    if (callType) return this.#call(members, this.#callAction(members, callType, inherited), placement);
    const creationMethod = CREATIONS.get(type);
    if (creationMethod) return this.#create(members, creationMethod, placement);
    if (type === 'SELFDESTRUCT') return this.#selfdestruct(members, placement);
    if (type === 'INVALID' && this.#rules.hasInvalidFrames === true)
      return this.#call(
        { output: '0x', ...members },
        this.#callAction(members, 'call', inherited),
        placement,
      );
    const known = [...CALLS.keys(), ...CREATIONS.keys(), 'SELFDESTRUCT'].join(', ');
    throw new TraceFormatError(this.#place, 'type', { expected: `one of ${known}`, got: sent });
  }

  #callAction(members: Members, callType: CallType, inherited: Quantity): CallTrace['action'] {
    const place = this.#place;
    // geth sends the value of a delegatecall. If another node omits it, it is the value of the parent frame.
    const absentValue = callType === 'delegatecall' ? inherited : ZERO;
    return {
      callType,
      from: readAddress(members['from'], place, 'from'),
      gas: readQuantity(members['gas'], place, 'gas'),
      input: readData(members['input'], place, 'input'),
      to: readAddress(members['to'], place, 'to'),
      value: readQuantity(members['value'] ?? absentValue, place, 'value'),
    };
  }

  #call(members: Members, action: CallTrace['action'], placement: FramePlacement): CallTrace {
    const error = readErrorName(members['error'], this.#place);
    const result = this.#returned(members, error);
    return assembleFrame(action, placement, error, result, 'call');
  }

  #create(members: Members, creationMethod: CreationMethod, placement: FramePlacement): CreateTrace {
    const place = this.#place;
    const error = readErrorName(members['error'], place);
    const action = {
      creationMethod,
      from: readAddress(members['from'], place, 'from'),
      gas: readQuantity(members['gas'], place, 'gas'),
      init: readData(members['input'], place, 'input'),
      value: readQuantity(members['value'] ?? ZERO, place, 'value'),
    };
    const result = error === undefined ? this.#created(members) : this.#returned(members, error);
    return assembleFrame(action, placement, error, result, 'create');
  }

  #created(members: Members): CreateResult {
    return {
      address: readAddress(members['to'], this.#place, 'to'),
      code: readData(members['output'], this.#place, 'output'),
      gasUsed: readQuantity(members['gasUsed'], this.#place, 'gasUsed'),
    };
  }

  /** Returns the result of a call or of a reverted creation; null for every other failure. */
  #returned(members: Members, error: string | undefined): CallResult | null {
    if (error !== undefined && error !== REVERTED) return null;
    return {
      gasUsed: readQuantity(members['gasUsed'], this.#place, 'gasUsed'),
      output: readData(members['output'], this.#place, 'output'),
    };
  }

  #selfdestruct(members: Members, placement: FramePlacement): SuicideTrace {
    const place = this.#place;
    const address = readAddress(members['from'], place, 'from');
    // If the node sends the zero address (see restoreDestroyed), it may omit the balance and the refund address.
    const absent = address === ZERO_ADDRESS ? { value: ZERO, to: ZERO_ADDRESS } : {};
    const action = {
      address,
      balance: readQuantity(members['value'] ?? absent.value, place, 'value'),
      refundAddress: readAddress(members['to'] ?? absent.to, place, 'to'),
    };
    return assembleFrame(action, placement, readErrorName(members['error'], place), null, 'suicide');
  }
}

type FlatFrame = CallTrace | CreateTrace | SuicideTrace;

/** Returns whether the tracer entered no frame, so that it reports a root of type STOP. */
export const isStopRoot = (root: unknown): boolean =>
  typeof root === 'object' && root !== null && 'type' in root && root.type === 'STOP';
