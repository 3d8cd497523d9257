import {
  ADDRESS_BYTES,
  CALL_TYPES,
  CHUNK_HEAD_BYTES,
  CREATION_METHODS,
  HAS_ADDRESS,
  HAS_ERROR,
  HAS_RESULT,
  HASH_BYTES,
  NO_TRANSACTION,
  REWARD_TYPES,
  TRACE_TYPES,
  TRANSACTION_BYTES,
  TYPE_MASK,
  VARIANT_SHIFT,
} from './format.ts';
import { ascii, type JsonWriter } from './jsonWriter.ts';
import { IN_RECORD, RecordReader, recordBounds, type Span, uint32 } from './recordReader.ts';

/** Maximum length of the JSON keys and punctuation of a trace. Hex values are extra: two digits per stored byte. */
const FIXED_TEXT_BYTES = 512;
/** Maximum length of the JSON for one stored byte of an integer: decimal digits and a comma. */
const TEXT_BYTES_PER_STORED_BYTE = 6;
/** Maximum length of `traceAddress` in JSON: 1,025 indexes below a million. */
const MAX_PATH_TEXT_BYTES = 16 * 1024;

const CALL_ACTIONS = CALL_TYPES.map((type) => ascii(`{"action":{"callType":"${type}","from":"`));
const CREATE_ACTIONS = CREATION_METHODS.map((method) =>
  ascii(method === undefined ? '{"action":{"from":"' : `{"action":{"creationMethod":"${method}","from":"`),
);
const SUICIDE_ACTION = ascii('{"action":{"address":"');
const REWARD_ACTION = ascii('{"action":{"author":"');
const REWARD_TYPE_TEXTS = REWARD_TYPES.map((type) => ascii(`","rewardType":"${type}","value":"`));
const GAS = ascii('","gas":"');
const INPUT = ascii('","input":"');
const INIT = ascii('","init":"');
const TO = ascii('","to":"');
const VALUE = ascii('","value":"');
const BALANCE = ascii('","balance":"');
const REFUND_ADDRESS = ascii('","refundAddress":"');
const BLOCK_HASH = ascii('"},"blockHash":"');
const BLOCK_NUMBER = ascii('","blockNumber":');
const ERROR = ascii(',"error":');
const NO_RESULT = ascii(',"result":null');
const RESULT = ascii(',"result":{"');
const RESULT_ADDRESS = ascii('address":"');
const CODE = ascii('","code":"');
const GAS_USED = ascii('gasUsed":"');
const NEXT_GAS_USED = ascii('","gasUsed":"');
const OUTPUT = ascii('","output":"');
const RESULT_END = ascii('"}');
const SUBTRACES = ascii(',"subtraces":');
const TRACE_ADDRESS = ascii(',"traceAddress":[');
const COMMA = ascii(',');
const TRANSACTION_HASH = ascii('],"transactionHash":"');
const TRANSACTION_POSITION = ascii('","transactionPosition":');
const NO_TRANSACTION_TEXT = ascii('],"transactionHash":null,"transactionPosition":null');
const TYPES = TRACE_TYPES.map((type) => ascii(`,"type":"${type}"}`));

/** Returns data chunk `chunk` of block `blockNumber`. */
export type ReadDataChunk = (blockNumber: number, chunk: number) => Uint8Array;

/** The bytes of an input or output. `source` is the chunk with the trace, or a data chunk. */
interface Payload extends Span {
  source: Uint8Array;
}

const span = (): Span => ({ start: 0, end: 0 });
const payload = (): Payload => ({ ...span(), source: new Uint8Array() });
const reader = new RecordReader();
const [a, b, gas, value, gasUsed] = [span(), span(), span(), span(), span()];
const [input, output] = [payload(), payload()];
/** Of the trace being written: the maximum length of its record's JSON, and from where its data chunks are read. */
let recordTextBytes = 0;
let blockOfData = 0;
let readDataChunk: ReadDataChunk = () => new Uint8Array();

/**
 * Writes the trace at `index` in a chunk as JSON. The chunk must come from `encodeChunks`, because it is not
 * validated. `readData` must not change the bytes of `chunk`.
 */
// biome-ignore lint/complexity/useMaxParams: called for each trace of a response; avoids an allocation
export function writeTrace(
  json: JsonWriter,
  chunk: Uint8Array,
  index: number,
  blockNumber: number,
  readData: ReadDataChunk,
): void {
  const [start, end] = recordBounds(chunk, index);
  const bytes = end - start;
  recordTextBytes =
    FIXED_TEXT_BYTES + Math.min(TEXT_BYTES_PER_STORED_BYTE * bytes, 2 * bytes + MAX_PATH_TEXT_BYTES);
  json.reserve(recordTextBytes);
  blockOfData = blockNumber;
  readDataChunk = readData;
  reader.bytes = chunk;
  reader.at = start;

  const kind = reader.byte();
  const transactionIndex = reader.byte();
  const treeAt = reader.at;
  reader.varint();
  for (let depth = reader.varint(); depth > 0; depth--) reader.varint();

  writeAction(json, kind);
  json.constant(BLOCK_HASH);
  json.hex(chunk, 2, 2 + HASH_BYTES);
  json.constant(BLOCK_NUMBER);
  json.decimal(blockNumber);
  writeOutcome(json, kind, end);
  reader.at = treeAt;
  writePlacement(json, transactionIndex);
  json.constant(textOf(TYPES, kind & TYPE_MASK));
}

function readPayload(into: Payload, kind: number): void {
  const dataChunk = reader.payload(into, kind);
  into.source = reader.bytes;
  if (dataChunk === IN_RECORD) return;
  into.source = readDataChunk(blockOfData, dataChunk);
  into.start = CHUNK_HEAD_BYTES;
  into.end = into.source.length;
}

function writePayload(json: JsonWriter, { source, start, end }: Payload): void {
  if (source !== reader.bytes) json.reserve(recordTextBytes + 2 * (end - start));
  json.hex(source, start, end);
}

function writeAction(json: JsonWriter, kind: number): void {
  const source = reader.bytes;
  const variant = kind >>> VARIANT_SHIFT;
  switch (TRACE_TYPES[kind & TYPE_MASK]) {
    case 'call':
      reader.fixed(a, ADDRESS_BYTES);
      reader.fixed(b, ADDRESS_BYTES);
      reader.data(gas);
      reader.data(value);
      readPayload(input, kind);
      json.constant(textOf(CALL_ACTIONS, variant));
      json.hex(source, a.start, a.end);
      json.constant(GAS);
      json.quantity(source, gas.start, gas.end);
      json.constant(INPUT);
      writePayload(json, input);
      json.constant(TO);
      json.hex(source, b.start, b.end);
      json.constant(VALUE);
      json.quantity(source, value.start, value.end);
      return;
    case 'create':
      reader.fixed(a, ADDRESS_BYTES);
      reader.data(gas);
      reader.data(value);
      readPayload(input, kind);
      json.constant(textOf(CREATE_ACTIONS, variant));
      json.hex(source, a.start, a.end);
      json.constant(GAS);
      json.quantity(source, gas.start, gas.end);
      json.constant(INIT);
      writePayload(json, input);
      json.constant(VALUE);
      json.quantity(source, value.start, value.end);
      return;
    case 'suicide':
      reader.fixed(a, ADDRESS_BYTES);
      reader.fixed(b, ADDRESS_BYTES);
      reader.data(value);
      json.constant(SUICIDE_ACTION);
      json.hex(source, a.start, a.end);
      json.constant(BALANCE);
      json.quantity(source, value.start, value.end);
      json.constant(REFUND_ADDRESS);
      json.hex(source, b.start, b.end);
      return;
    default:
      reader.fixed(a, ADDRESS_BYTES);
      reader.data(value);
      json.constant(REWARD_ACTION);
      json.hex(source, a.start, a.end);
      json.constant(textOf(REWARD_TYPE_TEXTS, variant));
      json.quantity(source, value.start, value.end);
      return;
  }
}

/** Writes `error` and then `result`. The record contains them in the reverse order, because errors are rare. */
function writeOutcome(json: JsonWriter, kind: number, end: number): void {
  const source = reader.bytes;
  const hasResult = (kind & HAS_RESULT) !== 0;
  const hasAddress = (kind & HAS_ADDRESS) !== 0;
  if (hasAddress) reader.fixed(a, ADDRESS_BYTES);
  if (hasResult) {
    reader.data(gasUsed);
    readPayload(output, kind);
  }
  if ((kind & HAS_ERROR) !== 0) {
    reader.varint();
    json.constant(ERROR);
    json.verbatim(source, reader.at, end);
  }
  if (!hasResult) return json.constant(NO_RESULT);

  json.constant(RESULT);
  if (!hasAddress) {
    json.constant(GAS_USED);
    json.quantity(source, gasUsed.start, gasUsed.end);
    json.constant(OUTPUT);
    writePayload(json, output);
    return json.constant(RESULT_END);
  }
  json.constant(RESULT_ADDRESS);
  json.hex(source, a.start, a.end);
  json.constant(CODE);
  writePayload(json, output);
  json.constant(NEXT_GAS_USED);
  json.quantity(source, gasUsed.start, gasUsed.end);
  json.constant(RESULT_END);
}

function writePlacement(json: JsonWriter, transactionIndex: number): void {
  json.constant(SUBTRACES);
  json.decimal(reader.varint());
  json.constant(TRACE_ADDRESS);
  const depth = reader.varint();
  for (let i = 0; i < depth; i++) {
    if (i > 0) json.constant(COMMA);
    json.decimal(reader.varint());
  }
  if (transactionIndex === NO_TRANSACTION) return json.constant(NO_TRANSACTION_TEXT);
  const at = CHUNK_HEAD_BYTES + TRANSACTION_BYTES * transactionIndex;
  json.constant(TRANSACTION_HASH);
  json.hex(reader.bytes, at, at + HASH_BYTES);
  json.constant(TRANSACTION_POSITION);
  json.decimal(uint32(reader.bytes, at + HASH_BYTES));
}

function textOf(texts: readonly Uint8Array[], number: number): Uint8Array {
  const text = texts[number];
  if (text === undefined) throw new Error(`a stored trace is damaged: unknown variant ${number}`);
  return text;
}
