import { IndexUnavailableError } from '../../../traces/index.ts';

/** A record of the index is missing, or does not match its checksum. The reads of other records still work. */
export class DamagedIndexError extends IndexUnavailableError {
  override readonly name = 'DamagedIndexError';
  override readonly isUnproven = true;

  constructor(what: string) {
    super(`the index is damaged: ${what}`);
  }
}
