import type { Static } from 'typebox';
import Type from 'typebox';
import { labelSchema } from '../../index.ts';
import { closedObject, moment, oneOf, text } from './schemaParts.ts';

const integer = (description: string) => Type.Integer({ minimum: 0, description });
const optionalMoment = (description: string) => Type.Optional(moment(description));

const limit = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description }));

const limits = Type.Object(
  {
    trace_filter_blocks: limit(8_000, 'Maximum blocks of `trace_filter`.'),
    trace_filter_count: limit(10_000, 'Maximum `count` of `trace_filter`.'),
    logs_blocks: limit(10_000, 'Maximum blocks of `eth_getLogs`.'),
    fee_history_blocks: limit(1_024, 'Maximum blocks of `eth_feeHistory`.'),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description:
      'Limits of calls with the key, higher or lower than `gateway.limits`. Default: `gateway.limits`.',
  },
);

const settings = {
  name: Type.Unsafe<string>({
    ...labelSchema,
    description: 'Name of the key, 1 to 64 visible characters.',
  }),
  rate_per_second: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Maximum calls per second. Default: unlimited.',
    }),
  ),
  methods: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'Methods that the key may call. Default: all methods.',
    }),
  ),
  limits: Type.Optional(limits),
  expires_on: optionalMoment('Expiry. Default: never.'),
};

export const newGatewayKeySchema = closedObject(settings);
export type NewGatewayKey = Readonly<Static<typeof newGatewayKeySchema>>;

const members = {
  id: text('8 hex digits; not secret.'),
  status: oneOf(['active', 'expired', 'revoked']),
  ...settings,
  created_on: moment(),
  created_by: Type.Optional(text('Id of a token, or `cli:` and a user name.')),
  created_from: Type.Optional(text('Address of the client, or `local`.')),
  revoked_on: optionalMoment('Time of revocation.'),
  revoked_by: Type.Optional(Type.String()),
  revoked_from: Type.Optional(Type.String()),
  last_used_on: optionalMoment('Last use; omitted if there was none.'),
  calls: closedObject({
    admitted: integer('Calls since the server started.'),
    limited: integer('Calls above a rate limit.'),
    forbidden: integer('Calls of methods that the key may not call.'),
  }),
};

export const gatewayKeySchema = closedObject(members);
export const createdGatewayKeySchema = closedObject({
  ...members,
  value: text('The secret key. It is returned only once.'),
});

export const gatewaySchema = closedObject({
  networks: Type.Array(
    closedObject({
      network: text('Name of the network, served at `/v1/NAME`.'),
      chain_id: Type.Optional(
        text('Chain ID as a quantity, such as 0x1. Omitted until a node has reported it.'),
      ),
    }),
  ),
  needs_key: Type.Boolean({
    description: 'Whether requests need a key, which is the case once a key was created.',
  }),
});

export const namesSchema = closedObject({
  abis: Type.Record(Type.String(), Type.Array(Type.Object({})), {
    description: 'ABIs by address of the contract, in lower case; `*` applies to all contracts.',
  }),
  labels: Type.Record(Type.String(), Type.String(), { description: 'Labels by address, in lower case.' }),
});
