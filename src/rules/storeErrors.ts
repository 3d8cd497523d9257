/** The engine cannot read or write now (disk full, file system read-only). Nothing was half-written. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

/** The account holds as many rules as it may. */
export class TooManyRules extends Error {
  constructor(accountId: string, limit: number) {
    super(`Account ${accountId} holds ${limit} rules, which is the most that it may; delete one first`);
    this.name = 'TooManyRules';
  }
}

/** A list holds as many entries as it may. */
export class TooManyEntries extends Error {
  constructor(list: string, limit: number) {
    super(`The ${list} holds ${limit} entries, which is the most that it may; delete one first`);
    this.name = 'TooManyEntries';
  }
}

/** As many tokens are valid as may be. */
export class TooManyTokens extends Error {
  constructor(limit: number) {
    super(`${limit} tokens are valid, which is the most that may be; revoke one first`);
    this.name = 'TooManyTokens';
  }
}

/** A retry key came before, with another rule. */
export class KeyReused extends Error {
  constructor() {
    super('This Idempotency-Key was used within 24 hours with another body; use a new key for something new');
    this.name = 'KeyReused';
  }
}

/**
 * The engine was asked to make a change durable, and then could not be asked whether it is: it may be there, or not. Whoever made it has to
 * look before making it again.
 */
export class OutcomeUnknown extends StoreUnavailable {
  constructor(options?: ErrorOptions) {
    super('The rules database was lost in the middle of a change: it may have been made, or not', options);
  }
}

/** The address of a store is not as it should be. Its message has no secret of it. */
export class BadStoreAddress extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadStoreAddress';
  }
}
