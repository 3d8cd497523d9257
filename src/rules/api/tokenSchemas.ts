import Type from 'typebox';
import { accountIdPattern, permissionSchema } from '../index.ts';

const closed = { additionalProperties: false };
const moment = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

const members = {
  id: Type.String({ description: '32 hex digits. Names the token in the audit; no secret.' }),
  label: Type.String({ description: 'What it is for.' }),
  status: Type.Enum(['active', 'expired', 'revoked'], { type: 'string' }),
  all_accounts: Type.Boolean(),
  accounts: Type.Array(Type.String({ pattern: accountIdPattern }), {
    description: 'Empty where it is for all of them.',
  }),
  permissions: Type.Array(permissionSchema),
  created_on: Type.String({ format: 'date-time' }),
  created_by: Type.Optional(
    Type.String({
      description: 'The id of a token, `configured` for the server’s own, or `cli:` and a user.',
    }),
  ),
  expires_on: moment('Left out where it never expires.'),
  revoked_on: moment('Since when it is not valid any more.'),
  last_used_on: moment('Left out where it never was.'),
  requests: Type.Object(
    {
      count: Type.Integer({ minimum: 0, description: 'Requests since the start of the server.' }),
      refused: Type.Integer({ minimum: 0, description: 'Those that were not allowed.' }),
    },
    closed,
  ),
};

export const apiTokenSchema = Type.Object(members, closed);
export const createdApiTokenSchema = Type.Object(
  { ...members, value: Type.String({ description: 'The token itself. It is shown this once.' }) },
  closed,
);

export const EXAMPLE_TOKEN_ID = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';

export const exampleApiTokenCreation = {
  ...{ label: 'dashboard', accounts: ['0123abcd'] },
  ...{ permissions: ['dns_protection:read'], expires_on: '2099-01-31T00:00:00Z' },
};
export const exampleApiToken = {
  ...{ id: EXAMPLE_TOKEN_ID, label: 'dashboard', status: 'active', all_accounts: false },
  ...{ accounts: ['0123abcd'], permissions: ['dns_protection:read'] },
  ...{ created_on: '2026-11-20T22:10:38.762503+00:00', created_by: 'configured' },
  expires_on: '2099-01-31T00:00:00.000000+00:00',
  requests: { count: 12, refused: 0 },
};
