import { quoteText } from './invalidRule.ts';

/** The storage engine cannot read or write now (disk full, file system read-only). Nothing was written partially. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

/** The account already has the maximum number of rules. */
export class TooManyRules extends Error {
  constructor(accountId: string, limit: number) {
    super(`Account ${accountId} has ${limit} rules, the maximum; delete one first`);
    this.name = 'TooManyRules';
  }
}

/** The access list already has the maximum number of entries. */
export class TooManyEntries extends Error {
  constructor(list: string, limit: number) {
    super(`The ${list} has ${limit} entries, the maximum; delete one first`);
    this.name = 'TooManyEntries';
  }
}

/** The account already has the maximum number of zone policies. */
export class TooManyZonePolicies extends Error {
  constructor(accountId: string, limit: number) {
    super(`Account ${accountId} has ${limit} zone policies, the maximum; delete one first`);
    this.name = 'TooManyZonePolicies';
  }
}

/** The account already has a policy for the zone. */
export class ZoneHasPolicy extends Error {
  constructor(zone: string, id: string) {
    super(`The zone ${quoteText(zone)} already has a policy, ${id}; change that one`);
    this.name = 'ZoneHasPolicy';
  }
}

/** The number of valid tokens has reached its maximum, in total or in the tree of the creator. */
export class TooManyTokens extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TooManyTokens';
  }
}

/** The token that creates another one was revoked or has expired since its request was authenticated. */
export class CreatorEnded extends Error {
  constructor() {
    super('The requesting token was revoked or has expired');
    this.name = 'CreatorEnded';
  }
}

/** The retry key (`Idempotency-Key`) was already used for another creation. */
export class KeyReused extends Error {
  constructor() {
    super('This Idempotency-Key was used within 24 hours with another body; use a new key for a new request');
    this.name = 'KeyReused';
  }
}

/**
 * The database connection was lost during a commit, so it is unknown whether the change was made. The caller must
 * check before it retries.
 */
export class OutcomeUnknown extends StoreUnavailable {
  constructor(options?: ErrorOptions) {
    super('The connection to the rules database was lost during a change; its outcome is unknown', options);
  }
}

/** The address of a store (its URL) is invalid. The message contains no secret from the address. */
export class BadStoreAddress extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadStoreAddress';
  }
}
