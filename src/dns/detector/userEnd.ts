/** Outcomes of users' queries (for known names). The data plane counts a query in the second in which it ends. */
import { AnswerKind, rcodeOf } from '../protocol/index.ts';

export const UserEnd = {
  /** A server answered with NOERROR or NXDOMAIN. */
  answered: 0,
  /** The guard dropped, truncated or refused the query, or truncated its answer. */
  limited: 1,
  /** The query timed out, could not be sent, or was answered with another response code. */
  unanswered: 2,
} as const;
export type UserEnd = (typeof UserEnd)[keyof typeof UserEnd];

export type UserQueries = Readonly<Record<keyof typeof UserEnd, number>>;

/** Returns the outcome of a user's query that a server has answered. */
export function userEndOf(answer: Uint8Array): UserEnd {
  const rcode = rcodeOf(answer);
  return rcode === AnswerKind.records || rcode === AnswerKind.nxdomain
    ? UserEnd.answered
    : UserEnd.unanswered;
}
