import type { Static } from 'typebox';
import Type from 'typebox';
import { type MemberCheck, ObjectChecker, plainObject } from '../format/objectChecker.ts';
import { namePattern, trimName } from '../format/ruleName.ts';
import { describeValue, type Fault, InvalidRule, pointerTo } from '../invalidRule.ts';
import { formatTimestamp, type Micros, parseMoment } from '../timestamp.ts';
import {
  accountIdPattern,
  allowedAccountId,
  isAccountId,
  operatorPermissions,
  type Permission,
  permissions,
} from './token.ts';
import type { Grant } from './tokenGrant.ts';

const MAX_ACCOUNTS_OF_TOKEN = 100;
const allPermissions: readonly Permission[] = [...permissions, ...operatorPermissions];

export const labelSchema = Type.String({
  pattern: namePattern,
  maxLength: 1000,
  description: 'Purpose of the token, 1 to 64 visible characters.',
});
export const permissionSchema = Type.Enum([...allPermissions], { type: 'string' });

export const newTokenSchema = Type.Object(
  {
    label: Type.Optional(labelSchema),
    accounts: Type.Optional(
      Type.Array(Type.String({ pattern: accountIdPattern, maxLength: 32 }), {
        minItems: 1,
        maxItems: MAX_ACCOUNTS_OF_TOKEN,
        description: 'Accounts of the token. Alternative: `all_accounts`.',
      }),
    ),
    all_accounts: Type.Optional(
      Type.Boolean({ description: 'Whether the token is for all accounts, including future ones.' }),
    ),
    permissions: Type.Array(permissionSchema, {
      minItems: 1,
      maxItems: allPermissions.length,
      description: 'Permissions, at most those of the requesting token. Write permissions include reading.',
    }),
    expires_on: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Expiry. Default: the expiry of the requesting token.',
      }),
    ),
  },
  { additionalProperties: false },
);

type Body = Readonly<Static<typeof newTokenSchema>>;

export interface TokenRequest extends Omit<Grant, 'expires_on'> {
  readonly label: string;
  /** Expiry that the request asks for; undefined if it asks for none. */
  readonly expires_on: string | undefined;
}

const checker = new ObjectChecker<Micros>(newTokenSchema, {
  accounts: listCheck('accounts', {
    of: `1 to ${MAX_ACCOUNTS_OF_TOKEN} account ids, each ${allowedAccountId}`,
    max: MAX_ACCOUNTS_OF_TOKEN,
    isItem: isAccountId,
  }),
  permissions: listCheck('permissions', {
    of: `one or more of ${allPermissions.join(', ')}`,
    max: allPermissions.length,
    isItem: (item) => allPermissions.some((permission) => permission === item),
  }),
  expires_on: futureCheck('expires_on'),
});

/**
 * Returns the token that a request body defines. Throws `InvalidRule` with all faults. It must expire after `now`.
 */
export function checkNewToken(body: unknown, now: Micros): TokenRequest {
  const members = plainObject(body);
  const faults = checker.faultsOf(members, now);
  const {
    label = '',
    accounts,
    all_accounts = false,
    permissions = [],
    expires_on,
  } = members as Partial<Body>; // invalid values are rejected below
  if (faults.length === 0) faults.push(...combinationFaults({ accounts, all_accounts, permissions }));
  if (faults.length > 0) throw new InvalidRule(faults);
  return {
    label: trimName(label),
    accounts: all_accounts ? 'all' : [...new Set(accounts)],
    permissions: [...new Set(permissions as readonly Permission[])], // just checked
    expires_on: expires_on === undefined ? undefined : parseMoment(expires_on),
  };
}

function combinationFaults({
  accounts,
  all_accounts,
  permissions,
}: {
  readonly accounts: Body['accounts'] | undefined;
  readonly all_accounts: boolean;
  readonly permissions: readonly string[];
}): Fault[] {
  if (all_accounts && accounts !== undefined)
    return [{ pointer: '/accounts', message: 'accounts must be omitted if all_accounts is true' }];
  if (all_accounts) return [];
  if (accounts === undefined)
    return [{ pointer: '/accounts', message: 'accounts is required unless all_accounts is true' }];
  const ofServer = permissions.filter((name) => operatorPermissions.some((operator) => operator === name));
  if (ofServer.length === 0) return [];
  return [
    {
      pointer: '/permissions',
      message: `${ofServer.join(', ')} requires all_accounts: it applies to the server and not to an account`,
    },
  ];
}

interface ListOf {
  readonly of: string;
  readonly max: number;
  readonly isItem: (item: unknown) => boolean;
}

export function listCheck(member: string, { of, max, isItem }: ListOf): MemberCheck<unknown> {
  return (value) => {
    const isList = Array.isArray(value) && value.length >= 1 && value.length <= max;
    const wrong = isList ? value.find((item) => !isItem(item)) : undefined;
    if (isList && value.every(isItem)) return undefined;
    const got =
      !isList || wrong === undefined
        ? Array.isArray(value)
          ? `${value.length} items`
          : describeValue(value)
        : describeValue(wrong);
    return { pointer: pointerTo(member), message: `${member} must be a list of ${of}; got ${got}` };
  };
}

/** Returns a check that accepts only future times. */
export function futureCheck(member: string): MemberCheck<Micros> {
  return (value, now) => {
    const moment = typeof value === 'string' ? parseMoment(value) : undefined;
    if (moment !== undefined && moment > formatTimestamp(now)) return undefined;
    return {
      pointer: pointerTo(member),
      message: `${member} must be a time in the future, such as 2027-01-31T00:00:00Z; got ${describeValue(value)}`,
    };
  };
}
