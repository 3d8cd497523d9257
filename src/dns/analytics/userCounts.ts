import type { UserQueries } from '../detector/index.ts';

export const NO_USERS: UserQueries = { answered: 0, limited: 0, unanswered: 0 };

/** Returns the sum of counts, for example of two minutes. */
export const sumOfUsers = (one: UserQueries = NO_USERS, other: UserQueries = NO_USERS): UserQueries => ({
  answered: one.answered + other.answered,
  limited: one.limited + other.limited,
  unanswered: one.unanswered + other.unanswered,
});

/** Returns the counts since `before`. */
export const usersSince = (before: UserQueries, now: UserQueries): UserQueries => ({
  answered: now.answered - before.answered,
  limited: now.limited - before.limited,
  unanswered: now.unanswered - before.unanswered,
});
