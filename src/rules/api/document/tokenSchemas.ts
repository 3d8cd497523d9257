import Type from 'typebox';
import { accountIdPattern, permissionSchema } from '../../index.ts';

const closed = { additionalProperties: false };
const moment = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

const settings = {
  label: Type.String({ description: 'Purpose of the token.' }),
  all_accounts: Type.Boolean(),
  accounts: Type.Array(Type.String({ pattern: accountIdPattern }), {
    description: 'Empty if the token is for all accounts.',
  }),
  permissions: Type.Array(permissionSchema),
  created_on: Type.String({ format: 'date-time' }),
  created_by: Type.Optional(
    Type.String({
      description:
        'Id of a token, `configured:` and 16 hex digits for the server’s own token, or `cli:` and a user name.',
    }),
  ),
  expires_on: moment('Expiry; omitted if the token never expires.'),
  revoked_on: moment('Time of revocation.'),
};

const members = {
  id: Type.String({ description: '32 hex digits. Identifies the token in the audit log; not secret.' }),
  status: Type.Enum(['active', 'expired', 'revoked'], { type: 'string' }),
  ...settings,
  last_used_on: moment('Last use; omitted if there was none.'),
  requests: Type.Object(
    {
      count: Type.Integer({ minimum: 0, description: 'Requests since the server started.' }),
      rejected: Type.Integer({ minimum: 0, description: 'Requests that were rejected.' }),
    },
    closed,
  ),
};

/** Token as the audit shows it. */
export const auditedTokenSchema = Type.Object(settings, closed);
export const apiTokenSchema = Type.Object(members, closed);
export const createdApiTokenSchema = Type.Object(
  { ...members, value: Type.String({ description: 'The secret token. It is returned only once.' }) },
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
  ...{ created_on: '2026-11-20T22:10:38.762503+00:00', created_by: 'configured:3f1c9a0b7d2e4f68' },
  expires_on: '2099-01-31T00:00:00.000000+00:00',
  requests: { count: 12, rejected: 0 },
};
