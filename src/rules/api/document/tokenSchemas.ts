import Type from 'typebox';
import { accountIdPattern, permissionSchema } from '../../index.ts';
import { closedObject, moment, oneOf, text } from './schemaParts.ts';

const optionalMoment = (description: string) => Type.Optional(moment(description));

const settings = {
  label: text('Purpose of the token.'),
  all_accounts: Type.Boolean(),
  accounts: Type.Array(Type.String({ pattern: accountIdPattern }), {
    description: 'Empty if the token is for all accounts.',
  }),
  permissions: Type.Array(permissionSchema),
  created_on: moment(),
  created_by: Type.Optional(
    text(
      'Id of a token, `configured:` and 16 hex digits for the server’s own token, or `cli:` and a user name.',
    ),
  ),
  expires_on: optionalMoment('Expiry; omitted if the token never expires.'),
  revoked_on: optionalMoment('Time of revocation.'),
};

const members = {
  id: text('32 hex digits. Identifies the token in the audit log; not secret.'),
  status: oneOf(['active', 'expired', 'revoked']),
  ...settings,
  last_used_on: optionalMoment('Last use; omitted if there was none.'),
  requests: closedObject({
    count: Type.Integer({ minimum: 0, description: 'Requests since the server started.' }),
    rejected: Type.Integer({ minimum: 0, description: 'Requests that were rejected.' }),
  }),
};

/** Token as the audit shows it. */
export const auditedTokenSchema = closedObject(settings);
export const apiTokenSchema = closedObject(members);
export const createdApiTokenSchema = closedObject({
  ...members,
  value: text('The secret token. It is returned only once.'),
});
