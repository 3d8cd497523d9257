import type { Static } from 'typebox';
import Type from 'typebox';
import { labelSchema } from '../index.ts';

const closed = { additionalProperties: false };
const count = (description: string) => Type.Integer({ minimum: 0, description });
const moment = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

const settings = {
  name: Type.Unsafe<string>({
    ...labelSchema,
    description: 'What its owner calls it, 1 to 64 visible characters.',
  }),
  rate_per_second: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Calls that it may make; any where left out.',
    }),
  ),
  methods: Type.Optional(
    Type.Array(Type.String(), { minItems: 1, description: 'What it may call; every method where left out.' }),
  ),
  expires_on: moment('Until when it is valid; for ever where left out.'),
};

/** The body of a creation. */
export const newGatewayKeySchema = Type.Object(settings, closed);
export type NewGatewayKey = Readonly<Static<typeof newGatewayKeySchema>>;

const members = {
  id: Type.String({ description: '8 hex digits, no secret.' }),
  status: Type.Enum(['active', 'expired', 'revoked'], { type: 'string' }),
  ...settings,
  created_on: Type.String({ format: 'date-time' }),
  created_by: Type.Optional(Type.String({ description: 'The id of a token, or `cli:` and a user.' })),
  created_from: Type.Optional(Type.String({ description: 'The address of the client, or `local`.' })),
  revoked_on: moment('Since when it is not valid any more.'),
  revoked_by: Type.Optional(Type.String()),
  revoked_from: Type.Optional(Type.String()),
  last_used_on: moment('Left out where it never was.'),
  calls: Type.Object(
    {
      admitted: count('Calls since the start of the server.'),
      limited: count('Those that were over a rate.'),
      forbidden: count('Those of methods that it may not call.'),
    },
    closed,
  ),
};

export const gatewayKeySchema = Type.Object(members, closed);
export const createdGatewayKeySchema = Type.Object(
  { ...members, value: Type.String({ description: 'The key itself. It is shown this once.' }) },
  closed,
);

export const gatewaySchema = Type.Object(
  {
    networks: Type.Array(
      Type.Object(
        {
          network: Type.String({ description: 'It is served at `/v1/` and this name.' }),
          chain_id: Type.Optional(
            Type.String({ description: 'As a quantity: 0x1. Left out until a node has told it.' }),
          ),
        },
        closed,
      ),
    ),
    needs_key: Type.Boolean({ description: 'Whether a key was ever created: then each request needs one.' }),
  },
  closed,
);
export const exampleGateway = { networks: [{ network: 'mainnet', chain_id: '0x1' }], needs_key: false };

export const exampleGatewayKeyCreation = { name: 'explorer', rate_per_second: 50, methods: ['eth_call'] };
export const exampleGatewayKey = {
  ...{ id: '3f6d1a2b', status: 'active', ...exampleGatewayKeyCreation },
  created_on: '2026-11-20T22:10:38.762503+00:00',
  ...{ created_by: '0f1e2d3c4b5a69788796a5b4c3d2e1f0', created_from: '192.0.2.7' },
  calls: { admitted: 1200, limited: 3, forbidden: 0 },
};
