import type { JsonSchema } from '../paramType.ts';
import { hexText } from '../paramTypes.ts';

const address = hexText('{40}');
const hash = hexText('{64}');
const quantity = hexText('{1,64}');
const data = hexText('*');
const count: JsonSchema = { type: 'integer', minimum: 0 };

/** JSON Schema of an object with exactly these members. Only those named in `optional` may be absent. */
const exactly = (members: Readonly<Record<string, JsonSchema>>, ...optional: string[]): JsonSchema => ({
  type: 'object',
  properties: members,
  required: Object.keys(members).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

const orNull = (...schemas: JsonSchema[]): JsonSchema => ({ anyOf: [...schemas, { type: 'null' }] });

const callResult = exactly({ gasUsed: quantity, output: data });

const nothing: JsonSchema = { type: 'null' };

/** Returns the JSON Schema of a frame (one call, creation or destruction of a transaction). */
const frame = (type: string, action: JsonSchema, result: JsonSchema): JsonSchema =>
  exactly(
    {
      action,
      blockHash: hash,
      blockNumber: count,
      error: { type: 'string' },
      result,
      subtraces: count,
      traceAddress: { type: 'array', items: count },
      transactionHash: hash,
      transactionPosition: count,
      type: { const: type },
    },
    'error',
  );

/** JSON Schema of a block or uncle reward. A reward belongs to no transaction. */
const reward = exactly({
  action: exactly({ author: address, rewardType: { enum: ['block', 'uncle', 'external'] }, value: quantity }),
  blockHash: hash,
  blockNumber: count,
  result: nothing,
  subtraces: count,
  traceAddress: { type: 'array', items: count },
  transactionHash: nothing,
  transactionPosition: nothing,
  type: { const: 'reward' },
});

/** JSON Schema of a trace, as described in docs/reference/trace-filter.md. */
export const traceSchema: JsonSchema = {
  oneOf: [
    frame(
      'call',
      exactly({
        callType: { enum: ['call', 'callcode', 'delegatecall', 'staticcall'] },
        from: address,
        gas: quantity,
        input: data,
        to: address,
        value: quantity,
      }),
      orNull(callResult),
    ),
    frame(
      'create',
      exactly(
        {
          creationMethod: { enum: ['create', 'create2'] },
          from: address,
          gas: quantity,
          init: data,
          value: quantity,
        },
        'creationMethod',
      ),
      orNull(exactly({ address, code: data, gasUsed: quantity }), callResult),
    ),
    frame('suicide', exactly({ address, balance: quantity, refundAddress: address }), nothing),
    reward,
  ],
};
