import { readAudit } from '../../api/account.ts';
import type { Outcome } from '../../api/failure.ts';
import type { Change } from '../../api/types.ts';
import { type ChangeFilter, isMatch } from './texts.ts';

const CHANGES_PER_PAGE = 50;
/** A filtered page reads up to ten responses, so up to 2,000 changes. */
const SEARCHED_PER_RESPONSE = 200;
const MAX_RESPONSES = 10;

export interface ChangePage {
  readonly changes: readonly Change[];
  /** Cursor of the next page; undefined if there are no older changes. */
  readonly next: string | undefined;
  /** Time of the newest change that was read, whether or not it matches. */
  readonly newestAt: string;
}

export interface ChangeQuery extends ChangeFilter {
  readonly since: string | undefined;
  readonly cursor: string | undefined;
}

/** Reads the next page of matching changes, newest first. It may be empty and have a next page. */
export async function readChanges({ since, cursor, ...filter }: ChangeQuery): Promise<Outcome<ChangePage>> {
  const isFiltered = filter.kind !== '' || filter.text !== '';
  const per_page = isFiltered ? SEARCHED_PER_RESPONSE : CHANGES_PER_PAGE;
  const changes: Change[] = [];
  let next = cursor;
  let newestAt = '';
  for (let i = 0; i < MAX_RESPONSES; i++) {
    const answer = await readAudit({ since, cursor: next, per_page });
    if ('failure' in answer) return answer;
    const { result, info } = answer.value;
    newestAt ||= result[0]?.at ?? '';
    changes.push(...result.filter((change) => isMatch(change, filter)));
    next = info.cursor;
    if (next === undefined || changes.length >= CHANGES_PER_PAGE) break;
  }
  return { value: { changes, next, newestAt } };
}
