import type { Static } from 'typebox';
import Type from 'typebox';
import { describeValue, type Fault, InvalidRule, pointerTo } from './invalidRule.ts';
import { type MemberCheck, ObjectChecker, plainObject } from './objectChecker.ts';
import { namePattern, trimName } from './ruleName.ts';
import { formatTimestamp, type Micros, parseMoment } from './timestamp.ts';
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
  description: 'What it is for, 1 to 64 visible characters.',
});
export const permissionSchema = Type.Enum([...allPermissions], { type: 'string' });

/** The body of a creation. */
export const newTokenSchema = Type.Object(
  {
    label: Type.Optional(labelSchema),
    accounts: Type.Optional(
      Type.Array(Type.String({ pattern: accountIdPattern, maxLength: 32 }), {
        minItems: 1,
        maxItems: MAX_ACCOUNTS_OF_TOKEN,
        description: 'The accounts that it is for; in its place, `all_accounts`.',
      }),
    ),
    all_accounts: Type.Optional(
      Type.Boolean({ description: 'Whether it is for every account, those to come as well.' }),
    ),
    permissions: Type.Array(permissionSchema, {
      minItems: 1,
      maxItems: allPermissions.length,
      description: 'What it allows: no more than the token that asks. To write includes to read.',
    }),
    expires_on: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Until when it is valid; as long as the token that asks where left out.',
      }),
    ),
  },
  { additionalProperties: false },
);

type Body = Readonly<Static<typeof newTokenSchema>>;

/** A token as somebody asks for it. */
export interface TokenRequest extends Omit<Grant, 'expires_on'> {
  readonly label: string;
  /** Undefined where nothing is said. */
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

/** The token that a body asks for, at a moment. Throws `InvalidRule` with every fault of the body. */
export function checkNewToken(body: unknown, now: Micros): TokenRequest {
  const members = plainObject(body);
  const faults = checker.faultsOf(members, now);
  const {
    label = '',
    accounts,
    all_accounts = false,
    permissions = [],
    expires_on,
  } = members as Partial<Body>; // what is wrong is refused below
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
    return [{ pointer: '/accounts', message: 'accounts must be left out where all_accounts is true' }];
  if (all_accounts) return [];
  if (accounts === undefined)
    return [
      { pointer: '/accounts', message: 'accounts is missing; it must be there, or all_accounts be true' },
    ];
  const ofServer = permissions.filter((name) => operatorPermissions.some((operator) => operator === name));
  if (ofServer.length === 0) return [];
  return [
    {
      pointer: '/permissions',
      message: `${ofServer.join(', ')} is of the server and of no account: it is for tokens with all_accounts`,
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
          ? `${value.length} of them`
          : describeValue(value)
        : describeValue(wrong);
    return { pointer: pointerTo(member), message: `${member} must be a list of ${of}; got ${got}` };
  };
}

/** A moment that is still to come. */
export function futureCheck(member: string): MemberCheck<Micros> {
  return (value, now) => {
    const moment = typeof value === 'string' ? parseMoment(value) : undefined;
    if (moment !== undefined && moment > formatTimestamp(now)) return undefined;
    return {
      pointer: pointerTo(member),
      message: `${member} must be a time to come, such as 2027-01-31T00:00:00Z; got ${describeValue(value)}`,
    };
  };
}
